//! `system_schema.column_masks`: there are no masks, but Cassandra deletes the row of each column
//! it writes, except in the replicated system keyspaces.

use basalt_model::schema::KeyspaceKind;
use basalt_model::{Column, Table};

use super::SchemaMutation;
use crate::system_tables::kind_of;

/// That the column has no mask.
pub fn write(table: &Table, column: &Column, mutation: &mut SchemaMutation<'_>) {
    if kind_of(&table.keyspace) != KeyspaceKind::DistributedSystem {
        mutation.delete_row("column_masks", &[&table.name, &column.name]);
    }
}
