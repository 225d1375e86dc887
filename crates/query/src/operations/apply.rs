//! Operations carried out on a row being written (`Operation.execute`).

use basalt_cql::ast::ArithmeticOp;
use basalt_model::types::elements::{unpack_collection, unpack_tuple};
use basalt_model::{Column, CounterContext, CqlError, DataType, DecoratedKey, Row};
use bytes::Bytes;

use super::{Action, Operation, Writer, lists};
use crate::error::{CqlResult, bail, invalid};
use crate::functions::arithmetic;
use crate::functions::number::Number;
use crate::request::Value;
use crate::terms::Term;

impl Operation {
    /// Writes what the operation does to `row` of the partition `key`.
    pub(crate) fn execute(&self, writer: &Writer<'_>, key: &DecoratedKey, row: &mut Row) -> CqlResult<()> {
        let column = &writer.table.columns[self.column];
        let place = (key, column);
        match &self.action {
            Action::Set(value) => set(writer, row, column, value),
            Action::SetTuple(value) => {
                value.bind(&writer.binding)?;
                bail!("Invalid tuple type literal for {} of type {}", column.name, column.data_type)
            }
            Action::Increment(value) => increment(writer, row, place, value),
            Action::AddToCounter(value) => count(writer, row, column, value, false),
            Action::SubtractFromCounter(value) => count(writer, row, column, value, true),
            Action::SetIndex { index, value } => lists::set_index(writer, row, place, index, value),
            Action::SetKey { key, value } => set_key(writer, row, column, key, value),
            Action::SetField { field, value } => {
                let path = field_path(*field);
                match value.bind(&writer.binding)? {
                    Value::Unset => {}
                    Value::Null => writer.delete(row, column, Some(path)),
                    Value::Bytes(value) => writer.put(row, column, Some(path), value),
                }
                Ok(())
            }
            Action::Append(value) | Action::Add(value) => match value.bind(&writer.binding)? {
                // Cassandra trips over it, for lists alone.
                Value::Unset if matches!(self.action, Action::Append(_)) => {
                    invalid("Invalid unset value for list append")
                }
                Value::Bytes(value) => add_elements(writer, row, column, &value),
                Value::Null | Value::Unset => Ok(()),
            },
            Action::Prepend(value) => prepend(writer, row, column, value),
            Action::DiscardValues(values) => lists::discard(writer, row, place, values),
            Action::Discard(values) => {
                let Value::Bytes(values) = values.bind(&writer.binding)? else { return Ok(()) };
                for element in lists::elements(&values)? {
                    writer.delete(row, column, Some(element));
                }
                Ok(())
            }
            Action::Delete if column.data_type.is_multi_cell() => {
                writer.delete_all(row, column, false);
                Ok(())
            }
            Action::Delete => {
                writer.delete(row, column, None);
                Ok(())
            }
            Action::DeleteIndex(index) => lists::delete_index(writer, row, place, index),
            Action::DeleteElement(element) => delete_element(writer, row, column, element),
            Action::DeleteField(field) => {
                writer.delete(row, column, Some(field_path(*field)));
                Ok(())
            }
        }
    }
}

fn field_path(field: u16) -> Bytes {
    Bytes::copy_from_slice(&field.to_be_bytes())
}

fn set(writer: &Writer<'_>, row: &mut Row, column: &Column, value: &Term) -> CqlResult<()> {
    let value = value.bind(&writer.binding)?;
    match value {
        Value::Unset => Ok(()),
        Value::Null if column.data_type.is_multi_cell() => {
            writer.delete_all(row, column, true);
            Ok(())
        }
        Value::Null => {
            writer.delete(row, column, None);
            Ok(())
        }
        Value::Bytes(value) if column.data_type.is_multi_cell() => {
            writer.delete_all(row, column, true);
            add_elements(writer, row, column, &value)
        }
        Value::Bytes(value) => {
            writer.put(row, column, None, value);
            Ok(())
        }
    }
}

