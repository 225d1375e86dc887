//! Restrictions on clustering columns: to exact rows, to slices, or to filters
//! (`ClusteringColumnRestrictions`, `MultiCBuilder`).

use basalt_model::schema::ClusteringOrder;
use basalt_model::{Bound, BoundKind, Clustering, Slice, Table};
use bytes::Bytes;

use super::restriction::{Restriction, Side, Test};
use super::set::RestrictionSet;
use super::values::{self, Combinations};
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::request::Value;

/// Whether a restriction cannot narrow the rows read because it does not continue the prefix.
pub(super) fn is_filtered(restriction: &Restriction, position: usize, table: &Table) -> bool {
    restriction.is_contains() || position != usize::from(table.columns[restriction.first()].position)
}

/// Whether some restriction must be applied row by row.
pub(super) fn needs_filtering(set: &RestrictionSet, table: &Table) -> bool {
    let mut position = 0;
    for restriction in set.iter() {
        if is_filtered(restriction, position, table) {
            return true;
        }
        if !restriction.is_slice() {
            position = usize::from(table.columns[restriction.last()].position) + 1;
        }
    }
    set.has_contains()
}

/// The restrictions that must be applied row by row.
pub(super) fn filtered<'a>(set: &'a RestrictionSet, table: &Table) -> Vec<&'a Restriction> {
    let mut position = 0;
    let mut found = Vec::new();
    for restriction in set.iter() {
        if is_filtered(restriction, position, table) {
            found.push(restriction);
        } else if !restriction.is_slice() {
            position = usize::from(table.columns[restriction.last()].position) + 1;
        }
    }
    found
}

/// The rows, where all clustering columns are restricted by equality; ascending, distinct. A value
/// for a tuple of columns may have too few elements: then the row is too short, and none.
pub(super) fn rows(set: &RestrictionSet, table: &Table, binding: &Binding<'_>) -> CqlResult<Vec<Clustering>> {
    let mut combinations = Combinations::new();
    for restriction in set.iter() {
        values::append(&mut combinations, restriction, table, binding)?;
        if combinations.is_nothing() {
            return Ok(Vec::new());
        }
    }
    let mut rows: Vec<Clustering> = combinations.into_prefixes().into_iter().map(prefix).collect();
    rows.sort_by(|a, b| table.compare_clusterings(a, b));
    rows.dedup_by(|a, b| table.compare_clusterings(a, b).is_eq());
    Ok(rows)
}

fn prefix(values: Vec<Option<Bytes>>) -> Clustering {
    Clustering(values.into_iter().collect())
}

/// One end of the slices, in the order of the table.
struct Ends {
    bounds: Vec<Bound>,
}

/// The slices of rows; ascending, disjoint. A bound that is null comes before every value; where slices are written to
/// it stays, for the writer to refuse.
pub(super) fn slices(
    set: &RestrictionSet,
    table: &Table,
    binding: &Binding<'_>,
    written: bool,
) -> CqlResult<Vec<Slice>> {
    let starts = ends(set, table, binding, true)?;
    let ends = ends(set, table, binding, false)?;
    let mut slices: Vec<Slice> = Vec::with_capacity(starts.bounds.len());
    for (start, end) in starts.bounds.into_iter().zip(ends.bounds) {
        if table.compare_bounds(&start, &end).is_ge() {
            continue;
        }
        let (start, end) = if written { (start, end) } else { (without_null(start), without_null(end)) };
        slices.push(Slice { start, end });
    }
    Ok(join(slices, table))
}

/// Null comes before every value: as a start it bounds nothing beyond its prefix, as an end it
/// lets nothing through. The slice is there all the same: there is something to read, though nothing is found.
fn without_null(bound: Bound) -> Bound {
    let Some(null) = bound.prefix.0.iter().position(Option::is_none) else { return bound };
    let kind = if bound.kind.is_start() { BoundKind::InclusiveStart } else { BoundKind::ExclusiveEnd };
    Bound { kind, prefix: Clustering(bound.prefix.0.into_iter().take(null).collect()) }
}

