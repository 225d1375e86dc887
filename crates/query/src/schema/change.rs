//! The difference between two states of a keyspace, as rows of `system_schema`
//! (`SchemaKeyspace.convertSchemaDiffToMutations`), and which tables come and go with it.

use std::sync::Arc;

use basalt_model::types::UserType;
use basalt_model::{Column, Keyspace, Mutation, Table, TableId};

use super::rows::{SchemaMutation, SchemaTables, keyspaces, tables, types};

/// What a change writes, and which storage it needs.
#[derive(Debug, Default)]
pub struct Difference {
    /// The rows; `None` when nothing differs.
    pub mutation: Option<Mutation>,
    /// Tables that are new.
    pub created: Vec<Arc<Table>>,
    /// Tables that were there and have other options.
    pub with_options: Vec<Arc<Table>>,
    /// Tables that are gone.
    pub dropped: Vec<TableId>,
}

/// When a change is written.
#[derive(Clone, Copy, Debug)]
pub struct ChangeTime {
    /// Write time, microseconds.
    pub timestamp: i64,
    /// This node's clock, seconds.
    pub now_s: i64,
}

/// The rows that turn `before` into `after`.
pub fn difference(
    schema_tables: &SchemaTables,
    before: Option<&Keyspace>,
    after: Option<&Keyspace>,
    time: ChangeTime,
) -> Difference {
    let writer = |name: &str| SchemaMutation::new(schema_tables, name, time.timestamp, time.now_s);
    match (before, after) {
        (None, None) => Difference::default(),
        (None, Some(after)) => {
            let mut mutation = writer(&after.name);
            create(after, &mut mutation);
            let created = after.tables.values().cloned().collect();
            Difference { mutation: mutation.finish(), created, ..Difference::default() }
        }
        (Some(before), None) => {
            let mut mutation = writer(&before.name);
            mutation.delete_keyspace();
            let dropped = before.tables.values().map(|table| table.id).collect();
            Difference { mutation: mutation.finish(), dropped, ..Difference::default() }
        }
        (Some(before), Some(after)) => {
            let mut mutation = writer(&after.name);
            let mut difference = Difference::default();
            if alter(before, after, &mut mutation, &mut difference) {
                keyspaces::write(after, &mut mutation);
                difference.mutation = mutation.finish();
            }
            difference
        }
    }
}

fn create(keyspace: &Keyspace, mutation: &mut SchemaMutation<'_>) {
    keyspaces::write(keyspace, mutation);
    keyspace.tables.values().for_each(|table| tables::create(table, mutation));
    keyspace.types.values().for_each(|user_type| types::write(user_type, mutation));
}

/// Writes what differs inside; whether anything does.
fn alter(
    before: &Keyspace,
    after: &Keyspace,
    mutation: &mut SchemaMutation<'_>,
    difference: &mut Difference,
) -> bool {
    let mut differs =
        before.durable_writes != after.durable_writes || before.replication != after.replication;
    for (name, user_type) in &before.types {
        match after.types.get(name) {
            None => types::delete(user_type, mutation),
            Some(new) if !same_type(user_type, new) => types::write(new, mutation),
            // A type inside it may have changed: its own row has not.
            Some(new) => {
                differs |= user_type != new;
                continue;
            }
        }
        differs = true;
    }
    for (_, user_type) in after.types.iter().filter(|(name, _)| !before.types.contains_key(*name)) {
        types::write(user_type, mutation);
        differs = true;
    }
    for (name, table) in &before.tables {
        match after.tables.get(name) {
            Some(new) if new.id == table.id => {
                if same_table(table, new) {
                    continue;
                }
                tables::alter(table, new, mutation);
                if table.options != new.options {
                    difference.with_options.push(Arc::clone(new));
                }
            }
            replaced => {
                tables::delete(table, mutation);
                difference.dropped.push(table.id);
                if let Some(new) = replaced {
                    tables::create(new, mutation);
                    difference.created.push(Arc::clone(new));
                }
            }
        }
        differs = true;
    }
    for (_, table) in after.tables.iter().filter(|(name, _)| !before.tables.contains_key(*name)) {
        tables::create(table, mutation);
        difference.created.push(Arc::clone(table));
        differs = true;
    }
    differs
}

/// Whether the type's row is the same.
fn same_type(left: &UserType, right: &UserType) -> bool {
    left.fields.len() == right.fields.len()
        && left.fields.iter().zip(&right.fields).all(|((name, field), (other, data_type))| {
            name == other && field.to_string() == data_type.to_string()
        })
}

/// Whether the table's rows are the same; a user type it names may differ.
fn same_table(left: &Table, right: &Table) -> bool {
    let same_column = |(left, right): (&Column, &Column)| {
        (&left.name, left.kind, left.position, left.order, &left.mask)
            == (&right.name, right.kind, right.position, right.order, &right.mask)
            && (left.data_type == right.data_type
                || left.data_type.to_string() == right.data_type.to_string())
    };
    left.options == right.options
        && left.flags == right.flags
        && left.dropped_columns == right.dropped_columns
        && left.columns.len() == right.columns.len()
        && left.columns.iter().zip(&right.columns).all(same_column)
}
