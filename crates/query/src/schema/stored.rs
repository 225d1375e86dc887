//! One stored row with typed access by column name; what does not fit is damage.

use std::collections::BTreeMap;

use basalt_model::{Row, Table};
use bytes::Bytes;
use uuid::Uuid;

use super::{SchemaError, encode};

/// A live row of a table of `system_schema` or `system`.
#[derive(Clone, Copy)]
pub struct StoredRow<'a> {
    /// Its table.
    pub table: &'a Table,
    /// The row.
    pub row: &'a Row,
}

impl StoredRow<'_> {
    fn damaged(&self, column: &str) -> SchemaError {
        SchemaError::Damaged(format!(
            "{}.{}: {column} is missing or unreadable",
            self.table.keyspace, self.table.name
        ))
    }

    fn cell(&self, column: &str) -> Option<&Bytes> {
        let column = self.table.column(column)?;
        self.row.cell(column.id).map(|cell| &cell.value)
    }

    /// A value.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn read<T>(&self, column: &str, decode: impl Fn(&Bytes) -> Option<T>) -> Result<T, SchemaError> {
        self.cell(column).and_then(decode).ok_or_else(|| self.damaged(column))
    }

    /// A value that may be absent.
    ///
    /// # Errors
    /// When it is there and unreadable.
    pub fn optional<T>(
        &self,
        column: &str,
        decode: impl Fn(&Bytes) -> Option<T>,
    ) -> Result<Option<T>, SchemaError> {
        match self.cell(column) {
            None => Ok(None),
            Some(value) => decode(value).map(Some).ok_or_else(|| self.damaged(column)),
        }
    }

    /// A component of the clustering.
    ///
    /// # Errors
    /// When it is not there or no text.
    pub fn clustering(&self, index: usize) -> Result<String, SchemaError> {
        let value = self.row.clustering.0.get(index).and_then(Option::as_ref);
        value.and_then(encode::read_text).ok_or_else(|| self.damaged("a clustering column"))
    }

    /// `text`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn text(&self, column: &str) -> Result<String, SchemaError> {
        self.read(column, encode::read_text)
    }

    /// `boolean`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn boolean(&self, column: &str) -> Result<bool, SchemaError> {
        self.read(column, encode::read_boolean)
    }

    /// `int`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn int(&self, column: &str) -> Result<i32, SchemaError> {
        self.read(column, encode::read_int)
    }

    /// `bigint` or `timestamp`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn bigint(&self, column: &str) -> Result<i64, SchemaError> {
        self.read(column, encode::read_bigint)
    }

    /// `double`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn double(&self, column: &str) -> Result<f64, SchemaError> {
        self.read(column, encode::read_double)
    }

    /// `uuid`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn uuid(&self, column: &str) -> Result<Uuid, SchemaError> {
        self.read(column, encode::read_uuid)
    }

    /// `frozen<map<text, text>>`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn text_map(&self, column: &str) -> Result<BTreeMap<String, String>, SchemaError> {
        self.read(column, encode::read_text_map)
    }

    /// `frozen<list<text>>` or `frozen<set<text>>`.
    ///
    /// # Errors
    /// When missing or unreadable.
    pub fn text_list(&self, column: &str) -> Result<Vec<String>, SchemaError> {
        self.read(column, encode::read_text_list)
    }
}
