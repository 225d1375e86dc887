//! The page being made: live rows, filtered, counted, up to a limit (`DataLimits.CQLCounter`,
//! `ReadCommand.withMetricsRecording`).

use std::mem::size_of;

use basalt_model::command::PartitionRows;
use basalt_model::{Cell, Clustering, DecoratedKey, Deletion, ReadCommand, Row};
use bytes::Bytes;

use super::fetched::shows_static_only;
use super::filter::Conditions;
use super::packing::Packing;
use super::projection::Projection;
use super::stored_row::{Dead, LiveView, StoredRow};
use super::{InTable, ROWS_PER_LOOK, ReadError, ReadOptions, ReadOutcome};
use crate::cells::CELL_TAG;
use crate::engine::ReadTier;
use crate::keys::clustering::decode_clustering;

/// The second partition of a page makes room for so many, if so many rows are asked for.
const PARTITIONS_MADE_ROOM_FOR: u32 = 100;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// With the next row.
    More,
    /// With the next partition: this one has shown as many rows as it may.
    PartitionDone,
    /// Not at all: the page is full.
    PageFull,
}

/// A page being made.
pub struct Collector<'c> {
    /// What is read.
    pub command: &'c ReadCommand,
    /// Where to look.
    pub tier: ReadTier,
    /// Regular columns.
    pub regulars: Projection,
    /// Static columns.
    pub statics: Projection,
    /// Whether static rows are needed at all.
    pub reads_static: bool,
    /// Where rows go that come packed; the projections are empty then.
    packing: Option<Packing<'c>>,
    conditions: Conditions<'c>,
    /// A partition with nothing but a static row is shown, and counts as a row
    /// (`StatementRestrictions.returnStaticContentOnPartitionWithNoRows`).
    shows_static_only: bool,
    rows_per_partition: u32,
    page_bytes: usize,
    failure_threshold: u32,
    pub is_over: Option<&'c dyn Fn() -> bool>,
    /// Rows and partitions until the next look at the clock.
    until_look: u32,
    rows: u32,
    bytes: usize,
    is_full: bool,
    outcome: ReadOutcome,
}

/// A partition being collected.
pub struct OpenPartition {
    result: PartitionRows,
    /// Its rows on earlier pages and this one.
    counted: u32,
    counts_static: bool,
}

