//! What Cassandra answered reads of partitions with (`tests/golden/partitions.txt`), item by item, and its digests.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, ColumnPart, DataLimits, ReadTarget, RowFilter, RowSelection,
    SelectedColumns,
};
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{
    Bound, BoundKind, Clustering, ColumnId, DataType, DecoratedKey, Deletion, PartitionUpdate, ReadCommand,
    Row, Slice, Table,
};

use super::World;
use super::text::{deletion, row_of};
use crate::engine::{Engine, ReadTier};
use crate::read::ReadOptions;
use crate::read::digest::of_response;
use crate::read::response::{Purging, Receiver, respond};
use crate::read::unfiltered::{Marker, PartitionStart, Unfiltered};
use crate::recorded::{compared, recorded};
use crate::testing::{column, hex, table, unhex};

/// Ids do not ascend with names, as after columns were added.
fn id_of(name: &str) -> ColumnId {
    ColumnId(match name {
        "v" => 4,
        "u" => 5,
        "a" => 6,
        "l" => 7,
        "b" => 8,
        "sm" => 9,
        "s" => 10,
        "y" => 11,
        "x" => 12,
        other => panic!("unknown column {other}"),
    })
}

fn table_named(name: &str) -> Arc<Table> {
    let multi_cell_map =
        || DataType::Map { key: DataType::Int.into(), value: DataType::Int.into(), frozen: false };
    let mut down = column("d", DataType::Text, ColumnKind::Clustering, 1, 3);
    down.order = ClusteringOrder::Desc;
    let mut columns = vec![
        column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        down,
    ];
    use ColumnKind::{Regular, Static};
    let others = match name {
        "rows" => vec![
            ("s", DataType::Int, Static),
            ("sm", multi_cell_map(), Static),
            ("a", multi_cell_map(), Regular),
            ("b", DataType::Blob, Regular),
            ("l", DataType::List { element: DataType::Int.into(), frozen: false }, Regular),
            ("u", DataType::Set { element: DataType::Text.into(), frozen: false }, Regular),
            ("v", DataType::Int, Regular),
        ],
        _ => vec![
            ("s", DataType::Counter, Static),
            ("x", DataType::Counter, Regular),
            ("y", DataType::Counter, Regular),
        ],
    };
    columns.extend(others.into_iter().map(|(name, of, kind)| column(name, of, kind, 0, id_of(name).0)));
    Arc::new(table(columns))
}

/// `(value,value)`.
fn clustering(text: &str) -> Clustering {
    let values = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap();
    Clustering::from_values(values.split(',').filter(|value| !value.is_empty()).map(unhex))
}

fn bound(text: &str) -> Bound {
    let (kind, _) = text.split_once('(').unwrap();
    let prefix = clustering(&text[kind.len()..]);
    let kind = match kind {
        "INCL_START_BOUND" => BoundKind::InclusiveStart,
        "EXCL_START_BOUND" => BoundKind::ExclusiveStart,
        "INCL_END_BOUND" => BoundKind::InclusiveEnd,
        "EXCL_END_BOUND" => BoundKind::ExclusiveEnd,
        other => panic!("unknown kind {other}"),
    };
    Bound { kind, prefix }
}

fn row(text: &str) -> Row {
    let (place, parts) = text.split_once(' ').unwrap();
    row_of(clustering(place), parts, id_of)
}

fn update(table: &Arc<Table>, key: &DecoratedKey, text: &str) -> PartitionUpdate {
    let mut update = PartitionUpdate::new(table.clone(), key.clone());
    for item in text.split(" ; ").filter(|item| *item != "nothing") {
        if let Some(text) = item.strip_prefix("del ") {
            update.deletion = deletion(text);
        } else if let Some(text) = item.strip_prefix("range ") {
            let words: Vec<&str> = text.split(' ').collect();
            let slice = Slice { start: bound(words[0]), end: bound(words[1]) };
            update.range_tombstones.push(RangeTombstone { slice, deletion: deletion(words[2]) });
        } else if let Some(text) = item.strip_prefix("static ") {
            update.static_row = Some(row_of(Clustering::empty(), text, id_of));
        } else {
            update.rows.push(row(item.strip_prefix("row").unwrap()));
        }
    }
    update
}

fn selection(text: &str) -> RowSelection {
    let items = || text.split(" ; ");
    if text.starts_with("name ") {
        return RowSelection::Names(items().map(|item| clustering(&item["name ".len()..])).collect());
    }
    let slice = |item: &str| {
        let words: Vec<&str> = item.split(' ').collect();
        Slice { start: bound(words[1]), end: bound(words[2]) }
    };
    RowSelection::Slices(items().map(slice).collect())
}

fn columns(text: &str) -> ColumnFilter {
    let mut words = text.split(' ');
    let kind = words.next().unwrap();
    let mut ids = Vec::new();
    let mut parts = Vec::new();
    for word in words {
        let (name, part) = word.split_once('[').unwrap_or((word, ""));
        ids.push(id_of(name));
        if let Some(part) = part.strip_suffix(']') {
            let (from, to) = part.split_once("..").unwrap_or((part, part));
            let (from, to) = (Some(unhex(from)), Some(unhex(to)));
            parts.push(ColumnPart { column: id_of(name), from, to });
        }
    }
    ids.sort_unstable();
    match kind {
        "all" => ColumnFilter::All,
        "only" => ColumnFilter::Only(ids),
        _ => {
            ColumnFilter::Some(Arc::new(SelectedColumns { fetched: ids.clone(), queried: Some(ids), parts }))
        }
    }
}

