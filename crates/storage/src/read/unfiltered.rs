//! A partition as it is stored (`UnfilteredRowIterator`): its deletion, its static row, then rows with their dead
//! cells and deletions, and where range tombstones begin and end, in clustering order or against it.
//!
//! For what replicas answer each other, digests, repair and streaming. Nothing that a stronger deletion covers comes
//! back, nothing is judged by a clock. One row and one range tombstone are held at a time, however large the partition.

mod covers;

use basalt_model::command::{ClusteringFilter, RowSelection};
use basalt_model::{Bound, BoundKind, Clustering, DecoratedKey, Deletion, Row, Slice, Table};

use super::ReadError;
use super::fetched::Fetched;
use super::partition::{EncodedRange, PartitionWalk};
use super::patience::Patience;
use super::projection::Projection;
use super::stored_row::StoredRow;
use crate::cells::HeadEntry;
use crate::engine::{Cursor, CursorOptions, EngineError, ReadTier, Reads};
use crate::keys::clustering::append_bound;
use crate::keys::{EntryKind, KeyError, PARTITION_END, append_partition};
use covers::Covers;

/// What a walk over a partition meets (`db/rows/Unfiltered`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfiltered {
    /// A row: what is live and what is dead of it.
    Row(Row),
    /// A place where a range tombstone begins or ends.
    Marker(Marker),
}

/// A place between rows where range tombstones begin, end or give way to each other (`db/rows/RangeTombstoneMarker`).
///
/// Every range that begins ends, with the same deletion, and within what was asked for. Before and after are those of
/// the clustering order, also when a partition is walked against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The values of clusterings that the place lies before or after.
    pub prefix: Clustering,
    /// It lies after all clusterings that begin with the prefix, else before them.
    pub is_after_prefix: bool,
    /// What deletes the rows before it; `LIVE` where nothing ends.
    pub ends: Deletion,
    /// What deletes the rows after it; `LIVE` where nothing begins.
    pub starts: Deletion,
}

impl Marker {
    /// The deletion of the range that ends here, in reading direction.
    pub fn closes(&self, is_reversed: bool) -> Deletion {
        if is_reversed { self.starts } else { self.ends }
    }

    /// The deletion of the range that begins here, in reading direction.
    pub fn opens(&self, is_reversed: bool) -> Deletion {
        if is_reversed { self.ends } else { self.starts }
    }

    /// Where `left` gives way to `right`: `at` is the bound of either, seen from its side.
    pub(super) fn between(at: Bound, left: Deletion, right: Deletion) -> Marker {
        let is_after_prefix = at.kind.is_after_prefix();
        Marker { prefix: at.prefix, is_after_prefix, ends: left, starts: right }
    }
}

/// What stands before a partition's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionStart {
    /// Its key.
    pub key: DecoratedKey,
    /// Deletion of the partition.
    pub deletion: Deletion,
    /// The static row, if there is anything of it.
    pub static_row: Option<Row>,
}

/// Whoever is shown what a walk meets; each answers whether to go on with this partition.
pub trait Visitor {
    /// What stands before the rows, first.
    ///
    /// # Errors
    /// End the walk.
    fn start(&mut self, start: PartitionStart) -> Result<bool, ReadError>;

    /// A row or marker, in reading order.
    ///
    /// # Errors
    /// End the walk.
    fn item(&mut self, item: Unfiltered) -> Result<bool, ReadError>;
}

/// What of one partition is walked over.
#[derive(Clone, Copy)]
pub struct PartitionRead<'a> {
    /// Its table.
    pub table: &'a Table,
    /// Which partition.
    pub key: &'a DecoratedKey,
    /// Which of its rows.
    pub filter: &'a ClusteringFilter,
    /// Which columns.
    pub fetched: &'a Fetched,
    /// Where to look.
    pub tier: ReadTier,
    /// Whether nobody waits any more: then the walk ends with [`ReadError::TimedOut`], also where it shows nothing.
    pub is_over: Option<&'a dyn Fn() -> bool>,
}

/// Walks over a partition. `reads` must be a view.
///
/// # Errors
/// As of [`super::read`], and what the visitor answers.
pub fn walk(reads: &dyn Reads, read: PartitionRead<'_>, visitor: &mut dyn Visitor) -> Result<(), ReadError> {
    let mut partition = Vec::new();
    append_partition(read.key, &mut partition);
    let mut lower = partition.clone();
    lower.push(EntryKind::Head as u8);
    let mut upper = partition.clone();
    upper.push(PARTITION_END);
    let options = CursorOptions { tier: read.tier, lower: &lower, upper: Some(&upper), fills_cache: true };
    let mut cursor = Patience::new(reads.cursor(read.table.id, options)?, read.is_over);
    let is_at = cursor.seek(&lower)?;
    let mut rows = PartitionWalk::new(read.table, &mut cursor, partition, is_at, true);
    walk_rows(reads, read, &mut rows, true, visitor)
}

