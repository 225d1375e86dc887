//! `ycsb A-F`: the core workloads of the Yahoo! Cloud Serving Benchmark, on the table of its Cassandra
//! binding: `user` and a hashed number as key, ten fields of 100 bytes.
//!
//! Reads take all fields, an update writes one. A scan takes the 1 to 100 rows that follow a key in the
//! order of tokens, as the binding does. In F a read-modify-write is two requests of the plan, a read
//! and an update of the same record soon after: the plan does not wait for answers, and what is
//! written does not depend on what was read in YCSB either. So two thirds of F's requests are reads.
//! With `--verify` an update writes all fields (YCSB's `writeallfields`), so that a record has one age.

use super::base::{Base, Description, Plan, create_keyspace};
use super::mix::Turn;
use super::{Error, Keys, Operation, Options, Sizes, Values, text};
use crate::random::{Random, mix};

/// YCSB's files say 1,000 and ask to be told a real number.
const RECORDS: u64 = 1_000_000;

const FIELDS: usize = 10;
const FIELD_BYTES: u32 = 100;
const SCAN_ROWS_MAX: u64 = 100;

/// Places of kinds.
const READ: usize = 0;
const UPDATE: usize = 1;
const INSERT: usize = 2;
const SCAN: usize = 3;
const MODIFY: usize = 4;
const MODIFY_UPDATE: usize = 5;

/// Weights of read, update, insert, scan, read-modify-write.
const MIXES: [(&str, [u64; 5], Keys); 6] = [
    ("A", [50, 50, 0, 0, 0], Keys::Zipfian),
    ("B", [95, 5, 0, 0, 0], Keys::Zipfian),
    ("C", [100, 0, 0, 0, 0], Keys::Zipfian),
    ("D", [95, 0, 5, 0, 0], Keys::Latest),
    ("E", [0, 0, 5, 95, 0], Keys::Zipfian),
    ("F", [50, 0, 0, 0, 50], Keys::Zipfian),
];

/// Places of statements; updates of one field, or of all, follow.
const SELECT_STATEMENT: usize = 0;
const INSERT_STATEMENT: usize = 1;
const SCAN_STATEMENT: usize = 2;
const READ_BACK_STATEMENT: usize = 3;
const FIRST_UPDATE_STATEMENT: usize = 4;

struct Ycsb {
    base: Base,
    seed: u64,
}

/// `words` follow `ycsb`.
pub fn ycsb(words: &[String], options: &Options) -> Result<impl Plan + use<>, Error> {
    let known = match words {
        [name] => MIXES.into_iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)),
        _ => None,
    };
    let Some((name, weights, keys)) = known else {
        return Err(Error::new("ycsb comes as ycsb A, B, C, D, E or F"));
    };
    let [read, update, insert, scan, modify] = weights;
    let kinds = [
        ("read", read),
        ("update", update),
        ("insert", insert),
        ("scan", scan),
        ("rmw-read", modify),
        ("rmw-update", modify),
    ];
    let field = |number: usize| format!("field{number}");
    let fields = (0..FIELDS).map(field).collect::<Vec<_>>();
    let types = fields.iter().map(|name| format!("{name} varchar")).collect::<Vec<_>>().join(", ");
    let table = format!("CREATE TABLE IF NOT EXISTS ycsb.usertable (y_id varchar PRIMARY KEY, {types})");
    let description = Description {
        name: format!("ycsb {name}"),
        schema: vec![create_keyspace("ycsb", options), table],
        statements: statements(&fields, options),
        kinds: &kinds,
        records: RECORDS,
        keys,
        cells: FIELDS,
        sizes: Sizes::fixed(FIELD_BYTES),
    };
    Ok(Ycsb { base: Base::new(description, options), seed: options.seed })
}

