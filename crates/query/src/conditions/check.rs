//! Conditions asked of a row: how null compares, and how collections do (`ColumnCondition.Bound`).

use std::cmp::Ordering;

use basalt_cql::ast::Operator;
use basalt_model::types::elements::{unpack_collection, unpack_tuple};
use basalt_model::{Cell, Column, DataType, Row};
use bytes::Bytes;

use super::Bound;
use crate::error::{CqlResult, bail, invalid};
use crate::request::Value;
use crate::selection::cells_to_value;
use crate::values::unpack_nullable_list;

/// Whether a condition holds.
pub(super) fn holds(bound: &Bound, column: &Column, row: Option<&Row>) -> CqlResult<bool> {
    let cells: &[Cell] = row.map(|row| row.cells_of(column.id)).unwrap_or_default();
    let data_type = &column.data_type;
    if let Some(element) = &bound.element {
        return element_holds(bound, data_type, cells, element);
    }
    if let Some(field) = bound.field {
        return field_holds(bound, data_type, cells, field);
    }
    if data_type.is_collection() && data_type.is_multi_cell() {
        return collection_holds(bound, data_type, cells);
    }
    let value = cells_to_value(data_type, cells);
    if matches!(bound.operator, Operator::Contains | Operator::ContainsKey) {
        let elements = value.map(|value| frozen_elements(data_type, &value)).unwrap_or_default();
        return contains(bound, data_type, &elements, DataType::part_reads_as_same);
    }
    any(bound, data_type, value.as_ref())
}