/// Walks over the partition under `rows`; `resumes` leaves out what earlier pages returned.
pub(super) fn walk_rows(
    reads: &dyn Reads,
    read: PartitionRead<'_>,
    rows: &mut PartitionWalk<'_, '_>,
    resumes: bool,
    visitor: &mut dyn Visitor,
) -> Result<(), ReadError> {
    let PartitionRead { table, filter, fetched, .. } = read;
    let is_reversed = filter.reversed;
    let head = rows.head()?;
    let statics = Projection::everything(table, table.statics());
    let static_row = match rows.static_row()? {
        Some(row) => row.whole(table.id, head.deletion, &statics)?,
        None => None,
    };
    let static_row = static_row.and_then(|row| fetched.cut(row, true));
    let start = PartitionStart { key: read.key.clone(), deletion: head.deletion, static_row };
    if !visitor.start(start)? {
        return Ok(());
    }
    let regulars = Projection::everything(table, table.regulars());
    let mut covers = open_covers(reads, &read, rows.partition(), head)?;
    let mut row = StoredRow::default();
    for (slice, range) in slices(table, filter, resumes).map_err(ReadError::Command)? {
        if let Some(covers) = &mut covers {
            covers.start(slice, range.clone())?;
        }
        rows.start(&range, is_reversed)?;
        loop {
            let is_row = rows.next_row(&range, &mut row)?;
            let upto = is_row.then_some(row.key.as_slice());
            let mut covering = head.deletion;
            if let Some(covers) = &mut covers {
                while let Some(marker) = covers.marker_before(upto)? {
                    if !visitor.item(Unfiltered::Marker(marker))? {
                        return Ok(());
                    }
                }
                covering = covering.merge(covers.open());
            }
            if !is_row {
                break;
            }
            let whole = row.whole(table.id, covering, &regulars)?;
            if let Some(row) = whole.and_then(|row| fetched.cut(row, false))
                && !visitor.item(Unfiltered::Row(row))?
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn open_covers<'r>(
    reads: &'r dyn Reads,
    read: &PartitionRead<'r>,
    partition: &[u8],
    head: HeadEntry,
) -> Result<Option<Covers<'r>>, EngineError> {
    if !head.has_range_tombstones {
        return Ok(None);
    }
    let PartitionRead { table, filter, tier, is_over, .. } = *read;
    Covers::new(reads, table, partition, tier, is_over, head.deletion, filter.reversed).map(Some)
}

/// What is asked for of a partition as slices, in reading order, and their encoded bounds; `resumes` leaves out all up
/// to `resume_after` (`Slices.forPaging`).
fn slices(
    table: &Table,
    filter: &ClusteringFilter,
    resumes: bool,
) -> Result<Vec<(Slice, EncodedRange)>, KeyError> {
    let slices: Vec<Slice> = match &filter.rows {
        RowSelection::Names(names) => names.iter().cloned().map(Slice::of_prefix).collect(),
        RowSelection::Slices(slices) => slices.clone(),
    };
    let encode = |bound: &Bound| {
        let mut bytes = Vec::new();
        append_bound(table, bound, &mut bytes).map(|_| bytes)
    };
    let resume = filter.resume_after.as_ref().filter(|_| resumes).map(|clustering| {
        let kind = if filter.reversed { BoundKind::ExclusiveEnd } else { BoundKind::ExclusiveStart };
        Bound { kind, prefix: clustering.clone() }
    });
    let resume_at = resume.as_ref().map(encode).transpose()?;
    let mut found = Vec::with_capacity(slices.len());
    for mut slice in slices {
        let mut range = EncodedRange { lower: encode(&slice.start)?, upper: encode(&slice.end)? };
        if let (Some(bound), Some(at)) = (&resume, &resume_at) {
            if filter.reversed && range.upper > *at {
                (slice.end, range.upper) = (bound.clone(), at.clone());
            } else if !filter.reversed && range.lower < *at {
                (slice.start, range.lower) = (bound.clone(), at.clone());
            }
        }
        if range.lower < range.upper {
            found.push((slice, range));
        }
    }
    if filter.reversed {
        found.reverse();
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
