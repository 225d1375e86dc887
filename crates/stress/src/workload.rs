//! What is asked of the server: one workload, one file.
//!
//! A workload names its schema, its statements and its kinds of operation, and makes the operation
//! at any place of the plan. It knows nothing of time, connections or answers.

pub mod apm;
mod base;
mod keys;
mod mix;
mod named;
mod ndbench;
mod options;
mod tene;
mod text;
mod user;
mod ycsb;
mod yj;

pub use keys::Keys;
pub use named::{Error, named};
pub use options::{Options, Sizes};
pub(crate) use text::{ALPHABET, fill};

use bytes::{BufMut, BytesMut};

use crate::random::Random;
use crate::verify::Stamps;

/// What is asked of the server.
pub trait Workload: Send + Sync {
    /// Its name, as typed: `apm RW`.
    fn name(&self) -> &str;

    /// Statements that create its keyspace and tables where they are not there, in order.
    fn schema(&self) -> Vec<String>;

    /// Every statement that operations use; each is prepared on each connection.
    fn statements(&self) -> &[Statement];

    /// Kinds of operation, for the report: `read`, `insert`. An operation names one by its place.
    fn kinds(&self) -> &[String];

    /// How many records a load writes.
    fn records(&self) -> u64;

    /// Makes the write of one record of the load into `operation`, which comes cleared.
    fn load(&self, record: u64, operation: &mut Operation);

    /// Makes operation `index` of the run into `operation`, which comes cleared. `random` is the
    /// operation's own: the same seed and index give the same operation.
    fn next(&self, index: u64, random: &mut Random, operation: &mut Operation);

    /// Makes the request that reads a record back for `--verify` into `operation`, which comes
    /// cleared. Its answer has nothing but stamped values, in the order in which [`Stamps`] counts
    /// them. Called only where [`Workload::stamps`] gives some.
    fn read_back(&self, _record: u64, _operation: &mut Operation) {}

    /// The stamped values of a record; `None` when its values carry no stamps.
    fn stamps(&self) -> Option<Stamps> {
        None
    }
}

/// A statement to prepare.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its text.
    pub text: String,
    /// Whether it changes data.
    pub is_write: bool,
}

/// One request: the execution of a prepared statement, or a batch of several. It is used again and
/// again: [`Operation::clear`] keeps its buffers.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Its kind, a place in [`Workload::kinds`].
    pub kind: usize,
    /// The kind of batch, when it is one.
    pub batch: Option<BatchKind>,
    /// Rows of a page; `None` lets all come at once.
    pub page_size: Option<i32>,
    /// What it writes, for `--verify`.
    pub written: Option<Written>,
    /// Executions; those beyond `used` are left from earlier operations and keep their buffers.
    parts: Vec<Part>,
    used: usize,
}

impl Operation {
    /// Makes it of this kind and adds its first (mostly only) execution, to be given its values.
    pub fn begin(&mut self, kind: usize, statement: usize) -> &mut Values {
        self.kind = kind;
        self.add(statement)
    }

    /// Adds an execution, to be given its values: the next of a batch.
    pub fn add(&mut self, statement: usize) -> &mut Values {
        if self.used == self.parts.len() {
            self.parts.push(Part::default());
        }
        let part = &mut self.parts[self.used];
        self.used += 1;
        part.statement = statement;
        part.values.clear();
        &mut part.values
    }

    /// Its executions: one, or those of a batch.
    pub fn parts(&self) -> &[Part] {
        &self.parts[..self.used]
    }

    /// Forgets all, keeping the buffers.
    pub fn clear(&mut self) {
        self.kind = 0;
        self.batch = None;
        self.page_size = None;
        self.written = None;
        self.used = 0;
    }
}

/// One execution.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The statement, a place in [`Workload::statements`].
    pub statement: usize,
    /// Its values.
    pub values: Values,
}

/// Kinds of batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchKind {
    /// All or nothing.
    Logged,
    /// As they come.
    Unlogged,
    /// Of counters.
    Counter,
}

/// A write that `--verify` looks for afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The record written.
    pub record: u64,
    /// Grows with each write of a record; it is the write's timestamp too, so that the server orders
    /// writes as the plan does.
    pub sequence: u64,
    /// Whether the record is gone afterwards.
    pub is_delete: bool,
}

/// Values of an execution as a request carries them: `[int length][bytes]` each, kept in one buffer
/// that is used again and again.
#[derive(Clone, Debug, Default)]
pub struct Values {
    bytes: BytesMut,
    count: u16,
}

impl Values {
    /// Adds a value.
    pub fn push(&mut self, value: &[u8]) {
        self.push_with(|out| out.extend_from_slice(value));
    }

    /// Adds the value that `write` appends.
    pub fn push_with(&mut self, write: impl FnOnce(&mut BytesMut)) {
        let at = self.bytes.len();
        self.bytes.put_i32(0);
        write(&mut self.bytes);
        // Values are a few megabytes at most; the server's limits are far below 2 GiB.
        let length = (self.bytes.len() - at - 4) as i32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
        self.count += 1;
    }

    /// Adds null.
    pub fn push_null(&mut self) {
        self.bytes.put_i32(-1);
        self.count += 1;
    }

    /// Adds "unset": leave what is stored as it is.
    pub fn push_unset(&mut self) {
        self.bytes.put_i32(-2);
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u16 {
        self.count
    }

    /// As a request carries them, without their count.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets all, keeping the buffer.
    fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests;
