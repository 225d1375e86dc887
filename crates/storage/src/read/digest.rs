//! What replicas compare instead of their answers: MD5 over an answer as Cassandra says it (`Digest.forReadResponse`,
//! `UnfilteredRowIterators.digest`).
//!
//! When a replica learnt of a deletion is not part of it. Knows no engine: it takes what [`super::response`] hands out.

use basalt_model::{Cell, Clustering, Deletion, Liveness, ReadCommand, Row};
use md5::{Digest, Md5};

use super::fetched::{Fetched, FetchedColumn, shows_static_only};
use super::filter::Conditions;
use super::response::{Purging, Receiver, respond};
use super::unfiltered::{Marker, PartitionStart, Unfiltered};
use super::{ReadError, ReadOptions};
use crate::engine::Reads;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 16;

/// The number of `ClusteringPrefix.Kind` that a place has.
mod kind {
    pub const EXCLUSIVE_END: u8 = 0;
    pub const INCLUSIVE_START: u8 = 1;
    pub const EXCLUSIVE_END_INCLUSIVE_START: u8 = 2;
    pub const STATIC: u8 = 3;
    pub const CLUSTERING: u8 = 4;
    pub const INCLUSIVE_END_EXCLUSIVE_START: u8 = 5;
    pub const INCLUSIVE_END: u8 = 6;
    pub const EXCLUSIVE_START: u8 = 7;
}

/// The number of `Unfiltered.Kind.ROW`.
const ROW: u8 = 0;

/// The digest of the answer to a command. `reads` must be a view.
///
/// # Errors
/// As of [`super::read`].
pub fn of_response(
    reads: &dyn Reads,
    command: &ReadCommand,
    purging: Purging,
    options: &ReadOptions<'_>,
) -> Result<[u8; DIGEST_BYTES], ReadError> {
    let mut digest = ReadDigest::new(command);
    respond(reads, command, purging, options, &mut digest)?;
    Ok(digest.finish())
}

/// A digest being made of an answer.
pub struct ReadDigest {
    md5: Md5,
    fetched: Fetched,
    is_reversed: bool,
}

impl ReadDigest {
    /// Of nothing yet.
    pub fn new(command: &ReadCommand) -> ReadDigest {
        let has_row_conditions = Conditions::new(command).has_row_conditions();
        let shows_static_only = shows_static_only(command, has_row_conditions);
        ReadDigest {
            md5: Md5::new(),
            fetched: Fetched::of(&command.table, &command.columns, shows_static_only),
            is_reversed: command.target.filter().reversed,
        }
    }

    /// The digest of what was taken.
    pub fn finish(self) -> [u8; DIGEST_BYTES] {
        self.md5.finalize().into()
    }

    fn byte(&mut self, byte: u8) {
        self.md5.update([byte]);
    }

    fn long(&mut self, value: i64) {
        self.md5.update(value.to_be_bytes());
    }

    /// Cassandra writes a zero for what is true.
    fn flag(&mut self, is_true: bool) {
        self.byte(u8::from(!is_true));
    }

    fn clustering(&mut self, clustering: &Clustering, kind: u8) {
        for value in clustering.0.iter().flatten() {
            self.md5.update(value);
        }
        self.byte(kind);
    }

    fn deletion(&mut self, deletion: Deletion) {
        self.long(deletion.timestamp);
    }

    fn liveness(&mut self, liveness: Liveness) {
        self.long(liveness.timestamp);
        if liveness.is_expiring() {
            // Of later times than 32 bits hold Cassandra takes the low ones.
            self.md5.update((liveness.expires_at_s as u32).to_be_bytes());
            self.md5.update(liveness.ttl_s.to_be_bytes());
        }
    }

    fn names(&mut self, is_static: bool) {
        for column in self.fetched.columns(is_static) {
            self.md5.update(column.name.as_bytes());
        }
    }

    fn row(&mut self, row: &Row, is_static: bool) {
        self.byte(ROW);
        self.clustering(&row.clustering, if is_static { kind::STATIC } else { kind::CLUSTERING });
        self.deletion(row.deletion);
        // No deletion of ours is one of a materialized view.
        self.flag(false);
        self.liveness(row.liveness);
        let md5 = &mut self.md5;
        for column in self.fetched.columns(is_static) {
            let deletion = row.complex_deletions.iter().find(|(id, _)| *id == column.id);
            if let Some((_, deletion)) = deletion {
                md5.update(deletion.timestamp.to_be_bytes());
            }
            for cell in row.cells_of(column.id) {
                update_cell(md5, column, cell);
            }
        }
    }

    fn marker(&mut self, marker: &Marker) {
        let (ends, starts) = (!marker.ends.is_live(), !marker.starts.is_live());
        let kind = match (marker.is_after_prefix, ends, starts) {
            (false, true, true) => kind::EXCLUSIVE_END_INCLUSIVE_START,
            (true, true, true) => kind::INCLUSIVE_END_EXCLUSIVE_START,
            (false, true, false) => kind::EXCLUSIVE_END,
            (true, true, false) => kind::INCLUSIVE_END,
            (false, false, _) => kind::INCLUSIVE_START,
            (true, false, _) => kind::EXCLUSIVE_START,
        };
        self.clustering(&marker.prefix, kind);
        for deletion in [marker.ends, marker.starts] {
            if !deletion.is_live() {
                self.deletion(deletion);
            }
        }
    }
}

fn update_cell(md5: &mut Md5, column: &FetchedColumn, cell: &Cell) {
    let is_counter = column.is_counter && !cell.is_tombstone();
    let value = if is_counter { behind_header(&cell.value) } else { &cell.value };
    md5.update(value);
    md5.update(cell.timestamp.to_be_bytes());
    md5.update(cell.ttl_s.to_be_bytes());
    md5.update([u8::from(!is_counter)]);
    if let Some(path) = &cell.path {
        md5.update(path);
    }
}

/// The shards of a counter's context: what its header says concerns one node only.
fn behind_header(context: &[u8]) -> &[u8] {
    let Some((count, rest)) = context.split_first_chunk::<2>() else { return &[] };
    let marks = usize::from(i16::from_be_bytes(*count).unsigned_abs());
    rest.get(marks * 2..).unwrap_or_default()
}

impl Receiver for ReadDigest {
    fn partition(&mut self, start: PartitionStart) {
        self.md5.update(&start.key.key);
        self.deletion(start.deletion);
        self.names(false);
        if start.static_row.is_some() {
            self.names(true);
        }
        self.flag(self.is_reversed);
        self.row(&start.static_row.unwrap_or_else(|| Row::new(Clustering::empty())), true);
    }

    fn item(&mut self, item: Unfiltered) {
        match item {
            Unfiltered::Row(row) => self.row(&row, false),
            Unfiltered::Marker(marker) => self.marker(&marker),
        }
    }
}
