//! `system_schema.dropped_columns`.

use basalt_model::Table;
use basalt_model::schema::DroppedColumn;

use super::{SchemaMutation, columns};
use crate::schema::encode;

/// A column that was dropped; the time is kept in milliseconds.
pub fn write(table: &Table, dropped: &DroppedColumn, mutation: &mut SchemaMutation<'_>) {
    mutation.row("dropped_columns", &[&table.name, &dropped.column.name], |row| {
        row.set("dropped_time", encode::bigint(dropped.dropped_time.div_euclid(1000)));
        row.set("type", encode::text(&dropped.column.data_type.to_string()));
        row.set("kind", encode::text(columns::kind_name(dropped.column.kind)));
    });
}

/// Its end, with the table's.
pub fn delete(table: &Table, dropped: &DroppedColumn, mutation: &mut SchemaMutation<'_>) {
    mutation.delete_row("dropped_columns", &[&table.name, &dropped.column.name]);
}
