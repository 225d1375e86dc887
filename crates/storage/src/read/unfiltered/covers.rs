//! The range tombstones of a partition in reading order, cut to what was asked for, and the markers they make
//! (`RowAndDeletionMergeIterator`).
//!
//! Stored they are disjoint: at most one is open at any place.

use basalt_model::{Bound, BoundKind, Deletion, Slice, Table};
use bytes::Bytes;

use super::Marker;
use crate::cells::RangeTombstoneEntry;
use crate::engine::{Cursor, EngineError, ReadTier, Reads};
use crate::keys::clustering::decode_bound;
use crate::read::InTable;
use crate::read::partition::EncodedRange;
use crate::read::patience::Patience;
use crate::read::tombstones;

/// One end of a range tombstone.
#[derive(Clone, Debug)]
struct Edge {
    /// Encoded.
    at: Vec<u8>,
    bound: Bound,
}

/// A range tombstone, or what is asked for of it. Start and end are those of the clustering order.
#[derive(Clone, Debug)]
struct Cover {
    start: Edge,
    end: Edge,
    deletion: Deletion,
}

impl Cover {
    /// Where it begins, in reading direction.
    fn first(&self, is_reversed: bool) -> &Edge {
        if is_reversed { &self.end } else { &self.start }
    }

    /// Where it ends, in reading direction.
    fn last(&self, is_reversed: bool) -> &Edge {
        if is_reversed { &self.start } else { &self.end }
    }
}

/// Range tombstones under a cursor, and which of them is open.
pub struct Covers<'r> {
    table: &'r Table,
    cursor: Patience<'r>,
    /// Partition and kind: what their keys begin with.
    area: Vec<u8>,
    /// What deletes no more than the partition's deletion makes no marker.
    partition_deletion: Deletion,
    is_reversed: bool,
    slice: Slice,
    range: EncodedRange,
    /// The cursor is at an entry that was not taken yet.
    is_at: bool,
    /// Those of the entry taken last, the next at the end.
    queue: Vec<Cover>,
    /// Where the last one that was stored ended, in reading direction.
    reached: Option<Vec<u8>>,
    open: Option<Cover>,
    next: Option<Cover>,
}

