//! The reads of a SELECT, page by page (`AbstractQueryPager`, `SinglePartitionPager`,
//! `MultiPartitionPager`, `PartitionRangeQueryPager`). Page ends and paging states are Cassandra's;
//! a page is cut short before its rows take too much memory.

mod aggregation;
mod counter;

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyBound, KeyRange, PartitionRows, ReadTarget, RowFilter,
    RowSelection,
};
use basalt_model::packed::Layout;
use basalt_model::paging_state::{Form, MarkedRow, PagingState, RowMark};
use basalt_model::{Clustering, CqlError, DecoratedKey, ReadCommand, Row, Table};

use crate::error::CqlResult;
use crate::plan::Reader;

pub(crate) use aggregation::GroupPage;

/// Cassandra's "no limit".
pub(crate) const NO_LIMIT: i32 = i32::MAX;

/// What a SELECT reads.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// The statement's now, seconds.
    pub(crate) now_s: i64,
    /// Cells to bring.
    pub(crate) columns: ColumnFilter,
    /// What is asked of rows.
    pub(crate) row_filter: RowFilter,
    /// Which rows of each partition.
    pub(crate) rows: RowSelection,
    /// Largest clustering first.
    pub(crate) reversed: bool,
    /// Which partitions.
    pub(crate) partitions: Partitions,
    /// Rows in all.
    pub(crate) limit: i32,
    /// Rows of each partition.
    pub(crate) per_partition_limit: i32,
    /// One row a partition will do.
    pub(crate) distinct: bool,
    /// A partition with static content alone is a row.
    pub(crate) counts_static_alone: bool,
    /// How rows may come packed.
    pub(crate) layout: Option<Arc<Layout>>,
}

/// Which partitions are read.
#[derive(Clone, Debug)]
pub(crate) enum Partitions {
    /// Named ones, in this order.
    Named(Vec<DecoratedKey>),
    /// Those in a range.
    Range(KeyRange),
}

/// Where a read starts: behind a row; without one, behind its partition; without that, at the start.
#[derive(Clone, Debug)]
struct Position {
    /// The partition, in a range.
    key: Option<DecoratedKey>,
    row: Option<Clustering>,
}

/// Where a SELECT is.
pub(crate) struct Pager {
    query: Query,
    form: Form,
    remaining: i32,
    remaining_in_partition: i32,
    /// Which of the named partitions.
    index: usize,
    last_key: Option<DecoratedKey>,
    last_row: Option<Clustering>,
    /// The mark of the last row; stays where it was when a partition shows static content alone.
    mark: Option<RowMark>,
    exhausted: bool,
}

impl Pager {
    /// At the start.
    pub(crate) fn new(query: Query, protocol_version: u8) -> Pager {
        Pager {
            remaining: query.limit,
            remaining_in_partition: query.per_partition_limit,
            query,
            form: Form::of(protocol_version),
            index: 0,
            last_key: None,
            last_row: None,
            mark: None,
            exhausted: false,
        }
    }

    /// Which partitions are read.
    pub(crate) fn partitions(&self) -> &Partitions {
        &self.query.partitions
    }

    /// Goes to where `state` says.
    ///
    /// # Errors
    /// When the state's row cannot be one of the table.
    pub(crate) fn restore(&mut self, state: PagingState) -> CqlResult<()> {
        let columns = self.query.table.clustering_count;
        let read =
            |mark: &RowMark| if self.has_bare_marks() { mark.compact_row() } else { mark.row(columns) };
        let row = state.row_mark.as_ref().map(read).transpose()?;
        self.remaining = state.remaining;
        self.remaining_in_partition = state.remaining_in_partition;
        self.last_row = match row {
            Some(MarkedRow::Row(values)) => Some(Clustering(values.into_iter().collect())),
            Some(MarkedRow::Static) | None => None,
        };
        if let Some(clustering) = &self.last_row {
            for (column, value) in self.query.table.clustering().iter().zip(&clustering.0) {
                let valid = value
                    .as_ref()
                    .is_none_or(|value| value.is_empty() || column.data_type.validate(value).is_ok());
                if !valid {
                    return Err(CqlError::protocol("Invalid value for the paging state"));
                }
            }
        }
        self.mark = state.row_mark.filter(|_| state.form == self.form).or_else(|| {
            // A state of the other form goes on in this connection's own.
            self.last_row.as_ref().map(|row| self.mark(row, None))
        });
        match &self.query.partitions {
            Partitions::Named(keys) => {
                if keys.len() > 1 {
                    let found = keys.iter().position(|key| Some(&key.key) == state.partition_key.as_ref());
                    self.index = found.unwrap_or(keys.len());
                    self.exhausted = found.is_none();
                }
                self.last_key = keys.get(self.index).cloned();
            }
            Partitions::Range(_) => self.last_key = state.partition_key.map(DecoratedKey::new),
        }
        Ok(())
    }

