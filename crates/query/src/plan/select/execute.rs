//! A SELECT being executed: limits, what is read, how it is paged, and the result.

use std::sync::Arc;

use basalt_model::command::{ColumnFilter, PartitionRows, RowSelection, SelectedColumns};
use basalt_model::paging_state::{Form, PagingState};
use basalt_model::schema::ColumnKind;
use basalt_model::{Column, Consistency, Slice};
use bytes::Bytes;

use super::SelectPlan;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::pager::{GroupPage, NO_LIMIT, Pager, Partitions, Query};
use crate::plan::{Execution, Reader};
use crate::request::Value;
use crate::restrictions::check_key;
use crate::result::{ResultMetadata, ResultSet};
use crate::selection::{Groups, ResultBuilder};
use crate::terms::Term;

/// Rows an internal page of an aggregate has when the client sets none.
const DEFAULT_PAGE_SIZE: i32 = 10_000;

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
        let is_aggregate = self.grouping.is_some() || self.selection.is_aggregate();
        let user_limit = bind_limit(self.limit.as_ref(), execution)?;
        let per_partition_limit = bind_limit(self.per_partition_limit.as_ref(), execution)?;
        let groups = self.grouping.as_ref();
        let groups =
            groups.map(|grouping| Groups::new(grouping, &self.table, execution.binding())).transpose()?;
        let mut builder = ResultBuilder::new(
            &self.selection,
            &self.table,
            groups.as_ref(),
            execution.binding(),
            execution.now_s,
            self.restrictions.shows_static_alone(),
        )?;
        let page_size = options.page_size.unwrap_or(-1);
        let is_limited_after = self.is_one_group() || self.sort.is_some();
        let limit = if is_limited_after { NO_LIMIT } else { user_limit };
        let mut pager = self.pager(execution, limit, per_partition_limit)?;
        let is_paged = is_aggregate || (pager.is_some() && page_size > 0 && limit > page_size);
        if is_paged {
            self.warn(is_aggregate, execution);
            ensure(page_size <= 0 || self.sort.is_none(), || {
                "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query".to_owned()
            })?;
        }
        let mut state = None;
        if let Some(pager) = &mut pager {
            let (targets, is_range) = match pager.partitions() {
                // Pages take one partition after the other.
                Partitions::Named(_) if is_paged => (1, false),
                Partitions::Named(keys) => (keys.len(), false),
                Partitions::Range(_) => (1, true),
            };
            reader.check(&self.table, targets, is_range)?;
            let page = Page { groups: groups.as_ref(), is_paged, page_size };
            state = self.read(pager, &reader, &mut builder, page, execution).await?;
            execution.warnings.append(&mut reader.warnings.lock());
        }
        self.finish(builder, user_limit, state)
    }

    /// Whether all rows become one.
    fn is_one_group(&self) -> bool {
        self.grouping.is_none() && self.selection.is_aggregate()
    }

    /// What is read; `None` when it is known to be nothing. In a box: it is large, and moves from future to future.
    fn pager(
        &self,
        execution: &Execution<'_>,
        limit: i32,
        per_partition_limit: i32,
    ) -> CqlResult<Option<Box<Pager>>> {
        let table = &self.table;
        let binding = execution.binding();
        let row_filter = self.restrictions.row_filter(table, &binding)?;
        // Of a range rows are looked at first, of named partitions the partitions.
        let (partitions, rows) = if self.restrictions.is_key_range() {
            let Some(rows) = self.rows(&binding, false)? else { return Ok(None) };
            let Some(range) = self.restrictions.key_range(table, &binding)? else { return Ok(None) };
            (Partitions::Range(range), rows)
        } else {
            let keys = self.restrictions.partition_keys(table, &binding)?;
            if keys.is_empty() {
                return Ok(None);
            }
            let Some(rows) = self.rows(&binding, true)? else { return Ok(None) };
            (Partitions::Named(keys), rows)
        };
        // A partition of which no row is wanted counts by its static content, although that is not shown.
        let of_no_row = matches!(&rows, RowSelection::Names(rows) if rows.is_empty());
        // Keys are looked at once it is known that something is read.
        if let Partitions::Named(keys) = &partitions {
            keys.iter().try_for_each(check_key)?;
        }
        let columns = match of_no_row && self.selects_keys_only() {
            true => ColumnFilter::All,
            false => self.columns_of(execution)?,
        };
        // A row mark of version 3 names more than packed rows tell.
        let is_legacy = Form::of(execution.options.protocol_version) == Form::Legacy;
        let layout = self.layout.clone().filter(|_| !is_legacy && row_filter.0.is_empty() && !of_no_row);
        let query = Query {
            table: table.clone(),
            layout,
            now_s: execution.now_s,
            columns,
            row_filter,
            rows,
            reversed: self.reversed,
            partitions,
            limit,
            per_partition_limit: if self.distinct { 1 } else { per_partition_limit },
            distinct: self.distinct,
            counts_static_alone: of_no_row || self.restrictions.shows_static_alone(),
        };
        Ok(Some(Box::new(Pager::new(query, execution.options.protocol_version))))
    }

    /// Which rows of each partition; `None` when it is known that nothing is found.
    fn rows(&self, binding: &Binding<'_>, is_named: bool) -> CqlResult<Option<RowSelection>> {
        let table = &self.table;
        if self.distinct {
            return Ok(Some(RowSelection::Slices(vec![Slice::all()])));
        }
        if self.restrictions.is_column_range(table) {
            let slices = self.restrictions.slices(table, binding)?;
            let is_nothing = slices.is_empty() && (is_named || !self.selection.has_statics(table));
            return Ok((!is_nothing).then_some(RowSelection::Slices(slices)));
        }
        let mut rows = self.restrictions.rows(table, binding)?;
        if rows.is_empty() && !self.fetches_statics() {
            return Ok(None);
        }
        // One that is too short is asked for, and not found.
        rows.retain(|row| row.len() == table.clustering_count);
        // A table without clustering columns has one row: by name or by slice is the same. To
        // clients a static compact table is one; its one row is the static one.
        Ok(Some(RowSelection::Names(rows)))
    }

    /// The columns of one execution.
    fn columns_of(&self, execution: &Execution<'_>) -> CqlResult<ColumnFilter> {
        let table = &self.table;
        // A row mark of version 3 names the row's last cell, selected or not.
        let is_legacy = Form::of(execution.options.protocol_version) == Form::Legacy;
        let ColumnFilter::Some(columns) = &self.columns else { return Ok(self.columns.clone()) };
        if !is_legacy && !self.selection.has_parts() {
            return Ok(self.columns.clone());
        }
        let mut columns = SelectedColumns::clone(columns);
        if is_legacy {
            columns.fetched = table.columns.iter().map(|column| column.id).collect();
            columns.fetched.sort_unstable();
        }
        let filtered = self.restrictions.other_columns(table);
        columns.parts = self.selection.column_parts(table, &filtered, &execution.binding())?;
        Ok(ColumnFilter::Some(Arc::new(columns)))
    }

    /// Whether static columns are read: selected ones or, if only key columns are selected, all.
    fn fetches_statics(&self) -> bool {
        if self.selects_keys_only() {
            return self.table.has_statics();
        }
        let is_static = |column: &Column| column.kind == ColumnKind::Static;
        match &self.columns {
            ColumnFilter::Some(columns) => {
                columns.fetched.iter().any(|id| self.table.column_by_id(*id).is_some_and(is_static))
            }
            ColumnFilter::All | ColumnFilter::Only(_) => self.table.has_statics(),
        }
    }

    fn selects_keys_only(&self) -> bool {
        matches!(&self.columns, ColumnFilter::Some(columns) if columns.fetched.is_empty())
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
        pager: &mut Pager,
        reader: &Reader<'_>,
        builder: &mut ResultBuilder<'_>,
        page: Page<'_>,
        execution: &Execution<'_>,
    ) -> CqlResult<Option<PagingState>> {
        let options = execution.options;
        if let Some(bytes) = options.paging_state.as_ref().filter(|_| page.is_paged) {
            pager.restore(PagingState::decode(bytes, options.protocol_version)?)?;
        }
        if !page.is_paged {
            pager.fetch(reader, NO_LIMIT, |rows| builder.add(&rows).map(|()| false)).await?;
            return Ok(None);
        }
        let is_client_paged = page.page_size > 0;
        let bytes_max =
            if is_client_paged { execution.processor.settings.page_bytes_max } else { usize::MAX };
        let size = if is_client_paged { page.page_size } else { DEFAULT_PAGE_SIZE };
        match page.groups {
            Some(groups) if !self.distinct => {
                let wanted = if is_client_paged { size } else { NO_LIMIT };
                let page = GroupPage { groups, size: wanted, part_rows: size };
                let mut add = |rows: &PartitionRows| {
                    builder.add(rows)?;
                    Ok(builder.bytes() >= bytes_max)
                };
                Box::pin(pager.fetch_groups(reader, page, &mut add)).await?;
            }
            groups => {
                let reads_on = groups.is_some() || self.is_one_group();
                loop {
                    let add = |rows| {
                        builder.add(&rows)?;
                        Ok(builder.bytes() >= bytes_max)
                    };
                    pager.fetch(reader, size, add).await?;
                    if !reads_on || pager.is_exhausted() || builder.bytes() >= bytes_max {
                        break;
                    }
                }
            }
        }
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
        // Packed rows are read no further than the limit.
        debug_assert!(built.packed.is_empty() || built.rows <= limit);
        let mut values = built.values;
        if let Some(sort) = &self.sort {
            let mut rows: Vec<&[Option<Bytes>]> = values.chunks_exact(built.width.max(1)).collect();
            rows.sort_by(|a, b| sort.compare(a, b, self.reversed));
            let rows = rows.into_iter().take(limit);
            values = rows.flat_map(|row| row.get(..width).unwrap_or_default().to_vec()).collect();
        }
        let row_count = built.rows.min(limit);
        values.truncate(row_count.saturating_mul(width));
        Ok(ResultSet {
            metadata: self.selection.metadata.clone(),
            values,
            packed: built.packed,
            row_count,
            paging_state: state.map(|state| state.encode()),
        })
    }
}

/// How a SELECT's rows are brought.
#[derive(Clone, Copy)]
struct Page<'a> {
    /// How rows fall into groups, with GROUP BY.
    groups: Option<&'a Groups<'a>>,
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
