//! Range tombstones of a partition, kept disjoint (`RangeTombstoneList`): at each place the one
//! that supersedes the others stands alone, so that a reader asks one entry who covers a row.
//!
//! The new ones are laid over those they meet and all are cut at each other's ends. Whoever calls
//! holds the partition's stripe until the result is in the engine.

use std::collections::{BTreeMap, BTreeSet};

use basalt_model::{Bound, Deletion, PartitionUpdate, Table};
use smallvec::SmallVec;

use super::WriteError;
use crate::cells::{Covered, RangeTombstoneEntry, deletion_rank, push_original};
use crate::engine::{CursorOptions, Engine, EngineError, OpKind, ReadTier, WriteSet};
use crate::keys::EntryKind;
use crate::keys::clustering::append_bound;

/// A tombstone between two encoded bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Encoded start.
    pub start: Vec<u8>,
    /// Encoded end, behind the start.
    pub end: Vec<u8>,
    /// What is deleted.
    pub deletion: Deletion,
}

/// The original values of bounds, by encoded bound; bounds that need none are absent.
type OriginalsOf = BTreeMap<Vec<u8>, Vec<u8>>;

/// Appends an update's range tombstones, and what changes in those they meet.
pub fn append(
    engine: &dyn Engine,
    update: &PartitionUpdate,
    prefix: &[u8],
    set: &mut WriteSet,
) -> Result<(), WriteError> {
    let table = &update.table;
    let mut originals = OriginalsOf::new();
    let mut spans = Vec::with_capacity(update.range_tombstones.len());
    for tombstone in &update.range_tombstones {
        let start = encode_bound(table, &tombstone.slice.start, &mut originals)?;
        let end = encode_bound(table, &tombstone.slice.end, &mut originals)?;
        if start < end && !tombstone.deletion.is_live() {
            spans.push(Span { start, end, deletion: tombstone.deletion });
        }
    }
    let mut area = prefix.to_vec();
    area.push(EntryKind::RangeTombstone as u8);
    let met = load_met(engine, table, &area, &flatten(&spans), &mut originals)?;
    spans.extend(met.values().flatten().cloned());

    let mut result: BTreeMap<Vec<u8>, Span> = BTreeMap::new();
    for span in flatten(&spans) {
        result.insert(span.start.clone(), span);
    }
    let key_of = |start: &[u8]| [&area, start].concat();
    for (start, old) in &met {
        match result.get(start) {
            None => set.delete(table.id, &key_of(start)),
            Some(new) if old.as_slice() == std::slice::from_ref(new) => {
                result.remove(start);
            }
            Some(_) => {}
        }
    }
    let none = Vec::new();
    for (start, span) in &result {
        let entry = RangeTombstoneEntry {
            covered: SmallVec::from_elem(
                Covered {
                    end: &span.end,
                    deletion: span.deletion,
                    start_originals: originals.get(start).unwrap_or(&none),
                    end_originals: originals.get(&span.end).unwrap_or(&none),
                },
                1,
            ),
        };
        set.append(
            OpKind::Put,
            table.id,
            |key| {
                key.extend_from_slice(&area);
                key.extend_from_slice(start);
            },
            |value| entry.encode(value),
        );
    }
    Ok(())
}

fn encode_bound(table: &Table, bound: &Bound, originals_of: &mut OriginalsOf) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    let originals = append_bound(table, bound, &mut bytes)?;
    if !originals.is_empty() {
        let mut kept = Vec::new();
        for (index, value) in &originals {
            push_original(*index, value, &mut kept);
        }
        originals_of.insert(bytes.clone(), kept);
    }
    Ok(bytes)
}

/// The stored tombstones that overlap or touch one of `spans` (disjoint, ascending), by start.
fn load_met(
    engine: &dyn Engine,
    table: &Table,
    area: &[u8],
    spans: &[Span],
    originals: &mut OriginalsOf,
) -> Result<BTreeMap<Vec<u8>, Vec<Span>>, EngineError> {
    let mut upper = area.to_vec();
    if let Some(kind) = upper.last_mut() {
        *kind += 1;
    }
    let options = CursorOptions { tier: ReadTier::All, lower: area, upper: Some(&upper), fills_cache: true };
    let mut cursor = engine.cursor(table.id, options)?;
    let mut met = BTreeMap::new();
    for span in spans {
        let from = [area, &span.start].concat();
        // The one that starts before and may reach into the span, else the first behind.
        let mut is_at = cursor.seek_for_prev(&from)?;
        if !is_at {
            is_at = cursor.seek(&from)?;
        }
        while is_at {
            let start = cursor.key().get(area.len()..).unwrap_or_default().to_vec();
            if start > span.end {
                break;
            }
            let old = parse_spans(table, &start, cursor.value(), originals)?;
            if old.iter().any(|old| old.end >= span.start) {
                met.insert(start, old);
            }
            is_at = cursor.next()?;
        }
    }
    Ok(met)
}

fn parse_spans(
    table: &Table,
    start: &[u8],
    value: &[u8],
    originals: &mut OriginalsOf,
) -> Result<Vec<Span>, EngineError> {
    let entry = RangeTombstoneEntry::parse(value)
        .map_err(|error| EngineError::Corruption { table: Some(table.id), detail: error.to_string() })?;
    let mut keep = |bound: &[u8], kept: &[u8]| {
        if !kept.is_empty() {
            originals.entry(bound.to_vec()).or_insert_with(|| kept.to_vec());
        }
    };
    let mut spans = Vec::with_capacity(entry.covered.len());
    for item in &entry.covered {
        keep(start, item.start_originals);
        keep(item.end, item.end_originals);
        spans.push(Span { start: start.to_vec(), end: item.end.to_vec(), deletion: item.deletion });
    }
    Ok(spans)
}

/// Disjoint spans, ascending, that delete at each place what the strongest of `spans` deletes
/// there; neighbours that delete the same are one.
pub fn flatten(spans: &[Span]) -> Vec<Span> {
    let mut edges: Vec<(&[u8], bool, usize)> = Vec::with_capacity(spans.len() * 2);
    for (index, span) in spans.iter().enumerate() {
        edges.push((&span.start, true, index));
        edges.push((&span.end, false, index));
    }
    edges.sort_unstable();
    let mut active: BTreeSet<((i64, i64), usize)> = BTreeSet::new();
    let mut flat: Vec<Span> = Vec::new();
    let mut at: &[u8] = &[];
    for (edge, is_start, index) in edges {
        if let Some(&(_, strongest)) = active.last()
            && at < edge
        {
            let deletion = spans[strongest].deletion;
            match flat.last_mut() {
                Some(last) if last.end == at && last.deletion == deletion => last.end = edge.to_vec(),
                _ => flat.push(Span { start: at.to_vec(), end: edge.to_vec(), deletion }),
            }
        }
        at = edge;
        let entry = (deletion_rank(spans[index].deletion), index);
        if is_start {
            active.insert(entry);
        } else {
            active.remove(&entry);
        }
    }
    flat
}
