//! What a replica answers a read with (`ReadCommand.executeLocally`): partitions as they are stored, without the
//! tombstones that may be purged, filtered and limited by the command.
//!
//! What clients are shown is a filter over it: [`live`] of each row. Of the row filter the rule for reads of a single
//! replica is applied: a row that does not meet it does not come.

use std::ops::Not;

use basalt_model::command::{KeyBound, ReadTarget};
use basalt_model::deletion::NO_TTL;
use basalt_model::{Cell, Clustering, Deletion, Liveness, ReadCommand, Row};
use bytes::Bytes;

use super::fetched::{Fetched, shows_static_only};
use super::filter::Conditions;
use super::partition::PartitionWalk;
use super::patience::Patience;
use super::unfiltered::{Marker, PartitionRead, PartitionStart, Unfiltered, Visitor, walk, walk_rows};
use super::{InTable, ROWS_PER_LOOK, ReadError, ReadOptions};
use crate::engine::{Cursor, CursorOptions, Reads};
use crate::keys::{decode_partition, range_end, range_start, split};

/// When what is dead may be left out of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purging {
    /// The moment expiry is judged at.
    pub now_s: i64,
    /// Of the dead, what died before this is left out: `now_s` without `gc_grace_seconds`.
    pub gc_before_s: i64,
}

impl Purging {
    /// Of a command, by its table's `gc_grace_seconds`.
    pub fn of(command: &ReadCommand) -> Purging {
        let grace_s = i64::from(command.table.options.gc_grace_seconds);
        Purging { now_s: command.now_s, gc_before_s: command.now_s.saturating_sub(grace_s) }
    }

    /// A deletion, unless it may go (`DeletionPurger.shouldPurge`).
    fn deletion(self, deletion: Deletion) -> Deletion {
        if deletion.local_time_s < self.gc_before_s { Deletion::LIVE } else { deletion }
    }

    /// What is left of a row (`BTreeRow.purge`). What has expired becomes the tombstone that it is to everyone.
    pub fn row(self, mut row: Row) -> Option<Row> {
        let liveness = row.liveness;
        if !liveness.is_live(self.now_s) && liveness.expires_at_s < self.gc_before_s {
            row.liveness = Liveness::NONE;
        }
        row.deletion = self.deletion(row.deletion);
        row.complex_deletions.retain(|(_, deletion)| !self.deletion(*deletion).is_live());
        row.cells.retain_mut(|cell| self.keeps(cell));
        row.is_empty().not().then_some(row)
    }

    /// Whether a cell stays (`AbstractCell.purge`).
    fn keeps(self, cell: &mut Cell) -> bool {
        if cell.is_live(self.now_s) {
            return true;
        }
        if cell.is_expiring() {
            cell.local_deletion_time_s = cell.local_deletion_time_s.saturating_sub(i64::from(cell.ttl_s));
            cell.ttl_s = NO_TTL;
            cell.value = Bytes::new();
        }
        cell.local_deletion_time_s >= self.gc_before_s
    }

    /// What is left of a marker (`PurgeFunction.applyToMarker`).
    fn marker(self, marker: Marker) -> Option<Marker> {
        let (ends, starts) = (self.deletion(marker.ends), self.deletion(marker.starts));
        (!ends.is_live() || !starts.is_live()).then_some(Marker { ends, starts, ..marker })
    }
}

/// What a client sees of a row at `now_s`: what is alive. `None` when nothing makes the row exist.
pub fn live(row: &Row, now_s: i64) -> Option<Row> {
    if !row.is_live(now_s) {
        return None;
    }
    let mut live = Row::new(row.clustering.clone());
    if row.liveness.is_live(now_s) {
        live.liveness = row.liveness;
    }
    live.cells.extend(row.cells.iter().filter(|cell| cell.is_live(now_s)).cloned());
    Some(live)
}

/// Whoever takes an answer: each partition that has anything, then its rows and markers.
pub trait Receiver {
    /// What stands before the rows.
    fn partition(&mut self, start: PartitionStart);

    /// A row or marker, in reading order.
    fn item(&mut self, item: Unfiltered);
}

