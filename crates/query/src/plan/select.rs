//! SELECT (`SelectStatement`).

mod execute;
mod group_by;
mod order;

use std::sync::Arc;

use basalt_coordinator::Replication;
use basalt_cql::ast;
use basalt_cql::ast::Selectors;
use basalt_model::command::ColumnFilter;
use basalt_model::packed::Layout;
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Schema, Table};

use super::find_table;
use crate::error::{CqlResult, ensure};
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, StatementKind, Terms};
use crate::selection::{self, Grouping, Selection, selects_column};
use crate::terms::{Context, Term};
use order::Sort;

/// A SELECT, resolved.
#[derive(Clone, Debug)]
pub(crate) struct SelectPlan {
    pub(crate) table: Arc<Table>,
    replication: Arc<Replication>,
    selection: Selection,
    restrictions: Restrictions,
    columns: ColumnFilter,
    reversed: bool,
    distinct: bool,
    key_is_in: bool,
    /// GROUP BY.
    grouping: Option<Grouping>,
    /// ORDER BY over several partitions.
    sort: Option<Sort>,
    limit: Option<Term>,
    per_partition_limit: Option<Term>,
    /// How rows may come packed: where nothing is made of them but the answer.
    layout: Option<Arc<Layout>>,
}

/// Resolves a SELECT.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    select: &ast::Select,
    keyspace: Option<&str>,
) -> CqlResult<SelectPlan> {
    let (table, replication) = find_table(schema, &select.table, keyspace)?;
    let context = Context::of(schema, &table);
    let static_only = selects_only_statics(&context, &table, &select.selectors)?;
    let order = order::columns(&context, markers, &table, &select.order_by)?;
    let ann = order::ann(&order, &select.order_by)?;
    let allow_filtering = select.allow_filtering;
    let terms = Terms { kind: StatementKind::Select, static_only, allow_filtering, ann };
    let restrictions = Restrictions::prepare(&context, markers, &table, &select.where_clause, terms)?;
    let mut selection = match &select.selectors {
        Selectors::All => Selection::wildcard(&table),
        Selectors::List(selectors) => selection::prepare(&context, markers, &table, selectors)?,
    };
    if select.json {
        selection = selection.into_json(&table);
    }
    if !select.group_by.is_empty() {
        selection.compute();
    }
    let key_is_in = restrictions.key_is_in(&table);
    let sort = (key_is_in && !order.is_empty()).then(|| Sort::prepare(&table, &order, &mut selection));
    if select.distinct {
        ensure(select.per_partition_limit.is_none(), || {
            "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries".to_owned()
        })?;
        check_distinct(&table, &selection, &restrictions, &order)?;
    }
    let grouping =
        group_by::prepare(&context, markers, &table, &select.group_by, &restrictions, select.distinct)?;
    let is_one_group = grouping.is_none() && selection.is_aggregate();
    ensure(!is_one_group || select.per_partition_limit.is_none(), || {
        "PER PARTITION LIMIT is not allowed with aggregate queries.".to_owned()
    })?;
    let reversed = order::is_reversed(&table, &order, &restrictions)?;
    restrictions.check_filtering(&table, terms.allow_filtering)?;
    let mut limit = |written: &Option<ast::Term>, name: &str| match written {
        None => Ok(None),
        Some(term) => {
            Term::prepare(&context, markers, term, &Receiver::named(&table, name, DataType::Int)).map(Some)
        }
    };
    let limits =
        (limit(&select.limit, "[limit]")?, limit(&select.per_partition_limit, "[per_partition_limit]")?);
    let filtered = restrictions.other_columns(&table);
    let columns = selection.column_filter(&table, &filtered, restrictions.shows_static_alone());
    let shown =
        selection.shown_columns().filter(|_| grouping.is_none() && sort.is_none() && !select.distinct);
    let layout = shown.and_then(|shown| Layout::of(&table, &columns, shown)).map(Arc::new);
    Ok(SelectPlan {
        replication,
        layout,
        columns,
        reversed,
        distinct: select.distinct,
        key_is_in,
        grouping,
        sort,
        limit: limits.0,
        per_partition_limit: limits.1,
        selection,
        restrictions,
        table,
    })
}

/// Selectors are looked at here, before all else, only in a table with static columns, and only up to the first
/// that tells; otherwise after the restrictions (`SelectStatement.selectOnlyStaticColumns` over a lazy list).
fn selects_only_statics(context: &Context<'_>, table: &Table, selectors: &Selectors) -> CqlResult<bool> {
    let Selectors::List(selectors) = selectors else { return Ok(false) };
    if !table.has_statics() || table.is_static_compact() {
        return Ok(false);
    }
    let any = |test: &dyn Fn(&basalt_model::Column) -> bool| -> CqlResult<bool> {
        for selector in selectors {
            selection::check(context, table, &selector.selectable)?;
            if selects_column(table, &selector.selectable, test) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    Ok(any(&|column| column.kind == ColumnKind::Static)?
        && !any(&|column| !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static))?)
}

fn check_distinct(
    table: &Table,
    selection: &Selection,
    restrictions: &Restrictions,
    order: &[(usize, bool)],
) -> CqlResult<()> {
    let only_statics = !restrictions.has_others() || restrictions.others_are_static(table);
    ensure(!restrictions.has_clustering() && only_statics, || {
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns."
            .to_owned()
    })?;
    // What the result is sorted by is selected as well.
    let sorted_by = if restrictions.key_is_in(table) { order } else { &[] };
    let ordering = sorted_by.iter().map(|(column, _)| column);
    for column in selection.columns.iter().chain(ordering) {
        let column = &table.columns[*column];
        ensure(matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static), || {
            format!(
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
                column.name
            )
        })?;
    }
    if !restrictions.is_key_range() {
        return Ok(());
    }
    for (index, column) in table.partition_key().iter().enumerate() {
        ensure(selection.columns.contains(&index), || {
            format!(
                "SELECT DISTINCT queries must request all the partition key columns (missing {})",
                column.name
            )
        })?;
    }
    Ok(())
}
