//! `tene`: the read test of Tene's "Cassandra in Response Time Sensitive Environments": 5 million
//! entries of cassandra-stress's own table on one node, then nothing but reads.
//!
//! The table is the one that cassandra-stress makes: a key of 10 bytes, five blobs of 34. Its reads
//! are uniform here; the talk does not say how they were spread.

use super::base::{Base, Description, Plan, create_keyspace};
use super::mix::Turn;
use super::{Error, Keys, Operation, Options, Sizes, Values, text};
use crate::random::Random;

const RECORDS: u64 = 5_000_000;
const COLUMNS: usize = 5;
const VALUE_BYTES: u32 = 34;

/// Places of statements; `READ` is the only kind.
const READ: usize = 0;
const INSERT: usize = 1;

struct Tene {
    base: Base,
}

/// `words` follow `tene`.
pub fn tene(words: &[String], options: &Options) -> Result<impl Plan + use<>, Error> {
    if !words.is_empty() {
        return Err(Error::new("tene has no variants: it reads, and that is all"));
    }
    if options.value.is_some() {
        return Err(Error::new("--value: tene's values have 34 bytes"));
    }
    let table = "CREATE TABLE IF NOT EXISTS keyspace1.standard1 \
                 (key blob PRIMARY KEY, \"C0\" blob, \"C1\" blob, \"C2\" blob, \"C3\" blob, \"C4\" blob)";
    let columns = "\"C0\", \"C1\", \"C2\", \"C3\", \"C4\"";
    let insert = format!(
        "INSERT INTO keyspace1.standard1 (key, {columns}) VALUES (?, ?, ?, ?, ?, ?){}",
        Base::using(options)
    );
    let description = Description {
        name: "tene".to_owned(),
        schema: vec![create_keyspace("keyspace1", options), table.to_owned()],
        statements: vec![
            (format!("SELECT {columns} FROM keyspace1.standard1 WHERE key = ?"), false),
            (insert, true),
        ],
        kinds: &[("read", 1)],
        records: RECORDS,
        keys: Keys::Uniform,
        cells: COLUMNS,
        sizes: Sizes::fixed(VALUE_BYTES),
    };
    Ok(Tene { base: Base::new(description, options) })
}

impl Plan for Tene {
    fn base(&self) -> &Base {
        &self.base
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        let (sequence, mut random) = (self.base.load_sequence(record), Base::load_random(record));
        let values = operation.begin(READ, INSERT);
        key(record, values);
        for column in 0..COLUMNS {
            self.base.value(record, column, sequence, &mut random, values);
        }
        self.base.timestamp(sequence, values);
        self.base.written(record, sequence, false, operation);
    }

    fn make(&self, turn: Turn, _index: u64, random: &mut Random, operation: &mut Operation) {
        let record = self.base.existing(turn, 0, random);
        key(record, operation.begin(READ, READ));
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        key(record, operation.begin(READ, READ));
    }
}

/// Ten decimal digits.
fn key(record: u64, values: &mut Values) {
    values.push_with(|out| text::digits(out, record, 10));
}