/// Answers a command. `reads` must be a view. A page's bytes are not limited: nothing is gathered here.
///
/// # Errors
/// As of [`super::read`].
pub fn respond(
    reads: &dyn Reads,
    command: &ReadCommand,
    purging: Purging,
    options: &ReadOptions<'_>,
    receiver: &mut dyn Receiver,
) -> Result<(), ReadError> {
    let conditions = Conditions::new(command);
    let shows_static_only = shows_static_only(command, conditions.has_row_conditions());
    let fetched = Fetched::of(&command.table, &command.columns, shows_static_only);
    let limits = &command.limits;
    let mut responder = Responder {
        command,
        options,
        purging,
        conditions,
        shows_static_only,
        rows_per_partition: if limits.distinct { 1 } else { limits.rows_per_partition },
        is_reversed: command.target.filter().reversed,
        receiver,
        rows: 0,
        tombstones: 0,
        until_look: 0,
        is_first: true,
        partition: Partition::NONE,
    };
    match &command.target {
        ReadTarget::Partition { key, filter } => {
            let (table, fetched) = (&command.table, &fetched);
            let (tier, is_over) = (options.tier, options.is_over);
            let read = PartitionRead { table, key, filter, fetched, tier, is_over };
            walk(reads, read, &mut responder)?;
            responder.end();
        }
        ReadTarget::Range { .. } => respond_range(reads, &fetched, &mut responder)?,
    }
    Ok(())
}

fn respond_range(
    reads: &dyn Reads,
    fetched: &Fetched,
    responder: &mut Responder<'_>,
) -> Result<(), ReadError> {
    let command = responder.command;
    let (table, tier) = (&command.table, responder.options.tier);
    let ReadTarget::Range { range, filter } = &command.target else { return Ok(()) };
    let (lower, upper) = (range_start(&range.start), range_end(&range.end));
    if upper.as_ref().is_some_and(|upper| *upper <= lower) {
        return Ok(());
    }
    let options = CursorOptions { tier, lower: &lower, upper: upper.as_deref(), fills_cache: true };
    let mut cursor = Patience::new(reads.cursor(table.id, options)?, responder.options.is_over);
    let mut is_at = cursor.seek(&lower)?;
    while is_at && !responder.is_full() {
        let partition = split(cursor.key()).in_table(table.id)?.partition.to_vec();
        let key = decode_partition(&partition).in_table(table.id)?;
        // Earlier pages can only have ended in the partition the range starts at.
        let is_first = matches!(&range.start, KeyBound::Key { key: first, inclusive: true } if *first == key);
        responder.is_first = is_first;
        let is_over = responder.options.is_over;
        let read = PartitionRead { table, key: &key, filter, fetched, tier, is_over };
        let mut rows = PartitionWalk::new(table, &mut cursor, partition, true, true);
        walk_rows(reads, read, &mut rows, is_first, responder)?;
        responder.end();
        is_at = rows.leave()?;
    }
    Ok(())
}

/// Where a partition's answer stands.
struct Partition {
    /// Not shown to the receiver yet: that happens with the first thing behind it.
    start: Option<PartitionStart>,
    /// It would count as a row if it had none.
    counts_static: bool,
    /// Rows counted, those of earlier pages too.
    rows: u32,
    /// The range tombstone that is open.
    open: Deletion,
}

impl Partition {
    const NONE: Partition = Partition { start: None, counts_static: false, rows: 0, open: Deletion::LIVE };
}

/// What an answer passes through on its way to the receiver.
struct Responder<'r> {
    command: &'r ReadCommand,
    options: &'r ReadOptions<'r>,
    purging: Purging,
    conditions: Conditions<'r>,
    shows_static_only: bool,
    rows_per_partition: u32,
    is_reversed: bool,
    receiver: &'r mut dyn Receiver,
    /// Live rows in all.
    rows: u32,
    tombstones: u32,
    /// Rows, markers and partitions until the next look at the clock.
    until_look: u32,
    /// Earlier pages may have ended in the partition that comes next.
    is_first: bool,
    partition: Partition,
}