fn any(bound: &Bound, data_type: &DataType, actual: Option<&Bytes>) -> CqlResult<bool> {
    check_set(bound)?;
    for value in &bound.values {
        if compare(bound.operator, data_type, value.as_ref(), actual)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_set(bound: &Bound) -> CqlResult<()> {
    if bound.is_unset { invalid("Invalid 'unset' value in condition") } else { Ok(()) }
}

fn compare(
    operator: Operator,
    data_type: &DataType,
    value: Option<&Bytes>,
    actual: Option<&Bytes>,
) -> CqlResult<bool> {
    match (value, actual) {
        (None, actual) => match operator {
            Operator::Eq => Ok(actual.is_none()),
            Operator::Neq => Ok(actual.is_some()),
            _ => bail!("Invalid comparison with null for operator \"{}\"", operator.symbol()),
        },
        (Some(_), None) => Ok(operator == Operator::Neq),
        (Some(value), Some(actual)) => Ok(satisfies(operator, data_type.compare(actual, value))),
    }
}

fn satisfies(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Eq => order.is_eq(),
        Operator::Neq => order.is_ne(),
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
        Operator::Contains | Operator::ContainsKey | Operator::Like => false,
    }
}

fn element_holds(bound: &Bound, data_type: &DataType, cells: &[Cell], element: &Value) -> CqlResult<bool> {
    let is_map = matches!(data_type, DataType::Map { .. });
    // The bytes that stand for unset are none: a map may have them for a key.
    let unset = Bytes::new();
    let selector = match element {
        Value::Bytes(selector) => selector,
        Value::Unset if is_map => &unset,
        _ => bail!("Invalid null value for {} element access", if is_map { "map" } else { "list" }),
    };
    let frozen = if data_type.is_multi_cell() { None } else { cells.first().map(|cell| &cell.value) };
    match data_type {
        DataType::Map { key, value, .. } => {
            let actual = match frozen {
                Some(packed) => {
                    let entries = unpack_collection(packed, 2).unwrap_or_default();
                    let found =
                        entries.chunks_exact(2).find(|entry| key.compare(&entry[0], selector).is_eq());
                    found.map(|entry| entry[1].clone())
                }
                None => cells
                    .iter()
                    .find(|cell| cell.path.as_ref().is_some_and(|path| key.compare(path, selector).is_eq()))
                    .map(|cell| cell.value.clone()),
            };
            any_entry(bound, (key, value), actual.as_ref())
        }
        DataType::List { element, .. } => {
            let index = selector.first_chunk::<4>().map_or(0, |bytes| i32::from_be_bytes(*bytes));
            let Ok(index) = usize::try_from(index) else {
                bail!("Invalid negative list index {index}");
            };
            let actual = match frozen {
                Some(packed) => unpack_collection(packed, 1).unwrap_or_default().get(index).cloned(),
                None => cells.get(index).filter(|cell| cell.path.is_some()).map(|cell| cell.value.clone()),
            };
            any(bound, element, actual.as_ref())
        }
        _ => invalid("Invalid element access syntax for a column that is not a collection"),
    }
}

fn any_entry(bound: &Bound, (key, value): (&DataType, &DataType), actual: Option<&Bytes>) -> CqlResult<bool> {
    check_set(bound)?;
    for wanted in &bound.values {
        let holds = match (wanted, actual) {
            (Some(wanted), Some(actual)) => {
                satisfies(bound.operator, compare_entries((key, value), actual, wanted))
            }
            (wanted, actual) => compare(bound.operator, value, wanted.as_ref(), actual)?,
        };
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares a map's values: Cassandra takes them for keys, and trips over those that its comparator of keys cannot read. Of
/// a collection that says it is empty it looks no further than at the count.
fn compare_entries((key, value): (&DataType, &DataType), actual: &Bytes, wanted: &Bytes) -> Ordering {
    let count = |value: &Bytes| value.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes));
    match (count(actual), count(wanted)) {
        (Some(a), Some(b)) if key.is_collection() && a.min(b) <= 0 => return a.cmp(&b),
        _ => {}
    }
    let are_keys = [actual, wanted].iter().all(|value| reads_as_key(key, value));
    if are_keys { key.compare(actual, wanted) } else { value.compare(actual, wanted) }
}

/// Whether Cassandra compares these bytes as a value of this type. Most types look at as many bytes as there are.
fn reads_as_key(key: &DataType, bytes: &Bytes) -> bool {
    match key {
        DataType::Float => bytes.is_empty() || bytes.len() >= 4,
        DataType::Double => bytes.is_empty() || bytes.len() >= 8,
        DataType::Decimal => bytes.is_empty() || bytes.len() >= 5,
        DataType::TinyInt | DataType::SmallInt => !bytes.is_empty(),
        DataType::Uuid
        | DataType::TimeUuid
        | DataType::LegacyTimeUuid
        | DataType::List { .. }
        | DataType::Set { .. }
        | DataType::Map { .. }
        | DataType::Tuple(_)
        | DataType::Udt { .. }
        | DataType::Vector { .. } => key.validate(bytes).is_ok(),
        _ => true,
    }
}

fn field_holds(bound: &Bound, data_type: &DataType, cells: &[Cell], field: usize) -> CqlResult<bool> {
    let DataType::Udt { definition, .. } = data_type else {
        return invalid("Invalid field access syntax for a column that is not a user type");
    };
    let value = cells_to_value(data_type, cells);
    let fields = value.and_then(|value| unpack_tuple(&value, definition.fields.len())).unwrap_or_default();
    let actual = fields.get(field).cloned().flatten();
    match definition.fields.get(field) {
        Some((_, field_type)) => any(bound, field_type, actual.as_ref()),
        None => Ok(false),
    }
}

/// Elements of a collection as pairs: a set's element and nothing, a map's key and value, nothing
/// and a list's element.
type Elements = Vec<(Option<Bytes>, Option<Bytes>)>;

fn frozen_elements(data_type: &DataType, value: &Bytes) -> Elements {
    match data_type {
        DataType::Map { .. } => {
            let flat = unpack_collection(value, 2).unwrap_or_default();
            flat.chunks_exact(2).map(|entry| (Some(entry[0].clone()), Some(entry[1].clone()))).collect()
        }
        DataType::Set { .. } => {
            unpack_collection(value, 1).unwrap_or_default().into_iter().map(|e| (Some(e), None)).collect()
        }
        // A frozen list may have nulls.
        _ => unpack_nullable_list(value).unwrap_or_default().into_iter().map(|e| (None, e)).collect(),
    }
}

fn cell_elements(data_type: &DataType, cells: &[Cell]) -> Elements {
    let pair = |cell: &Cell| match data_type {
        DataType::Map { .. } => (cell.path.clone(), Some(cell.value.clone())),
        DataType::Set { .. } => (cell.path.clone(), None),
        _ => (None, Some(cell.value.clone())),
    };
    cells.iter().map(pair).collect()
}

/// Whether an element, key or value is one that is asked for; `is_same` says so of a part and a value.
fn contains(
    bound: &Bound,
    data_type: &DataType,
    elements: &Elements,
    is_same: impl Fn(&DataType, Option<&[u8]>, Option<&[u8]>) -> bool,
) -> CqlResult<bool> {
    let by_key = bound.operator == Operator::ContainsKey || matches!(data_type, DataType::Set { .. });
    let element_type: &DataType = match data_type {
        DataType::Map { key, .. } if by_key => key,
        DataType::Map { value, .. } => value,
        DataType::List { element, .. } | DataType::Set { element, .. } => element,
        other => other,
    };
    for value in &bound.values {
        let Some(value) = value else {
            bail!("Invalid comparison with null for operator \"{}\"", bound.operator.symbol());
        };
        let mut parts =
            elements.iter().map(|(key, value)| if by_key { key.as_deref() } else { value.as_deref() });
        if parts.any(|part| is_same(element_type, part, Some(value))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn collection_holds(bound: &Bound, data_type: &DataType, cells: &[Cell]) -> CqlResult<bool> {
    check_set(bound)?;
    let actual = cell_elements(data_type, cells);
    if matches!(bound.operator, Operator::Contains | Operator::ContainsKey) {
        let compares = |data_type: &DataType, part: Option<&[u8]>, value: Option<&[u8]>| {
            part.zip(value).is_some_and(|(part, value)| data_type.compare(part, value).is_eq())
        };
        return contains(bound, data_type, &actual, compares);
    }
    for value in &bound.values {
        let wanted = value.as_ref().map(|value| frozen_elements(data_type, value));
        if wanted.iter().flatten().any(|(key, value)| key.is_none() && value.is_none()) {
            return invalid("null is not supported inside collections");
        }
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            match bound.operator {
                Operator::Eq if actual.is_empty() => return Ok(true),
                Operator::Eq => continue,
                Operator::Neq => return Ok(!actual.is_empty()),
                operator if value.is_none() => {
                    bail!("Invalid comparison with null for operator \"{}\"", operator.symbol())
                }
                operator => {
                    let kind = match data_type {
                        DataType::List { .. } => "list",
                        DataType::Set { .. } => "set",
                        _ => "map",
                    };
                    bail!("Invalid comparison with an empty {kind} for operator \"{}\"", operator.symbol())
                }
            }
        };
        if actual.is_empty() && bound.operator != Operator::Neq {
            continue;
        }
        if elements_hold(bound.operator, data_type, &actual, &wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn elements_hold(operator: Operator, data_type: &DataType, actual: &Elements, wanted: &Elements) -> bool {
    let compare = |types: (&DataType, &DataType),
                   a: &(Option<Bytes>, Option<Bytes>),
                   b: &(Option<Bytes>, Option<Bytes>)| {
        let part = |t: &DataType, a: &Option<Bytes>, b: &Option<Bytes>| match (a, b) {
            (Some(a), Some(b)) => t.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        part(types.0, &a.0, &b.0).then_with(|| part(types.1, &a.1, &b.1))
    };
    let types: (&DataType, &DataType) = match data_type {
        DataType::Map { key, value, .. } => (key, value),
        DataType::List { element, .. } | DataType::Set { element, .. } => (element, element),
        other => (other, other),
    };
    for (a, b) in actual.iter().zip(wanted) {
        let order = compare(types, a, b);
        if order.is_ne() {
            return match operator {
                Operator::Neq => true,
                Operator::Lt | Operator::Lte => order.is_lt(),
                Operator::Gt | Operator::Gte => order.is_gt(),
                _ => false,
            };
        }
    }
    satisfies(operator, actual.len().cmp(&wanted.len()))
}
