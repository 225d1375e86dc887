//! Functions over a whole collection: `map_keys`, `collection_count` and their like
//! (`CollectionFcts`).

use basalt_model::DataType;
use basalt_model::types::elements::{pack_collection, unpack_collection};
use bytes::Bytes;

use super::factory::{Parameter, argument_types};
use super::resolve::Request;
use super::{Aggregate, Aggregation, Function, Scalar};
use crate::error::{CqlResult, invalid};
use crate::values::unpack_nullable_list;

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
    let (operation, parameter) = match name {
        "map_keys" => (Operation::Keys, Parameter::Map),
        "map_values" => (Operation::Values, Parameter::Map),
        "collection_count" => (Operation::Count, Parameter::Collection),
        "collection_min" => (Operation::Aggregate(Aggregate::Min), Parameter::SetOrList),
        "collection_max" => (Operation::Aggregate(Aggregate::Max), Parameter::SetOrList),
        "collection_sum" => (Operation::Aggregate(Aggregate::Sum), Parameter::Numbers),
        "collection_avg" => (Operation::Aggregate(Aggregate::Avg), Parameter::Numbers),
        _ => return Ok(None),
    };
    let types = argument_types(request, &[parameter])?;
    let returns = match (operation, &types[0]) {
        (Operation::Keys, DataType::Map { key, .. }) => DataType::Set { element: key.clone(), frozen: true },
        (Operation::Values, DataType::Map { value, .. }) => {
            DataType::List { element: value.clone(), frozen: true }
        }
        (Operation::Aggregate(_), DataType::List { element, .. } | DataType::Set { element, .. }) => {
            DataType::clone(element)
        }
        _ => DataType::Int,
    };
    Ok(Some(Function::scalar(name, &types, returns, Scalar::Collection(operation))))
}

/// Computes.
pub(super) fn call(
    operation: &Operation,
    function: &Function,
    arguments: &[Option<Bytes>],
) -> CqlResult<Option<Bytes>> {
    let Some(Some(value)) = arguments.first() else { return Ok(None) };
    let is_map = matches!(function.arguments[0], DataType::Map { .. });
    // Lists of times of cells have nulls in them.
    let unpacked = if is_map {
        unpack_collection(value, 2).map(|parts| parts.into_iter().map(Some).collect())
    } else {
        unpack_nullable_list(value)
    };
    let Some(elements) = unpacked else {
        return invalid("Not enough bytes to read a collection");
    };
    let width = if is_map { 2 } else { 1 };
    let every = |offset: usize| -> Vec<Bytes> {
        elements.iter().skip(offset).step_by(2).flatten().cloned().collect()
    };
    Ok(match operation {
        Operation::Keys => Some(pack_collection(elements.len() / 2, &every(0))),
        Operation::Values => Some(pack_collection(elements.len() / 2, &every(1))),
        Operation::Count => {
            let count = i32::try_from(elements.len() / width).unwrap_or(i32::MAX);
            Some(Bytes::copy_from_slice(&count.to_be_bytes()))
        }
        Operation::Aggregate(aggregate) => {
            let mut aggregation = Aggregation::new(*aggregate, &function.returns);
            elements.iter().try_for_each(|element| aggregation.add(element.as_ref()))?;
            aggregation.result()
        }
    })
}