    /// Whether there is nothing more to read.
    pub(crate) fn is_exhausted(&self) -> bool {
        if self.exhausted || self.remaining <= 0 {
            return true;
        }
        match &self.query.partitions {
            Partitions::Named(keys) => self.index >= keys.len(),
            Partitions::Range(_) => false,
        }
    }

    /// Where to go on; `None` when there is nothing more, or nothing was read yet.
    pub(crate) fn state(&self) -> Option<PagingState> {
        if self.is_exhausted() {
            return None;
        }
        let partition_key = match &self.query.partitions {
            Partitions::Named(keys) if keys.len() > 1 => Some(keys.get(self.index)?.key.clone()),
            Partitions::Named(_) => {
                self.mark.as_ref()?;
                None
            }
            Partitions::Range(_) => Some(self.last_key.as_ref()?.key.clone()),
        };
        Some(PagingState {
            form: self.form,
            partition_key,
            row_mark: self.mark.clone(),
            remaining: self.remaining,
            remaining_in_partition: self.remaining_in_partition,
        })
    }

    /// The next rows, at most `page_size` of them; fewer only at the end, or when `is_full` says of
    /// what came so far that it is enough.
    pub(crate) async fn fetch(
        &mut self,
        reader: &Reader<'_>,
        page_size: i32,
        mut take: impl FnMut(PartitionRows) -> CqlResult<bool>,
    ) -> CqlResult<()> {
        let wanted = page_size.min(self.remaining);
        let mut counted = 0;
        let mut is_full = false;
        while counted < wanted && !is_full && !self.is_exhausted() {
            let position = self.position();
            let Some(target) = self.target(&position) else {
                self.exhausted = true;
                break;
            };
            let asked = wanted - counted;
            let page = reader.read(self.limited_command(target, asked, &position)).await?;
            let stopped_early = page.stopped_early;
            let mut found = 0;
            let mut mark = None;
            let is_empty = page.partitions.is_empty();
            for partition in page.partitions {
                found += self.record(&partition);
                // Static content alone leaves no mark: that of the page before stays.
                mark = self.mark_of(&partition);
                is_full |= take(partition)?;
            }
            self.mark = mark.or(self.mark.take());
            counted += found;
            self.remaining -= found;
            if (found < asked && !stopped_early) || (is_empty && stopped_early) {
                self.end_of_target();
            } else if self.remaining_in_partition <= 0 {
                self.end_of_partition();
            }
        }
        Ok(())
    }

    /// Where the next read starts.
    fn position(&self) -> Position {
        match &self.query.partitions {
            Partitions::Named(_) => Position { key: None, row: self.last_row.clone() },
            Partitions::Range(_) => {
                let row = self.last_row.as_ref().filter(|_| self.remaining_in_partition > 0);
                Position { key: self.last_key.clone(), row: row.cloned() }
            }
        }
    }

    /// What a read from `position` on reads; `None` when that is nothing.
    fn target(&self, position: &Position) -> Option<ReadTarget> {
        let filter = ClusteringFilter {
            rows: self.query.rows.clone(),
            reversed: self.query.reversed,
            resume_after: position.row.clone(),
        };
        match &self.query.partitions {
            Partitions::Named(keys) => {
                Some(ReadTarget::Partition { key: keys.get(self.index)?.clone(), filter })
            }
            Partitions::Range(range) => {
                let mut range = range.clone();
                if let Some(key) = &position.key {
                    range.start = KeyBound::Key { key: key.clone(), inclusive: position.row.is_some() };
                }
                (!is_behind(&range)).then_some(ReadTarget::Range { range, filter })
            }
        }
    }

    fn command(&self, target: ReadTarget, limits: DataLimits) -> ReadCommand {
        ReadCommand {
            table: self.query.table.clone(),
            now_s: self.query.now_s,
            columns: self.query.columns.clone(),
            row_filter: self.query.row_filter.clone(),
            limits,
            target,
            layout: self.query.layout.clone(),
        }
    }

