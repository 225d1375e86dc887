//! What fuzz targets call: bytes become keys and entries, or errors; never a panic, and whatever
//! is understood is written again as the same bytes.

use std::sync::Arc;

use basalt_model::schema::{ClusteringOrder, Column, ColumnKind, TableOptions};
use basalt_model::{ColumnId, DataType, Liveness, Table, TableId};

use crate::cells::{
    CELL_TAG, CellData, CellEntry, HEAD_TAG, HeadEntry, PURGE_TAG, PlainRow, PurgeEntry, RANGE_TOMBSTONE_TAG,
    ROW_TAG, RangeTombstoneEntry, RowEntry, RowParts,
};
use crate::keys;
use crate::keys::byte_comparable::{Encoded, Input, decode, encode, may_lose_bytes};
use crate::keys::clustering::{append_bound, append_clustering, decode_bound, decode_clustering};
use crate::merge::{MergedRow, merge};

/// Tries one input; the first byte chooses what it is taken for.
pub fn fuzz_one(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    match choice % 4 {
        0 => fuzz_entry(rest),
        1 => fuzz_value(rest),
        2 => fuzz_key(rest),
        _ => fuzz_merge(rest),
    }
}

fn fuzz_entry(bytes: &[u8]) {
    let mut again = Vec::new();
    match bytes.first() {
        Some(&HEAD_TAG) => {
            let Ok(head) = HeadEntry::parse(bytes) else { return };
            head.encode(&mut again);
        }
        Some(&CELL_TAG) => {
            let Ok(cell) = CellEntry::parse(bytes) else { return };
            cell.encode(&mut again);
        }
        Some(&PURGE_TAG) => {
            let Ok(entry) = PurgeEntry::parse(bytes) else { return };
            entry.encode(&mut again);
        }
        Some(&RANGE_TOMBSTONE_TAG) => {
            let Ok(entry) = RangeTombstoneEntry::parse(bytes) else { return };
            entry.encode(&mut again);
        }
        Some(&ROW_TAG) => {
            // A row may say in more than one way what it says: folded it has one form.
            let row = RowEntry::parse(bytes);
            if let Some(plain) = PlainRow::of(bytes) {
                is_plain(bytes, plain, row.as_ref().ok());
            }
            let Ok(row) = row else { return };
            let mut merged = MergedRow::new();
            if merged.add(&row).is_err() || merged.encode(&mut again).is_err() {
                return;
            }
            let folded = merge(None, &[&again, &again]);
            assert_eq!(folded.as_deref(), Ok(again.as_slice()), "a folded row folds to itself");
            return;
        }
        _ => return,
    }
    assert_eq!(again, bytes, "an entry has one form");
}

/// A plain row is what any row is: if it is taken for one, it is one.
fn is_plain(bytes: &[u8], plain: PlainRow<'_>, row: Option<&RowEntry<'_>>) {
    let mut cells = Vec::new();
    if !plain.for_each_cell(|id, start, length| cells.push((id, &bytes[start..start + usize::from(length)])))
    {
        return;
    }
    let row = row.expect("a plain row is a row");
    let liveness = if plain.is_inserted { Liveness::at(plain.timestamp) } else { Liveness::NONE };
    assert_eq!(row.parts, RowParts { liveness, ..RowParts::none() });
    let live = |(id, value)| Ok((id, CellData::live(plain.timestamp, value)));
    assert!(row.cells().eq(cells.into_iter().map(live)), "the same cells");
}

fn fuzz_merge(bytes: &[u8]) {
    let Some((&cut, rest)) = bytes.split_first() else { return };
    let (left, right) = rest.split_at(usize::from(cut).min(rest.len()));
    if [left, right].iter().any(|part| part.first() == Some(&PURGE_TAG)) {
        // Order matters to a purge: what is left must only be an entry, or nothing.
        if let Ok(left) = merge(None, &[left, right]) {
            assert!(left.is_empty() || merge(Some(&left), &[]).as_deref() == Ok(&left));
        }
        return;
    }
    let (one, other) = (merge(None, &[left, right]), merge(None, &[right, left]));
    assert_eq!(one.is_ok(), other.is_ok());
    if let (Ok(one), Ok(other)) = (one, other) {
        assert_eq!(one, other, "the order of versions does not matter");
    }
}

