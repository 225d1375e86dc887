//! `system_schema.column_masks`. Cassandra deletes the row of each column it writes that has no mask,
//! except in the replicated system keyspaces; the row of a column that ends stays.

use basalt_model::schema::{ColumnMask, KeyspaceKind};
use basalt_model::{Column, Table};

use super::SchemaMutation;
use crate::schema::{encode, mask_values};
use crate::system_tables::kind_of;

/// The column's mask, or that it has none.
pub fn write(table: &Table, column: &Column, mutation: &mut SchemaMutation<'_>) {
    if kind_of(&table.keyspace) == KeyspaceKind::DistributedSystem {
        return;
    }
    match &column.mask {
        None => mutation.delete_row("column_masks", &[&table.name, &column.name]),
        Some(mask) => write_mask(table, column, mask, mutation),
    }
}

/// A list holds no nulls: a second one says which of the values are.
fn write_mask(table: &Table, column: &Column, mask: &ColumnMask, mutation: &mut SchemaMutation<'_>) {
    let types: Vec<String> = mask.arguments.iter().map(|(data_type, _)| data_type.to_string()).collect();
    let value = |(data_type, value): &(_, Option<bytes::Bytes>)| {
        value.as_ref().map_or_else(String::new, |value| mask_values::to_stored(data_type, value))
    };
    let values: Vec<String> = mask.arguments.iter().map(value).collect();
    let nulls: Vec<bool> = mask.arguments.iter().map(|(_, value)| value.is_none()).collect();
    mutation.row("column_masks", &[&table.name, &column.name], |row| {
        row.set("function_keyspace", encode::text(&mask.keyspace));
        row.set("function_name", encode::text(&mask.function));
        row.set("function_argument_types", encode::text_list(types.iter().map(String::as_str)));
        row.set("function_argument_values", encode::text_list(values.iter().map(String::as_str)));
        row.set("function_argument_nulls", encode::boolean_list(&nulls));
    });
}
