//! Answers as the lines of a `.cqltest` file, and their comparison.

use basalt_model::{CqlError, DataType};
use basalt_query::result::{
    Change, ChangeTarget, ColumnSpec, Outcome, PreparedStatement, ResultSet, StatementResult,
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::List { element, .. } => format!("list<{}>", type_name(element)),
        DataType::Set { element, .. } => format!("set<{}>", type_name(element)),
        DataType::Map { key, value, .. } => format!("map<{}, {}>", type_name(key), type_name(value)),
        DataType::Tuple(types) => {
            format!("tuple<{}>", types.iter().map(type_name).collect::<Vec<_>>().join(", "))
        }
        DataType::Udt { definition, .. } => {
            let fields: Vec<String> =
                definition.fields.iter().map(|(name, t)| format!("{name} {}", type_name(t))).collect();
            format!("udt<{}.{}, {}>", definition.keyspace, definition.name, fields.join(", "))
        }
        vector @ (DataType::Vector { .. } | DataType::Empty) => format!("'{}'", vector.class_name()),
        DataType::Custom(class) => format!("'{class}'"),
        DataType::LegacyTimeUuid => format!("'{}'", data_type.class_name()),
        DataType::Reversed(base) => type_name(base),
        scalar => scalar.to_string(),
    }
}

fn column(column: &ColumnSpec) -> String {
    let name = escape(&column.name).replace(' ', "\\s");
    format!("{} {} {name} {}", column.keyspace, column.table, type_name(&column.data_type))
}

pub fn error(error: &CqlError) -> Vec<String> {
    let mut lines = vec![format!("error: 0x{:04x} {}", error.code(), escape(&error.to_string()))];
    let mut field = |name: &str, value: String| lines.push(format!("field: {name} {value}"));
    match error {
        CqlError::Unavailable { consistency, required, alive, .. } => {
            field("consistency", consistency.to_string());
            field("required", required.to_string());
            field("alive", alive.to_string());
        }
        CqlError::AlreadyExists { keyspace, table } => {
            field("keyspace", keyspace.to_string());
            field("table", table.to_string());
        }
        CqlError::Unprepared(id) => field("id", hex(id)),
        _ => {}
    }
    lines
}

pub fn prepared(prepared: &PreparedStatement, protocol: u8) -> Vec<String> {
    // MD5 of nothing: the metadata of statements without a result.
    const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";
    let metadata = match &prepared.result_metadata {
        _ if protocol < 5 => "none".to_owned(),
        Some(metadata) => hex(&metadata.id),
        None => EMPTY.to_owned(),
    };
    let pk = match prepared.partition_key_indices.as_slice() {
        [] => "none".to_owned(),
        _ if protocol < 4 => "none".to_owned(),
        indices => indices.iter().map(u16::to_string).collect::<Vec<_>>().join(" "),
    };
    let mut lines: Vec<String> =
        prepared.warnings.iter().map(|warning| format!("warning: {}", escape(warning))).collect();
    lines.push(format!("prepared: id {} metadata {metadata}", hex(&prepared.id)));
    lines.push(format!("pk: {pk}"));
    lines.extend(prepared.variables.iter().map(|spec| format!("bind: {}", column(spec))));
    let columns = prepared.result_metadata.iter().flat_map(|metadata| &metadata.columns);
    lines.extend(columns.map(|spec| format!("result: {}", column(spec))));
    lines
}

fn rows(rows: &ResultSet, is_first: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if is_first {
        lines.extend(rows.metadata.columns.iter().map(|spec| format!("column: {}", column(spec))));
    }
    lines.push(format!("rows: {}", rows.row_count));
    let width = rows.metadata.columns.len();
    let values = rows.all_values();
    assert_eq!(values.len(), width * rows.row_count, "a result holds whole rows");
    for row in values.chunks_exact(width) {
        let values: Vec<String> = row
            .iter()
            .map(|value| match value {
                None => "null".to_owned(),
                Some(bytes) if bytes.is_empty() => "-".to_owned(),
                Some(bytes) => hex(bytes),
            })
            .collect();
        lines.push(format!("row: {}", values.join(" ")));
    }
    lines.extend(rows.paging_state.iter().map(|state| format!("page: {}", hex(state))));
    lines
}

