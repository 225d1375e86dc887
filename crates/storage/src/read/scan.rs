//! Reads with cursors: a partition, or all partitions of a range.

use basalt_model::command::{ClusteringFilter, KeyBound, KeyRange};
use basalt_model::{DecoratedKey, Deletion};

use super::collect::{Collector, Flow, OpenPartition};
use super::partition::{EncodedRange, PartitionWalk};
use super::patience::Patience;
use super::ranges::ranges;
use super::stored_row::StoredRow;
use super::tombstones::TombstoneWalk;
use super::{InTable, ReadError};
use crate::engine::{Cursor, CursorOptions, Reads};
use crate::keys::{
    EntryKind, PARTITION_END, append_partition, decode_partition, range_end, range_start, split,
};

/// How reading a partition ended.
#[derive(PartialEq, Eq)]
enum PartitionEnd {
    /// All of it that the command asks for was read.
    Read,
    /// The page is full.
    PageFull,
    /// It has range tombstones and `reads` is not of one moment.
    NeedsView,
}

/// Which rows of a partition are read.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// In reading order.
    rows: &'a [EncodedRange],
    reversed: bool,
}

/// Reads one partition; `false` when it has range tombstones and `reads` is not a view. `may_have_heads` says whether partitions of
/// the table may have heads, and is asked again: else rows are looked for at once.
pub fn partition(
    reads: &dyn Reads,
    collector: &mut Collector<'_>,
    key: &DecoratedKey,
    filter: &ClusteringFilter,
    is_view: bool,
    may_have_heads: &dyn Fn() -> bool,
) -> Result<bool, ReadError> {
    let mut partition = Vec::with_capacity(key.key.len() + 16);
    append_partition(key, &mut partition);
    let mut lower = partition.clone();
    lower.push(EntryKind::Head as u8);
    let mut upper = partition.clone();
    upper.push(PARTITION_END);
    let options =
        CursorOptions { tier: collector.tier, lower: &lower, upper: Some(&upper), fills_cache: true };
    let table = &collector.command.table;
    let rows = ranges(table, filter, true).map_err(ReadError::Command)?;
    let begins_with_rows = !collector.reads_static && !may_have_heads();
    let mut cursor = Patience::new(reads.cursor(table.id, options)?, collector.is_over);
    let is_at = match rows.first() {
        // Asked again: the cursor may see a write that came meanwhile, with the table's first head.
        Some(first) if begins_with_rows && !may_have_heads() => {
            lower.pop();
            lower.push(EntryKind::Row as u8);
            lower.extend_from_slice(&first.lower);
            // Backwards the walk looks for the end of its range itself.
            !filter.reversed && cursor.seek(&lower)?
        }
        _ => cursor.seek(&lower)?,
    };
    let mut walk = PartitionWalk::new(table, &mut cursor, partition, is_at, collector.has_paths());
    let asked = Asked { rows: &rows, reversed: filter.reversed };
    let end = read_partition(reads, collector, &mut walk, key, asked, is_view, true)?;
    Ok(end != PartitionEnd::NeedsView)
}

