//! A JSON object to the columns of a table (`Json.parseJson`).

use basalt_model::Table;
use basalt_model::types::validate::MarshalError;
use serde_json::{Map, Value};

use super::{ReadError, parse, read};
use crate::error::{CqlResult, bail, invalid, marshal};
use crate::terms::Term;

/// The columns' values as `Table::columns` has them; `None` for columns the document does not name.
///
/// # Errors
/// With Cassandra's text when it is no object, names a column the table does not have, or has a
/// value that is none of its column's type.
pub(crate) fn read_columns(text: &str, table: &Table) -> CqlResult<Vec<Option<Term>>> {
    let mut given = match parse(text) {
        Ok(Value::Object(given)) => settle_names(given).map_err(marshal)?,
        Ok(Value::Null) => return invalid("Got null for INSERT JSON values"),
        Ok(_) => bail!("Could not decode JSON string as a map: not an object. (String was: {text})"),
        Err(why) => bail!("Could not decode JSON string as a map: {why}. (String was: {text})"),
    };
    let mut values = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        values.push(match given.shift_remove(&*column.name) {
            None => None,
            Some(Value::Null) => Some(Term::Null),
            Some(value) => match read(&column.data_type, &value) {
                Ok(term) => Some(term),
                Err(ReadError::Marshal(why)) => {
                    bail!("Error decoding JSON value for {}: {why}", column.name)
                }
                Err(ReadError::Invalid(error)) => return Err(error),
            },
        });
    }
    match given.keys().next() {
        Some(name) => bail!("JSON values map contains unrecognized column: {name}"),
        None => Ok(values),
    }
}

/// Names as CQL means them: quoted ones as they stand within the quotes, others in lower case
/// (`JsonUtils.handleCaseSensitivity`). Where two become one, that written last counts.
pub(super) fn settle_names(mut given: Map<String, Value>) -> Result<Map<String, Value>, MarshalError> {
    let names: Vec<String> = given.keys().cloned().collect();
    for name in names {
        let settled = if name.starts_with('"') && name.ends_with('"') {
            match name.get(1..name.len() - 1) {
                Some(inner) => inner.to_owned(),
                None => return Err(MarshalError(format!("Invalid name {name}: a quote without its pair"))),
            }
        } else {
            name.to_lowercase()
        };
        if settled != name {
            // Put where a like name stands, else behind all others.
            let value = given.shift_remove(&name).unwrap_or(Value::Null);
            given.insert(settled, value);
        }
    }
    Ok(given)
}
