//! What all workloads with one kind of record have in common: names, mix, choice of records, and how
//! values are made. Knows no schema.

use bytes::BytesMut;

use super::keys::Chooser;
use super::mix::{Mix, Turn};
use super::{Keys, Operation, Options, Sizes, Statement, Values, Workload, Written, text};
use crate::random::Random;
use crate::verify::Stamps;

/// Records are loaded with values that follow from this and their number.
const LOAD_SEED: u64 = 0x6c6f_6164;

/// The common part of a workload.
pub struct Base {
    pub name: String,
    pub schema: Vec<String>,
    pub statements: Vec<Statement>,
    pub kinds: Vec<String>,
    pub mix: Mix,
    pub records: u64,
    pub verify: bool,
    chooser: Chooser,
    /// Of the record's values; a value's place among them is its column.
    pub stamps: Stamps,
    /// The sequence of the run's first operation; the load's are below.
    start: u64,
}

/// What a workload says of itself to make its [`Base`].
pub struct Description<'a> {
    pub name: String,
    pub schema: Vec<String>,
    /// Statements and whether they write.
    pub statements: Vec<(String, bool)>,
    /// Kinds and their weights; each is there, also with a weight of 0.
    pub kinds: &'a [(&'a str, u64)],
    pub records: u64,
    pub keys: Keys,
    /// Values of a record.
    pub cells: usize,
    /// Bytes of a value.
    pub sizes: Sizes,
}

impl Base {
    /// With what the options say over what the description says.
    pub fn new(description: Description<'_>, options: &Options) -> Base {
        let weights: Vec<u64> = description.kinds.iter().map(|(_, weight)| *weight).collect();
        let statement = |(text, is_write)| Statement { text, is_write };
        let records = options.records.unwrap_or(description.records);
        Base {
            name: description.name,
            schema: description.schema,
            statements: description.statements.into_iter().map(statement).collect(),
            kinds: description.kinds.iter().map(|(name, _)| (*name).to_owned()).collect(),
            mix: Mix::new(&weights, options.seed),
            records,
            verify: options.verify,
            chooser: Chooser::new(options.keys.unwrap_or(description.keys)),
            stamps: Stamps { cells: description.cells, sizes: options.value.unwrap_or(description.sizes) },
            start: u64::try_from(options.now_micros).unwrap_or(0),
        }
    }

    /// `USING TIMESTAMP ?` of statements that `--verify` looks after, or nothing.
    pub fn using(options: &Options) -> &'static str {
        if options.verify { " USING TIMESTAMP ?" } else { "" }
    }

    /// An existing record: a loaded one or one of the `added` inserted since.
    pub fn existing(&self, turn: Turn, added: u64, random: &mut Random) -> u64 {
        self.chooser.draw(turn.number, self.records, self.records + added, random)
    }

    /// The sequence number of the write at a place of the run.
    pub fn sequence(&self, index: u64) -> u64 {
        self.start + index
    }

    /// The sequence number of a record's write by the load: a microsecond a record, up to the start.
    pub fn load_sequence(&self, record: u64) -> u64 {
        self.start.saturating_sub(self.records) + record
    }

    /// What the load fills a record with.
    pub fn load_random(record: u64) -> Random {
        Random::at(LOAD_SEED, record)
    }

    /// Adds a value: random text, or a stamped one with `--verify`.
    pub fn value(&self, record: u64, column: usize, sequence: u64, random: &mut Random, values: &mut Values) {
        values.push_with(|out: &mut BytesMut| {
            if self.verify {
                self.stamps.put(record, column, sequence, out);
            } else {
                let length = self.stamps.sizes.of(random.next_u64());
                text::fill(out, length, random);
            }
        });
    }

    /// Adds the value of `USING TIMESTAMP ?` where there is one.
    pub fn timestamp(&self, sequence: u64, values: &mut Values) {
        if self.verify {
            values.push(&sequence.to_be_bytes());
        }
    }

    /// Remembers a write for `--verify`.
    pub fn written(&self, record: u64, sequence: u64, is_delete: bool, operation: &mut Operation) {
        operation.written = self.verify.then_some(Written { record, sequence, is_delete });
    }
}

/// A workload of which all but its operations is in its base.
pub trait Plan: Send + Sync {
    /// The common part.
    fn base(&self) -> &Base;

    /// As [`Workload::load`].
    fn load(&self, record: u64, operation: &mut Operation);

    /// As [`Workload::next`], with the turn that is due.
    fn make(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation);

    /// As [`Workload::read_back`].
    fn read_back(&self, record: u64, operation: &mut Operation);
}

impl<T: Plan> Workload for T {
    fn name(&self) -> &str {
        &self.base().name
    }

    fn schema(&self) -> Vec<String> {
        self.base().schema.clone()
    }

    fn statements(&self) -> &[Statement] {
        &self.base().statements
    }

    fn kinds(&self) -> &[String] {
        &self.base().kinds
    }

    fn records(&self) -> u64 {
        self.base().records
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        Plan::load(self, record, operation);
    }

    fn next(&self, index: u64, random: &mut Random, operation: &mut Operation) {
        self.make(self.base().mix.at(index), index, random, operation);
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        Plan::read_back(self, record, operation);
    }

    fn stamps(&self) -> Option<Stamps> {
        self.base().verify.then_some(self.base().stamps)
    }
}

/// `CREATE KEYSPACE IF NOT EXISTS` with SimpleStrategy.
pub fn create_keyspace(name: &str, options: &Options) -> String {
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = \
         {{'class': 'SimpleStrategy', 'replication_factor': {}}}",
        options.replication.unwrap_or(1)
    )
}