impl<'c> Collector<'c> {
    /// An empty page.
    pub fn new(command: &'c ReadCommand, options: &ReadOptions<'c>) -> Collector<'c> {
        let table = &command.table;
        let conditions = Conditions::new(command);
        let layout = command.layout.as_deref().filter(|_| command.row_filter.0.is_empty());
        let packing = layout.map(|layout| Packing::new(table, layout, command.limits.rows));
        let shows_static_only = shows_static_only(command, conditions.has_row_conditions());
        let (statics, regulars) = match packing {
            // Tables with static columns have no layout.
            Some(_) => Default::default(),
            None => (Projection::of(command, table.statics()), Projection::of(command, table.regulars())),
        };
        Collector {
            command,
            tier: options.tier,
            regulars,
            reads_static: table.has_statics() && (shows_static_only || statics.builds_any()),
            statics,
            packing,
            conditions,
            shows_static_only,
            rows_per_partition: if command.limits.distinct { 1 } else { command.limits.rows_per_partition },
            page_bytes: options.page_bytes,
            failure_threshold: options.tombstone_failure_threshold,
            is_over: options.is_over,
            until_look: 0,
            rows: 0,
            bytes: 0,
            is_full: command.limits.rows == 0,
            outcome: ReadOutcome::default(),
        }
    }

    /// Whether rows or static rows may have cells in entries of their own.
    pub fn has_paths(&self) -> bool {
        self.regulars.has_paths || (self.reads_static && self.statics.has_paths)
    }

    /// What died before this may be purged (`ColumnFamilyStore.gcBefore`).
    pub fn gc_before_s(&self) -> i64 {
        self.command.now_s.saturating_sub(i64::from(self.command.table.options.gc_grace_seconds))
    }

    /// Counts tombstones.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_tombstones(&mut self, count: u32) -> Result<(), ReadError> {
        self.outcome.tombstones = self.outcome.tombstones.saturating_add(count);
        if self.outcome.tombstones > self.failure_threshold {
            return Err(ReadError::TombstoneOverwhelming { scanned: self.outcome.tombstones });
        }
        Ok(())
    }

    /// Counts what was passed, shown or not.
    fn pass(&mut self) -> Result<(), ReadError> {
        let Some(is_over) = self.is_over else { return Ok(()) };
        if self.until_look > 0 {
            self.until_look -= 1;
            return Ok(());
        }
        self.until_look = ROWS_PER_LOOK - 1;
        if is_over() { Err(ReadError::TimedOut) } else { Ok(()) }
    }

    fn live(
        &mut self,
        row: &StoredRow,
        covering: Deletion,
        is_static: bool,
    ) -> Result<Option<Row>, ReadError> {
        let mut dead = Dead { gc_before_s: self.gc_before_s(), ..Dead::default() };
        let projection = if is_static { &self.statics } else { &self.regulars };
        let table = self.command.table.id;
        let live = row.live(table, covering, self.command.now_s, projection, &mut dead)?;
        self.count(live.is_some(), is_static, dead)?;
        Ok(live)
    }

    /// Begins a partition; `None` when nothing of it can be shown. `is_first`: earlier pages may
    /// have ended in it.
    pub fn begin(
        &mut self,
        key: &DecoratedKey,
        deletion: Deletion,
        static_row: Option<&StoredRow>,
        is_first: bool,
    ) -> Result<Option<OpenPartition>, ReadError> {
        self.pass()?;
        self.outcome.last_token = Some(key.token);
        let static_row = match static_row {
            Some(row) => self.live(row, deletion, true)?,
            None => None,
        };
        let counted = if is_first { self.command.limits.returned_of_first_partition } else { 0 };
        if self.is_full
            || counted >= self.rows_per_partition
            || !self.conditions.accept_partition(key, static_row.as_ref())
        {
            return Ok(None);
        }
        if self.packing.as_mut().is_some_and(|packing| !packing.begin(key)) {
            return Ok(None);
        }
        let counts_static = static_row.is_some() && counted == 0 && self.shows_static_only;
        let static_row = static_row.map(|row| self.strip(row, true));
        let result = PartitionRows { key: key.clone(), static_row, rows: Vec::new(), packed: None };
        Ok(Some(OpenPartition { result, counted, counts_static }))
    }

    /// Whether rows are packed.
    pub fn packs(&self) -> bool {
        self.packing.is_some()
    }

    /// Shows a row that is one entry, if it is live and meets the conditions: `key` is its clustering, encoded.
    pub fn offer_entry(
        &mut self,
        partition: &mut OpenPartition,
        (key, value): (&[u8], &[u8]),
        covering: Deletion,
    ) -> Result<Flow, ReadError> {
        if value.first() == Some(&CELL_TAG) {
            // Of a column that is newer than the command.
            return Ok(Flow::More);
        }
        self.pass()?;
        let table = &self.command.table;
        let gc_before_s = self.gc_before_s();
        let Some(packing) = &mut self.packing else {
            let clustering = decode_clustering(table, key).in_table(table.id)?.0;
            let row = Some(Bytes::copy_from_slice(value));
            let row = StoredRow { clustering, row, ..StoredRow::default() };
            return self.show(partition, &row, covering);
        };
        let mut dead = Dead { gc_before_s, ..Dead::default() };
        let mut view = LiveView::new(covering, self.command.now_s, &mut dead);
        packing.add(key, value, &mut view)?;
        let (is_live, bytes) = (view.exists, packing.page_bytes());
        self.count(is_live, false, dead)?;
        if !is_live {
            return Ok(Flow::More);
        }
        self.bytes = bytes;
        Ok(self.count_shown(partition))
    }

    /// Counts a row that was met.
    fn count(&mut self, is_live: bool, is_static: bool, dead: Dead) -> Result<(), ReadError> {
        if dead.cells > 0 {
            self.count_tombstones(dead.cells)?;
        }
        match (is_live, is_static) {
            (true, false) => self.outcome.live_rows += 1,
            (true, true) => self.outcome.static_rows += 1,
            (false, _) if dead.is_row && dead.cells == 0 => self.count_tombstones(1)?,
            (false, _) => {}
        }
        Ok(())
    }

    /// Counts a row that is shown.
    fn count_shown(&mut self, partition: &mut OpenPartition) -> Flow {
        partition.counted += 1;
        self.count_row();
        if self.is_full {
            Flow::PageFull
        } else if partition.counted >= self.rows_per_partition {
            Flow::PartitionDone
        } else {
            Flow::More
        }
    }

    /// Shows a row, if it is live and meets the conditions.
    pub fn offer(
        &mut self,
        partition: &mut OpenPartition,
        row: &StoredRow,
        covering: Deletion,
    ) -> Result<Flow, ReadError> {
        self.pass()?;
        self.show(partition, row, covering)
    }

    fn show(
        &mut self,
        partition: &mut OpenPartition,
        row: &StoredRow,
        covering: Deletion,
    ) -> Result<Flow, ReadError> {
        let Some(row) = self.live(row, covering, false)? else { return Ok(Flow::More) };
        if !self.conditions.accept_row(&row) {
            return Ok(Flow::More);
        }
        let row = self.strip(row, false);
        self.bytes += bytes_of(&row);
        partition.result.rows.push(row);
        Ok(self.count_shown(partition))
    }

    fn count_row(&mut self) {
        self.rows += 1;
        self.is_full = self.rows >= self.command.limits.rows || self.bytes >= self.page_bytes;
    }

    /// Ends a partition and keeps what it shows; answers whether the page is full.
    pub fn end(&mut self, partition: OpenPartition) -> Result<bool, ReadError> {
        let OpenPartition { mut result, counts_static, .. } = partition;
        if let Some(packing) = &mut self.packing {
            result.packed = Some(packing.end()?);
        }
        if result.count() == 0 {
            if counts_static {
                self.count_row();
            } else if !self.command.limits.keeps_static || result.static_row.is_none() {
                return Ok(self.is_full);
            }
        }
        match &mut self.packing {
            Some(packing) => packing.keep(result.key.key.len()),
            None => {
                self.bytes += result.key.key.len() + result.static_row.as_ref().map_or(0, bytes_of);
            }
        }
        let partitions = &mut self.outcome.page.partitions;
        if partitions.len() == 1 {
            // A page of several mostly has as many as it has rows.
            partitions.reserve(self.command.limits.rows.min(PARTITIONS_MADE_ROOM_FOR) as usize);
        }
        partitions.push(result);
        Ok(self.is_full)
    }

    /// Takes away the cells that only the row filter wanted to see.
    fn strip(&self, mut row: Row, is_static: bool) -> Row {
        let projection = if is_static { &self.statics } else { &self.regulars };
        if projection.strips {
            row.cells.retain(|cell| projection.returns(cell.column));
        }
        row
    }

    /// The page and what making it met.
    pub fn finish(self) -> ReadOutcome {
        let mut outcome = self.outcome;
        if let Some(packing) = self.packing {
            packing.finish(&mut outcome.page.partitions);
        }
        outcome.page.stopped_early = self.is_full;
        outcome
    }
}

/// Memory a row takes, about.
fn bytes_of(row: &Row) -> usize {
    let clustering = |clustering: &Clustering| -> usize {
        clustering.0.iter().map(|value| value.as_ref().map_or(0, |value| value.len())).sum()
    };
    let cell = |cell: &Cell| size_of::<Cell>() + cell.value.len() + cell.path.as_ref().map_or(0, |p| p.len());
    size_of::<Row>() + clustering(&row.clustering) + row.cells.iter().map(cell).sum::<usize>()
}
