//! CREATE statements as DESCRIBE shows them (`toCqlString` of keyspaces, tables and types), to
//! the byte.

use std::fmt::Write;

use basalt_model::quote::{identifier, string};
use basalt_model::schema::{ClusteringOrder, ColumnKind, DroppedColumn, KeyspaceKind, TableOptions};
use basalt_model::types::UserType;
use basalt_model::{Column, Keyspace, Table};

use crate::ddl::java;
use crate::literals;

/// What continues a statement's options.
const AND: &str = "\n    AND ";

/// CREATE KEYSPACE.
pub fn keyspace(keyspace: &Keyspace) -> String {
    let name = identifier(&keyspace.name);
    if keyspace.kind == KeyspaceKind::Virtual {
        return format!(
            "/*\nWarning: Keyspace {name} is a virtual keyspace and cannot be recreated with CQL.\nStructure, for reference:\nVIRTUAL KEYSPACE {name};\n*/"
        );
    }
    format!(
        "CREATE KEYSPACE {name} WITH replication = {}  AND durable_writes = {};",
        replication(keyspace),
        keyspace.durable_writes
    )
}

/// `class` first, without Cassandra's own package; options in the order of a Java map.
fn replication(keyspace: &Keyspace) -> String {
    let class = keyspace.replication.get("class").map_or("", String::as_str);
    let class = class.strip_prefix("org.apache.cassandra.locator.").unwrap_or(class);
    let options: Vec<&str> =
        keyspace.replication.keys().map(String::as_str).filter(|key| *key != "class").collect();
    let mut text = format!("{{'class': {}", string(class));
    for option in java::hash_order(&options, keyspace.replication.len()) {
        let value = keyspace.replication.get(option).map_or("", String::as_str);
        text += &format!(", {}: {}", string(option), string(value));
    }
    text + "}"
}

/// CREATE TYPE.
pub fn user_type(user_type: &UserType) -> String {
    let fields: Vec<String> =
        user_type.fields.iter().map(|(name, field)| format!("    {} {field}", identifier(name))).collect();
    format!(
        "CREATE TYPE {}.{} (\n{}\n);",
        identifier(&user_type.keyspace),
        identifier(&user_type.name),
        fields.join(",\n")
    )
}

/// `keyspace.name`, quoted where needed.
fn table_name(table: &Table) -> String {
    format!("{}.{}", identifier(&table.keyspace), identifier(&table.name))
}

/// CREATE TABLE. `with_internals` shows the id, and dropped columns as the statements that led to
/// them.
pub fn table(table: &Table, with_internals: bool) -> String {
    let name = table_name(table);
    let mut text = String::with_capacity(2048);
    if table.compact.is_some() {
        text += &format!(
            "/*\nWarning: Table {name} omitted because it has constructs not compatible with CQL (was created via legacy API).\nApproximate structure, for reference:\n(this should not be used to reproduce this schema)\n\n"
        );
    }
    if table.is_virtual {
        text += &format!(
            "/*\nWarning: Table {name} is a virtual table and cannot be recreated with CQL.\nStructure, for reference:\nVIRTUAL"
        );
    } else {
        text += "CREATE";
    }
    text += &format!(" TABLE {name} (\n");
    let single_key = table.partition_key_count == 1 && table.clustering_count == 0;
    columns(table, with_internals, single_key, &mut text);
    if !single_key {
        primary_key(table, &mut text);
    }
    text += ") WITH ";
    options(table, with_internals, &mut text);
    if table.is_virtual {
        text += "\n*/";
    }
    if with_internals {
        drops(table, &mut text);
    }
    if table.compact.is_some() {
        text += "\n*/";
    }
    text
}

/// Key columns, then static and regular ones, each with those stored by element last; none that
/// are hidden.
fn in_create_order(table: &Table) -> Vec<&Column> {
    let mut others: Vec<&Column> = table.statics().iter().chain(table.regulars()).collect();
    others.sort_by_key(|column| (column.kind, column.data_type.is_multi_cell()));
    let all = table.partition_key().iter().chain(table.clustering()).chain(others);
    all.filter(|column| !table.is_hidden(column)).collect()
}

fn column(column: &Column) -> String {
    let suffix = if column.kind == ColumnKind::Static { " static" } else { "" };
    format!("{}{suffix}{}", plain_column(column), mask(column))
}

/// `ColumnMask.appendCqlTo`.
fn mask(column: &Column) -> String {
    let Some(mask) = &column.mask else { return String::new() };
    let arguments: Vec<String> =
        mask.arguments.iter().map(|(data_type, value)| literals::print(data_type, value.as_ref())).collect();
    format!(" MASKED WITH {}.{}({})", mask.keyspace, mask.function, arguments.join(", "))
}

fn plain_column(column: &Column) -> String {
    format!("{} {}", identifier(&column.name), column.data_type)
}

