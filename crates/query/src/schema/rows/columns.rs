//! `system_schema.columns`.

use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{Column, Table};

use super::{SchemaMutation, column_masks};
use crate::schema::encode;

/// The kind as stored.
pub fn kind_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::PartitionKey => "partition_key",
        ColumnKind::Clustering => "clustering",
        ColumnKind::Static => "static",
        ColumnKind::Regular => "regular",
    }
}

/// The kind stored as `name`.
pub fn kind_of(name: &str) -> Option<ColumnKind> {
    match name {
        "partition_key" => Some(ColumnKind::PartitionKey),
        "clustering" => Some(ColumnKind::Clustering),
        "static" => Some(ColumnKind::Static),
        "regular" => Some(ColumnKind::Regular),
        _ => None,
    }
}

/// `position`: -1 outside the key.
pub fn position(column: &Column) -> i32 {
    match column.kind {
        ColumnKind::PartitionKey | ColumnKind::Clustering => i32::from(column.position),
        ColumnKind::Static | ColumnKind::Regular => -1,
    }
}

/// `clustering_order`.
pub fn order_name(column: &Column) -> &'static str {
    match (column.kind, column.order) {
        (ColumnKind::Clustering, ClusteringOrder::Desc) => "desc",
        (ColumnKind::Clustering, ClusteringOrder::Asc) => "asc",
        _ => "none",
    }
}

/// A column, and that it has no mask.
pub fn write(table: &Table, column: &Column, mutation: &mut SchemaMutation<'_>) {
    mutation.row("columns", &[&table.name, &column.name], |row| {
        row.set("column_name_bytes", encode::text(&column.name));
        row.set("kind", encode::text(kind_name(column.kind)));
        row.set("position", encode::int(position(column)));
        row.set("clustering_order", encode::text(order_name(column)));
        row.set("type", encode::text(&column.data_type.to_string()));
    });
    column_masks::write(table, column, mutation);
}

/// Its end.
pub fn delete(table: &Table, column: &Column, mutation: &mut SchemaMutation<'_>) {
    mutation.delete_row("columns", &[&table.name, &column.name]);
}
