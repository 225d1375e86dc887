//! SELECT (`SelectStatement`).

use std::cmp::Ordering;
use std::sync::Arc;

use basalt_coordinator::Replication;
use basalt_cql::ast;
use basalt_cql::ast::{Direction, Selectors};
use basalt_model::command::{ColumnFilter, RowSelection};
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{Consistency, CqlError, DataType, Schema, Slice, Table};

use super::{Execution, Reader, find_table};
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::pager::{NO_LIMIT, Pager, Partitions, Query};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::restrictions::{Restrictions, StatementKind, Terms, existing_column};
use crate::result::{ResultMetadata, ResultSet};
use crate::selection::{self, ResultBuilder, Selection, selects_column};
use crate::terms::{Context, Term};
use basalt_model::paging_state::PagingState;

/// Rows an internal page of an aggregate has when the client sets none.
const DEFAULT_PAGE_SIZE: i32 = 10_000;

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
    /// Sort the result by these values of its rows: place, type, descending.
    sort: Vec<(usize, DataType, bool)>,
    has_order: bool,
    limit: Option<Term>,
    per_partition_limit: Option<Term>,
}

/// Resolves a SELECT.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    select: &ast::Select,
    keyspace: Option<&str>,
) -> CqlResult<SelectPlan> {
    let (table, replication) = find_table(schema, &select.table, keyspace)?;
    if select.json {
        return Err(CqlError::unsupported("SELECT JSON"));
    }
    if !select.group_by.is_empty() {
        return Err(CqlError::unsupported("GROUP BY"));
    }
    if select.order_by.iter().any(|ordering| ordering.ann_of.is_some()) {
        return Err(CqlError::unsupported("ANN ordering"));
    }
    let context = Context { schema, keyspace: &table.keyspace, table: Some(&table) };
    let order = order_columns(&table, &select.order_by)?;
    check_selected_names(&table, &select.selectors)?;
    let terms = Terms {
        kind: StatementKind::Select,
        static_only: selects_only_statics(&table, &select.selectors),
        allow_filtering: select.allow_filtering,
    };
    let restrictions = Restrictions::prepare(&context, markers, &table, &select.where_clause, terms)?;
    let mut selection = match &select.selectors {
        Selectors::All => Selection::wildcard(&table),
        Selectors::List(selectors) => selection::prepare(&context, markers, &table, selectors)?,
    };
    if select.distinct {
        ensure(select.per_partition_limit.is_none(), || {
            "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries".to_owned()
        })?;
        check_distinct(&table, &selection, &restrictions)?;
    }
    ensure(!(selection.is_aggregate() && select.per_partition_limit.is_some()), || {
        "PER PARTITION LIMIT is not allowed with aggregate queries.".to_owned()
    })?;
    let key_is_in = restrictions.key_is_in(&table);
    let reversed = is_reversed(&table, &order, &restrictions)?;
    let sort = if key_is_in { sort_places(&table, &order, &mut selection, reversed) } else { Vec::new() };
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
    Ok(SelectPlan {
        replication,
        columns,
        reversed,
        distinct: select.distinct,
        key_is_in,
        sort,
        has_order: !order.is_empty(),
        limit: limits.0,
        per_partition_limit: limits.1,
        selection,
        restrictions,
        table,
    })
}

/// Unknown names are refused before anything else is looked at.
fn check_selected_names(table: &Table, selectors: &Selectors) -> CqlResult<()> {
    let Selectors::List(selectors) = selectors else { return Ok(()) };
    selectors.iter().try_for_each(|selector| selection::check_names(table, &selector.selectable))
}

fn selects_only_statics(table: &Table, selectors: &Selectors) -> bool {
    let Selectors::List(selectors) = selectors else { return false };
    if !table.has_statics() || table.is_static_compact() {
        return false;
    }
    let any = |test: &dyn Fn(&basalt_model::Column) -> bool| {
        selectors.iter().any(|selector| selects_column(table, &selector.selectable, test))
    };
    any(&|column| column.kind == ColumnKind::Static)
        && !any(&|column| !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static))
}

/// The columns of ORDER BY and whether each is descending; the last word on a column counts.
fn order_columns(table: &Table, order_by: &[ast::Ordering]) -> CqlResult<Vec<(usize, bool)>> {
    let mut columns: Vec<(usize, bool)> = Vec::with_capacity(order_by.len());
    for ordering in order_by {
        let column = existing_column(table, &ordering.column.name)?;
        let descending = ordering.direction == Direction::Desc;
        match columns.iter_mut().find(|(known, _)| *known == column) {
            Some(known) => known.1 = descending,
            None => columns.push((column, descending)),
        }
    }
    Ok(columns)
}

