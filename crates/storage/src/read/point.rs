//! Reads of a few rows by their full key: one look-up of everything at one moment, no cursor.

use basalt_model::command::ClusteringFilter;
use basalt_model::{Clustering, DecoratedKey, Table, TableId};
use bytes::Bytes;
use smallvec::SmallVec;

use super::collect::{Collector, Flow};
use super::stored_row::StoredRow;
use super::{InTable, ReadError};
use crate::cells::HeadEntry;
use crate::engine::{Engine, EngineError, ReadTier, Values};
use crate::keys::byte_comparable::may_lose_bytes;
use crate::keys::clustering::{append_clustering, decode_clustering};
use crate::keys::{EntryKind, append_partition};

/// More rows than this are read with a cursor.
const MAX_NAMES: usize = 32;

/// Whether look-ups suffice: few rows, and all their cells in the rows' own entries.
pub fn is_fit(collector: &Collector<'_>, names: &[Clustering]) -> bool {
    (1..=MAX_NAMES).contains(&names.len()) && !collector.has_paths()
}

/// Reads the rows; `false` when the partition has range tombstones and a cursor is needed.
pub fn read(
    engine: &dyn Engine,
    collector: &mut Collector<'_>,
    key: &DecoratedKey,
    names: &[Clustering],
    filter: &ClusteringFilter,
) -> Result<bool, ReadError> {
    let table = &collector.command.table;
    let mut buffer = Vec::with_capacity((names.len() + 2) * (key.key.len() + 32));
    let mut ends: SmallVec<[usize; 6]> = SmallVec::new();
    append_partition(key, &mut buffer);
    let partition = buffer.clone();
    buffer.push(EntryKind::Head as u8);
    // Partition and kind stand before what tells rows apart.
    let prefix_len = buffer.len();
    ends.push(buffer.len());
    if collector.reads_static {
        buffer.extend_from_slice(&partition);
        buffer.push(EntryKind::Static as u8);
        ends.push(buffer.len());
    }
    for name in names {
        buffer.extend_from_slice(&partition);
        buffer.push(EntryKind::Row as u8);
        append_clustering(table, name, &mut buffer).map_err(ReadError::Command)?;
        ends.push(buffer.len());
    }
    let mut start = 0;
    let keys: SmallVec<[&[u8]; 6]> =
        ends.iter().map(|&end| &buffer[std::mem::replace(&mut start, end)..end]).collect();
    let (head, mut values) = look_up(engine, table.id, &keys, collector.tier)?;
    let head = match head {
        Some(value) => HeadEntry::parse(&value).in_table(table.id)?,
        None => HeadEntry::NONE,
    };
    if head.has_range_tombstones {
        return Ok(false);
    }
    let static_row = match collector.reads_static {
        true => values.next().flatten().map(|value| StoredRow { row: Some(value), ..StoredRow::default() }),
        false => None,
    };
    let Some(mut partition) = collector.begin(key, head.deletion, static_row.as_ref(), true)? else {
        return Ok(true);
    };
    let spells_vary = table.clustering().iter().any(|column| may_lose_bytes(&column.data_type));
    let mut rows: SmallVec<[_; 4]> =
        names.iter().zip(&keys[keys.len() - names.len()..]).zip(values).collect();
    if filter.reversed {
        rows.reverse();
    }
    for ((name, key), value) in rows {
        let Some(value) = value else { continue };
        if is_returned_before(table, filter, name) {
            continue;
        }
        if collector.packs() {
            let clustering = key.get(prefix_len..).unwrap_or_default();
            if collector.offer_entry(&mut partition, (clustering, &value), head.deletion)? != Flow::More {
                break;
            }
            continue;
        }
        // A name may spell a value otherwise than the row does: then the key decides.
        let clustering = match spells_vary {
            false => name.clone(),
            true => respell(table, name)?,
        };
        let row = StoredRow { clustering, row: Some(value), ..StoredRow::default() };
        if collector.offer(&mut partition, &row, head.deletion)? != Flow::More {
            break;
        }
    }
    collector.end(partition)?;
    Ok(true)
}

/// What is at `keys`, of which the first is the head's: that, and the others.
fn look_up(
    engine: &dyn Engine,
    table: TableId,
    keys: &[&[u8]],
    tier: ReadTier,
) -> Result<(Option<Bytes>, <Values as IntoIterator>::IntoIter), EngineError> {
    if !engine.may_have_heads(table) {
        let values = engine.multi_get(table, keys.get(1..).unwrap_or_default(), tier)?;
        // Else rows may be of a write that came meanwhile, with the table's first head.
        if !engine.may_have_heads(table) {
            return Ok((None, values.into_iter()));
        }
    }
    let mut values = engine.multi_get(table, keys, tier)?.into_iter();
    Ok((values.next().flatten(), values))
}

/// Whether an earlier page has come to this row.
fn is_returned_before(table: &Table, filter: &ClusteringFilter, name: &Clustering) -> bool {
    filter.resume_after.as_ref().is_some_and(|last| {
        let order = table.compare_clusterings(name, last);
        if filter.reversed { order.is_ge() } else { order.is_le() }
    })
}

fn respell(table: &Table, name: &Clustering) -> Result<Clustering, ReadError> {
    let mut key = Vec::new();
    append_clustering(table, name, &mut key).map_err(ReadError::Command)?;
    Ok(decode_clustering(table, &key).map_err(ReadError::Command)?.0)
}