    /// A read of rows that are counted as they are.
    fn limited_command(&self, target: ReadTarget, rows: i32, position: &Position) -> ReadCommand {
        let limit = self.query.per_partition_limit;
        let returned = position.row.as_ref().map_or(0, |_| limit - self.remaining_in_partition);
        let limits = DataLimits {
            rows: count(rows),
            rows_per_partition: count(limit),
            returned_of_first_partition: u32::try_from(returned).unwrap_or(0),
            distinct: self.query.distinct,
            keeps_static: false,
        };
        self.command(target, limits)
    }

    /// A read of rows of which groups are counted.
    fn rows_command(&self, target: ReadTarget, rows: i32, position: &Position) -> ReadCommand {
        let returned_of_first_partition = u32::from(position.row.is_some());
        let limits = DataLimits { rows: count(rows), returned_of_first_partition, ..DataLimits::NONE };
        self.command(target, limits)
    }

    fn is_named(&self) -> bool {
        matches!(self.query.partitions, Partitions::Named(_))
    }

    /// Whether something of the partition was returned before (`isPreviouslyReturnedPartition`).
    fn has_returned(&self, key: &DecoratedKey) -> bool {
        if self.is_named() { self.mark.is_some() } else { self.last_key.as_ref() == Some(key) }
    }

    /// Rows of this partition come.
    fn enter(&mut self, key: &DecoratedKey) {
        if self.last_key.as_ref() != Some(key) {
            self.remaining_in_partition = self.query.per_partition_limit;
            self.last_key = Some(key.clone());
        }
    }

    /// Notes how far a partition's rows bring us; how many count.
    fn record(&mut self, partition: &PartitionRows) -> i32 {
        self.enter(&partition.key);
        let Some(last) = partition.last_clustering() else {
            // Static content alone: the partition is done.
            self.remaining_in_partition = 0;
            return i32::from(self.query.counts_static_alone && partition.static_row.is_some());
        };
        let found = i32::try_from(partition.count()).unwrap_or(i32::MAX);
        self.last_row = Some(last.clone());
        self.remaining_in_partition = if last.is_empty() { 0 } else { self.remaining_in_partition - found };
        found
    }

    fn mark_of(&self, partition: &PartitionRows) -> Option<RowMark> {
        let last = partition.last_clustering()?;
        Some(self.mark(last, partition.rows.last()))
    }

    /// The mark of a clustering; v3's also names the last cell of its row, if that is known.
    fn mark(&self, clustering: &Clustering, row: Option<&Row>) -> RowMark {
        let values: Vec<Option<&[u8]>> = clustering.0.iter().map(Option::as_deref).collect();
        match (self.form, values.as_slice()) {
            (Form::Modern, values) => RowMark::modern(values),
            (Form::Legacy, [Some(value)]) if self.has_bare_marks() => RowMark::legacy_compact(value),
            (Form::Legacy, values) => {
                RowMark::legacy(values, row.and_then(|row| last_cell(&self.query, row)))
            }
        }
    }

    /// Whether v3 names rows by their value alone.
    fn has_bare_marks(&self) -> bool {
        self.query.table.compact.is_some() && self.query.table.clustering_count == 1
    }

    /// The read came to the end of what it was asked for.
    fn end_of_target(&mut self) {
        match &self.query.partitions {
            Partitions::Range(_) => self.exhausted = true,
            Partitions::Named(_) => self.end_of_partition(),
        }
    }

    fn end_of_partition(&mut self) {
        if let Partitions::Named(_) = self.query.partitions {
            self.index += 1;
            self.last_row = None;
            self.mark = None;
            self.remaining_in_partition = self.query.per_partition_limit;
        }
    }
}

/// The name and path of the row's last cell in Cassandra 2's order: by column name.
fn last_cell<'a>(query: &'a Query, row: &'a Row) -> Option<(&'a str, Option<&'a [u8]>)> {
    let named =
        row.cells.iter().filter_map(|cell| Some((&*query.table.column_by_id(cell.column)?.name, cell)));
    let (name, cell) = named.max_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()))?;
    Some((name, cell.path.as_deref()))
}

/// A limit as storage takes it.
fn count(limit: i32) -> u32 {
    match limit {
        NO_LIMIT => u32::MAX,
        limit => u32::try_from(limit).unwrap_or(0),
    }
}

/// Whether the start of a range lies behind its end.
fn is_behind(range: &KeyRange) -> bool {
    let KeyBound::Key { key: start, inclusive: start_in } = &range.start else { return false };
    match &range.end {
        KeyBound::Unbounded => false,
        KeyBound::Token { token, inclusive } => start.token > *token || (start.token == *token && !inclusive),
        KeyBound::Key { key, inclusive } => start > key || (start == key && !(*start_in && *inclusive)),
    }
}
