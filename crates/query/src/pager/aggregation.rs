//! Pages of groups (`AggregationQueryPager.GroupByPartitionIterator`). A page has as many groups
//! as the client asks rows for; it is put together from parts of a bounded number of rows each, so
//! that a group may have any number of them. What the paging state says follows from how parts are
//! counted, so they are counted as Cassandra does: once as a replica limits what it returns, and
//! once more as the coordinator sees what came.

use basalt_model::command::PartitionRows;
use basalt_model::paging_state::RowMark;
use basalt_model::{Clustering, DecoratedKey};

use super::counter::{GroupCounter, GroupLimits, Returned};
use super::{Pager, Position};
use crate::error::CqlResult;
use crate::plan::Reader;
use crate::selection::{GroupingState, Groups};

/// Rows read from storage at once, at most.
const READ_ROWS: i32 = 1_000;

/// What a page of groups is made with.
#[derive(Clone, Copy)]
pub(crate) struct GroupPage<'a> {
    /// How rows fall into groups.
    pub(crate) groups: &'a Groups<'a>,
    /// Groups wanted.
    pub(crate) size: i32,
    /// Rows of one part of the page.
    pub(crate) part_rows: i32,
}

/// Where rows go; answers whether they are enough, so that the page should end with its group.
type Take<'t> = dyn FnMut(&PartitionRows) -> CqlResult<bool> + Send + 't;

impl Pager {
    /// The next groups, at most `page.size`; fewer only at the end, or when `take` says of what
    /// came so far that it is enough.
    pub(crate) async fn fetch_groups(
        &mut self,
        reader: &Reader<'_>,
        page: GroupPage<'_>,
        take: &mut Take<'_>,
    ) -> CqlResult<()> {
        let initial = self.remaining;
        let mut seen = GroupingState::default();
        let mut is_full = false;
        let mut size = page.size;
        while !self.is_exhausted() && initial - self.remaining != page.size {
            let (before, was_full) = (self.remaining, is_full);
            let part = GroupPage { size, ..page };
            self.fetch_part(reader, part, &mut seen, &mut |rows| {
                is_full |= take(rows)?;
                Ok(is_full)
            })
            .await?;
            // A part that asks for one group and counts one has ended where the group does.
            if was_full && self.remaining < before {
                break;
            }
            size = if is_full { 1 } else { page.size - (initial - self.remaining) };
        }
        Ok(())
    }

    /// A part of a page: of one query after the other, until one of them has more to say
    /// (`MultiPartitionPager.PagersIterator`).
    async fn fetch_part(
        &mut self,
        reader: &Reader<'_>,
        page: GroupPage<'_>,
        seen: &mut GroupingState,
        take: &mut Take<'_>,
    ) -> CqlResult<()> {
        let mut state = seen.clone();
        let mut wanted = page.size;
        while wanted > 0 && !self.is_exhausted() {
            let index = self.index;
            let part = Part::new(self, GroupPage { size: wanted, ..page }, &state, seen)?;
            wanted -= part.fetch(reader, take).await?;
            if self.index == index {
                break;
            }
            state = GroupingState::default();
        }
        Ok(())
    }
}

/// A part of a page, of one query (`AbstractQueryPager.fetchPage`).
struct Part<'a, 'p> {
    pager: &'p mut Pager,
    part_rows: i32,
    /// Limits what is read.
    shown: GroupCounter<'a>,
    /// Counts what is handed on.
    counted: GroupCounter<'a>,
    /// Where reading is.
    position: Position,
    /// The partition whose rows are coming, and whether it was handed on.
    open: Option<(DecoratedKey, bool)>,
    has_seen_partition: bool,
    /// The last row handed on.
    last: Option<Last>,
    /// The last row of the page, behind which its next part continues.
    seen: &'p mut GroupingState,
}

/// A row that was handed on.
enum Last {
    Static,
    Row(Clustering, RowMark),
}

impl<'a, 'p> Part<'a, 'p> {
    fn new(
        pager: &'p mut Pager,
        page: GroupPage<'a>,
        state: &GroupingState,
        seen: &'p mut GroupingState,
    ) -> CqlResult<Part<'a, 'p>> {
        let limits = GroupLimits {
            groups: page.size.min(pager.remaining),
            groups_per_partition: pager.query.per_partition_limit,
            rows: page.part_rows,
            counts_static_alone: pager.query.counts_static_alone,
        };
        let position = pager.position();
        let returned = position.row.as_ref().and(pager.last_key.as_ref());
        let returned =
            returned.map(|key| Returned { key: key.key.clone(), remaining: pager.remaining_in_partition });
        Ok(Part {
            part_rows: page.part_rows,
            shown: GroupCounter::new(page.groups, limits, state, returned)?,
            counted: GroupCounter::new(page.groups, limits, state, None)?,
            position,
            open: None,
            has_seen_partition: false,
            last: None,
            seen,
            pager,
        })
    }

