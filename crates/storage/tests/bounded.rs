//! A partition of any size is answered with bounded memory: the engine here computes its entries when they are asked
//! for, so that what this process holds is what the read holds.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Bound, BoundKind, Clustering, DataType, DecoratedKey, Deletion, Liveness, ReadCommand, Slice, Table,
    TableId,
};
use basalt_storage::cells::{CellData, Covered, HeadEntry, RangeTombstoneEntry, RowParts};
use basalt_storage::checker::{column, table};
use basalt_storage::engine::{Cursor, CursorOptions, EngineError, ReadTier, Reads, Values};
use basalt_storage::keys::clustering::{append_bound, append_clustering};
use basalt_storage::keys::{EntryKind, append_partition};
use basalt_storage::merge::MergedRow;
use basalt_storage::read::ReadOptions;
use basalt_storage::read::digest::of_response;
use basalt_storage::read::response::{Purging, Receiver, respond};
use basalt_storage::read::unfiltered::{PartitionStart, Unfiltered};
use bytes::Bytes;

/// Each range tombstone covers the first half of so many rows.
const ROWS_PER_RANGE: i32 = 100;
const VALUE: [u8; 1_000] = [7; 1_000];

fn clustering(number: i32) -> Clustering {
    Clustering::from_values([Bytes::copy_from_slice(&number.to_be_bytes())])
}

/// A partition of `rows` rows, every other range of them under a tombstone.
struct Computed {
    table: Arc<Table>,
    partition: Vec<u8>,
    rows: i32,
}

impl Computed {
    fn new(key: &DecoratedKey, rows: i32) -> Computed {
        let table = Arc::new(table(vec![
            column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1),
            column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
            column("v", DataType::Blob, ColumnKind::Regular, 0, 3),
        ]));
        let mut partition = Vec::new();
        append_partition(key, &mut partition);
        Computed { table, partition, rows }
    }

    fn ranges(&self) -> i32 {
        self.rows / ROWS_PER_RANGE
    }

    fn entries(&self) -> i32 {
        1 + self.ranges() + self.rows
    }

    fn range_bound(&self, number: i32, kind: BoundKind) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_bound(&self.table, &Bound { kind, prefix: clustering(number) }, &mut bytes)
            .expect("what this test made");
        bytes
    }

    /// Head, range tombstones, rows.
    fn key(&self, index: i32) -> Vec<u8> {
        let mut key = self.partition.clone();
        if index == 0 {
            key.push(EntryKind::Head as u8);
        } else if index <= self.ranges() {
            key.push(EntryKind::RangeTombstone as u8);
            key.extend(self.range_bound((index - 1) * ROWS_PER_RANGE, BoundKind::InclusiveStart));
        } else {
            key.push(EntryKind::Row as u8);
            append_clustering(&self.table, &clustering(index - 1 - self.ranges()), &mut key)
                .expect("what this test made");
        }
        key
    }

    fn value(&self, index: i32) -> Vec<u8> {
        let mut value = Vec::new();
        if index == 0 {
            HeadEntry { deletion: Deletion::LIVE, has_range_tombstones: true }.encode(&mut value);
        } else if index <= self.ranges() {
            let end = (index - 1) * ROWS_PER_RANGE + ROWS_PER_RANGE / 2;
            let end = self.range_bound(end, BoundKind::ExclusiveEnd);
            let deletion = Deletion { timestamp: 5, local_time_s: 900 };
            let covered = Covered { end: &end, deletion, start_originals: &[], end_originals: &[] };
            RangeTombstoneEntry::of([covered].into_iter().collect()).encode(&mut value);
        } else {
            let mut parts = RowParts::none();
            parts.liveness = Liveness::at(5);
            let mut row = MergedRow::of(parts);
            let data = CellData {
                timestamp: 5,
                ttl_s: 0,
                local_deletion_time_s: i64::MAX,
                value: &VALUE,
                is_counter: false,
            };
            row.add_cell(self.table.regulars()[0].id, data);
            row.encode(&mut value).expect("what this test made");
        }
        value
    }

    /// The first entry whose key is not smaller, or is larger.
    fn search(&self, key: &[u8], is_behind: bool) -> i32 {
        let (mut low, mut high) = (0, self.entries());
        while low < high {
            let middle = low + (high - low) / 2;
            let at = self.key(middle);
            let is_before = if is_behind { at.as_slice() <= key } else { at.as_slice() < key };
            if is_before { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl Reads for Computed {
    fn get(&self, _: TableId, _: &[u8], _: ReadTier) -> Result<Option<Bytes>, EngineError> {
        Ok(None)
    }

    fn multi_get(&self, _: TableId, _: &[&[u8]], _: ReadTier) -> Result<Values, EngineError> {
        Ok(Values::new())
    }

    fn cursor<'a>(
        &'a self,
        _: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        let first = self.search(options.lower, false);
        let end = options.upper.map_or(self.entries(), |upper| self.search(upper, false));
        Ok(Box::new(Walk { entries: self, first, end, at: -1, key: Vec::new(), value: Vec::new() }))
    }
}

struct Walk<'a> {
    entries: &'a Computed,
    first: i32,
    end: i32,
    at: i32,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Walk<'_> {
    fn go(&mut self, at: i32) -> Result<bool, EngineError> {
        let is_at = (self.first..self.end).contains(&at);
        self.at = if is_at { at } else { -1 };
        (self.key, self.value) =
            if is_at { (self.entries.key(at), self.entries.value(at)) } else { Default::default() };
        Ok(is_at)
    }
}

impl Cursor for Walk<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.go(self.entries.search(key, false).max(self.first))
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.go((self.entries.search(key, true) - 1).min(self.end - 1))
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        if self.at < 0 { Ok(false) } else { self.go(self.at + 1) }
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        if self.at < 0 { Ok(false) } else { self.go(self.at - 1) }
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn value(&self) -> &[u8] {
        &self.value
    }
}

