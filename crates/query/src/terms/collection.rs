//! Literals of lists, sets and maps (`Lists.Literal`, `Sets.Literal`, `Maps.Literal`).

use basalt_cql::ast;
use basalt_model::DataType;
use basalt_model::types::elements::pack_collection;
use bytes::Bytes;

use super::{Context, Term, tuple};
use crate::assign::Fit;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::values::{pack_map, pack_set};

/// `[...]`: a list or a vector, as the place asks.
pub(super) fn prepare_array(
    context: &Context<'_>,
    markers: &mut Markers,
    elements: &[ast::Term],
    receiver: &Receiver,
) -> CqlResult<Term> {
    match &receiver.data_type {
        DataType::Vector { element, dimension } => {
            tuple::prepare_vector(context, markers, elements, receiver, (element, *dimension))
        }
        DataType::List { element, .. } => {
            let value = receiver.value_of(element);
            check_elements(context, "list", elements, receiver, &value)?;
            prepare_elements(context, markers, "list", elements, receiver, &value)
        }
        other => bail!("Unexpected receiver type '{other}'; only list and vector are expected"),
    }
}

/// How `[...]` fits.
pub(super) fn fit_array(context: &Context<'_>, elements: &[ast::Term], receiver: &Receiver) -> Fit {
    match &receiver.data_type {
        DataType::Vector { element, dimension } => {
            if usize::try_from(*dimension) != Ok(elements.len()) {
                return Fit::No;
            }
            fit_all(context, elements, &receiver.value_of(element))
        }
        DataType::List { .. } if elements.is_empty() => Fit::Weak,
        DataType::List { element, .. } => fit_all(context, elements, &receiver.value_of(element)),
        _ => Fit::No,
    }
}

/// `{...}`, also `{}` for an empty map.
pub(super) fn prepare_set(
    context: &Context<'_>,
    markers: &mut Markers,
    elements: &[ast::Term],
    receiver: &Receiver,
) -> CqlResult<Term> {
    match &receiver.data_type {
        DataType::Map { .. } if elements.is_empty() => Ok(Term::Constant(pack_collection(0, &[]))),
        DataType::Set { element, .. } => {
            let value = receiver.value_of(element);
            check_elements(context, "set", elements, receiver, &value)?;
            prepare_elements(context, markers, "set", elements, receiver, &value)
        }
        other => bail!("Invalid set literal for {} of type {other}", receiver.name),
    }
}

/// How `{...}` fits.
pub(super) fn fit_set(context: &Context<'_>, elements: &[ast::Term], receiver: &Receiver) -> Fit {
    match &receiver.data_type {
        DataType::Map { .. } | DataType::Set { .. } if elements.is_empty() => Fit::Weak,
        DataType::Set { element, .. } => fit_all(context, elements, &receiver.value_of(element)),
        _ => Fit::No,
    }
}

/// `{k: v, ...}`
pub(super) fn prepare_map(
    context: &Context<'_>,
    markers: &mut Markers,
    entries: &[(ast::Term, ast::Term)],
    receiver: &Receiver,
) -> CqlResult<Term> {
    let DataType::Map { key, value, .. } = &receiver.data_type else {
        bail!("Invalid map literal for {} of type {}", receiver.name, receiver.data_type);
    };
    let (keys, values) = (receiver.key_of(key), receiver.value_of(value));
    for (key, value) in entries {
        if !Term::is_assignable(context, key, &keys)? {
            let (name, shown) = (&receiver.name, context.shown_for(key, &keys.data_type));
            bail!("Invalid map literal for {name}: key {shown} is not of type {}", keys.data_type);
        }
        if !Term::is_assignable(context, value, &values)? {
            let (name, shown) = (&receiver.name, context.shown_for(value, &values.data_type));
            bail!("Invalid map literal for {name}: value {shown} is not of type {}", values.data_type);
        }
    }
    let mut elements = Vec::with_capacity(entries.len() * 2);
    for (key, value) in entries {
        for (written, place) in [(key, &keys), (value, &values)] {
            elements.push(Term::prepare(context, markers, written, place)?);
        }
    }
    fold("map", receiver, elements)
}