fn check_distinct(table: &Table, selection: &Selection, restrictions: &Restrictions) -> CqlResult<()> {
    let only_statics = !restrictions.has_others() || restrictions.others_are_static(table);
    ensure(!restrictions.has_clustering() && only_statics, || {
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns."
            .to_owned()
    })?;
    for column in &selection.columns {
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

/// Whether rows are read backwards.
fn is_reversed(table: &Table, order: &[(usize, bool)], restrictions: &Restrictions) -> CqlResult<bool> {
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

fn sort_places(
    table: &Table,
    order: &[(usize, bool)],
    selection: &mut Selection,
    reversed: bool,
) -> Vec<(usize, DataType, bool)> {
    let mut places = Vec::with_capacity(order.len());
    for (column, _) in order {
        let fetched = selection.fetch(*column);
        let place = ResultBuilder::order_place(selection, fetched);
        let column = &table.columns[*column];
        let descending = (column.order == ClusteringOrder::Desc) != reversed;
        places.extend(place.map(|place| (place, column.data_type.clone(), descending)));
    }
    places
}

impl SelectPlan {
    /// The columns of the result.
    pub(crate) fn metadata(&self) -> &Arc<ResultMetadata> {
        &self.selection.metadata
    }

    /// Reads.
    pub(crate) async fn execute(&self, execution: &mut Execution<'_>) -> CqlResult<ResultSet> {
        let processor = execution.processor;
        let options = execution.options;
        let reader = Reader {
            schema: &*processor.schema,
            coordinator: &processor.coordinator,
            replication: &self.replication,
            consistency: options.consistency,
            warnings: Default::default(),
        };
        if options.consistency == Consistency::Any {
            return invalid("ANY ConsistencyLevel is only supported for writes");
        }
        let is_aggregate = self.selection.is_aggregate();
        let user_limit = bind_limit(self.limit.as_ref(), execution)?;
        let per_partition_limit = bind_limit(self.per_partition_limit.as_ref(), execution)?;
        let page_size = options.page_size.unwrap_or(-1);
        let sorts = self.key_is_in && self.has_order;
        let limit = if is_aggregate || sorts { NO_LIMIT } else { user_limit };
        let query = self.query(execution, limit, per_partition_limit)?;
        let (targets, is_range) = match query.as_ref().map(|query| &query.partitions) {
            Some(Partitions::Named(keys)) => (keys.len(), false),
            Some(Partitions::Range(_)) => (1, true),
            None => (0, self.restrictions.is_key_range()),
        };
        let is_paged = is_aggregate || (page_size > 0 && limit > page_size);
        if is_paged {
            self.warn(is_aggregate, execution);
            ensure(!(page_size > 0 && sorts), || {
                "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query".to_owned()
            })?;
        }
        reader.check(&self.table, targets, is_range)?;
        let mut builder = ResultBuilder::new(
            &self.selection,
            &self.table,
            execution.binding(),
            execution.now_s,
            self.restrictions.shows_static_alone(),
        )?;
        let mut state = None;
        if let Some(query) = query {
            let page = Page { is_aggregate, is_paged, page_size };
            state = self.read(query, &reader, &mut builder, page, execution).await?;
            execution.warnings.append(&mut reader.warnings.lock());
        }
        self.finish(builder, user_limit, state)
    }

    /// What is read; `None` when it is known to be nothing.
    fn query(
        &self,
        execution: &Execution<'_>,
        limit: i32,
        per_partition_limit: i32,
    ) -> CqlResult<Option<Query>> {
        let table = &self.table;
        let binding = execution.binding();
        let row_filter = self.restrictions.row_filter(table, &binding)?;
        let partitions = if self.restrictions.is_key_range() {
            match self.restrictions.key_range(table, &binding)? {
                Some(range) => Partitions::Range(range),
                None => return Ok(None),
            }
        } else {
            let keys = self.restrictions.partition_keys(table, &binding)?;
            if keys.is_empty() {
                return Ok(None);
            }
            Partitions::Named(keys)
        };
        let rows = if self.distinct {
            RowSelection::Slices(vec![Slice::all()])
        } else if self.restrictions.is_column_range(table) {
            let slices = self.restrictions.slices(table, &binding)?;
            if slices.is_empty() && !self.selection.has_statics(table) {
                return Ok(None);
            }
            RowSelection::Slices(slices)
        } else {
            let rows = self.restrictions.rows(table, &binding)?;
            if rows.is_empty() && !self.selection.has_statics(table) && !table.is_static_compact() {
                return Ok(None);
            }
            // A table without clustering columns has one row: by name or by slice is the same. To
            // clients a static compact table is one; its one row is the static one.
            RowSelection::Names(rows)
        };
        Ok(Some(Query {
            table: table.clone(),
            now_s: execution.now_s,
            columns: self.columns.clone(),
            row_filter,
            rows,
            reversed: self.reversed,
            partitions,
            limit,
            per_partition_limit: if self.distinct { 1 } else { per_partition_limit },
            distinct: self.distinct,
            counts_static_alone: self.restrictions.shows_static_alone(),
        }))
    }

    fn warn(&self, is_aggregate: bool, execution: &mut Execution<'_>) {
        if !is_aggregate {
            return;
        }
        if !self.restrictions.has_partition_key() {
            execution.warnings.push("Aggregation query used without partition key".to_owned());
        } else if self.key_is_in {
            let text = "Aggregation query used on multiple partition keys (IN restriction)";
            execution.warnings.push(text.to_owned());
        }
    }

    async fn read(
        &self,
        query: Query,
        reader: &Reader<'_>,
        builder: &mut ResultBuilder<'_>,
        page: Page,
        execution: &Execution<'_>,
    ) -> CqlResult<Option<PagingState>> {
        let options = execution.options;
        let version = options.protocol_version;
        let state = match &options.paging_state {
            Some(bytes) if page.is_paged => Some(PagingState::decode(bytes, version)?),
            _ => None,
        };
        let mut pager = Pager::new(query, state, version)?;
        if page.is_aggregate {
            let size = if page.page_size > 0 { page.page_size } else { DEFAULT_PAGE_SIZE };
            while !pager.is_exhausted() {
                pager.fetch(reader, size, |rows| builder.add(&rows).map(|()| false)).await?;
            }
            return Ok(None);
        }
        if !page.is_paged {
            pager.fetch(reader, NO_LIMIT, |rows| builder.add(&rows).map(|()| false)).await?;
            return Ok(None);
        }
        let bytes_max = execution.processor.settings.page_bytes_max;
        let add = |rows| {
            builder.add(&rows)?;
            Ok(builder.bytes() >= bytes_max)
        };
        pager.fetch(reader, page.page_size, add).await?;
        Ok(pager.state())
    }

    fn finish(
        &self,
        builder: ResultBuilder<'_>,
        user_limit: i32,
        state: Option<PagingState>,
    ) -> CqlResult<ResultSet> {
        let built = builder.finish()?;
        let width = self.selection.metadata.columns.len();
        let limit = usize::try_from(user_limit).unwrap_or(usize::MAX);
        let mut values = built.values;
        if !self.sort.is_empty() || built.width != width {
            let mut rows: Vec<&[Option<bytes::Bytes>]> = values.chunks_exact(built.width.max(1)).collect();
            rows.sort_by(|a, b| self.compare(a, b));
            let rows = rows.into_iter().take(limit);
            values = rows.flat_map(|row| row.get(..width).unwrap_or_default().to_vec()).collect();
        }
        let row_count = built.rows.min(limit);
        values.truncate(row_count.saturating_mul(width));
        Ok(ResultSet {
            metadata: self.selection.metadata.clone(),
            values,
            row_count,
            paging_state: state.map(|state| state.encode()),
        })
    }

    fn compare(&self, a: &[Option<bytes::Bytes>], b: &[Option<bytes::Bytes>]) -> Ordering {
        for (place, data_type, descending) in &self.sort {
            let order = match (a.get(*place).and_then(Option::as_ref), b.get(*place).and_then(Option::as_ref))
            {
                (Some(a), Some(b)) => data_type.compare(a, b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            if order.is_ne() {
                return if *descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}

/// How a SELECT's rows are brought.
#[derive(Clone, Copy)]
struct Page {
    is_aggregate: bool,
    is_paged: bool,
    page_size: i32,
}

fn bind_limit(term: Option<&Term>, execution: &Execution<'_>) -> CqlResult<i32> {
    let Some(term) = term else { return Ok(NO_LIMIT) };
    match term.bind(&execution.binding())? {
        Value::Null => invalid("Invalid null value of limit"),
        Value::Unset => Ok(NO_LIMIT),
        Value::Bytes(bytes) => match bytes.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes)) {
            Some(limit) if limit > 0 => Ok(limit),
            Some(_) => invalid("LIMIT must be strictly positive"),
            None => bail!("Invalid limit value"),
        },
    }
}
