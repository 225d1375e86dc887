//! The bound document of `INSERT ... JSON ?` (`Json.PreparedMarker`): read once a request, its
//! columns' values put behind the values of the markers, where the statement's terms find them.

use std::borrow::Cow;

use basalt_cql::ast::Marker;
use basalt_model::Table;

use crate::bind::Binding;
use crate::error::{CqlResult, invalid};
use crate::json::document::read_columns;
use crate::receiver::Markers;
use crate::request::Value;
use crate::terms::Term;

/// Where a document is bound, and what to make of it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    marker: usize,
    /// The place of the first column's value among the values.
    first: usize,
    /// `DEFAULT UNSET`
    default_unset: bool,
}

impl Document {
    /// A document bound to `marker`, one of `markers`.
    pub(crate) fn new(marker: &Marker, markers: &Markers, default_unset: bool) -> Document {
        Document { marker: usize::from(marker.index), first: markers.count(), default_unset }
    }

    /// The value of a column of the table.
    pub(crate) fn term(&self, column: usize) -> Term {
        Term::Document(self.first + column)
    }

    /// The request's values, and behind them those of the table's columns.
    ///
    /// # Errors
    /// What is wrong with the document.
    pub(crate) fn values<'a>(&self, table: &Table, binding: &Binding<'a>) -> CqlResult<Cow<'a, [Value]>> {
        let text = match binding.value(self.marker) {
            Value::Null => return invalid("Got null for INSERT JSON values"),
            // An unset value is an empty text to Cassandra.
            Value::Unset => Cow::Borrowed(""),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => return invalid("Invalid UTF-8 bytes in a JSON document"),
            },
        };
        let mut values = binding.values.to_vec();
        for value in read_columns(&text, table)? {
            values.push(match value {
                Some(term) => term.bind(binding)?,
                None if self.default_unset => Value::Unset,
                None => Value::Null,
            });
        }
        Ok(Cow::Owned(values))
    }
}