fn columns(table: &Table, with_dropped: bool, single_key: bool, text: &mut String) {
    // A column that was dropped and added again is written as it was, dropped, and added.
    let readded = |column: &&Column| with_dropped && table.dropped_columns.contains_key(&column.name);
    let all = in_create_order(table);
    let last = all.len().saturating_sub(1);
    for (index, shown) in all.iter().enumerate().filter(|(_, column)| !readded(column)) {
        *text += "    ";
        // Those of a static compact table were not written as static.
        *text += &if table.is_static_compact() {
            format!("{}{}", plain_column(shown), mask(shown))
        } else {
            column(shown)
        };
        if single_key && shown.kind == ColumnKind::PartitionKey {
            *text += " PRIMARY KEY";
        }
        if !single_key || (with_dropped && !table.dropped_columns.is_empty()) || index < last {
            text.push(',');
        }
        text.push('\n');
    }
    if !with_dropped {
        return;
    }
    let dropped = dropped_columns(table);
    for (index, gone) in dropped.iter().enumerate() {
        let comma = if !single_key || index + 1 < dropped.len() { "," } else { "" };
        *text += &format!("    {}{comma}\n", column(&gone.column));
    }
}

/// In the order of a Java map keyed by the names' bytes.
fn dropped_columns(table: &Table) -> Vec<&DroppedColumn> {
    let names: Vec<&str> = table.dropped_columns.keys().map(|name| &**name).collect();
    java::bytes_hash_order(&names).into_iter().filter_map(|name| table.dropped_columns.get(name)).collect()
}

fn primary_key(table: &Table, text: &mut String) {
    let names = |columns: &[Column]| -> Vec<String> {
        columns.iter().map(|column| identifier(&column.name).into_owned()).collect()
    };
    let clustering = if table.is_static_compact() { &[] } else { table.clustering() };
    let (partition, clustering) = (names(table.partition_key()), names(clustering));
    let partition =
        if partition.len() > 1 { format!("({})", partition.join(", ")) } else { partition.join("") };
    let all: Vec<String> = std::iter::once(partition).chain(clustering).collect();
    *text += &format!("    PRIMARY KEY ({})\n", all.join(", "));
}

fn options(table: &Table, with_internals: bool, text: &mut String) {
    if table.compact.is_some() {
        *text += &format!("COMPACT STORAGE{AND}");
    }
    if with_internals {
        *text += &format!("ID = {}{AND}", table.id.0);
    }
    if table.clustering_count > 0 {
        let order = |column: &Column| {
            let direction = if column.order == ClusteringOrder::Desc { "DESC" } else { "ASC" };
            format!("{} {direction}", identifier(&column.name))
        };
        let orders: Vec<String> = table.clustering().iter().map(order).collect();
        *text += &format!("CLUSTERING ORDER BY ({}){AND}", orders.join(", "));
    }
    if table.is_virtual {
        *text += &format!("comment = {};", string(&table.options.comment));
    } else {
        *text += &table_options(&table.options);
        text.push(';');
    }
}

fn map<'a>(entries: impl Iterator<Item = (&'a String, String)>) -> String {
    let entries: Vec<String> = entries.map(|(key, value)| format!("{}: {value}", string(key))).collect();
    format!("{{{}}}", entries.join(", "))
}

fn texts(entries: &std::collections::BTreeMap<String, String>) -> String {
    map(entries.iter().map(|(key, value)| (key, string(value))))
}

/// `TableParams.appendCqlTo`.
fn table_options(options: &TableOptions) -> String {
    let extension = |bytes: &[u8]| {
        bytes.iter().fold("0x".to_owned(), |mut text, byte| {
            // A String never refuses what is written to it.
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    let extensions = map(options.extensions.iter().map(|(key, value)| (key, extension(value))));
    let parts = [
        format!("additional_write_policy = {}", string(&options.additional_write_policy.0)),
        format!("allow_auto_snapshot = {}", options.allow_auto_snapshot),
        format!("bloom_filter_fp_chance = {}", java::double(options.bloom_filter_fp_chance)),
        format!("caching = {}", texts(&options.caching.0)),
        format!("cdc = {}", options.cdc),
        format!("comment = {}", string(&options.comment)),
        format!("compaction = {}", texts(&options.compaction.0)),
        format!("compression = {}", texts(&options.compression.0)),
        format!("memtable = {}", string(options.memtable.as_deref().unwrap_or("default"))),
        format!("crc_check_chance = {}", java::double(options.crc_check_chance)),
        format!("default_time_to_live = {}", options.default_time_to_live),
        format!("extensions = {extensions}"),
        format!("gc_grace_seconds = {}", options.gc_grace_seconds),
        format!("incremental_backups = {}", options.incremental_backups),
        format!("max_index_interval = {}", options.max_index_interval),
        format!("memtable_flush_period_in_ms = {}", options.memtable_flush_period_in_ms),
        format!("min_index_interval = {}", options.min_index_interval),
        format!("read_repair = {}", string(&options.read_repair)),
        format!("speculative_retry = {}", string(&options.speculative_retry.0)),
    ];
    parts.join(AND)
}

fn drops(table: &Table, text: &mut String) {
    let name = table_name(table);
    for dropped in dropped_columns(table) {
        let gone = identifier(&dropped.column.name);
        *text += &format!("\nALTER TABLE {name} DROP {gone} USING TIMESTAMP {};", dropped.dropped_time);
        if let Some(again) = table.column(&dropped.column.name) {
            *text += &format!("\nALTER TABLE {name} ADD {};", column(again));
        }
    }
}
