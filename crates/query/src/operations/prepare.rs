//! SET and DELETE entries resolved against their columns (`Operation.RawUpdate`,
//! `Operation.RawDeletion`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::ColumnPart;
use basalt_model::types::UserType;
use basalt_model::{DataType, Table};

use super::{Action, Operation};
use crate::error::{CqlResult, bail};
use crate::functions::NUMBERS;
use crate::receiver::{Markers, Receiver};
use crate::terms::{Context, Term};
use crate::text;

/// `column = value`
pub(crate) fn set_value(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    column: usize,
    value: &ast::Term,
) -> CqlResult<Operation> {
    let receiver = Receiver::column(table, column);
    let is_tuple = matches!(value.kind, ast::TermKind::Tuple(_));
    let value = Term::prepare(context, markers, value, &receiver)?;
    // Inside a collection a tuple is taken for the type's fields in order; here Cassandra trips over it.
    if is_tuple && matches!(receiver.data_type, DataType::Udt { .. }) {
        return Ok(Operation { column, action: Action::SetTuple(value) });
    }
    if receiver.data_type == DataType::Counter {
        bail!(
            "Cannot set the value of counter column {} (counters can only be incremented/decremented, not set)",
            receiver.name
        );
    }
    Ok(Operation { column, action: Action::Set(value) })
}

/// An entry of SET. `is_conditional` statements know what is there.
pub(crate) fn update(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    (column, written): (usize, &ast::Operation),
    is_conditional: bool,
) -> CqlResult<Operation> {
    let receiver = Receiver::column(table, column);
    let mut prepare = |term: &ast::Term, place: &Receiver| Term::prepare(context, markers, term, place);
    let action = match written {
        ast::Operation::Set(value) => return set_value(context, markers, table, column, value),
        ast::Operation::SetElement(selector, value) => set_element(&mut prepare, &receiver, selector, value)?,
        ast::Operation::SetField(field, value) => {
            let shown = || format!("{}.{} = {}", receiver.name, field.name, text::term(value));
            let definition = match &receiver.data_type {
                DataType::Udt { definition, frozen: false } => definition,
                DataType::Udt { .. } => {
                    bail!("Invalid operation ({}) for frozen UDT column {}", shown(), receiver.name)
                }
                _ => bail!("Invalid operation ({}) for non-UDT column {}", shown(), receiver.name),
            };
            let (field, place) = field_place(&receiver, definition, &field.name)?;
            Action::SetField { field, value: prepare(value, &place)? }
        }
        ast::Operation::Add(value) => add(&mut prepare, &receiver, value, is_conditional)?,
        ast::Operation::Subtract(value) => subtract(&mut prepare, &receiver, value)?,
        ast::Operation::Prepend(value) => {
            let shown = || format!("{} = {} - {}", receiver.name, text::term(value), receiver.name);
            let prepared = prepare(value, &receiver)?;
            match &receiver.data_type {
                DataType::List { frozen: false, .. } => Action::Prepend(prepared),
                DataType::List { .. } => {
                    bail!("Invalid operation ({}) for frozen list column {}", shown(), receiver.name)
                }
                _ => bail!("Invalid operation ({}) for non list column {}", shown(), receiver.name),
            }
        }
    };
    Ok(Operation { column, action })
}

type Prepare<'a> = dyn FnMut(&ast::Term, &Receiver) -> CqlResult<Term> + 'a;

fn set_element(
    prepare: &mut Prepare<'_>,
    receiver: &Receiver,
    selector: &ast::Term,
    value: &ast::Term,
) -> CqlResult<Action> {
    let name = &receiver.name;
    let shown = || format!("{name}[{}] = {}", text::term(selector), text::term(value));
    match &receiver.data_type {
        other if !other.is_collection() => {
            bail!("Invalid operation ({}) for non collection column {name}", shown())
        }
        other if !other.is_multi_cell() => {
            bail!("Invalid operation ({}) for frozen collection column {name}", shown())
        }
        DataType::List { element, .. } => Ok(Action::SetIndex {
            index: prepare(selector, &receiver.index_of())?,
            value: prepare(value, &receiver.value_of(element))?,
        }),
        DataType::Map { key, value: values, .. } => Ok(Action::SetKey {
            key: prepare(selector, &receiver.key_of(key))?,
            value: prepare(value, &receiver.value_of(values))?,
        }),
        _ => bail!("Invalid operation ({}) for set column {name}", shown()),
    }
}