impl Responder<'_> {
    fn is_full(&self) -> bool {
        self.rows >= self.command.limits.rows
    }

    fn pass(&mut self) -> Result<(), ReadError> {
        let Some(is_over) = self.options.is_over else { return Ok(()) };
        if self.until_look > 0 {
            self.until_look -= 1;
            return Ok(());
        }
        self.until_look = ROWS_PER_LOOK - 1;
        if is_over() { Err(ReadError::TimedOut) } else { Ok(()) }
    }

    fn count_tombstones(&mut self, count: u32) -> Result<(), ReadError> {
        self.tombstones = self.tombstones.saturating_add(count);
        if self.tombstones > self.options.tombstone_failure_threshold {
            return Err(ReadError::TombstoneOverwhelming { scanned: self.tombstones });
        }
        Ok(())
    }

    /// Counts as `ReadCommand.withMetricsRecording` does: after what may be purged has gone.
    fn count_dead(&mut self, row: &Row) -> Result<(), ReadError> {
        let dead = row.cells.iter().filter(|cell| !cell.is_live(self.command.now_s)).count();
        let is_dead = dead == 0 && !row.is_live(self.command.now_s);
        self.count_tombstones(u32::try_from(dead).unwrap_or(u32::MAX).max(u32::from(is_dead)))
    }

    fn send(&mut self, item: Unfiltered) {
        if let Some(start) = self.partition.start.take() {
            self.receiver.partition(start);
        }
        self.receiver.item(item);
    }

    /// Ends the range tombstone that the limits cut at this row (`RTBoundCloser`).
    fn close_at(&mut self, prefix: Clustering) {
        let open = std::mem::replace(&mut self.partition.open, Deletion::LIVE);
        if !open.is_live() {
            let is_after_prefix = !self.is_reversed;
            let (ends, starts) =
                if self.is_reversed { (Deletion::LIVE, open) } else { (open, Deletion::LIVE) };
            self.send(Unfiltered::Marker(Marker { prefix, is_after_prefix, ends, starts }));
        }
    }

    /// Ends a partition: it comes if anything of it is there.
    fn end(&mut self) {
        let partition = std::mem::replace(&mut self.partition, Partition::NONE);
        if partition.counts_static && partition.rows == 0 {
            self.rows += 1;
        }
        if let Some(start) = partition.start
            && !self.conditions.has_row_conditions()
            && (start.static_row.is_some() || !start.deletion.is_live())
        {
            self.receiver.partition(start);
        }
    }

    fn row(&mut self, row: Row) -> Result<bool, ReadError> {
        let Some(row) = self.purging.row(row) else { return Ok(true) };
        self.count_dead(&row)?;
        let is_live = row.is_live(self.command.now_s);
        if self.conditions.has_row_conditions() {
            let is_met = |live: Row| self.conditions.accept_row(&live);
            if !live(&row, self.command.now_s).is_some_and(is_met) {
                return Ok(true);
            }
        }
        let is_last = is_live
            && (self.rows + 1 >= self.command.limits.rows
                || self.partition.rows + 1 >= self.rows_per_partition);
        let clustering = is_last.then(|| row.clustering.clone());
        self.send(Unfiltered::Row(row));
        self.rows += u32::from(is_live);
        self.partition.rows += u32::from(is_live);
        if let Some(clustering) = clustering {
            self.close_at(clustering);
        }
        Ok(!is_last)
    }
}

impl Visitor for Responder<'_> {
    fn start(&mut self, mut start: PartitionStart) -> Result<bool, ReadError> {
        self.pass()?;
        start.deletion = self.purging.deletion(start.deletion);
        start.static_row = start.static_row.and_then(|row| self.purging.row(row));
        if let Some(row) = &start.static_row {
            self.count_dead(row)?;
        }
        let shown = start.static_row.as_ref().and_then(|row| live(row, self.command.now_s));
        let rows = if self.is_first { self.command.limits.returned_of_first_partition } else { 0 };
        if self.is_full()
            || rows >= self.rows_per_partition
            || !self.conditions.accept_partition(&start.key, shown.as_ref())
        {
            return Ok(false);
        }
        let counts_static = self.shows_static_only && shown.is_some() && rows == 0;
        self.partition = Partition { start: Some(start), counts_static, rows, open: Deletion::LIVE };
        Ok(true)
    }

    fn item(&mut self, item: Unfiltered) -> Result<bool, ReadError> {
        self.pass()?;
        match item {
            Unfiltered::Row(row) => self.row(row),
            Unfiltered::Marker(marker) => {
                if let Some(marker) = self.purging.marker(marker) {
                    self.count_tombstones(1)?;
                    self.partition.open = marker.opens(self.is_reversed);
                    self.send(Unfiltered::Marker(marker));
                }
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests;
