//! `WITH COMPACT STORAGE` in CREATE TABLE (`CreateTableStatement.validateCompactTable`,
//! `fixupCompactTable`): what such a table may be, and the columns it gets that no statement sees.

use std::collections::BTreeMap;

use basalt_cql::ast::PrimaryKey;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{Column, ColumnId, CqlError, DataType};

/// Checks the columns beyond the primary key.
///
/// # Errors
/// `Invalid`, with Cassandra's texts.
pub(super) fn check(
    key: &PrimaryKey,
    types: &BTreeMap<&str, DataType>,
    has_statics: bool,
) -> Result<(), CqlError> {
    let in_key =
        |name: &str| key.partition.iter().chain(&key.clustering).any(|column| column.as_str() == name);
    let others: Vec<&str> = types.keys().copied().filter(|name| !in_key(name)).collect();
    let refuse = |text: &str| Err(CqlError::invalid(text));
    if others.iter().any(|name| types.get(name).is_some_and(DataType::is_multi_cell)) {
        return refuse("Non-frozen collections and UDTs are not supported with COMPACT STORAGE");
    }
    if has_statics {
        return refuse("Static columns are not supported in COMPACT STORAGE tables");
    }
    if key.clustering.is_empty() && others.is_empty() {
        return refuse("No definition found that is not part of the PRIMARY KEY");
    }
    if !key.clustering.is_empty() && others.len() > 1 {
        return Err(CqlError::invalid(format!(
            "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: {})",
            others.join(", ")
        )));
    }
    Ok(())
}

/// The flags of such a table in `system_schema.tables`.
pub(super) fn flags(key: &PrimaryKey) -> Vec<String> {
    let names: &[&str] = match key.clustering.len() {
        0 => &[],
        1 => &["dense"],
        _ => &["dense", "compound"],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Makes the columns those of a compact table: without clustering columns the named ones become
/// static, and in every case there is a clustering column and exactly one regular column.
pub(super) fn complete(columns: &mut Vec<Column>, key: &PrimaryKey, is_counter: bool) {
    if key.clustering.is_empty() {
        for column in columns.iter_mut().filter(|column| column.kind == ColumnKind::Regular) {
            column.kind = ColumnKind::Static;
        }
        let name = free_name(columns, "column", 1);
        add(columns, name, ColumnKind::Clustering, DataType::Text);
        let name = free_name(columns, "value", 0);
        let data_type = if is_counter { DataType::Counter } else { DataType::Blob };
        add(columns, name, ColumnKind::Regular, data_type);
    } else if columns.iter().all(|column| column.kind != ColumnKind::Regular) {
        let name = free_name(columns, "value", 0);
        add(columns, name, ColumnKind::Regular, DataType::Empty);
    }
}

/// `base` with the first number from `first` on that makes it a new name; without one for 0.
fn free_name(columns: &[Column], base: &str, first: usize) -> String {
    let candidate = |number: usize| if number == 0 { base.to_owned() } else { format!("{base}{number}") };
    // As many numbers as there are columns, and one more, cannot all be taken.
    let mut candidates = (first..=first + columns.len()).map(candidate);
    candidates.find(|name| columns.iter().all(|column| *column.name != **name)).unwrap_or_default()
}

fn add(columns: &mut Vec<Column>, name: String, kind: ColumnKind, data_type: DataType) {
    let id = columns.iter().map(|column| column.id.0).max().map_or(0, |id| id + 1);
    columns.push(Column {
        name: name.into(),
        data_type,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    });
}
