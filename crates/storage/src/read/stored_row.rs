//! A row as its entries hold it, and the rows made of it: live ones for clients, whole ones for
//! everything that reconciles.

use basalt_model::deletion::NO_TIMESTAMP;
use basalt_model::{Cell, Clustering, ColumnId, DataType, Deletion, Liveness, Row, TableId};
use bytes::Bytes;

use super::InTable;
use super::projection::Projection;
use crate::cells::{CellData, CellEntry, EntryError, PlainRow, RowEntry, RowParts};
use crate::engine::EngineError;
use crate::keys::KeyError;
use crate::keys::byte_comparable::Input;
use crate::keys::path::{take_column, take_path};

/// The entries of one row, static or not.
#[derive(Clone, Debug, Default)]
pub struct StoredRow {
    /// The encoded clustering; empty for the static row.
    pub key: Vec<u8>,
    /// The clustering as the key gives it.
    pub clustering: Clustering,
    /// The row's own entry, if there is one.
    pub row: Option<Bytes>,
    /// Keys, behind the row's, and values of its cells, ascending.
    pub cells: Vec<(Bytes, Bytes)>,
}

/// What a row showed of the dead. What may be purged is not counted, wherever it still lies
/// (`ReadCommand.withoutPurgeableTombstones`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Dead {
    /// What died before this may be purged, seconds.
    pub gc_before_s: i64,
    /// Cells deleted or expired.
    pub cells: u32,
    /// The row itself is deleted or expired.
    pub is_row: bool,
}

impl Dead {
    fn add_cell(&mut self, cell: &CellData<'_>) {
        // An expired cell becomes a tombstone of the time at which it was written.
        let died_s = cell.local_deletion_time_s.saturating_sub(i64::from(cell.ttl_s));
        self.cells += u32::from(died_s >= self.gc_before_s);
    }
}

/// A cell at its column, its path if any, and its entry's buffer.
fn cell_of(column: ColumnId, path: Option<Bytes>, data: CellData<'_>, buffer: &Bytes) -> Cell {
    Cell {
        column,
        path,
        timestamp: data.timestamp,
        ttl_s: data.ttl_s,
        local_deletion_time_s: data.local_deletion_time_s,
        value: slice(buffer, data.value),
    }
}

fn slice(buffer: &Bytes, part: &[u8]) -> Bytes {
    if part.is_empty() { Bytes::new() } else { buffer.slice_ref(part) }
}

impl StoredRow {
    /// What of the row a client sees at `now_s`: nothing that `covering`, a deletion within the
    /// row, a dropped column or time takes away. `None` when nothing makes the row exist.
    pub fn live(
        &self,
        table: TableId,
        covering: Deletion,
        now_s: i64,
        projection: &Projection,
        dead: &mut Dead,
    ) -> Result<Option<Row>, EngineError> {
        let mut view = LiveView::new(covering, now_s, dead);
        let mut row = Row::new(self.clustering.clone());
        let entry = self.parse(table)?;
        if let Some((entry, buffer)) = &entry {
            view.add_row(entry, buffer, projection, &mut row).in_table(table)?;
        }
        let simple_cells = row.cells.len();
        for (key, value) in &self.cells {
            let complex = entry.as_ref().map(|(entry, _)| &entry.parts.complex_deletions);
            let deletion_of = |column: ColumnId| {
                complex
                    .and_then(|all| all.iter().find(|(id, _)| *id == column))
                    .map_or(Deletion::LIVE, |(_, deletion)| *deletion)
            };
            view.add_cell(table, (key, value), deletion_of, projection, &mut row)?;
        }
        if simple_cells > 0 && row.cells.len() > simple_cells {
            row.cells.sort_by_key(|cell| cell.column);
        }
        Ok(view.exists.then_some(row))
    }