pub fn outcome(outcome: &Outcome, is_first: bool, protocol: u8) -> Vec<String> {
    // What Basalt adds is not in the recording, and version 3 has no warnings.
    let ours = |warning: &&String| protocol > 3 && !warning.contains("have no effect in Basalt");
    let warnings = outcome.warnings.iter().filter(ours);
    let mut lines: Vec<String> = warnings.map(|warning| format!("warning: {}", escape(warning))).collect();
    match &outcome.result {
        StatementResult::Void => lines.push("void".to_owned()),
        StatementResult::SetKeyspace(keyspace) => lines.push(format!("set_keyspace: {keyspace}")),
        StatementResult::Rows(result) => lines.extend(rows(result, is_first)),
        StatementResult::SchemaChange(change) => {
            let word = match change.change {
                Change::Created => "CREATED",
                Change::Updated => "UPDATED",
                Change::Dropped => "DROPPED",
            };
            let keyspace = &change.keyspace;
            lines.push(match &change.target {
                ChangeTarget::Keyspace => format!("schema_change: {word} KEYSPACE {keyspace}"),
                ChangeTarget::Table(name) => format!("schema_change: {word} TABLE {keyspace} {name}"),
                ChangeTarget::Type(name) => format!("schema_change: {word} TYPE {keyspace} {name}"),
            });
        }
    }
    lines
}

/// Lists that Cassandra gives in no fixed order are sorted; of the two names of a JSON function,
/// either of which it may show, one stands for both.
fn settled(line: &str) -> String {
    if line.contains("tojson") || line.contains("fromjson") {
        return settled(&line.replace("tojson", "to_json").replace("fromjson", "from_json"));
    }
    let listed = line.split_once("(known type signatures: ").or_else(|| {
        line.strip_suffix(": use type casts to disambiguate")?
            .split_once("(can be matched by following signatures: ")
    });
    if let Some((before, signatures)) = listed {
        let mut parts: Vec<&str> = signatures.split(", system.").collect();
        let first = parts.first().map(|first| first.trim_start_matches("system.")).unwrap_or_default();
        parts[0] = first;
        let last = parts.len() - 1;
        parts[last] = parts[last].trim_end_matches(')');
        parts.sort_unstable();
        return format!("{before}{}", parts.join("|"));
    }
    line.to_owned()
}

/// What comes before the words of Cassandra's JSON parser, if they are in an error.
fn before_parser(error: &str) -> Option<&str> {
    let ends = ["com.fasterxml.jackson.", "Error decoding JSON string: "];
    ends.iter().find_map(|words| error.find(words)).map(|end| &error[..end])
}

/// Whether an answer is the recorded one.
pub fn matches(recorded: &[String], ours: &[String]) -> bool {
    let without_comment = |line: &String| match line.split_once(" # ") {
        Some((row, _)) if line.starts_with("row: ") => row.to_owned(),
        _ => settled(line),
    };
    let recorded: Vec<String> = recorded.iter().map(without_comment).collect();
    let ours: Vec<String> = ours.iter().map(|line| settled(line)).collect();
    let code =
        |lines: &[String]| lines.last().and_then(|l| l.strip_prefix("error: ").map(|l| l[..6].to_owned()));
    let last = |lines: &[String]| lines.iter().rev().find(|line| !line.starts_with("field: ")).cloned();
    let (stock, own) =
        (last(&recorded).into_iter().collect::<Vec<_>>(), last(&ours).into_iter().collect::<Vec<_>>());
    if let (Some(before), Some(own)) = (stock.first().and_then(|line| before_parser(line)), own.first()) {
        return own.starts_with(before);
    }
    match (code(&stock), code(&own)) {
        // Cassandra failed inside: its text or any error of the client's will do.
        (Some(stock), Some(own)) if stock == "0x0000" => {
            (own != "0x0000" && recorded.len() == ours.len()) || recorded == ours
        }
        // Cassandra's parser stumbled: the text is a Java exception's.
        (Some(code), Some(ours))
            if code == "0x2000" && stock.iter().any(|line| line.contains("Exception ")) =>
        {
            ours == "0x2000"
        }
        _ => recorded == ours,
    }
}
