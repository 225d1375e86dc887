//! Bringing snapshots back while the node runs. Everything is checked and made ready first; then the tables get their
//! data, each in one step. A table that is not there is made as the snapshot knew it.

use std::sync::Arc;

use basalt_model::{Column, Schema, Table};
use basalt_query::describe::kind_name;
use basalt_query::{QueryProcessor, SchemaStore};
use basalt_storage::engine::{Engine, Staged};
use tokio::runtime::Runtime;

use super::manifest::{ColumnEntry, Manifest};
use super::{Listed, SCHEMA_FILE, SnapshotError, system};
use crate::purging::Purges;

/// Keyspaces that describe the node itself: what other tables are is told there, so they are not replaced.
const OWN_KEYSPACES: [&str; 2] = ["system", "system_schema"];

/// What a restore works on.
pub struct Restore<'n> {
    /// Where data goes.
    pub engine: &'n dyn Engine,
    /// Makes tables that are not there.
    pub schema: &'n SchemaStore,
    /// Must not purge what is exchanged meanwhile.
    pub purges: &'n Purges,
    /// Remembers counts.
    pub processor: &'n QueryProcessor,
}

/// Whether a snapshot's table may be restored at all.
pub fn is_restorable(listed: &Listed) -> bool {
    !OWN_KEYSPACES.contains(&listed.manifest.keyspace.as_str())
}

impl Restore<'_> {
    /// Restores all of `snapshots`. Writes that returned before are gone, as after TRUNCATE.
    ///
    /// # Errors
    /// See [`SnapshotError`]; no data has been replaced then, unless the engine failed at the last step.
    pub fn run(&self, snapshots: &[Listed]) -> Result<(), SnapshotError> {
        let before = self.schema.current();
        for listed in snapshots {
            if let Some(table) = before.table(&listed.manifest.keyspace, &listed.manifest.table) {
                check_columns(table, &listed.manifest)?;
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(|error| SnapshotError::Refused(error.to_string()))?;
        let mut staged: Vec<Box<dyn Staged + '_>> = Vec::with_capacity(snapshots.len());
        for listed in snapshots {
            let table = self.table_for(&runtime, listed)?;
            staged.push(self.engine.stage_table(table.id, &listed.directory, &listed.manifest.exported())?);
        }
        self.purges.hold_off(|| {
            for staged in staged {
                let committed = staged.commit();
                // What was counted before counts from other data.
                self.processor.forget_counts();
                committed?;
            }
            Ok(())
        })
    }

    /// The table, made if it is not there.
    fn table_for(&self, runtime: &Runtime, listed: &Listed) -> Result<Arc<Table>, SnapshotError> {
        let Manifest { keyspace, table, keyspace_cql, .. } = &listed.manifest;
        let find = |schema: &Schema| schema.table(keyspace, table).cloned();
        if let Some(table) = find(&self.schema.current()) {
            return Ok(table);
        }
        let path = listed.directory.join(SCHEMA_FILE);
        let cql = std::fs::read_to_string(&path).map_err(system(&path))?;
        let known = listed.manifest.known_columns();
        for statement in statements(keyspace_cql).chain(statements(&cql)) {
            runtime
                .block_on(self.schema.recreate(statement, &known))
                .map_err(|error| SnapshotError::Damaged { path: path.clone(), detail: error.to_string() })?;
        }
        let made = find(&self.schema.current()).ok_or_else(|| SnapshotError::Damaged {
            path: path.clone(),
            detail: format!("it does not make {keyspace}.{table}: make that table, then restore again"),
        })?;
        check_columns(&made, &listed.manifest)?;
        Ok(made)
    }
}

/// Whether the table's columns are those that the snapshot's files name.
fn check_columns(table: &Table, manifest: &Manifest) -> Result<(), SnapshotError> {
    let refuse = |why: String| {
        let name = format!("{}.{}", table.keyspace, table.name);
        Err(SnapshotError::Refused(format!(
            "{name} is not the table that the snapshot was taken of: {why}. Drop or rename it, and restore makes it as it was"
        )))
    };
    let gone = table.dropped_columns.values().map(|dropped| &dropped.column);
    let all: Vec<&Column> = table.columns.iter().chain(gone).collect();
    let of = |entry: &ColumnEntry| {
        all.iter().find(|column| *column.name == *entry.name && kind_name(column.kind) == entry.kind)
    };
    for entry in &manifest.columns {
        let Some(column) = of(entry) else {
            return refuse(format!("it has no {} column {}", entry.kind, entry.name));
        };
        if column.id.0 != entry.id {
            return refuse(format!("its column {} is another one", entry.name));
        }
        let is_there = table.column(&column.name).is_some();
        if is_there && column.data_type.to_string() != entry.data_type {
            return refuse(format!("its column {} is of type {}", entry.name, column.data_type));
        }
    }
    let keys = |kind: &str| manifest.columns.iter().filter(|entry| entry.kind == kind).count();
    if keys("partition_key") != table.partition_key_count || keys("clustering") != table.clustering_count {
        return refuse("it has another primary key".to_owned());
    }
    Ok(())
}

/// Cuts a text into its statements: semicolons end them, outside of strings, quoted names and comments.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (statement, behind) = rest.split_at(end_of_statement(rest));
            rest = behind;
            let statement = statement.trim();
            let is_comment = statement.starts_with("/*") && statement.ends_with("*/");
            if !statement.is_empty() && !is_comment {
                return Some(statement);
            }
        }
        None
    })
}

/// Where the first statement ends, its semicolon included.
fn end_of_statement(text: &str) -> usize {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        let closing = match character {
            ';' => return at + 1,
            '\'' => "'",
            '"' => "\"",
            '/' if text.get(at..).is_some_and(|rest| rest.starts_with("/*")) => "*/",
            _ => continue,
        };
        // A doubled quote ends one string and begins the next, which comes to the same.
        let inside = at + character.len_utf8();
        let length = text.get(inside..).and_then(|rest| rest.find(closing));
        let Some(length) = length else { return text.len() };
        while characters.clone().next().is_some_and(|(next, _)| next < inside + length + closing.len()) {
            characters.next();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    //! Where statements end.
    use super::statements;

    #[test]
    fn statements_end_at_semicolons_outside_of_texts() {
        let text = "CREATE TABLE a (b int) WITH comment = 'x;''y;' AND d = \"e;f\";\n\nALTER TABLE a;\n/* no; */\n c";
        let cut: Vec<&str> = statements(text).collect();
        let first = "CREATE TABLE a (b int) WITH comment = 'x;''y;' AND d = \"e;f\";";
        assert_eq!(cut, [first, "ALTER TABLE a;", "/* no; */\n c"]);
        assert_eq!(statements("/* a; */ ").count(), 0);
        assert_eq!(statements("'open;").collect::<Vec<_>>(), ["'open;"]);
    }
}