/// Reads the partitions of a range until the page is full. `reads` is a view.
pub fn range(
    reads: &dyn Reads,
    collector: &mut Collector<'_>,
    range: &KeyRange,
    filter: &ClusteringFilter,
) -> Result<(), ReadError> {
    let table = &collector.command.table;
    let lower = range_start(&range.start);
    let upper = range_end(&range.end);
    if upper.as_ref().is_some_and(|upper| *upper <= lower) {
        return Ok(());
    }
    let options = CursorOptions {
        tier: collector.tier,
        lower: &lower,
        upper: upper.as_deref(),
        fills_cache: collector.command.limits.rows < u32::MAX,
    };
    let rows = ranges(table, filter, false).map_err(ReadError::Command)?;
    let rows_of_first = ranges(table, filter, true).map_err(ReadError::Command)?;
    let mut cursor = Patience::new(reads.cursor(table.id, options)?, collector.is_over);
    let mut is_at = cursor.seek(&lower)?;
    while is_at {
        let partition = split(cursor.key()).in_table(table.id)?.partition.to_vec();
        let key = decode_partition(&partition).in_table(table.id)?;
        // Earlier pages can only have ended in the partition the range starts at.
        let is_first = matches!(&range.start, KeyBound::Key { key: first, inclusive: true } if *first == key);
        let mut walk = PartitionWalk::new(table, &mut cursor, partition, true, collector.has_paths());
        let rows = if is_first { &rows_of_first } else { &rows };
        let asked = Asked { rows, reversed: filter.reversed };
        match read_partition(reads, collector, &mut walk, &key, asked, true, is_first)? {
            PartitionEnd::PageFull => break,
            PartitionEnd::Read | PartitionEnd::NeedsView => is_at = walk.leave()?,
        }
    }
    Ok(())
}

fn read_partition(
    reads: &dyn Reads,
    collector: &mut Collector<'_>,
    walk: &mut PartitionWalk<'_, '_>,
    key: &DecoratedKey,
    asked: Asked<'_>,
    is_view: bool,
    is_first: bool,
) -> Result<PartitionEnd, ReadError> {
    let head = walk.head()?;
    if head.has_range_tombstones && !is_view {
        return Ok(PartitionEnd::NeedsView);
    }
    let static_row = if collector.reads_static { walk.static_row()? } else { None };
    let Some(mut partition) = collector.begin(key, head.deletion, static_row.as_ref(), is_first)? else {
        return Ok(PartitionEnd::Read);
    };
    let table = &collector.command.table;
    let mut tombstones = None;
    if head.has_range_tombstones {
        let partition = walk.partition();
        let walk =
            TombstoneWalk::new(reads, table, partition, collector.tier, collector.is_over, asked.reversed)?;
        tombstones = Some(walk.counting_from(collector.gc_before_s()));
    }
    let flow = read_rows(collector, walk, &mut partition, asked, head.deletion, tombstones)?;
    let is_full = collector.end(partition)? || flow == Flow::PageFull;
    Ok(if is_full { PartitionEnd::PageFull } else { PartitionEnd::Read })
}

/// The deletion that covers the row at `position`.
fn covering(
    collector: &mut Collector<'_>,
    of_partition: Deletion,
    tombstones: &mut Option<TombstoneWalk<'_>>,
    position: &[u8],
) -> Result<Deletion, ReadError> {
    let Some(tombstones) = tombstones else { return Ok(of_partition) };
    let covering = of_partition.merge(tombstones.cover(position)?);
    collector.count_tombstones(tombstones.take_met())?;
    Ok(covering)
}

fn read_rows(
    collector: &mut Collector<'_>,
    walk: &mut PartitionWalk<'_, '_>,
    partition: &mut OpenPartition,
    asked: Asked<'_>,
    deletion: Deletion,
    mut tombstones: Option<TombstoneWalk<'_>>,
) -> Result<Flow, ReadError> {
    let are_entries = !collector.has_paths();
    let mut row = StoredRow::default();
    for range in asked.rows {
        walk.start(range, asked.reversed)?;
        if let Some(tombstones) = &mut tombstones {
            tombstones.restart();
        }
        loop {
            let flow = if are_entries {
                let Some((key, value)) = walk.next_entry(range)? else { break };
                let covering = covering(collector, deletion, &mut tombstones, key)?;
                collector.offer_entry(partition, (key, value), covering)?
            } else {
                if !walk.next_row(range, &mut row)? {
                    break;
                }
                let covering = covering(collector, deletion, &mut tombstones, &row.key)?;
                collector.offer(partition, &row, covering)?
            };
            if flow != Flow::More {
                return Ok(flow);
            }
        }
    }
    Ok(Flow::More)
}
