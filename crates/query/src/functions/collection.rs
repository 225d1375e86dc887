//! Functions over a whole collection: `map_keys`, `collection_count` and their like
//! (`CollectionFcts`).

use basalt_model::DataType;
use basalt_model::types::elements::{pack_collection, unpack_collection};
use bytes::Bytes;

use super::resolve::Request;
use super::{Aggregate, Aggregation, Function, NUMBERS, Scalar};
use crate::error::{CqlResult, bail, invalid};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The keys of a map, as a set.
    Keys,
    /// The values of a map, as a list.
    Values,
    /// The number of elements.
    Count,
    /// An aggregate over the elements.
    Aggregate(Aggregate),
}

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Option<Function>> {
    let name = request.name;
    let (operation, kind, parameter) = match name {
        "map_keys" => (Operation::Keys, "map", "map"),
        "map_values" => (Operation::Values, "map", "map"),
        "collection_count" => (Operation::Count, "collection", "collection"),
        "collection_min" => (Operation::Aggregate(Aggregate::Min), "set or list", "numeric_set_or_list"),
        "collection_max" => (Operation::Aggregate(Aggregate::Max), "set or list", "numeric_set_or_list"),
        "collection_sum" => (Operation::Aggregate(Aggregate::Sum), "numeric set/list", "numeric_set_or_list"),
        "collection_avg" => (Operation::Aggregate(Aggregate::Avg), "numeric set/list", "numeric_set_or_list"),
        _ => return Ok(None),
    };
    let types = request.argument_types(1, &format!("{name}({parameter})"))?;
    let returns = match (operation, &types[0]) {
        (Operation::Keys, DataType::Map { key, .. }) => {
            Some(DataType::Set { element: key.clone(), frozen: true })
        }
        (Operation::Values, DataType::Map { value, .. }) => {
            Some(DataType::List { element: value.clone(), frozen: true })
        }
        (Operation::Count, collection) if collection.is_collection() => Some(DataType::Int),
        (Operation::Aggregate(aggregate), DataType::List { element, .. } | DataType::Set { element, .. }) => {
            let needs_numbers = matches!(aggregate, Aggregate::Sum | Aggregate::Avg);
            (!needs_numbers || NUMBERS.contains(element)).then(|| DataType::clone(element))
        }
        _ => None,
    };
    match returns {
        Some(returns) => Ok(Some(Function::scalar(name, &types, returns, Scalar::Collection(operation)))),
        None => bail!(
            "Function system.{name} requires a {kind} argument, but found argument {} of type {}",
            request.arguments[0].text(),
            types[0]
        ),
    }
}

/// Computes.
pub(super) fn call(
    operation: &Operation,
    function: &Function,
    arguments: &[Option<Bytes>],
) -> CqlResult<Option<Bytes>> {
    let Some(Some(value)) = arguments.first() else { return Ok(None) };
    let width = if matches!(function.arguments[0], DataType::Map { .. }) { 2 } else { 1 };
    let Some(elements) = unpack_collection(value, width) else {
        return invalid("Not enough bytes to read a collection");
    };
    let every = |offset: usize| -> Vec<Bytes> { elements.iter().skip(offset).step_by(2).cloned().collect() };
    Ok(match operation {
        Operation::Keys => Some(pack_collection(elements.len() / 2, &every(0))),
        Operation::Values => Some(pack_collection(elements.len() / 2, &every(1))),
        Operation::Count => {
            let count = i32::try_from(elements.len() / width).unwrap_or(i32::MAX);
            Some(Bytes::copy_from_slice(&count.to_be_bytes()))
        }
        Operation::Aggregate(aggregate) => {
            let mut aggregation = Aggregation::new(*aggregate, &function.returns);
            elements.iter().try_for_each(|element| aggregation.add(Some(element)))?;
            aggregation.result()
        }
    })
}