    /// The row with its deletions and dead cells, of known columns, without what `covering` or a
    /// deletion of its own makes superfluous (`Row.Merger.merge`); `None` when nothing is left.
    pub fn whole(
        &self,
        table: TableId,
        covering: Deletion,
        projection: &Projection,
    ) -> Result<Option<Row>, EngineError> {
        let mut row = Row::new(self.clustering.clone());
        let mut active = covering;
        if let Some((entry, buffer)) = self.parse(table)? {
            restore_originals(&entry, buffer, &mut row);
            if entry.parts.deletion.supersedes(covering) {
                row.deletion = entry.parts.deletion;
                active = row.deletion;
            }
            if !active.deletes(entry.parts.liveness.timestamp) {
                row.liveness = entry.parts.liveness;
            }
            let mut at = 0;
            row.complex_deletions.extend(entry.parts.complex_deletions.iter().copied().filter(
                |(id, deletion)| {
                    let column = projection.seek(*id, &mut at);
                    deletion.supersedes(active)
                        && column.is_some_and(|column| deletion.timestamp > column.dropped_time)
                },
            ));
            let mut at = 0;
            for cell in entry.cells() {
                let (id, data) = cell.in_table(table)?;
                let column = projection.seek(id, &mut at);
                if !active.deletes(data.timestamp)
                    && column.is_some_and(|column| data.timestamp > column.dropped_time)
                {
                    row.cells.push(cell_of(id, None, data, buffer));
                }
            }
        }
        for (key, value) in &self.cells {
            let mut input = Input::new(key);
            let id = take_column(&mut input).in_table(table)?;
            let Some(column) = projection.seek(id, &mut 0) else { continue };
            let Some(path_type) = &column.path_type else { continue };
            let entry = CellEntry::parse(value).in_table(table)?;
            let complex = row.complex_deletions.iter().find(|(column, _)| *column == id);
            let deletion = complex.map_or(active, |(_, deletion)| *deletion);
            if !deletion.deletes(entry.data.timestamp) && entry.data.timestamp > column.dropped_time {
                let path = path_of(&entry, value, path_type, &mut input).in_table(table)?;
                row.cells.push(cell_of(id, Some(path), entry.data, value));
            }
        }
        row.cells.sort_by_key(|cell| cell.column);
        Ok((!row.is_empty()).then_some(row))
    }

    fn parse(&self, table: TableId) -> Result<Option<(RowEntry<'_>, &Bytes)>, EngineError> {
        match &self.row {
            Some(buffer) => Ok(Some((RowEntry::parse(buffer).in_table(table)?, buffer))),
            None => Ok(None),
        }
    }
}

/// The path as the client wrote it; `buffer` is the entry's, `input` stands behind the column.
fn path_of(
    entry: &CellEntry<'_>,
    buffer: &Bytes,
    path_type: &DataType,
    input: &mut Input<'_>,
) -> Result<Bytes, KeyError> {
    match entry.original_path {
        Some(path) => Ok(slice(buffer, path)),
        None => take_path(path_type, input),
    }
}

/// Puts the client's own bytes in place of those the key gave.
fn restore_originals(entry: &RowEntry<'_>, buffer: &Bytes, row: &mut Row) {
    for (index, value) in &entry.parts.originals {
        if let Some(component) = row.clustering.0.get_mut(usize::from(*index)) {
            *component = Some(slice(buffer, value));
        }
    }
}

/// What of a row is alive.
pub struct LiveView<'v> {
    /// The strongest deletion over the row.
    covering: Deletion,
    now_s: i64,
    dead: &'v mut Dead,
    /// Whether something makes the row exist.
    pub exists: bool,
    /// When the row was inserted, even if that has expired: older cells that are not asked for are not there.
    inserted: i64,
}

