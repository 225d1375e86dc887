//! ORDER BY: which way rows are read, and the sort of a result that several partitions were read
//! for (`SelectStatement.isReversed`, `getOrderingComparator`).

use std::cmp::Ordering;

use basalt_cql::ast;
use basalt_cql::ast::Direction;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{DataType, Table};
use bytes::Bytes;

use crate::error::{CqlResult, ensure, invalid};
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, existing_column};
use crate::selection::Selection;
use crate::terms::{Context, Term};

/// The columns of ORDER BY and whether each is descending; the last word on a column counts.
pub(super) fn columns(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    order_by: &[ast::Ordering],
) -> CqlResult<Vec<(usize, bool)>> {
    let mut columns: Vec<(usize, bool)> = Vec::with_capacity(order_by.len());
    for ordering in order_by {
        let column = existing_column(table, &ordering.column.name)?;
        if let Some(vector) = &ordering.ann_of {
            Term::prepare(context, markers, vector, &Receiver::column(table, column))?;
        }
        let descending = ordering.direction == Direction::Desc;
        match columns.iter_mut().find(|(known, _)| *known == column) {
            Some(known) => known.1 = descending,
            None => columns.push((column, descending)),
        }
    }
    Ok(columns)
}

/// The column that is ordered by distance from a vector (`StatementRestrictions.addOrderingRestrictions`).
pub(super) fn ann(columns: &[(usize, bool)], order_by: &[ast::Ordering]) -> CqlResult<Option<usize>> {
    match order_by.iter().filter(|ordering| ordering.ann_of.is_some()).count() {
        0 => return Ok(None),
        1 => {}
        _ => return invalid("Cannot specify more than one ANN ordering"),
    }
    match (order_by, columns) {
        ([only], [(column, _)]) if only.direction == Direction::Asc => Ok(Some(*column)),
        ([_], _) => invalid("Descending ANN ordering is not supported"),
        _ => invalid("ANN ordering does not support any other ordering"),
    }
}

/// Whether rows are read backwards.
pub(super) fn is_reversed(
    table: &Table,
    order: &[(usize, bool)],
    restrictions: &Restrictions,
) -> CqlResult<bool> {
    if order.is_empty() {
        return Ok(false);
    }
    ensure(!restrictions.is_key_range(), || {
        "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.".to_owned()
    })?;
    let mut next = table.partition_key_count;
    let mut reversed: Option<bool> = None;
    for (index, descending) in order {
        let column = &table.columns[*index];
        ensure(column.kind == ColumnKind::Clustering, || {
            format!(
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {}",
                column.name
            )
        })?;
        while next != *index {
            let skipped = next < table.partition_key_count + table.clustering_count
                && restrictions.is_restricted_by_eq(next, table);
            ensure(skipped, || {
                "Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY".to_owned()
            })?;
            next += 1;
        }
        next += 1;
        let backwards = *descending != (column.order == ClusteringOrder::Desc);
        ensure(reversed.is_none_or(|known| known == backwards), || {
            "Unsupported order by relation".to_owned()
        })?;
        reversed = Some(backwards);
    }
    Ok(reversed.unwrap_or(false))
}

/// By which values of its rows a result is sorted.
#[derive(Clone, Debug)]
pub(super) struct Sort {
    /// Place, type, descending.
    places: Vec<(usize, DataType, bool)>,
}

impl Sort {
    /// Makes sure that the columns are fetched, and notes where their values stand.
    pub(super) fn prepare(table: &Table, order: &[(usize, bool)], selection: &mut Selection) -> Sort {
        let places = order.iter().map(|(column, descending)| {
            (selection.place_for_order(table, *column), table.columns[*column].data_type.clone(), *descending)
        });
        Sort { places: places.collect() }
    }

    /// Compares two rows. Nulls, of static content alone, come first, unless rows are read backwards.
    pub(super) fn compare(&self, a: &[Option<Bytes>], b: &[Option<Bytes>], reversed: bool) -> Ordering {
        for (place, data_type, descending) in &self.places {
            let (a, b) = (a.get(*place).and_then(Option::as_ref), b.get(*place).and_then(Option::as_ref));
            let (order, turned) = match (a, b) {
                (Some(a), Some(b)) => (data_type.compare(a, b), *descending),
                (a, b) => (a.is_some().cmp(&b.is_some()), reversed),
            };
            if order.is_ne() {
                return if turned { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}
