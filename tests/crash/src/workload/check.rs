//! Reads everything back and compares it with what the writers know.

use std::collections::BTreeMap;

use super::model::{Content, RowState};
use super::{KEYSPACE, Writer};
use crate::client::values::{as_int, as_text, elements, text};
use crate::client::{Client, Row};
use crate::random::Random;

/// Columns of `wide` as they are read.
const WIDE: &str = "SELECT p, c, s, v, tags, attrs, items FROM crash.wide";

/// What a check has seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    /// Rows and batches.
    pub rows: usize,
    /// Requests in doubt that had been applied, and that had not; those of which one cannot tell are left out.
    pub doubtful: (usize, usize),
}

/// Compares the tables with the writers' content. A request in doubt may have been applied or not, but not in part;
/// what was found is what the writer goes on from.
///
/// # Panics
/// With the first difference.
pub fn check(client: &mut Client, writers: &mut [Writer], random: &mut Random) -> Checked {
    let all = read(client);
    let mut checked = Checked { rows: all.len(), doubtful: (0, 0) };
    let mut explained = 0;
    for writer in writers.iter_mut() {
        let found = of_writer(&all, &writer.prefix());
        explained += found.len();
        if let Some(op) = writer.in_doubt.take() {
            let expected = writer.content.seen();
            let mut applied = writer.content.clone();
            applied.apply(&op);
            // A deletion of nothing looks the same either way.
            if applied.seen() == found {
                checked.doubtful.0 += usize::from(expected != found);
                writer.content = applied;
            } else {
                checked.doubtful.1 += 1;
                let difference = expected.difference(&found);
                assert!(expected == found, "{difference}\n  in doubt was {op:?}");
            }
        } else {
            let expected = writer.content.seen();
            assert!(expected == found, "{}", expected.difference(&found));
        }
        check_some_partitions(client, writer, random);
    }
    assert_eq!(explained, all.len(), "rows that nobody wrote");
    checked
}

/// A partition read by its key is the one that the scan showed.
fn check_some_partitions(client: &mut Client, writer: &Writer, random: &mut Random) {
    let statement = client.prepare(&format!("{WIDE} WHERE p = ?")).expect("prepared");
    let seen = writer.content.seen();
    for _ in 0..10 {
        let p = format!("{}{}", writer.prefix(), random.below(40));
        let mut found = Content::default();
        for row in client.execute(&statement, vec![text(&p)]).expect("a read") {
            add_wide(&mut found, &row);
        }
        assert_eq!(found.wide.get(&p), seen.wide.get(&p), "the partition {p}, read by its key");
    }
}

fn of_writer(all: &Content, prefix: &str) -> Content {
    fn part<T: Clone>(of: &BTreeMap<String, T>, prefix: &str) -> BTreeMap<String, T> {
        let from = of.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
        from.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
    Content {
        wide: part(&all.wide, prefix),
        narrow: part(&all.narrow, prefix),
        batches: part(&all.batches, prefix),
    }
}

fn read(client: &mut Client) -> Content {
    let mut content = Content::default();
    let mut query = |text: &str| client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    for row in query(WIDE) {
        add_wide(&mut content, &row);
    }
    for row in query(&format!("SELECT k, v FROM {KEYSPACE}.narrow")) {
        let again = content
            .narrow
            .insert(cell_text(&row, 0).expect("a key"), row[1].clone().expect("a value").to_vec());
        assert!(again.is_none(), "narrow: a row twice: {row:?}");
    }
    let a = query(&format!("SELECT id, v FROM {KEYSPACE}.batch_a"));
    let b = query(&format!("SELECT id, v, part FROM {KEYSPACE}.batch_b"));
    for row in a.iter().chain(&b) {
        let part = row.get(2).map_or(0, |part| as_int(part.as_ref().expect("a part")));
        let (key, id) = (cell_text(row, 0).expect("a key"), cell_text(row, 1).expect("a value"));
        assert!(key == id || key == format!("{id}#last"), "batch: {key} holds {id}");
        assert!(content.batches.entry(id).or_default().insert(part), "batch: a row twice: {row:?}");
    }
    content
}

fn cell_text(row: &Row, index: usize) -> Option<String> {
    row[index].as_deref().map(as_text)
}

fn add_wide(content: &mut Content, row: &Row) {
    let partition = content.wide.entry(cell_text(row, 0).expect("a key")).or_default();
    partition.s = cell_text(row, 2);
    // Only a static column: a row without a clustering.
    let Some(c) = &row[1] else { return };
    let collection = |index: usize, per_entry| {
        row[index].as_deref().map_or_else(Vec::new, |bytes| elements(bytes, per_entry))
    };
    let attrs = collection(5, 2);
    let state = RowState {
        is_live: false,
        v: cell_text(row, 3),
        tags: collection(4, 1).iter().map(|tag| as_text(tag)).collect(),
        attrs: attrs.chunks(2).map(|entry| (as_text(&entry[0]), as_int(&entry[1]))).collect(),
        items: collection(6, 1).iter().map(|item| as_int(item)).collect(),
    };
    let again = partition.rows.insert(as_int(c), state);
    assert!(again.is_none(), "wide: a row twice: {row:?}");
}
