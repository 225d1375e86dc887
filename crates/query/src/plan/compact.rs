//! What modifications do otherwise in tables made WITH COMPACT STORAGE (`UpdateParameters`,
//! `UpdateStatement.addUpdateForKey`): their rows are their one cell and nothing else.

use basalt_model::schema::Compact;
use basalt_model::{Clustering, Row, Table};
use bytes::Bytes;

use crate::error::{CqlResult, bail};
use crate::operations::Writer;

/// Makes the clustering of a named row one of the table: the last values may have been left out.
pub(super) fn complete(table: &Table, clustering: &mut Clustering) {
    if matches!(table.compact, Some(Compact::Simple | Compact::Compound)) {
        clustering.0.resize(table.clustering_count, None);
    }
}

/// Refuses the row that a table with a single clustering column cannot have, once it comes to writing it.
///
/// # Errors
/// For a value without bytes.
pub(super) fn check(table: &Table, clustering: &Clustering) -> CqlResult<()> {
    if table.compact == Some(Compact::Simple)
        && let ([column], [value]) = (table.clustering(), clustering.0.as_slice())
        && value.as_ref().is_none_or(Bytes::is_empty)
    {
        bail!("Invalid empty or null value for column {}", column.name);
    }
    Ok(())
}

/// Writes the cell of a row of which only the primary key is given.
///
/// # Errors
/// When the definition of the table names the cell's column: then it must be given.
pub(super) fn write_value(writer: &Writer<'_>, row: &mut Row) -> CqlResult<()> {
    let Some(column) = writer.table.compact_value() else { return Ok(()) };
    if !writer.table.is_hidden(column) {
        bail!("Column {} is mandatory for this COMPACT STORAGE table", column.name);
    }
    writer.put(row, column, None, Bytes::new());
    Ok(())
}

/// Deletes the row by its cell; `false` when the table is an ordinary one.
pub(super) fn delete_value(writer: &Writer<'_>, row: &mut Row) -> bool {
    let column = writer.table.compact_value();
    column.inspect(|column| writer.delete(row, column, None)).is_some()
}