fn add(
    prepare: &mut Prepare<'_>,
    receiver: &Receiver,
    value: &ast::Term,
    is_conditional: bool,
) -> CqlResult<Action> {
    let name = &receiver.name;
    let shown = || format!("{name} = {name} + {}", text::term(value));
    match &receiver.data_type {
        DataType::Counter => Ok(Action::AddToCounter(prepare(value, receiver)?)),
        DataType::Tuple(_) | DataType::Udt { .. } => {
            bail!("Invalid operation ({}) for tuple column {name}", shown())
        }
        other if !other.is_collection() && is_conditional => {
            if !NUMBERS.contains(other) && !matches!(other, DataType::Text | DataType::Ascii) {
                bail!("Invalid operation ({}) for non-numeric and non-text type {name}", shown());
            }
            Ok(Action::Increment(prepare(value, receiver)?))
        }
        other if !other.is_collection() => {
            bail!("Invalid operation ({}) for non counter column {name}", shown())
        }
        other if !other.is_multi_cell() => {
            bail!("Invalid operation ({}) for frozen collection column {name}", shown())
        }
        DataType::List { .. } => Ok(Action::Append(prepare(value, receiver)?)),
        DataType::Map { .. } => match prepare(value, receiver) {
            Ok(value) => Ok(Action::Add(value)),
            Err(_) => bail!("Value for a map addition has to be a map, but was: '{}'", text::term(value)),
        },
        _ => Ok(Action::Add(prepare(value, receiver)?)),
    }
}

fn subtract(prepare: &mut Prepare<'_>, receiver: &Receiver, value: &ast::Term) -> CqlResult<Action> {
    let name = &receiver.name;
    let shown = || format!("{name} = {name} - {}", text::term(value));
    match &receiver.data_type {
        DataType::Counter => Ok(Action::SubtractFromCounter(prepare(value, receiver)?)),
        other if !other.is_collection() => {
            bail!("Invalid operation ({}) for non counter column {name}", shown())
        }
        other if !other.is_multi_cell() => {
            bail!("Invalid operation ({}) for frozen collection column {name}", shown())
        }
        DataType::List { .. } => Ok(Action::DiscardValues(prepare(value, receiver)?)),
        DataType::Map { key, .. } => {
            let keys = DataType::Set { element: Arc::clone(key), frozen: false };
            let place = receiver.part(name.to_string(), &keys);
            match prepare(value, &place) {
                Ok(value) => Ok(Action::Discard(value)),
                Err(_) => {
                    bail!("Value for a map substraction has to be a set, but was: '{}'", text::term(value))
                }
            }
        }
        _ => Ok(Action::Discard(prepare(value, receiver)?)),
    }
}

/// A field's index and place.
fn field_place(receiver: &Receiver, definition: &UserType, name: &str) -> CqlResult<(u16, Receiver)> {
    let found = definition.fields.iter().position(|(field, _)| **field == *name);
    let Some(index) = found else {
        bail!("UDT column {} does not have a field named {name}", receiver.name);
    };
    let (field, data_type) = &definition.fields[index];
    let place = receiver.part(format!("{}.{field}", receiver.name), data_type);
    // A user type has at most 32,768 fields.
    Ok((u16::try_from(index).unwrap_or(u16::MAX), place))
}

/// An entry of DELETE.
pub(crate) fn deletion(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    column: usize,
    part: &ColumnPart,
) -> CqlResult<Operation> {
    let receiver = Receiver::column(table, column);
    let name = &receiver.name;
    let action = match part {
        ColumnPart::Whole => Action::Delete,
        ColumnPart::Element(selector) => match &receiver.data_type {
            other if !other.is_collection() => {
                bail!("Invalid deletion operation for non collection column {name}")
            }
            other if !other.is_multi_cell() => {
                bail!("Invalid deletion operation for frozen collection column {name}")
            }
            DataType::List { .. } => {
                Action::DeleteIndex(Term::prepare(context, markers, selector, &receiver.index_of())?)
            }
            DataType::Map { key, .. } => {
                Action::DeleteElement(Term::prepare(context, markers, selector, &receiver.key_of(key))?)
            }
            DataType::Set { element, .. } => {
                Action::DeleteElement(Term::prepare(context, markers, selector, &receiver.value_of(element))?)
            }
            _ => Action::Delete,
        },
        ColumnPart::Field(field) => match &receiver.data_type {
            DataType::Udt { definition, frozen: false } => {
                Action::DeleteField(field_place(&receiver, definition, &field.name)?.0)
            }
            DataType::Udt { .. } => bail!("Frozen UDT column {name} does not support field deletions"),
            _ => bail!("Invalid field deletion operation for non-UDT column {name}"),
        },
    };
    Ok(Operation { column, action })
}