    /// Reads the part; the groups counted.
    async fn fetch(mut self, reader: &Reader<'_>, take: &mut Take<'_>) -> CqlResult<i32> {
        while let Some(target) = self.pager.target(&self.position) {
            let rows = (self.part_rows - self.shown.rows()).min(READ_ROWS);
            let page = reader.read(self.pager.rows_command(target, rows, &self.position)).await?;
            let stopped_early = page.stopped_early;
            let Some(last) = page.partitions.last() else { break };
            self.position.key = Some(last.key.clone()).filter(|_| !self.pager.is_named());
            let last_row = last.rows.last().map(|row| row.clustering.clone());
            self.position.row = last_row.filter(|clustering| !clustering.is_empty());
            for partition in page.partitions {
                if self.add(partition, take)? {
                    self.shown.cut();
                    self.counted.cut();
                }
                if self.shown.is_over() {
                    break;
                }
            }
            if self.shown.is_over() || !stopped_early {
                break;
            }
            if self.shown.is_partition_over() {
                self.position.row = None;
            }
            // Of a named partition there is nothing more; a range goes on behind it.
            if self.position.row.is_none() && self.pager.is_named() {
                break;
            }
        }
        self.close();
        Ok(self.finish())
    }

    /// What was read of a partition; whether that is enough for the page.
    fn add(&mut self, partition: PartitionRows, take: &mut Take<'_>) -> CqlResult<bool> {
        // Rows that are grouped are not asked for packed.
        let PartitionRows { key, mut static_row, mut rows, packed: _ } = partition;
        if self.open.as_ref().is_none_or(|(open, _)| *open != key) {
            self.close();
            if self.shown.is_over() {
                return Ok(false);
            }
            self.shown.begin(&key.key, static_row.is_some())?;
            self.open = Some((key.clone(), false));
        }
        if self.shown.is_done() {
            static_row = None;
        }
        pass(&mut self.shown, &key, &mut rows)?;
        let partition = PartitionRows { key, static_row, rows, packed: None };
        if self.hand_on(&partition)? { take(&partition) } else { Ok(false) }
    }

    /// Counts what the read shows of a partition; whether it is to be taken.
    fn hand_on(&mut self, partition: &PartitionRows) -> CqlResult<bool> {
        let PartitionRows { key, static_row, rows, packed: _ } = partition;
        let is_handed_on = self.open.as_ref().is_some_and(|(_, handed_on)| *handed_on);
        if rows.is_empty() && (is_handed_on || static_row.is_none()) {
            return Ok(false);
        }
        if !is_handed_on {
            let is_first = !std::mem::replace(&mut self.has_seen_partition, true);
            if is_first && rows.is_empty() && self.pager.has_returned(key) {
                return Ok(false);
            }
            self.counted.begin(&key.key, static_row.is_some())?;
            self.open = Some((key.clone(), true));
            *self.seen = GroupingState { key: Some(key.key.clone()), clustering: None };
            self.pager.enter(key);
            self.last = Some(Last::Static);
        }
        for row in rows {
            self.counted.row(&key.key, &row.clustering)?;
        }
        if let Some(row) = rows.last() {
            self.last = Some(Last::Row(row.clustering.clone(), self.pager.mark(&row.clustering, Some(row))));
            self.seen.clustering = Some(row.clustering.clone());
        }
        Ok(true)
    }

    /// The partition whose rows came has no more.
    fn close(&mut self) {
        if let Some((_, is_handed_on)) = self.open.take() {
            self.shown.end();
            if is_handed_on {
                self.counted.end();
            }
        }
    }

    /// Notes how far the part brought the pager; the groups counted.
    fn finish(mut self) -> i32 {
        let is_exhausted = self.counted.finish();
        let pager = self.pager;
        let counted = self.counted.groups();
        pager.remaining -= counted;
        pager.remaining_in_partition = match &self.last {
            Some(Last::Static) => 0,
            Some(Last::Row(clustering, _)) if clustering.is_empty() => 0,
            _ => pager.remaining_in_partition - self.counted.groups_in_partition(),
        };
        if let Some(Last::Row(clustering, mark)) = self.last {
            pager.last_row = Some(clustering);
            pager.mark = Some(mark);
        }
        if is_exhausted || pager.remaining_in_partition == 0 && pager.is_named() {
            pager.end_of_target();
        }
        counted
    }
}

/// Drops the rows that a counter does not let pass.
fn pass(
    counter: &mut GroupCounter<'_>,
    key: &DecoratedKey,
    rows: &mut Vec<basalt_model::Row>,
) -> CqlResult<()> {
    let mut count = 0;
    for row in rows.iter() {
        if counter.is_partition_over() || !counter.row(&key.key, &row.clustering)? {
            break;
        }
        count += 1;
    }
    rows.truncate(count);
    Ok(())
}
