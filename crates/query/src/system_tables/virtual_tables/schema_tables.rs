//! `system_virtual_schema`: the virtual keyspaces themselves, which `system_schema` does not have.

use std::sync::Arc;

use basalt_model::schema::KeyspaceKind;
use basalt_model::{Keyspace, Table};

use super::VirtualContext;
use crate::schema::rows::columns::{kind_name, order_name, position};
use crate::system_tables::views::{ViewRow, ViewValue};

fn keyspaces_of<'a>(context: &'a VirtualContext<'_>) -> impl Iterator<Item = &'a Arc<Keyspace>> {
    context.schema.keyspaces.values().filter(|keyspace| keyspace.kind == KeyspaceKind::Virtual)
}

fn tables_of<'a>(context: &'a VirtualContext<'_>) -> impl Iterator<Item = &'a Arc<Table>> {
    keyspaces_of(context).flat_map(|keyspace| keyspace.tables.values())
}

pub fn keyspaces(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    keyspaces_of(context).map(|keyspace| vec![("keyspace_name", ViewValue::from(&*keyspace.name))]).collect()
}

pub fn tables(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let row = |table: &Arc<Table>| {
        vec![
            ("keyspace_name", ViewValue::from(&*table.keyspace)),
            ("table_name", ViewValue::from(&*table.name)),
            ("comment", ViewValue::from(&*table.options.comment)),
        ]
    };
    tables_of(context).map(row).collect()
}

pub fn columns(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let mut rows = Vec::new();
    for table in tables_of(context) {
        for column in &table.columns {
            rows.push(vec![
                ("keyspace_name", ViewValue::from(&*table.keyspace)),
                ("table_name", ViewValue::from(&*table.name)),
                ("column_name", ViewValue::from(&*column.name)),
                ("clustering_order", ViewValue::from(order_name(column))),
                ("column_name_bytes", ViewValue::Blob(column.name.as_bytes().to_vec())),
                ("kind", ViewValue::from(kind_name(column.kind))),
                ("position", ViewValue::Int(position(column))),
                ("type", ViewValue::from(column.data_type.to_string())),
            ]);
        }
    }
    rows
}
