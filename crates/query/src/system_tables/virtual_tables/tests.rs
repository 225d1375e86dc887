//! Virtual tables read through the keeper, against recordings of a stock node.

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyRange, ReadPage, ReadTarget, RowFilter,
};
use basalt_model::{DecoratedKey, ReadCommand};

use crate::access::SchemaAccess;
use crate::schema::{SchemaStore, encode};
use crate::testing::{TestNode, golden};

fn read(store: &SchemaStore, keyspace: &str, table: &str, target: ReadTarget) -> ReadPage {
    let command = ReadCommand {
        table: store.current().table(keyspace, table).unwrap().clone(),
        now_s: 1_700_000_000,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        limits: DataLimits::NONE,
        target,
        layout: None,
    };
    store.read_virtual(&command).unwrap()
}

fn everything() -> ReadTarget {
    ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() }
}

/// Values of a text column of each row, partitions in order; `None` names the partition key.
fn texts(
    store: &SchemaStore,
    page: &ReadPage,
    keyspace: &str,
    table: &str,
    column: Option<&str>,
) -> Vec<String> {
    let table = store.current().table(keyspace, table).unwrap().clone();
    let mut texts = Vec::new();
    for partition in &page.partitions {
        for row in &partition.rows {
            let value = match column {
                None => partition.key.key.clone(),
                Some(name) => row.cell(table.column(name).unwrap().id).unwrap().value.clone(),
            };
            texts.push(encode::read_text(&value).unwrap());
        }
    }
    texts
}

/// A field of a `SELECT JSON` line; values here hold no quotes.
fn field(line: &str, name: &str) -> String {
    let start = line.find(&format!("\"{name}\": \"")).unwrap() + name.len() + 5;
    line[start..].split('"').next().unwrap().to_owned()
}

#[test]
fn settings_come_by_name_and_one_can_be_asked_for() {
    let store = TestNode::new().open();
    let page = read(&store, "system_views", "settings", everything());
    assert_eq!(texts(&store, &page, "system_views", "settings", None), ["cluster_name", "num_tokens"]);
    let key = DecoratedKey::new(encode::text("num_tokens"));
    assert_eq!(read_key(&store, "settings", key.clone()).partitions[0].key, key);
}

fn read_key(store: &SchemaStore, table: &str, key: DecoratedKey) -> ReadPage {
    read(store, "system_views", table, ReadTarget::Partition { key, filter: ClusteringFilter::all() })
}

/// Everything, less what stands of tables that a stock node has not.
fn read_stock(store: &SchemaStore, table: &str) -> ReadPage {
    let mut page = read(store, "system_virtual_schema", table, everything());
    let ours = ["pending_compactions", "request_latency", "write_stalls"];
    let is_ours = |row: &basalt_model::Row| {
        let named = row.clustering.0.first().and_then(|name| encode::read_text(name.as_ref()?));
        named.is_some_and(|name| ours.contains(&&*name))
    };
    for partition in &mut page.partitions {
        partition.rows.retain(|row| !is_ours(row));
    }
    page
}

#[test]
fn the_virtual_schema_is_the_recorded_one() {
    let store = TestNode::new().open();
    for table in ["keyspaces", "tables"] {
        let page = read_stock(&store, table);
        let recorded = golden(&format!("schema/system_virtual_schema.{table}.jsonl"));
        let recorded: Vec<String> = recorded.lines().map(|line| field(line, "keyspace_name")).collect();
        assert_eq!(texts(&store, &page, "system_virtual_schema", table, None), recorded, "{table}");
    }
    let page = read_stock(&store, "columns");
    let recorded = golden("schema/system_virtual_schema.columns.jsonl");
    for column in ["kind", "type", "clustering_order"] {
        let expected: Vec<String> = recorded.lines().map(|line| field(line, column)).collect();
        assert_eq!(
            texts(&store, &page, "system_virtual_schema", "columns", Some(column)),
            expected,
            "{column}"
        );
    }
}

#[test]
fn tables_without_a_source_have_no_rows() {
    let store = TestNode::new().open();
    assert!(read(&store, "system_views", "streaming", everything()).partitions.is_empty());
    assert_eq!(read(&store, "system_views", "gossip_info", everything()).partitions.len(), 1);
}
