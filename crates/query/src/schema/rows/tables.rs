//! `system_schema.tables`.

use basalt_model::Table;
use basalt_model::schema::TableOptions;

use super::{RowWriter, SchemaMutation, columns, dropped_columns};
use crate::schema::encode;

/// A new table with its columns.
pub fn create(table: &Table, mutation: &mut SchemaMutation<'_>) {
    write(table, mutation);
    for column in &table.columns {
        columns::write(table, column, mutation);
    }
    for dropped in table.dropped_columns.values() {
        dropped_columns::write(table, dropped, mutation);
    }
}

/// A changed table: its row, and the columns that differ.
pub fn alter(before: &Table, after: &Table, mutation: &mut SchemaMutation<'_>) {
    write(after, mutation);
    for column in &before.columns {
        if after.column(&column.name).is_none() {
            columns::delete(before, column, mutation);
        }
    }
    for column in &after.columns {
        if before.column(&column.name) != Some(column) {
            columns::write(after, column, mutation);
        }
    }
    for (name, dropped) in &after.dropped_columns {
        if before.dropped_columns.get(name) != Some(dropped) {
            dropped_columns::write(after, dropped, mutation);
        }
    }
}

/// A table's end.
pub fn delete(table: &Table, mutation: &mut SchemaMutation<'_>) {
    mutation.delete_row("tables", &[&table.name]);
    for column in &table.columns {
        columns::delete(table, column, mutation);
    }
    for dropped in table.dropped_columns.values() {
        dropped_columns::delete(table, dropped, mutation);
    }
}

fn write(table: &Table, mutation: &mut SchemaMutation<'_>) {
    let mut flags: Vec<&str> = table.flags.iter().map(String::as_str).collect();
    flags.sort_unstable();
    mutation.row("tables", &[&table.name], |row| {
        row.delete_previous();
        row.set("id", encode::uuid(table.id.0));
        row.set("flags", encode::text_list(flags));
        write_options(&table.options, row);
    });
}

/// `cdc` is not written: change data capture is off, as by default in Cassandra. Options that
/// came after 4.0 are written only where they differ from their default, as Cassandra does.
fn write_options(options: &TableOptions, row: &mut RowWriter<'_>) {
    row.set("bloom_filter_fp_chance", encode::double(options.bloom_filter_fp_chance));
    row.set("comment", encode::text(&options.comment));
    row.set("dclocal_read_repair_chance", encode::double(0.0));
    row.set("default_time_to_live", encode::int(options.default_time_to_live));
    row.set("gc_grace_seconds", encode::int(options.gc_grace_seconds));
    row.set("max_index_interval", encode::int(options.max_index_interval));
    row.set("memtable_flush_period_in_ms", encode::int(options.memtable_flush_period_in_ms));
    row.set("min_index_interval", encode::int(options.min_index_interval));
    row.set("read_repair_chance", encode::double(0.0));
    row.set("speculative_retry", encode::text(&options.speculative_retry.0));
    row.set("additional_write_policy", encode::text(&options.additional_write_policy.0));
    row.set("crc_check_chance", encode::double(options.crc_check_chance));
    row.set("caching", encode::text_map(&options.caching.0));
    row.set("compaction", encode::text_map(&options.compaction.0));
    row.set("compression", encode::text_map(&options.compression.0));
    row.set("read_repair", encode::text(&options.read_repair));
    row.set("extensions", encode::blob_map(&options.extensions));
    if let Some(memtable) = &options.memtable {
        row.set("memtable", encode::text(memtable));
    }
    if !options.allow_auto_snapshot {
        row.set("allow_auto_snapshot", encode::boolean(false));
    }
    if !options.incremental_backups {
        row.set("incremental_backups", encode::boolean(false));
    }
}
