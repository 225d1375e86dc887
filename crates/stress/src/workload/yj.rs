//! `yj 1|2|3`: Yahoo! Japan's comparison of 2018, a text key of 32 bytes, a timeuuid and a text of
//! 1 to 2 KB (10 to 20 KB at first: `--value 10-20KB`).
//!
//! Their profile is not published. Partitions have one row, as cassandra-stress makes them unless told
//! otherwise; a SELECT names the whole primary key; an INSERT writes a new row; the others take an
//! existing one, uniformly. A row that was deleted stays in the choice.

use bytes::BufMut;

use super::base::{Base, Description, Plan, create_keyspace};
use super::mix::Turn;
use super::{Error, Keys, Operation, Options, Sizes, Values, text};
use crate::random::{Random, mix};

/// SELECT, INSERT, UPDATE, DELETE.
const MIXES: [[u64; 4]; 3] = [[2, 1, 0, 0], [4, 1, 1, 1], [4, 1, 1, 0]];

/// They loaded nothing before; a run on nothing measures empty reads at first.
const RECORDS: u64 = 100_000;

const SIZES: Sizes = Sizes { min: 1 << 10, max: 2 << 10 };

/// Places of kinds and of statements.
const SELECT: usize = 0;
const INSERT: usize = 1;
const UPDATE: usize = 2;
const DELETE: usize = 3;
const KINDS: [&str; 4] = ["select", "insert", "update", "delete"];

/// 100-nanosecond steps from 1582-10-15 to 2018-11-06, the days of the talk.
const FIRST_TIME: u64 = 137_607_552_000_000_000;

struct YahooJapan {
    base: Base,
}

/// `words` follow `yj`.
pub fn yj(words: &[String], options: &Options) -> Result<impl Plan + use<>, Error> {
    let weights = match words {
        [case] => case.parse::<usize>().ok().and_then(|case| MIXES.get(case.checked_sub(1)?)),
        _ => None,
    };
    let Some(weights) = weights else {
        return Err(Error::new(
            "yj comes as yj 1 (select, insert 2:1), 2 (select, insert, update, delete 4:1:1:1) or 3 (select, insert, \
             update 4:1:1)",
        ));
    };
    let using = Base::using(options);
    let kinds = [0, 1, 2, 3].map(|kind| (KINDS[kind], weights[kind]));
    let statements = vec![
        ("SELECT column3 FROM pre07.foo WHERE column1 = ? AND column2 = ?".to_owned(), false),
        (format!("INSERT INTO pre07.foo (column1, column2, column3) VALUES (?, ?, ?){using}"), true),
        (format!("UPDATE pre07.foo{using} SET column3 = ? WHERE column1 = ? AND column2 = ?"), true),
        (format!("DELETE FROM pre07.foo{using} WHERE column1 = ? AND column2 = ?"), true),
    ];
    let table = "CREATE TABLE IF NOT EXISTS pre07.foo \
                 (column1 text, column2 timeuuid, column3 text, PRIMARY KEY (column1, column2))";
    let description = Description {
        name: format!("yj {}", words[0]),
        schema: vec![create_keyspace("pre07", options), table.to_owned()],
        statements,
        kinds: &kinds,
        records: RECORDS,
        keys: Keys::Uniform,
        cells: 1,
        sizes: SIZES,
    };
    Ok(YahooJapan { base: Base::new(description, options) })
}

impl YahooJapan {
    fn insert(&self, record: u64, sequence: u64, random: &mut Random, operation: &mut Operation) {
        let values = operation.begin(INSERT, INSERT);
        key(record, values);
        self.base.value(record, 0, sequence, random, values);
        self.base.timestamp(sequence, values);
        self.base.written(record, sequence, false, operation);
    }
}

impl Plan for YahooJapan {
    fn base(&self) -> &Base {
        &self.base
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        self.insert(record, self.base.load_sequence(record), &mut Base::load_random(record), operation);
    }

    fn make(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation) {
        let sequence = self.base.sequence(index);
        if turn.kind == INSERT {
            return self.insert(self.base.records + turn.number, sequence, random, operation);
        }
        let record = self.base.existing(turn, self.base.mix.settled(INSERT, index), random);
        let values = operation.begin(turn.kind, turn.kind);
        if turn.kind != SELECT {
            self.base.timestamp(sequence, values);
        }
        if turn.kind == UPDATE {
            self.base.value(record, 0, sequence, random, values);
        }
        key(record, values);
        if turn.kind != SELECT {
            self.base.written(record, sequence, turn.kind == DELETE, operation);
        }
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        key(record, operation.begin(SELECT, SELECT));
    }
}

/// 32 hexadecimal digits and the timeuuid: both follow from the record.
fn key(record: u64, values: &mut Values) {
    let high = mix(record ^ 0x796a);
    values.push_with(|out| {
        text::hex(out, high);
        text::hex(out, mix(high));
    });
    values.push_with(|out| {
        let time = FIRST_TIME + record * 10_000;
        out.put_u32(time as u32);
        out.put_u16((time >> 32) as u16);
        out.put_u16(0x1000 | (time >> 48) as u16 & 0x0fff);
        // A clock sequence and a node that are not multicast addresses of anyone's network card.
        out.put_u64(0x8000_0100_0000_0000 | high & 0x3fff_00ff_ffff_ffff);
    });
}