/// Joins slices that overlap or touch.
fn join(mut slices: Vec<Slice>, table: &Table) -> Vec<Slice> {
    slices.sort_by(|a, b| table.compare_bounds(&a.start, &b.start));
    let mut joined: Vec<Slice> = Vec::with_capacity(slices.len());
    for slice in slices {
        match joined.last_mut() {
            Some(last) if table.compare_bounds(&slice.start, &last.end).is_le() => {
                if table.compare_bounds(&slice.end, &last.end).is_gt() {
                    last.end = slice.end;
                }
            }
            _ => joined.push(slice),
        }
    }
    joined
}

fn kind(is_start: bool, inclusive: bool) -> BoundKind {
    match (is_start, inclusive) {
        (true, true) => BoundKind::InclusiveStart,
        (true, false) => BoundKind::ExclusiveStart,
        (false, true) => BoundKind::InclusiveEnd,
        (false, false) => BoundKind::ExclusiveEnd,
    }
}

fn sorted(mut bounds: Vec<Bound>, table: &Table) -> Ends {
    bounds.sort_by(|a, b| table.compare_bounds(a, b));
    bounds.dedup_by(|a, b| table.compare_bounds(a, b).is_eq());
    Ends { bounds }
}

fn ends(set: &RestrictionSet, table: &Table, binding: &Binding<'_>, is_start: bool) -> CqlResult<Ends> {
    let mut combinations = Combinations::new();
    let mut position = 0;
    for restriction in set.iter() {
        if is_filtered(restriction, position, table) {
            break;
        }
        if !combinations.are_all_of(position) {
            return invalid("A tuple with fewer elements than columns must be the last restriction");
        }
        if let Test::Slice { start, end } = &restriction.test {
            let prefixes = combinations.into_prefixes();
            let bounds = if restriction.is_tuple {
                tuple_bounds(restriction, (start, end), prefixes, table, binding, is_start)?
            } else {
                single_bounds(restriction, (start, end), prefixes, table, binding, is_start)?
            };
            return Ok(sorted(bounds, table));
        }
        values::append(&mut combinations, restriction, table, binding)?;
        if combinations.is_nothing() {
            return Ok(Ends { bounds: Vec::new() });
        }
        position = usize::from(table.columns[restriction.last()].position) + 1;
    }
    let prefixes = combinations.into_prefixes().into_iter();
    let bounds = prefixes.map(|values| Bound { kind: kind(is_start, true), prefix: prefix(values) });
    Ok(sorted(bounds.collect(), table))
}

fn is_reversed(table: &Table, column: usize) -> bool {
    table.columns[column].order == ClusteringOrder::Desc
}

/// The side of a slice that ends up at a start or end bound: in a descending column they swap.
fn side<'a>(
    (start, end): (&'a Option<Side>, &'a Option<Side>),
    is_start: bool,
    reversed: bool,
) -> &'a Option<Side> {
    if is_start != reversed { start } else { end }
}

fn single_bounds(
    restriction: &Restriction,
    sides: (&Option<Side>, &Option<Side>),
    prefixes: Vec<Vec<Option<Bytes>>>,
    table: &Table,
    binding: &Binding<'_>,
    is_start: bool,
) -> CqlResult<Vec<Bound>> {
    let column = restriction.first();
    let side = side(sides, is_start, is_reversed(table, column));
    let (value, inclusive) = match side {
        None => (None, true),
        Some(side) => match side.value.bind(binding)? {
            Value::Unset => bail!("Invalid unset value for column {}", table.columns[column].name),
            Value::Null => (Some(None), side.inclusive),
            Value::Bytes(bytes) => (Some(Some(bytes)), side.inclusive),
        },
    };
    let bound = |mut values: Vec<Option<Bytes>>| {
        values.extend(value.clone());
        Bound { kind: kind(is_start, inclusive), prefix: prefix(values) }
    };
    Ok(prefixes.into_iter().map(bound).collect())
}