impl<'v> LiveView<'v> {
    /// Under `covering`, at `now_s`.
    pub fn new(covering: Deletion, now_s: i64, dead: &'v mut Dead) -> LiveView<'v> {
        LiveView { covering, now_s, dead, exists: false, inserted: NO_TIMESTAMP }
    }

    /// Looks at what the row has beside its cells; its liveness, if that is alive.
    pub fn see_row(&mut self, parts: &RowParts<'_>) -> Liveness {
        if parts.deletion.supersedes(self.covering) {
            self.covering = parts.deletion;
            self.dead.is_row |= parts.deletion.local_time_s >= self.dead.gc_before_s;
        }
        let gc_before_s = self.dead.gc_before_s;
        let counts = |d: &Deletion| d.supersedes(self.covering) && d.local_time_s >= gc_before_s;
        self.dead.is_row |= parts.complex_deletions.iter().any(|(_, deletion)| counts(deletion));
        let liveness = parts.liveness;
        if liveness.is_none() || self.covering.deletes(liveness.timestamp) {
            return Liveness::NONE;
        }
        self.inserted = liveness.timestamp;
        if liveness.is_live(self.now_s) {
            self.exists = true;
            return liveness;
        }
        self.dead.is_row |= liveness.expires_at_s >= self.dead.gc_before_s;
        Liveness::NONE
    }

    /// Whether a cell of the row's entry is alive.
    #[inline]
    pub fn sees(&mut self, cell: &CellData<'_>, is_queried: bool) -> bool {
        if self.covering.deletes(cell.timestamp) || (!is_queried && cell.timestamp < self.inserted) {
            return false;
        }
        if !cell.is_live(self.now_s) {
            self.dead.add_cell(cell);
            return false;
        }
        self.exists = true;
        true
    }

    /// Looks at a plain row: of cells of one time all are alive, or none. `has_cells`: of columns that are known.
    #[inline]
    pub fn see_plain(&mut self, row: &PlainRow<'_>, has_cells: bool) {
        if !self.covering.deletes(row.timestamp) {
            self.exists |= row.is_inserted | has_cells;
        }
    }

    fn add_row(
        &mut self,
        entry: &RowEntry<'_>,
        buffer: &Bytes,
        projection: &Projection,
        row: &mut Row,
    ) -> Result<(), EntryError> {
        restore_originals(entry, buffer, row);
        row.liveness = self.see_row(&entry.parts);
        let mut at = 0;
        for cell in entry.cells() {
            let (id, data) = cell?;
            let Some(column) = projection.seek(id, &mut at) else { continue };
            if data.timestamp > column.dropped_time && self.sees(&data, column.is_queried) && column.is_built
            {
                row.cells.push(cell_of(id, None, data, buffer));
            }
        }
        Ok(())
    }

    fn add_cell(
        &mut self,
        table: TableId,
        (key, value): (&Bytes, &Bytes),
        deletion_of: impl FnOnce(ColumnId) -> Deletion,
        projection: &Projection,
        row: &mut Row,
    ) -> Result<(), EngineError> {
        let mut input = Input::new(key);
        let id = take_column(&mut input).in_table(table)?;
        let Some(column) = projection.seek(id, &mut 0) else { return Ok(()) };
        let Some(path_type) = &column.path_type else { return Ok(()) };
        let entry = CellEntry::parse(value).in_table(table)?;
        let data = entry.data;
        let deletion = self.covering.merge(deletion_of(id));
        if deletion.deletes(data.timestamp) || data.timestamp <= column.dropped_time {
            return Ok(());
        }
        if data.timestamp < self.inserted && (!column.is_queried || column.is_in_part) {
            let path = path_of(&entry, value, path_type, &mut input.clone()).in_table(table)?;
            if !(column.is_queried && projection.queries_path(column, &path)) {
                return Ok(());
            }
        }
        if !data.is_live(self.now_s) {
            self.dead.add_cell(&data);
            return Ok(());
        }
        self.exists = true;
        if column.is_built {
            let path = path_of(&entry, value, path_type, &mut input).in_table(table)?;
            row.cells.push(cell_of(id, Some(path), data, value));
        }
        Ok(())
    }
}