impl<'r> Covers<'r> {
    /// Of `partition`, what the keys of its entries begin with.
    pub fn new(
        reads: &'r dyn Reads,
        table: &'r Table,
        partition: &[u8],
        tier: ReadTier,
        is_over: Option<&'r dyn Fn() -> bool>,
        partition_deletion: Deletion,
        is_reversed: bool,
    ) -> Result<Covers<'r>, EngineError> {
        let (area, cursor) = tombstones::under_cursor(reads, table, partition, tier, is_over)?;
        Ok(Covers {
            table,
            cursor,
            area,
            partition_deletion,
            is_reversed,
            slice: Slice::all(),
            range: EncodedRange { lower: Vec::new(), upper: Vec::new() },
            is_at: false,
            queue: Vec::new(),
            reached: None,
            open: None,
            next: None,
        })
    }

    /// To the first that reaches into a slice. All of the last slice's markers must have been taken.
    pub fn start(&mut self, slice: Slice, range: EncodedRange) -> Result<(), EngineError> {
        debug_assert!(self.open.is_none(), "a slice ends with what is open in it");
        let edge = if self.is_reversed { &range.upper } else { &range.lower };
        let at = [self.area.as_slice(), edge].concat();
        self.is_at = self.cursor.seek_for_prev(&at)?;
        if !self.is_at && !self.is_reversed {
            self.is_at = self.cursor.seek(&at)?;
        }
        (self.slice, self.range) = (slice, range);
        self.queue.clear();
        self.reached = None;
        self.next = None;
        Ok(())
    }

    /// What covers the place that was asked for last; `LIVE` for nothing beyond the partition's deletion.
    pub fn open(&self) -> Deletion {
        self.open.as_ref().map_or(Deletion::LIVE, |cover| cover.deletion)
    }

    /// The next marker that stands before the row at `upto`, an encoded clustering, or in what is left of the slice.
    pub fn marker_before(&mut self, upto: Option<&[u8]>) -> Result<Option<Marker>, EngineError> {
        let is_reversed = self.is_reversed;
        let is_before = |edge: &Edge| {
            upto.is_none_or(
                |row| if is_reversed { edge.at.as_slice() > row } else { edge.at.as_slice() < row },
            )
        };
        loop {
            if self.open.as_ref().is_some_and(|open| !is_before(open.last(is_reversed))) {
                return Ok(None);
            }
            if self.next.is_none() {
                self.next = self.take()?;
            }
            let Some(open) = self.open.take() else {
                let Some(next) = self.next.take_if(|next| is_before(next.first(is_reversed))) else {
                    return Ok(None);
                };
                let at = next.first(is_reversed).bound.clone();
                let deletion = next.deletion;
                self.open = Some(next);
                return Ok(Some(self.marker(at, Deletion::LIVE, deletion)));
            };
            let last = open.last(is_reversed);
            self.open = self.next.take_if(|next| next.first(is_reversed).at == last.at);
            let opens = self.open();
            // Neighbours that delete the same are one.
            if opens != open.deletion {
                return Ok(Some(self.marker(last.bound.clone(), open.deletion, opens)));
            }
        }
    }

    fn marker(&self, at: Bound, closes: Deletion, opens: Deletion) -> Marker {
        let (left, right) = if self.is_reversed { (opens, closes) } else { (closes, opens) };
        Marker::between(at, left, right)
    }

    /// The next one that deletes something of the slice, cut to it.
    fn take(&mut self) -> Result<Option<Cover>, EngineError> {
        loop {
            let Some(mut cover) = self.queue.pop() else {
                if !self.is_at {
                    return Ok(None);
                }
                self.fill()?;
                self.is_at = if self.is_reversed { self.cursor.prev()? } else { self.cursor.next()? };
                continue;
            };
            self.check_disjoint(&cover)?;
            let is_beyond = match self.is_reversed {
                true => cover.end.at <= self.range.lower,
                false => cover.start.at >= self.range.upper,
            };
            if is_beyond {
                // So is everything behind it.
                self.is_at = false;
                self.queue.clear();
                return Ok(None);
            }
            let is_before = cover.end.at <= self.range.lower || cover.start.at >= self.range.upper;
            if is_before || !cover.deletion.supersedes(self.partition_deletion) {
                continue;
            }
            if cover.start.at < self.range.lower {
                cover.start = Edge { at: self.range.lower.clone(), bound: self.slice.start.clone() };
            }
            if cover.end.at > self.range.upper {
                cover.end = Edge { at: self.range.upper.clone(), bound: self.slice.end.clone() };
            }
            return Ok(Some(cover));
        }
    }

    fn check_disjoint(&mut self, cover: &Cover) -> Result<(), EngineError> {
        let first = &cover.first(self.is_reversed).at;
        let overlaps = |reached: &Vec<u8>| if self.is_reversed { first > reached } else { first < reached };
        if self.reached.as_ref().is_some_and(overlaps) {
            let detail = "range tombstones of a partition overlap".to_owned();
            return Err(EngineError::Corruption { table: Some(self.table.id), detail });
        }
        self.reached = Some(cover.last(self.is_reversed).at.clone());
        Ok(())
    }

    /// Takes the entry under the cursor: of those that start at one place the weaker go on where the stronger end.
    fn fill(&mut self) -> Result<(), EngineError> {
        let id = self.table.id;
        let key = self.cursor.key().get(self.area.len()..).unwrap_or_default();
        let value = Bytes::copy_from_slice(self.cursor.value());
        let mut start: Option<Edge> = None;
        for item in RangeTombstoneEntry::parse(&value).in_table(id)?.covered {
            let mut slice = Slice {
                start: decode_bound(self.table, key, true).in_table(id)?,
                end: decode_bound(self.table, item.end, false).in_table(id)?,
            };
            item.restore(&value, &mut slice).in_table(id)?;
            let end = Edge { at: item.end.to_vec(), bound: slice.end };
            let behind = Edge { at: end.at.clone(), bound: inverted(&end.bound) };
            let start =
                start.replace(behind).unwrap_or_else(|| Edge { at: key.to_vec(), bound: slice.start });
            self.queue.push(Cover { start, end, deletion: item.deletion });
        }
        if !self.is_reversed {
            self.queue.reverse();
        }
        Ok(())
    }
}

/// The same place as the bound of what begins there.
fn inverted(end: &Bound) -> Bound {
    let kind = if end.kind.is_after_prefix() { BoundKind::ExclusiveStart } else { BoundKind::InclusiveStart };
    Bound { kind, prefix: end.prefix.clone() }
}