#[derive(Default)]
struct Counts {
    rows: i32,
    markers: i32,
}

impl Receiver for Counts {
    fn partition(&mut self, _: PartitionStart) {}

    fn item(&mut self, item: Unfiltered) {
        match item {
            Unfiltered::Row(_) => self.rows += 1,
            Unfiltered::Marker(_) => self.markers += 1,
        }
    }
}

/// The most memory this process has ever had, in kB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("Linux says it");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of kB")
}

fn command(partition: &Computed, key: &DecoratedKey, slice: Slice, reversed: bool) -> ReadCommand {
    let filter = ClusteringFilter { rows: RowSelection::Slices(vec![slice]), reversed, resume_after: None };
    ReadCommand {
        table: partition.table.clone(),
        now_s: 1_000,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        limits: DataLimits::NONE,
        target: ReadTarget::Partition { key: key.clone(), filter },
        layout: None,
    }
}

#[test]
fn a_partition_of_any_size_is_answered_with_bounded_memory() {
    let key = DecoratedKey::new(Bytes::from_static(b"k"));
    let purging = Purging { now_s: 1_000, gc_before_s: 0 };
    let options = ReadOptions { tombstone_failure_threshold: u32::MAX, ..ReadOptions::new(ReadTier::All) };
    let read = |rows: i32| {
        let partition = Computed::new(&key, rows);
        // From the middle of a range tombstone on, either way.
        let slice = Slice {
            start: Bound { kind: BoundKind::InclusiveStart, prefix: clustering(10) },
            end: Bound { kind: BoundKind::ExclusiveEnd, prefix: clustering(rows - 60) },
        };
        for reversed in [false, true] {
            let command = command(&partition, &key, slice.clone(), reversed);
            let mut counts = Counts::default();
            respond(&partition, &command, purging, &options, &mut counts).expect("what this test made");
            let ranges = rows / ROWS_PER_RANGE;
            assert_eq!((counts.rows, counts.markers), ((ranges - 1) * 50, ranges * 2));
            of_response(&partition, &command, purging, &options).expect("what this test made");
        }
    };
    read(200);
    let small = peak_kb();
    // Gathered these would be 15 MB in values alone.
    read(30_000);
    let large = peak_kb();
    assert!(large < small + 4 * 1024, "{small} kB became {large} kB");
}