/// The values of one side of a tuple's slice.
fn components(side: &Option<Side>, binding: &Binding<'_>) -> CqlResult<Vec<Option<Bytes>>> {
    let Some(side) = side else { return Ok(Vec::new()) };
    match side.value.bind_fields(binding)? {
        Some(fields) => Ok(fields),
        None => bail!("Invalid null value in condition for a tuple of columns"),
    }
}

/// Bounds of `(a, b, c) > (1, 2, 3)`: one slice while all columns run the same way; where the
/// direction changes, the rows fall into several slices (`SliceRestriction.appendBoundTo`,
/// `MultiClusteringBuilder.buildBoundForSlice`).
fn tuple_bounds(
    restriction: &Restriction,
    sides: (&Option<Side>, &Option<Side>),
    prefixes: Vec<Vec<Option<Bytes>>>,
    table: &Table,
    binding: &Binding<'_>,
    is_start: bool,
) -> CqlResult<Vec<Bound>> {
    let columns = &restriction.columns;
    let offset = usize::from(table.columns[columns[0]].position);
    let starts = components(sides.0, binding)?;
    let ends = components(sides.1, binding)?;
    let parts = tuple_parts(columns, (&starts, &ends), table, is_start)?;
    let inclusive_of = |lower: bool| {
        let side = if lower { sides.0 } else { sides.1 };
        side.as_ref().is_none_or(|side| side.inclusive)
    };
    let mut bounds = Vec::new();
    for before in prefixes {
        let values: Vec<Vec<Option<Bytes>>> =
            parts.iter().map(|part| before.iter().chain(part).cloned().collect()).collect();
        let mut index = 0;
        while let Some(elements) = values.get(index) {
            let bound =
                |inclusive| Bound { kind: kind(is_start, inclusive), prefix: prefix(elements.clone()) };
            let last_position = offset + columns.len() - 1;
            if elements.len() <= offset {
                bounds.push(bound(true));
            } else if elements.len() <= last_position && values.get(index + 1) == Some(elements) {
                bounds.push(bound(false));
                bounds.push(bound(true));
                index += 1;
            } else {
                let column = columns[elements.len() - 1 - offset];
                bounds.push(bound(inclusive_of(is_start != is_reversed(table, column))));
            }
            index += 1;
        }
    }
    Ok(bounds)
}

fn tuple_parts(
    columns: &[usize],
    (starts, ends): (&[Option<Bytes>], &[Option<Bytes>]),
    table: &Table,
    is_start: bool,
) -> CqlResult<Vec<Vec<Option<Bytes>>>> {
    let mut reversed = is_reversed(table, columns[0]);
    let mut parts: Vec<Vec<Option<Bytes>>> = Vec::new();
    let mut values: Vec<Option<Bytes>> = Vec::new();
    let present = |value: &Option<Bytes>, column: usize| match value {
        Some(value) => Ok(Some(value.clone())),
        None => bail!("Invalid null value in condition for column {}", table.columns[column].name),
    };
    for (index, column) in columns.iter().enumerate() {
        let column_reversed = is_reversed(table, *column);
        let (own, other) = if is_start != column_reversed { (starts, ends) } else { (ends, starts) };
        if reversed != column_reversed {
            reversed = column_reversed;
            parts.push(values.clone());
            if index >= own.len() {
                continue;
            }
            if index < other.len() {
                parts.push(values.clone());
            }
            values = Vec::new();
            for (value, column) in own.iter().zip(columns).take(index) {
                values.push(present(value, *column)?);
            }
        }
        if let Some(value) = own.get(index) {
            values.push(present(value, *column)?);
        }
    }
    parts.push(values);
    if !is_start {
        parts.reverse();
    }
    Ok(parts)
}
