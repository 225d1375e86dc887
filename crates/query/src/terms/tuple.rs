//! Literals of tuples, user types and vectors (`Tuples.Literal`, `UserTypes.Literal`,
//! `Vectors.Literal`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::Ident;
use basalt_model::DataType;
use basalt_model::types::UserType;
use basalt_model::types::elements::pack_tuple;
use bytes::Bytes;

use super::collection::constant;
use super::{Context, Term};
use crate::assign::Fit;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::text::in_map_order;
use crate::values::vector;

/// The types of a tuple's fields; a user type is a tuple here, as in Cassandra.
fn field_types(data_type: &DataType) -> Option<Vec<DataType>> {
    match data_type {
        DataType::Tuple(types) => Some(types.to_vec()),
        DataType::Udt { definition, .. } => {
            Some(definition.fields.iter().map(|(_, data_type)| data_type.clone()).collect())
        }
        _ => None,
    }
}

fn component(receiver: &Receiver, index: usize, data_type: &DataType) -> Receiver {
    receiver.part(format!("{}[{index}]", receiver.name), data_type)
}

/// `(a, b)`; `(a)` where no tuple is asked for is `a`.
pub(super) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    elements: &[ast::Term],
    receiver: &Receiver,
) -> CqlResult<Term> {
    let types = field_types(&receiver.data_type);
    if let ([element], None) = (elements, &types) {
        return Term::prepare(context, markers, element, receiver);
    }
    check(context, elements, receiver, types.as_deref())?;
    let types = types.unwrap_or_default();
    let mut values = Vec::with_capacity(elements.len());
    for (index, (element, data_type)) in elements.iter().zip(&types).enumerate() {
        values.push(Term::prepare(context, markers, element, &component(receiver, index, data_type))?);
    }
    fold(Term::Tuple(values))
}

/// How `(a, b)` fits.
pub(super) fn fit(context: &Context<'_>, elements: &[ast::Term], receiver: &Receiver) -> Fit {
    let types = field_types(&receiver.data_type);
    if let ([element], None) = (elements, &types) {
        return Term::fit(context, element, receiver);
    }
    match check(context, elements, receiver, types.as_deref()) {
        Ok(()) => Fit::Weak,
        Err(_) => Fit::No,
    }
}

fn check(
    context: &Context<'_>,
    elements: &[ast::Term],
    receiver: &Receiver,
    types: Option<&[DataType]>,
) -> CqlResult<()> {
    let (name, shown) = (&receiver.name, &receiver.data_type);
    let Some(types) = types else {
        bail!("Invalid tuple type literal for {name} of type {shown}");
    };
    for (index, element) in elements.iter().enumerate() {
        let Some(data_type) = types.get(index) else {
            bail!(
                "Invalid tuple literal for {name}: too many elements. Type {shown} expects {} but got {}",
                types.len(),
                elements.len()
            );
        };
        if !Term::is_assignable(context, element, &component(receiver, index, data_type))? {
            bail!("Invalid tuple literal for {name}: component {index} is not of type {data_type}");
        }
    }
    Ok(())
}

/// A constant if all parts are.
fn fold(term: Term) -> CqlResult<Term> {
    let parts = match &term {
        Term::Tuple(elements) | Term::Vector { elements, .. } => elements,
        Term::Udt { fields, .. } => fields,
        _ => return Ok(term),
    };
    let Some(values) = parts.iter().map(constant).collect::<Option<Vec<Value>>>() else {
        return Ok(term);
    };
    let value = match &term {
        Term::Vector { element, .. } => pack_vector(element, values)?,
        Term::Udt { definition, multi_cell, .. } => pack_udt(definition, values, *multi_cell)?,
        _ => Value::Bytes(pack_tuple(&fields(values.into_iter().map(Ok))?)),
    };
    Ok(match value {
        Value::Bytes(bytes) => Term::Constant(bytes),
        Value::Null => Term::Null,
        Value::Unset => Term::Unset,
    })
}

/// Refuses the first value that is unset or cannot be had, whichever comes first.
fn fields(values: impl Iterator<Item = CqlResult<Value>>) -> CqlResult<Vec<Option<Bytes>>> {
    let field = |(index, value)| match value? {
        Value::Bytes(bytes) => Ok(Some(bytes)),
        Value::Null => Ok(None),
        Value::Unset => bail!("Invalid unset value for tuple field number {index}"),
    };
    values.enumerate().map(field).collect()
}

/// Evaluates the fields of a tuple.
pub(super) fn bind_elements(elements: &[Term], binding: &Binding<'_>) -> CqlResult<Vec<Option<Bytes>>> {
    fields(elements.iter().map(|element| element.bind(binding)))
}

/// Evaluates a tuple.
pub(super) fn bind(elements: &[Term], binding: &Binding<'_>) -> CqlResult<Value> {
    Ok(Value::Bytes(pack_tuple(&bind_elements(elements, binding)?)))
}