/// How `{k: v, ...}` fits.
pub(super) fn fit_map(context: &Context<'_>, entries: &[(ast::Term, ast::Term)], receiver: &Receiver) -> Fit {
    let DataType::Map { key, value, .. } = &receiver.data_type else {
        return Fit::No;
    };
    let (keys, values) = (receiver.key_of(key), receiver.value_of(value));
    let entries = entries.iter();
    Fit::all(entries.flat_map(|(k, v)| [Term::fit(context, k, &keys), Term::fit(context, v, &values)]))
}

/// Whether all elements may stand there; those behind the first that may not are not looked at.
pub(super) fn are_assignable(
    context: &Context<'_>,
    elements: &[ast::Term],
    value: &Receiver,
) -> CqlResult<bool> {
    for element in elements {
        if !Term::is_assignable(context, element, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all entries may stand there: a value is looked at even if its key may not (`Maps.testMapAssignment`).
pub(super) fn are_entries_assignable(
    context: &Context<'_>,
    entries: &[(ast::Term, ast::Term)],
    keys: &Receiver,
    values: &Receiver,
) -> CqlResult<bool> {
    for (key, value) in entries {
        let fits = [Term::is_assignable(context, key, keys)?, Term::is_assignable(context, value, values)?];
        if fits != [true, true] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn fit_all(context: &Context<'_>, elements: &[ast::Term], value: &Receiver) -> Fit {
    Fit::all(elements.iter().map(|element| Term::fit(context, element, value)))
}

fn check_elements(
    context: &Context<'_>,
    kind: &str,
    elements: &[ast::Term],
    receiver: &Receiver,
    value: &Receiver,
) -> CqlResult<()> {
    for element in elements {
        if !Term::is_assignable(context, element, value)? {
            let (name, shown) = (&receiver.name, context.shown_for(element, &value.data_type));
            bail!("Invalid {kind} literal for {name}: value {shown} is not of type {}", value.data_type);
        }
    }
    Ok(())
}

fn prepare_elements(
    context: &Context<'_>,
    markers: &mut Markers,
    kind: &str,
    elements: &[ast::Term],
    receiver: &Receiver,
    value: &Receiver,
) -> CqlResult<Term> {
    let elements = elements.iter().map(|element| Term::prepare(context, markers, element, value));
    fold(kind, receiver, elements.collect::<CqlResult<_>>()?)
}

/// A constant if all elements are.
fn fold(kind: &str, receiver: &Receiver, elements: Vec<Term>) -> CqlResult<Term> {
    if elements.iter().any(Term::has_marker) {
        let name = &receiver.name;
        bail!(
            "Invalid {kind} literal for {name}: bind variables are not supported inside collection literals"
        );
    }
    let constants: Option<Vec<Value>> = elements.iter().map(constant).collect();
    match constants {
        Some(values) => match pack(&receiver.data_type, values)? {
            Value::Bytes(bytes) => Ok(Term::Constant(bytes)),
            Value::Null => Ok(Term::Null),
            Value::Unset => Ok(Term::Unset),
        },
        None => Ok(Term::Collection { data_type: receiver.data_type.clone(), elements }),
    }
}

/// The value of a term that needs no request.
pub(super) fn constant(term: &Term) -> Option<Value> {
    match term {
        Term::Constant(bytes) => Some(Value::Bytes(bytes.clone())),
        Term::Null => Some(Value::Null),
        Term::Unset => Some(Value::Unset),
        _ => None,
    }
}

/// Evaluates a collection.
pub(super) fn bind(data_type: &DataType, elements: &[Term], binding: &Binding<'_>) -> CqlResult<Value> {
    let values = elements.iter().map(|element| element.bind(binding)).collect::<CqlResult<_>>()?;
    pack(data_type, values)
}

fn pack(data_type: &DataType, values: Vec<Value>) -> CqlResult<Value> {
    let is_map = matches!(data_type, DataType::Map { .. });
    let mut elements: Vec<Bytes> = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        match value {
            Value::Bytes(bytes) => elements.push(bytes),
            Value::Null => return invalid("null is not supported inside collections"),
            Value::Unset if is_map && index % 2 == 0 => {
                return invalid("unset value is not supported for map keys");
            }
            Value::Unset => return Ok(Value::Unset),
        }
    }
    Ok(Value::Bytes(match data_type {
        DataType::Set { element, .. } => pack_set(element, elements),
        DataType::Map { key, .. } => {
            let entries = elements.chunks_exact(2).map(|entry| (entry[0].clone(), entry[1].clone()));
            pack_map(key, entries.collect())
        }
        _ => pack_collection(elements.len(), &elements),
    }))
}
