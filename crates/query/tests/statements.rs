//! What the recorded corpus cannot tell of prepared statements: how they live through changes of
//! the schema and of the cache, and what broken input does.

#[cfg(test)]
#[path = "cqltest/memory.rs"]
mod memory;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use basalt_model::{Consistency, CqlError, SerialConsistency};
    use basalt_query::request::{ClientState, QueryOptions, Value, Values};
    use basalt_query::result::{Outcome, PreparedStatement, ResultSet, StatementResult};
    use basalt_query::{QueryProcessor, QuerySettings};
    use bytes::Bytes;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    use crate::memory::{self, run};

    fn options(values: Vec<Value>) -> QueryOptions {
        QueryOptions {
            consistency: Consistency::One,
            serial_consistency: SerialConsistency::Serial,
            values: Values::Positional(values),
            page_size: None,
            paging_state: None,
            default_timestamp: None,
            now_s: None,
            keyspace: None,
            protocol_version: 5,
        }
    }

    fn int(value: i32) -> Value {
        Value::Bytes(Bytes::copy_from_slice(&value.to_be_bytes()))
    }

    struct Session {
        processor: QueryProcessor,
        client: ClientState,
    }

    impl Session {
        fn new(settings: QuerySettings) -> Session {
            let mut session = Session {
                processor: memory::processor(settings, Default::default()).0,
                client: ClientState::default(),
            };
            session.query(
                "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            );
            session.client.keyspace = Some("ks".into());
            session
        }

        fn try_query(&mut self, text: &str) -> Result<Outcome, CqlError> {
            run(self.processor.query(text, &options(Vec::new()), &mut self.client))
        }

        fn query(&mut self, text: &str) -> StatementResult {
            self.try_query(text).unwrap().result
        }

        fn prepare(&mut self, text: &str) -> std::sync::Arc<PreparedStatement> {
            self.processor.prepare(text, None, &self.client).unwrap()
        }

        fn execute(&mut self, id: &[u8; 16], options: &QueryOptions) -> Result<StatementResult, CqlError> {
            run(self.processor.execute(id, options, &mut self.client)).map(|outcome| outcome.result)
        }
    }

    fn rows(result: StatementResult) -> ResultSet {
        match result {
            StatementResult::Rows(rows) => rows,
            _ => panic!("rows were expected"),
        }
    }

    #[test]
    fn a_new_column_is_answered_with_new_metadata_to_v5_and_unprepared_to_v4() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY, v int)");
        session.query("INSERT INTO t (k, v) VALUES (1, 2)");
        let prepared = session.prepare("SELECT * FROM t WHERE k = ?");
        let before = rows(session.execute(&prepared.id, &options(vec![int(1)])).unwrap());
        session.query("ALTER TABLE t ADD w int");

        let v4 = QueryOptions { protocol_version: 4, ..options(vec![int(1)]) };
        let refused = session.execute(&prepared.id, &v4);
        assert!(matches!(refused, Err(CqlError::Unprepared(_))));
        session.prepare("SELECT * FROM t WHERE k = ?");
        let after = rows(session.execute(&prepared.id, &options(vec![int(1)])).unwrap());
        assert_eq!((before.metadata.columns.len(), after.metadata.columns.len()), (2, 3));
        assert_ne!(before.metadata.id, after.metadata.id);
        let again = session.prepare("SELECT * FROM t WHERE k = ?");
        assert_eq!(again.id, prepared.id);
    }

    #[test]
    fn a_change_of_another_table_leaves_a_statement_as_it_was() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY, v int)");
        let prepared = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)");
        session.query("CREATE TABLE other (k int PRIMARY KEY)");
        let v4 = QueryOptions { protocol_version: 4, ..options(vec![int(1), int(2)]) };
        session.execute(&prepared.id, &v4).unwrap();
        assert_eq!(rows(session.query("SELECT * FROM t")).row_count, 1);
    }

    #[test]
    fn a_statement_of_a_dropped_table_is_unprepared() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY)");
        let prepared = session.prepare("SELECT k FROM t WHERE k = ?");
        session.query("DROP TABLE t");
        let gone = session.execute(&prepared.id, &options(vec![int(1)]));
        assert!(matches!(gone, Err(CqlError::Unprepared(_))));
        // Prepared before the table was there again: it is another table.
        session.query("CREATE TABLE t (k int PRIMARY KEY)");
        let again = session.prepare("SELECT k FROM t WHERE k = ?");
        assert_eq!(rows(session.execute(&again.id, &options(vec![int(1)])).unwrap()).row_count, 0);
    }

    #[test]
    fn the_cache_forgets_what_was_not_used_for_longest() {
        let settings =
            QuerySettings { prepared_statements_cache_bytes: 20 << 10, ..QuerySettings::default() };
        let mut session = Session::new(settings);
        session.query("CREATE TABLE t (k int PRIMARY KEY, v int)");
        let kept = session.prepare("SELECT v FROM t WHERE k = ?");
        let first = session.prepare("SELECT v AS a0 FROM t WHERE k = ?");
        for index in 1..200 {
            session.prepare(&format!("SELECT v AS a{index} FROM t WHERE k = ?"));
            session.execute(&kept.id, &options(vec![int(1)])).unwrap();
        }
        assert!(session.processor.prepared_count() < 20);
        let refused = session.execute(&first.id, &options(vec![int(1)]));
        assert!(matches!(refused, Err(CqlError::Unprepared(id)) if id[..] == first.id[..]));
    }

    #[test]
    fn write_times_grow_with_every_statement() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY, v int)");
        for key in 0..50 {
            session.query(&format!("INSERT INTO t (k, v) VALUES ({key}, 1)"));
        }
        let times = rows(session.query("SELECT writetime(v) FROM t"));
        let different: HashSet<_> = times.values.into_iter().collect();
        assert_eq!(different.len(), 50);
    }

    /// Statements of the corpus, as texts.
    fn corpus() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cql");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let texts = files.iter().filter(|path| path.extension().is_some_and(|e| e == "cqltest"));
        let statement = |line: &str| {
            let text = line.strip_prefix("cql: ")?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        texts
            .flat_map(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                text.lines().filter_map(statement).collect::<Vec<_>>()
            })
            .collect()
    }

    fn words(text: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut is_in_word = false;
        for c in text.chars() {
            let is_word = c.is_alphanumeric() || c == '_';
            match words.last_mut() {
                Some(last) if is_word && is_in_word => last.push(c),
                _ => words.push(c.to_string()),
            }
            is_in_word = is_word;
        }
        words
    }

    /// The corpus is replayed, and before each of its statements go two put together of it and a
    /// piece of another, with bytes of any kind bound to their markers: each is answered or
    /// refused, none breaks the processor.
    #[test]
    fn no_mixture_of_statements_and_bytes_breaks_the_processor() {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let corpus = corpus();
        let pieces: Vec<Vec<String>> = corpus.iter().map(|text| words(text)).collect();
        let mut session = Session::new(QuerySettings::default());
        let (mut answered, mut refused) = (0, 0);
        for (place, text) in corpus.iter().enumerate() {
            let near = &pieces[place.saturating_sub(9)..(place + 9).min(pieces.len())];
            for _ in 0..4 {
                let (mixture, options) = mixture(&pieces[place], near, &mut runner);
                match run(session.processor.query(&mixture, &options, &mut session.client)) {
                    Ok(_) => answered += 1,
                    Err(CqlError::Server(message)) if !message.starts_with("java.lang.") => {
                        panic!("{mixture}: {message}")
                    }
                    Err(_) => refused += 1,
                }
            }
            // Its answer is judged elsewhere; here it keeps the schema near the corpus.
            if let Ok(Outcome { result: StatementResult::SetKeyspace(name), .. }) = session.try_query(text) {
                session.client.keyspace = Some(name);
            }
        }
        assert!(answered > corpus.len() / 20 && refused > corpus.len() / 5, "{answered} {refused}");
    }

    /// A statement with some of its words replaced by others, mostly as many.
    fn mixture(own: &[String], near: &[Vec<String>], runner: &mut TestRunner) -> (String, QueryOptions) {
        let index = any::<Index>;
        let bytes = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 16);
        let lengths = prop_oneof![8 => Just((1, 1)), 2 => (0_usize..3, 0_usize..6)];
        let picks = (index(), index(), index(), lengths, bytes).new_tree(runner).unwrap();
        let (other, at, of, (removed, added), bytes) = picks.current();
        let mut mixture = own.to_vec();
        let is_word = |word: &&String| !word.trim().is_empty();
        let words_only: Vec<&String> = other.get(near).iter().filter(is_word).collect();
        let starts: Vec<usize> = (0..own.len()).filter(|&index| is_word(&&own[index])).collect();
        let start = *at.get(&starts);
        let end = (start + removed).min(mixture.len());
        let taken = words_only[of.index(words_only.len())..].iter().take(added);
        mixture.splice(start..end, taken.map(|word| (*word).clone()));
        let markers = mixture.iter().filter(|word| *word == "?").count();
        let values = bytes.into_iter().take(markers).map(|bytes| match bytes.len() {
            0 => Value::Null,
            1 => Value::Unset,
            _ => Value::Bytes(bytes.into()),
        });
        (mixture.concat(), QueryOptions { page_size: Some(3), ..options(values.collect()) })
    }

    #[test]
    fn no_paging_state_breaks_the_processor() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))");
        for row in 0..9 {
            session.query(&format!("INSERT INTO t (k, c, v) VALUES ({}, {row}, 'x')", row / 3));
        }
        let statements = ["SELECT * FROM t", "SELECT k, count(*) FROM t GROUP BY k, c PER PARTITION LIMIT 2"];
        let prepared = statements.map(|text| session.prepare(text));
        for (prepared, version) in prepared.iter().flat_map(|prepared| [3, 4, 5].map(|v| (prepared, v))) {
            let first = QueryOptions { page_size: Some(2), protocol_version: version, ..options(Vec::new()) };
            let state = rows(session.execute(&prepared.id, &first).unwrap()).paging_state.unwrap();
            for index in 0..state.len() {
                for bits in [1_u8, 0x80, 0xff] {
                    let mut broken = state.to_vec();
                    broken[index] ^= bits;
                    for length in [state.len(), index] {
                        let paging_state = Some(Bytes::copy_from_slice(&broken[..length]));
                        let next = QueryOptions { paging_state, ..first.clone() };
                        let answer = session.execute(&prepared.id, &next);
                        let is_fine = match &answer {
                            Ok(_) => true,
                            Err(error) => error.to_string() == "Invalid value for the paging state",
                        };
                        assert!(is_fine, "{:?}", answer.err());
                    }
                }
            }
        }
    }

    #[test]
    fn calls_in_calls_are_looked_up_once() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY, v int)");
        let nested = |operand: &str| format!("{}{operand}{}", "abs(".repeat(50), ")".repeat(50));
        let sums = |operand: &str| format!("{operand}{}", " + 1".repeat(250));
        for expression in [nested, sums] {
            let (of_column, of_constant) = (expression("v"), expression("-3"));
            session.query(&format!("SELECT {of_column} FROM t"));
            // Where the type of a constant is not said Cassandra may find none, after the same search.
            let _ = session.try_query(&format!("SELECT k FROM t WHERE k = {of_constant}"));
            let _ = session.try_query(&format!("INSERT INTO t (k, v) VALUES (1, {of_constant})"));
        }
    }

    #[test]
    fn calls_and_literals_in_one_another_end_soon() {
        let mut session = Session::new(QuerySettings::default());
        session.query("CREATE TABLE t (k int PRIMARY KEY, v text)");
        for (open, close) in [("to_json({", "})"), ("to_json({1: ", "})")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for depth in [2, 31] {
                // Whether they mean anything is another matter.
                let _ = session.try_query(&format!("SELECT {} FROM t", nested(depth)));
                let _ = session
                    .try_query(&format!("SELECT k FROM t WHERE v = {} ALLOW FILTERING", nested(depth)));
                let _ = session.try_query(&format!("INSERT INTO t (k, v) VALUES (1, {})", nested(depth)));
            }
        }
    }

    /// The pages of a statement, each with its number of rows.
    fn pages(session: &mut Session, text: &str, page_size: i32) -> Vec<ResultSet> {
        let prepared = session.prepare(text);
        let mut options = QueryOptions { page_size: Some(page_size), ..options(Vec::new()) };
        let mut pages = Vec::new();
        loop {
            let page = rows(session.execute(&prepared.id, &options).unwrap());
            options.paging_state = page.paging_state.clone();
            pages.push(page);
            if options.paging_state.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn groups_are_whole_however_many_rows_they_have_and_however_early_a_page_ends() {
        let settings = QuerySettings { page_bytes_max: 60, ..QuerySettings::default() };
        let mut session = Session::new(settings);
        session.query("CREATE TABLE t (k int, a int, c int, v text, PRIMARY KEY (k, a, c))");
        // More rows than one read of storage brings, and partitions with one group and with several.
        for row in 0..1300 {
            session.query(&format!("INSERT INTO t (k, a, c, v) VALUES (1, {}, {row}, 'value')", row / 250));
        }
        for row in 0..30 {
            let (k, a) = (2 + row / 10, row / 4);
            session.query(&format!("INSERT INTO t (k, a, c, v) VALUES ({k}, {a}, {row}, 'value')"));
        }
        for places in ["k IN (1, 2, 3, 4)", "k >= 0", "k = 1"] {
            let text = format!(
                "SELECT k, a, min(c), max(c), count(*), max(v) FROM t WHERE {places} GROUP BY k, a ALLOW FILTERING"
            );
            let whole = rows(session.query(&text));
            for page_size in [1, 3, 100, 5000] {
                let pages = pages(&mut session, &text, page_size);
                assert!(pages.len() > 1 && pages.iter().all(|page| page.row_count <= page_size as usize));
                let values: Vec<_> = pages.into_iter().flat_map(|page| page.values).collect();
                assert_eq!(values, whole.values, "{places}, pages of {page_size}");
            }
        }
    }

    #[test]
    fn clients_do_not_write_what_the_node_lives_by() {
        let mut session = Session::new(QuerySettings::default());
        for text in [
            "UPDATE system.local SET cluster_name = 'x' WHERE key = 'local'",
            "INSERT INTO system.local (key, cluster_name) VALUES ('local', 'x')",
            "DELETE FROM system_schema.tables WHERE keyspace_name = 'ks'",
            "BEGIN BATCH DELETE FROM system_schema.keyspaces WHERE keyspace_name = 'ks'; APPLY BATCH",
            "TRUNCATE system.local",
        ] {
            let error = session.try_query(text).unwrap_err();
            assert!(matches!(error, CqlError::Unauthorized(_)), "{text}: {error}");
        }
        session.query("INSERT INTO system_auth.role_members (role, member) VALUES ('a', 'b')");
    }
}