fn limits(text: &str) -> DataLimits {
    let number = |text: &str| if text == "none" { u32::MAX } else { text.parse().unwrap() };
    let (rows, of_partition) = text.split_once(' ').unwrap();
    DataLimits { rows: number(rows), rows_per_partition: number(of_partition), ..DataLimits::NONE }
}

/// An answer, or what it should be.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    starts: Vec<(Deletion, Option<Row>)>,
    items: Vec<Unfiltered>,
}

impl Receiver for Answer {
    fn partition(&mut self, start: PartitionStart) {
        self.starts.push((start.deletion, start.static_row));
    }

    fn item(&mut self, item: Unfiltered) {
        self.items.push(item);
    }
}

fn marker(text: &str) -> Marker {
    let words: Vec<&str> = text.split(' ').collect();
    let (kind, _) = words[0].split_once('(').unwrap();
    let first = deletion(words[1]);
    let second = words.get(2).map_or(Deletion::LIVE, |text| deletion(text));
    let (is_after_prefix, ends, starts) = match kind {
        "EXCL_END_BOUND" => (false, first, second),
        "INCL_START_BOUND" => (false, second, first),
        "EXCL_END_INCL_START_BOUNDARY" => (false, first, second),
        "INCL_END_EXCL_START_BOUNDARY" => (true, first, second),
        "INCL_END_BOUND" => (true, first, second),
        "EXCL_START_BOUND" => (true, second, first),
        other => panic!("unknown kind {other}"),
    };
    Marker { prefix: clustering(&words[0][kind.len()..]), is_after_prefix, ends, starts }
}

fn answer(text: &str) -> Answer {
    let mut answer = Answer::default();
    for item in text.split(" ; ").filter(|item| *item != "none") {
        if let Some(text) = item.strip_prefix("del ") {
            answer.starts.push((deletion(text), None));
        } else if let Some(text) = item.strip_prefix("static ") {
            answer.starts.last_mut().unwrap().1 = Some(row_of(Clustering::empty(), text, id_of));
        } else if let Some(text) = item.strip_prefix("marker ") {
            answer.items.push(Unfiltered::Marker(marker(text)));
        } else {
            answer.items.push(Unfiltered::Row(row(item.strip_prefix("row").unwrap())));
        }
    }
    answer
}

struct Case<'l> {
    updates: Vec<PartitionUpdate>,
    command: ReadCommand,
    purging: Purging,
    answer: Answer,
    digest: &'l str,
}

fn case<'l>(tables: &[(&str, Arc<Table>)], fields: &[&'l str]) -> Case<'l> {
    let table = tables.iter().find(|(name, _)| *name == fields[1]).unwrap().1.clone();
    let key = DecoratedKey::new(unhex(fields[2]));
    let updates = fields[3].split(" / ").map(|text| update(&table, &key, text)).collect();
    let now_s = fields[4].parse().unwrap();
    let reversed = fields[6] == "true";
    let filter = ClusteringFilter { rows: selection(fields[7]), reversed, resume_after: None };
    let command = ReadCommand {
        table,
        now_s,
        columns: columns(fields[8]),
        row_filter: RowFilter::default(),
        limits: limits(fields[9]),
        target: ReadTarget::Partition { key, filter },
        layout: None,
    };
    let purging = Purging { now_s, gc_before_s: fields[5].parse().unwrap() };
    Case { updates, command, purging, answer: answer(fields[10]), digest: fields[11] }
}

fn check(line: &str, case: &Case<'_>, is_backwards: bool) {
    let world = World::of(case.command.table.clone());
    let mut updates = case.updates.clone();
    if is_backwards {
        updates.reverse();
    }
    for update in updates {
        world.write_update(update);
    }
    let view = world.engine.view().unwrap();
    let options = ReadOptions::new(ReadTier::All);
    let mut found = Answer::default();
    respond(&*view, &case.command, case.purging, &options, &mut found).unwrap();
    assert_eq!(found, case.answer, "{line}");
    let digest = of_response(&*view, &case.command, case.purging, &options).unwrap();
    assert_eq!(hex(&digest), case.digest, "{line}");
}

#[test]
fn partitions_are_answered_and_digested_as_in_cassandra() {
    let tables = ["rows", "counters"].map(|name| (name, table_named(name)));
    let (mut seen, mut with_markers, mut reversed) = (0, 0, 0);
    for line in recorded("partitions") {
        let fields: Vec<&str> = line.split(" | ").collect();
        let case = case(&tables, &fields);
        check(&line, &case, false);
        // Counters have the time of the latest: whatever the order.
        check(&line, &case, true);
        seen += 1;
        let has_marker = case.answer.items.iter().any(|item| matches!(item, Unfiltered::Marker(_)));
        with_markers += usize::from(has_marker);
        reversed += usize::from(case.command.target.filter().reversed);
    }
    compared("answers and digests of partitions", seen, 200);
    compared("of them with range tombstones", with_markers, 40);
    compared("of them reversed", reversed, 80);
}