fn fuzz_value(bytes: &[u8]) {
    let Some((&choice, rest)) = bytes.split_first() else { return };
    let types = types();
    let data_type = &types[usize::from(choice) % types.len()];
    let mut input = Input::new(rest);
    let mut value = Vec::new();
    if decode(data_type, &mut input, &mut value).is_ok() && !value.is_empty() {
        let mut again = Vec::new();
        let encoded = encode(data_type, &value, &mut again);
        assert!(encoded == Ok(Encoded::Bytes) || may_lose_bytes(data_type), "{data_type:?}: {encoded:?}");
        if !may_lose_bytes(data_type) {
            assert_eq!(again, rest[..input.position()], "a value has one encoding");
        }
    }
    let mut ordered = Vec::new();
    if encode(data_type, rest, &mut ordered) == Ok(Encoded::Bytes) {
        let mut value = Vec::new();
        let decoded = decode(data_type, &mut Input::new(&ordered), &mut value);
        assert_eq!(decoded, Ok(()), "what was encoded decodes");
        assert!(value == rest || may_lose_bytes(data_type), "and is the same");
    }
}

fn fuzz_key(bytes: &[u8]) {
    let Ok(parts) = keys::split(bytes) else { return };
    let key = keys::decode_partition(parts.partition);
    if let Ok(key) = key {
        let mut again = Vec::new();
        keys::append_partition(&key, &mut again);
        assert_eq!(again, parts.partition, "a partition has one key");
    }
    let table = table();
    if let Ok((clustering, length)) = decode_clustering(&table, parts.rest) {
        let mut again = Vec::new();
        let appended = append_clustering(&table, &clustering, &mut again);
        assert!(appended.is_err() || again == parts.rest[..length], "a clustering has one key");
    }
    for is_start in [true, false] {
        if let Ok(bound) = decode_bound(&table, parts.rest, is_start) {
            let mut again = Vec::new();
            let appended = append_bound(&table, &bound, &mut again);
            assert!(appended.is_err() || again == parts.rest, "a bound has one key");
        }
    }
}

fn types() -> Vec<DataType> {
    use DataType::{
        Ascii, BigInt, Blob, Boolean, Date, Decimal, Double, Float, Inet, Int, List, Map, SmallInt, Text,
        Time, TimeUuid, Timestamp, TinyInt, Tuple, Uuid, Varint, Vector,
    };
    let mut types = vec![
        Ascii, BigInt, Blob, Boolean, Date, Decimal, Double, Float, Inet, Int, SmallInt, Text, Time,
        Timestamp, TimeUuid, TinyInt, Uuid, Varint,
    ];
    types.push(List { element: Arc::new(Varint), frozen: true });
    types.push(Map { key: Arc::new(Text), value: Arc::new(Decimal), frozen: true });
    types.push(Tuple(Arc::from([Int, Text])));
    types.push(Vector { element: Arc::new(Float), dimension: 2 });
    types.push(Vector { element: Arc::new(Text), dimension: 2 });
    types
}

/// One clustering column of a type that keeps all bytes, one descending, one integer.
fn table() -> Table {
    let column = |index: u16, data_type, kind, order| Column {
        name: Arc::from(format!("c{index}")),
        data_type,
        kind,
        position: index.saturating_sub(1),
        order,
        id: ColumnId(u32::from(index)),
        mask: None,
    };
    use ClusteringOrder::{Asc, Desc};
    Table {
        id: TableId(uuid::Uuid::nil()),
        keyspace: Arc::from("ks"),
        name: Arc::from("t"),
        columns: vec![
            column(0, DataType::Blob, ColumnKind::PartitionKey, Asc),
            column(1, DataType::Text, ColumnKind::Clustering, Asc),
            column(2, DataType::Blob, ColumnKind::Clustering, Desc),
            column(3, DataType::Int, ColumnKind::Clustering, Asc),
        ],
        partition_key_count: 1,
        clustering_count: 3,
        static_count: 0,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: Vec::new(),
        compact: None,
        is_virtual: false,
    }
}

#[cfg(test)]
mod tests;