/// Adds the elements of a serialized collection or user type as cells.
fn add_elements(writer: &Writer<'_>, row: &mut Row, column: &Column, value: &Bytes) -> CqlResult<()> {
    match &column.data_type {
        DataType::List { .. } => {
            for element in lists::elements(value)? {
                let path = Bytes::copy_from_slice(&writer.binding.timeuuids.next());
                writer.put(row, column, Some(path), element);
            }
        }
        DataType::Set { .. } => {
            for element in lists::elements(value)? {
                writer.put(row, column, Some(element), Bytes::new());
            }
        }
        DataType::Map { .. } => {
            let Some(flat) = unpack_collection(value, 2) else {
                return invalid("null is not supported inside collections");
            };
            for entry in flat.chunks_exact(2) {
                writer.put(row, column, Some(entry[0].clone()), entry[1].clone());
            }
        }
        DataType::Udt { definition, .. } => {
            let Some(fields) = unpack_tuple(value, definition.fields.len()) else {
                return invalid("Invalid remaining data after end of UDT value");
            };
            for (index, field) in fields.into_iter().enumerate() {
                if let Some(field) = field {
                    let path = field_path(u16::try_from(index).unwrap_or(u16::MAX));
                    writer.put(row, column, Some(path), field);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn prepend(writer: &Writer<'_>, row: &mut Row, column: &Column, value: &Term) -> CqlResult<()> {
    let Value::Bytes(value) = value.bind(&writer.binding)? else { return Ok(()) };
    let elements = lists::elements(&value)?;
    let paths = writer.binding.timeuuids.for_prepending(elements.len());
    for (element, path) in elements.into_iter().zip(paths) {
        writer.put(row, column, Some(Bytes::copy_from_slice(&path)), element);
    }
    Ok(())
}

fn set_key(writer: &Writer<'_>, row: &mut Row, column: &Column, key: &Term, value: &Term) -> CqlResult<()> {
    let key = key.bind(&writer.binding)?;
    let value = value.bind(&writer.binding)?;
    let path = match key {
        Value::Bytes(key) => key,
        Value::Null => return invalid("Invalid null map key"),
        Value::Unset => return invalid("Invalid unset map key"),
    };
    match value {
        Value::Null => writer.delete(row, column, Some(path)),
        Value::Unset => {}
        Value::Bytes(value) => writer.put(row, column, Some(path), value),
    }
    Ok(())
}

fn delete_element(writer: &Writer<'_>, row: &mut Row, column: &Column, element: &Term) -> CqlResult<()> {
    let is_map = matches!(column.data_type, DataType::Map { .. });
    match element.bind(&writer.binding)? {
        Value::Bytes(path) => writer.delete(row, column, Some(path)),
        Value::Null if is_map => return invalid("Invalid null map key"),
        Value::Unset if is_map => return invalid("Invalid unset map key"),
        Value::Null => return invalid("Invalid null set element"),
        // The bytes that stand for unset are none.
        Value::Unset => writer.delete(row, column, Some(Bytes::new())),
    }
    Ok(())
}

fn increment(
    writer: &Writer<'_>,
    row: &mut Row,
    (key, column): (&DecoratedKey, &Column),
    value: &Term,
) -> CqlResult<()> {
    let Value::Bytes(value) = value.bind(&writer.binding)? else {
        return invalid("Invalid null value for counter increment");
    };
    let Some(current) = writer.existing(key, row, column).into_iter().next() else { return Ok(()) };
    let sum = match &column.data_type {
        DataType::Text | DataType::Ascii => [current.value.as_ref(), value.as_ref()].concat().into(),
        data_type => {
            let numbers = (Number::read(data_type, &current.value), Number::read(data_type, &value));
            let (Some(current), Some(increment)) = numbers else { return Ok(()) };
            let sum = arithmetic::compute(ArithmeticOp::Add, data_type, &current, &increment);
            sum.map_err(CqlError::invalid)?.write(data_type)
        }
    };
    writer.put(row, column, None, sum);
    Ok(())
}

/// Adds an increment of a counter: what it adds to is known only where the write is applied.
fn count(
    writer: &Writer<'_>,
    row: &mut Row,
    column: &Column,
    value: &Term,
    is_negated: bool,
) -> CqlResult<()> {
    let increment = match value.bind(&writer.binding)? {
        Value::Unset => return Ok(()),
        Value::Null => return invalid("Invalid null value for counter increment"),
        Value::Bytes(value) => value,
    };
    let Some(increment) = increment.first_chunk::<8>() else {
        return invalid("Invalid empty value for counter increment");
    };
    let mut increment = i64::from_be_bytes(*increment);
    if is_negated {
        let Some(negated) = increment.checked_neg() else {
            bail!(
                "The negation of {increment} overflows supported counter precision (signed 8 bytes integer)"
            );
        };
        increment = negated;
    }
    writer.put(row, column, None, CounterContext::update(increment).to_bytes());
    Ok(())
}
