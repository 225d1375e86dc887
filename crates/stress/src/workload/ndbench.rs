//! `ndbench`: Netflix's NDBench with its CassJavaDriverGeneric plugin, on the table with which Apache
//! Cassandra's streaming was measured (key, column1, value; leveled, uncompressed).
//!
//! The plugin's defaults for that table: 1,000 keys `T0` to `T999`, uniform; a write is an unlogged
//! batch of 100 rows of one partition with values of 128 bytes, a read is the whole partition; as many
//! reads as writes. (Later plugins write 2 rows of 5 values, into another table.)

use super::base::{Base, Description, Plan, create_keyspace};
use super::mix::Turn;
use super::{BatchKind, Error, Keys, Operation, Options, Sizes, Values, text};
use crate::random::Random;

const RECORDS: u64 = 1000;

/// `cass.colsPerRow`: rows of a partition, in today's words.
const ROWS: usize = 100;

const VALUE_BYTES: u32 = 128;

/// Places of kinds and of statements.
const READ: usize = 0;
const WRITE: usize = 1;
const READ_BACK: usize = 2;

struct Ndbench {
    base: Base,
}

/// `words` follow `ndbench`.
pub fn ndbench(words: &[String], options: &Options) -> Result<impl Plan + use<>, Error> {
    if !words.is_empty() {
        return Err(Error::new("ndbench has no variants; --records and --value change its keys and values"));
    }
    let table = "CREATE TABLE IF NOT EXISTS testing.test \
                 (key text, column1 int, value text, PRIMARY KEY (key, column1)) \
                 WITH compaction = {'class': 'LeveledCompactionStrategy'} \
                 AND compression = {'enabled': 'false'}";
    let insert =
        format!("INSERT INTO testing.test (key, column1, value) VALUES (?, ?, ?){}", Base::using(options));
    let mut statements = vec![("SELECT * FROM testing.test WHERE key = ?".to_owned(), false), (insert, true)];
    if options.verify {
        statements.push(("SELECT value FROM testing.test WHERE key = ?".to_owned(), false));
    }
    let description = Description {
        name: "ndbench".to_owned(),
        schema: vec![create_keyspace("testing", options), table.to_owned()],
        statements,
        kinds: &[("read", 1), ("write", 1)],
        records: RECORDS,
        keys: Keys::Uniform,
        cells: ROWS,
        sizes: Sizes::fixed(VALUE_BYTES),
    };
    Ok(Ndbench { base: Base::new(description, options) })
}

impl Ndbench {
    fn write(&self, record: u64, sequence: u64, random: &mut Random, operation: &mut Operation) {
        operation.kind = WRITE;
        operation.batch = Some(BatchKind::Unlogged);
        for row in 0..ROWS {
            let values = operation.add(WRITE);
            key(record, values);
            values.push(&(row as i32).to_be_bytes());
            self.base.value(record, row, sequence, random, values);
            self.base.timestamp(sequence, values);
        }
        self.base.written(record, sequence, false, operation);
    }
}

impl Plan for Ndbench {
    fn base(&self) -> &Base {
        &self.base
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        self.write(record, self.base.load_sequence(record), &mut Base::load_random(record), operation);
    }

    fn make(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation) {
        let record = self.base.existing(turn, 0, random);
        if turn.kind == WRITE {
            self.write(record, self.base.sequence(index), random, operation);
        } else {
            key(record, operation.begin(READ, READ));
        }
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        key(record, operation.begin(READ, READ_BACK));
    }
}

fn key(record: u64, values: &mut Values) {
    values.push_with(|out| {
        out.extend_from_slice(b"T");
        text::digits(out, record, 1);
    });
}
