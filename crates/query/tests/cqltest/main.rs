//! Every recorded case of `tests/cql`, replayed in this process over storage in memory: the
//! answers must be those a stock Cassandra gave. Blocks with a `# differs: reason` line are those
//! that differ on purpose; they must differ.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_model::CqlError;
use basalt_model::paging_state::PagingState;
use basalt_query::request::{BatchEntry, ClientState, QueryOptions, Values};
use basalt_query::result::{Outcome, StatementResult};
use basalt_query::{QueryProcessor, QuerySettings, SchemaSettings, SchemaStore};

use cases::{Case, How};
use memory::run;

/// A node that answers requests.
struct Node {
    processor: QueryProcessor,
    clients: [ClientState; 3],
}

impl Node {
    fn new((settings, schema_settings): (QuerySettings, SchemaSettings)) -> Node {
        let (processor, _schema): (QueryProcessor, Arc<SchemaStore>) =
            memory::processor(settings, schema_settings);
        Node { processor, clients: Default::default() }
    }

    /// The answer's lines.
    fn answer(&mut self, case: &Case) -> Vec<String> {
        let client = &mut self.clients[usize::from(case.protocol - 3)];
        if case.is_serial_refused {
            // The connection refuses levels that are not serial before the processor sees them.
            return vec![cases::SERIAL_REFUSED.to_owned()];
        }
        if let Some(Err(error)) =
            case.options.paging_state.as_ref().map(|state| PagingState::decode(state, case.protocol))
        {
            // So are paging states that are none.
            return show::error(&error);
        }
        let mut lines = Vec::new();
        let mut options = case.options.clone();
        if case.how == How::Prepare {
            let (text, _) = &case.statements[0];
            match self.processor.prepare(text, options.keyspace.as_deref(), client) {
                Ok(prepared) => lines.extend(show::prepared(&prepared, case.protocol)),
                Err(error) => return show::error(&error),
            }
        }
        let mut is_first = true;
        loop {
            let outcome = ask(&self.processor, case, &options, client);
            match outcome {
                Err(error) => {
                    let warnings = std::mem::take(&mut client.warnings);
                    let told = warnings.iter().filter(|_| case.protocol > 3);
                    lines.extend(told.map(|warning| format!("warning: {warning}")));
                    lines.extend(show::error(&error));
                    return lines;
                }
                Ok(Answer::Prepared(prepared)) => {
                    lines.extend(show::prepared(&prepared, case.protocol));
                    return lines;
                }
                Ok(Answer::Outcome(outcome)) => {
                    let next = next_page(&outcome);
                    lines.extend(show::outcome(&outcome, is_first, case.protocol));
                    is_first = false;
                    match next {
                        Some(state) => options.paging_state = Some(state),
                        None => return lines,
                    }
                }
            }
        }
    }
}

enum Answer {
    Outcome(Outcome),
    Prepared(Arc<basalt_query::result::PreparedStatement>),
}

fn next_page(outcome: &Outcome) -> Option<bytes::Bytes> {
    match &outcome.result {
        StatementResult::Rows(rows) => rows.paging_state.clone(),
        _ => None,
    }
}

fn ask(
    processor: &QueryProcessor,
    case: &Case,
    options: &QueryOptions,
    client: &mut ClientState,
) -> Result<Answer, CqlError> {
    let (text, values) = &case.statements[0];
    match case.how {
        How::Query => {
            let options = QueryOptions { values: values.clone(), ..options.clone() };
            run(processor.query(text, &options, client)).map(Answer::Outcome)
        }
        How::PrepareOnly => {
            processor.prepare(text, options.keyspace.as_deref(), client).map(Answer::Prepared)
        }
        How::Prepare => {
            let prepared = processor.prepare(text, options.keyspace.as_deref(), client)?;
            let options = QueryOptions { values: values.clone(), ..options.clone() };
            run(processor.execute(&prepared.id, &options, client)).map(Answer::Outcome)
        }
        How::Batch(kind) => {
            let entries: Vec<_> = case
                .statements
                .iter()
                .map(|(text, values)| {
                    let Values::Positional(values) = values else { panic!("named values in a batch") };
                    (BatchEntry::Text(text.as_str().into()), values.clone())
                })
                .collect();
            run(processor.batch(kind, &entries, options, client)).map(Answer::Outcome)
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cql")
}

/// Replays a file; what differs, and what was expected to but does not.
fn replay(file: &str) -> (usize, Vec<String>) {
    let text = std::fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut node = Node::new(cases::settings(&text));
    let mut differences = Vec::new();
    let cases = cases::parse(&text);
    for case in &cases {
        let answer = node.answer(case);
        let matches = show::matches(&case.answer, &answer);
        let shown = || {
            let statement = case.statements.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>();
            let (stock, ours) = (case.answer.join("\n    "), answer.join("\n    "));
            format!("{file}: {}\n  stock:\n    {stock}\n  ours:\n    {ours}", statement.join("; "))
        };
        match (&case.differs, matches) {
            (None, true) | (Some(_), false) => {}
            (None, false) => differences.push(shown()),
            (Some(reason), true) => differences.push(format!("no longer differs ({reason}): {}", shown())),
        }
    }
    (cases.len(), differences)
}

#[test]
fn answers_are_cassandras() {
    let only = option_env!("CQLTEST_ONLY");
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".cqltest"))
        .filter(|name| only.is_none_or(|only| name.contains(only)))
        .collect();
    files.sort();
    let mut all = Vec::new();
    let mut summary = Vec::new();
    let mut count = 0;
    for file in &files {
        let (cases, differences) = replay(file);
        count += cases;
        if !differences.is_empty() {
            summary.push(format!("{file}: {} of {cases}", differences.len()));
        }
        all.extend(differences);
    }
    assert!(only.is_some() || count > 1000, "the corpus is there: {count}");
    assert!(all.is_empty(), "{}\n\n{}", all.join("\n\n"), summary.join("\n"));
}
