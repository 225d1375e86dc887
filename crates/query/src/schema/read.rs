//! Reads whole tables and partitions of the local replica through the ordinary read path, page by
//! page. Knows no table.

use std::sync::Arc;

use basalt_coordinator::{Replica, ReplicaError};
use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyBound, KeyRange, PartitionRows, ReadPage, ReadTarget,
    RowFilter,
};
use basalt_model::{Clustering, Deadline, DecoratedKey, ReadCommand, Table};

fn command(table: &Arc<Table>, now_s: i64, target: ReadTarget) -> ReadCommand {
    ReadCommand {
        table: table.clone(),
        now_s,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        limits: DataLimits::NONE,
        target,
        layout: None,
    }
}

fn resume(after: Option<Clustering>) -> ClusteringFilter {
    ClusteringFilter { resume_after: after, ..ClusteringFilter::all() }
}

/// Where a page ended: its last partition and row.
fn end_of(page: &ReadPage) -> Option<(DecoratedKey, Option<Clustering>)> {
    let last = page.partitions.last()?;
    Some((last.key.clone(), last.rows.last().map(|row| row.clustering.clone())))
}

/// Appends a page; a partition that goes on from the page before stays one.
fn append(partitions: &mut Vec<PartitionRows>, page: ReadPage) {
    for partition in page.partitions {
        match partitions.last_mut() {
            Some(last) if last.key == partition.key => last.rows.extend(partition.rows),
            _ => partitions.push(partition),
        }
    }
}

/// All live rows of a table, in token order.
///
/// # Errors
/// As the replica's read.
pub async fn table(
    replica: &dyn Replica,
    table: &Arc<Table>,
    now_s: i64,
) -> Result<Vec<PartitionRows>, ReplicaError> {
    let mut partitions = Vec::new();
    let mut start = KeyBound::Unbounded;
    let mut after = None;
    loop {
        let range = KeyRange { start: start.clone(), end: KeyBound::Unbounded };
        let target = ReadTarget::Range { range, filter: resume(after.take()) };
        let page = replica.read(command(table, now_s, target), Deadline::NEVER).await?;
        let (stopped_early, end) = (page.stopped_early, end_of(&page));
        append(&mut partitions, page);
        match end {
            Some((key, last_row)) if stopped_early => {
                // Without rows (a static row alone) the partition is done.
                start = KeyBound::Key { key, inclusive: last_row.is_some() };
                after = last_row;
            }
            _ => return Ok(partitions),
        }
    }
}

/// All live rows of one partition.
///
/// # Errors
/// As the replica's read.
pub async fn partition(
    replica: &dyn Replica,
    table: &Arc<Table>,
    key: &DecoratedKey,
    now_s: i64,
) -> Result<Option<PartitionRows>, ReplicaError> {
    let mut partitions = Vec::new();
    let mut after = None;
    loop {
        let target = ReadTarget::Partition { key: key.clone(), filter: resume(after.take()) };
        let page = replica.read(command(table, now_s, target), Deadline::NEVER).await?;
        let (stopped_early, end) = (page.stopped_early, end_of(&page));
        append(&mut partitions, page);
        match end {
            Some((_, Some(last_row))) if stopped_early => after = Some(last_row),
            _ => return Ok(partitions.pop()),
        }
    }
}