fn statements(fields: &[String], options: &Options) -> Vec<(String, bool)> {
    let using = Base::using(options);
    let (names, markers) = (fields.join(", "), ["?"; FIELDS].join(", "));
    let mut statements = vec![
        ("SELECT * FROM ycsb.usertable WHERE y_id = ? LIMIT 1".to_owned(), false),
        (format!("INSERT INTO ycsb.usertable (y_id, {names}) VALUES (?, {markers}){using}"), true),
        ("SELECT * FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?".to_owned(), false),
        (format!("SELECT {names} FROM ycsb.usertable WHERE y_id = ?"), false),
    ];
    let update = |fields: &[String]| {
        let sets = fields.iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(", ");
        (format!("UPDATE ycsb.usertable{using} SET {sets} WHERE y_id = ?"), true)
    };
    if options.verify {
        statements.push(update(fields));
    } else {
        statements.extend(fields.chunks(1).map(update));
    }
    statements
}

impl Ycsb {
    fn insert(&self, record: u64, sequence: u64, random: &mut Random, operation: &mut Operation) {
        let values = operation.begin(INSERT, INSERT_STATEMENT);
        key(record, values);
        for column in 0..FIELDS {
            self.base.value(record, column, sequence, random, values);
        }
        self.base.timestamp(sequence, values);
        self.base.written(record, sequence, false, operation);
    }

    fn update(&self, kind: usize, record: u64, index: u64, random: &mut Random, operation: &mut Operation) {
        let sequence = self.base.sequence(index);
        let first = if self.base.verify { 0 } else { random.below(FIELDS as u64) as usize };
        let last = if self.base.verify { FIELDS } else { first + 1 };
        let values = operation.begin(kind, FIRST_UPDATE_STATEMENT + first);
        self.base.timestamp(sequence, values);
        for column in first..last {
            self.base.value(record, column, sequence, random, values);
        }
        key(record, values);
        self.base.written(record, sequence, false, operation);
    }

    /// F: of the two halves of a read-modify-write in a block the one that comes first reads, whichever
    /// half the mix says, and both take the same record.
    fn modify(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation) {
        let mix = &self.base.mix;
        let earlier = mix.earlier_in_block(MODIFY, index) + mix.earlier_in_block(MODIFY_UPDATE, index);
        let mut shared = Random::at(mix_seed(self.seed), turn.number);
        let record = self.base.existing(turn, 0, &mut shared);
        if earlier == 0 {
            key(record, operation.begin(MODIFY, SELECT_STATEMENT));
        } else {
            self.update(MODIFY_UPDATE, record, index, random, operation);
        }
    }
}

/// The seed of what both halves of a read-modify-write have in common.
fn mix_seed(seed: u64) -> u64 {
    mix(seed ^ 0x726d_7700)
}

impl Plan for Ycsb {
    fn base(&self) -> &Base {
        &self.base
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        self.insert(record, self.base.load_sequence(record), &mut Base::load_random(record), operation);
    }

    fn make(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation) {
        match turn.kind {
            INSERT => {
                let record = self.base.records + turn.number;
                return self.insert(record, self.base.sequence(index), random, operation);
            }
            MODIFY | MODIFY_UPDATE => return self.modify(turn, index, random, operation),
            _ => {}
        }
        let record = self.base.existing(turn, self.base.mix.settled(INSERT, index), random);
        match turn.kind {
            UPDATE => self.update(UPDATE, record, index, random, operation),
            SCAN => {
                let values = operation.begin(SCAN, SCAN_STATEMENT);
                key(record, values);
                values.push(&(1 + random.below(SCAN_ROWS_MAX) as i32).to_be_bytes());
            }
            _ => key(record, operation.begin(READ, SELECT_STATEMENT)),
        }
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        key(record, operation.begin(READ, READ_BACK_STATEMENT));
    }
}

/// `user` and the record's number hashed, so that neighbours stand apart (`insertorder=hashed`).
fn key(record: u64, values: &mut Values) {
    values.push_with(|out| {
        out.extend_from_slice(b"user");
        text::digits(out, text::fnv(record), 1);
    });
}