/// `{field: value, ...}`
pub(super) fn prepare_udt(
    context: &Context<'_>,
    markers: &mut Markers,
    written: &[(Ident, ast::Term)],
    receiver: &Receiver,
) -> CqlResult<Term> {
    let DataType::Udt { definition, frozen } = &receiver.data_type else {
        bail!("Invalid user type literal for {} of type {}", receiver.name, receiver.data_type);
    };
    check_udt(context, written, receiver, definition)?;
    let mut fields = Vec::with_capacity(definition.fields.len());
    for (name, data_type) in &definition.fields {
        let place = field(receiver, name, data_type);
        fields.push(match find(written, name) {
            Some(value) => Term::prepare(context, markers, value, &place)?,
            None => Term::Null,
        });
    }
    for (name, _) in in_map_order(written) {
        if !definition.fields.iter().any(|(field, _)| **field == *name.name) {
            bail!("Unknown field '{}' in value of user defined type {}", name.name, definition.name);
        }
    }
    fold(Term::Udt { definition: definition.clone(), fields, multi_cell: !frozen })
}

/// How `{field: value, ...}` fits.
pub(super) fn fit_udt(context: &Context<'_>, written: &[(Ident, ast::Term)], receiver: &Receiver) -> Fit {
    let DataType::Udt { definition, .. } = &receiver.data_type else {
        return Fit::No;
    };
    match check_udt(context, written, receiver, definition) {
        Ok(()) => Fit::Weak,
        Err(_) => Fit::No,
    }
}

/// A field of a user type's value.
pub(crate) fn field(receiver: &Receiver, name: &str, data_type: &DataType) -> Receiver {
    receiver.part(format!("{}.{name}", receiver.name), data_type)
}

fn find<'a>(written: &'a [(Ident, ast::Term)], name: &str) -> Option<&'a ast::Term> {
    // Of a field written twice the last counts.
    written.iter().rev().find(|(field, _)| field.name == name).map(|(_, value)| value)
}

fn check_udt(
    context: &Context<'_>,
    written: &[(Ident, ast::Term)],
    receiver: &Receiver,
    definition: &UserType,
) -> CqlResult<()> {
    for (name, data_type) in &definition.fields {
        let Some(value) = find(written, name) else { continue };
        if !Term::is_assignable(context, value, &field(receiver, name, data_type))? {
            bail!("Invalid user type literal for {}: field {name} is not of type {data_type}", receiver.name);
        }
    }
    Ok(())
}

/// Evaluates a user type's value.
pub(super) fn bind_udt(
    definition: &UserType,
    fields: &[Term],
    multi_cell: bool,
    binding: &Binding<'_>,
) -> CqlResult<Value> {
    let values = fields.iter().map(|field| field.bind(binding)).collect::<CqlResult<_>>()?;
    pack_udt(definition, values, multi_cell)
}

fn pack_udt(definition: &UserType, values: Vec<Value>, multi_cell: bool) -> CqlResult<Value> {
    let mut fields = Vec::with_capacity(values.len());
    for (value, (name, _)) in values.into_iter().zip(&definition.fields) {
        fields.push(match value {
            Value::Bytes(bytes) => Some(bytes),
            Value::Null => None,
            Value::Unset if multi_cell => None,
            Value::Unset => {
                bail!("Invalid unset value for field '{name}' of user defined type {}", definition.name)
            }
        });
    }
    Ok(Value::Bytes(pack_tuple(&fields)))
}

/// `[a, b]` where a vector is asked for.
pub(super) fn prepare_vector(
    context: &Context<'_>,
    markers: &mut Markers,
    written: &[ast::Term],
    receiver: &Receiver,
    (element, dimension): (&Arc<DataType>, u32),
) -> CqlResult<Term> {
    let name = &receiver.name;
    if usize::try_from(dimension) != Ok(written.len()) {
        bail!(
            "Invalid vector literal for {name} of type {}; expected {dimension} elements, but given {}",
            receiver.data_type,
            written.len()
        );
    }
    let place = receiver.value_of(element);
    let mut elements = Vec::with_capacity(written.len());
    for value in written {
        if !Term::is_assignable(context, value, &place)? {
            let shown = context.shown_for(value, &place.data_type);
            bail!("Invalid vector literal for {name}: value {shown} is not of type {}", place.data_type);
        }
        elements.push(Term::prepare(context, markers, value, &place)?);
    }
    fold(Term::Vector { element: element.clone(), elements })
}

/// Evaluates a vector.
pub(super) fn bind_vector(element: &DataType, elements: &[Term], binding: &Binding<'_>) -> CqlResult<Value> {
    let values = elements.iter().map(|value| value.bind(binding)).collect::<CqlResult<_>>()?;
    pack_vector(element, values)
}

fn pack_vector(element: &DataType, values: Vec<Value>) -> CqlResult<Value> {
    let mut elements = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Bytes(bytes) if !(bytes.is_empty() && element.reads_empty_as_null()) => {
                elements.push(bytes)
            }
            _ => return invalid("null is not supported inside vectors"),
        }
    }
    Ok(Value::Bytes(vector(element, &elements)))
}
