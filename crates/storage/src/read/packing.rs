//! Rows packed for the answer: what is alive of a row's entry goes from the engine's bytes into the page, through nothing.

use basalt_model::command::PartitionRows;
use basalt_model::packed::{Layout, PackedColumn, PackedRows, Place};
use basalt_model::{Clustering, ColumnId, DecoratedKey, Table};
use bytes::Bytes;
use smallvec::SmallVec;

use super::InTable;
use super::stored_row::LiveView;
use crate::cells::{EntryError, PlainRow, RowEntry};
use crate::engine::EngineError;
use crate::keys::KeyError;
use crate::keys::clustering::{Component, Components, decode_clustering};

mod page;

use page::{PageBuffer, Part};

/// The second row of a page makes room for so many as the first, if they are asked for, in so many bytes at most.
const ROWS_MADE_ROOM_FOR: u32 = 100;
const ROOM_BYTES_MAX: usize = 16 << 10;

/// Packed rows of a page.
pub struct Packing<'c> {
    table: &'c Table,
    layout: &'c Layout,
    /// No more rows are asked for.
    rows_max: u32,
    page: PageBuffer,
    /// The present row's value of each regular column, within its entry.
    found: SmallVec<[Part; 8]>,
    /// A component of its clustering.
    component: Vec<u8>,
    /// What the page's first row takes.
    first_row_bytes: usize,
    /// Where the rows of each partition end.
    ends: SmallVec<[usize; 1]>,
    /// Bytes that the page's partitions take beside their rows.
    beside: usize,
    /// The columns of the present partition's key.
    key: SmallVec<[Bytes; 1]>,
    count: u32,
    /// The last row's clustering as its key has it, and what its entry keeps beside that.
    last: Vec<u8>,
    last_originals: SmallVec<[(u16, Bytes); 1]>,
}

impl<'c> Packing<'c> {
    /// Of no rows yet.
    pub fn new(table: &'c Table, layout: &'c Layout, rows_max: u32) -> Packing<'c> {
        Packing {
            table,
            layout,
            rows_max,
            page: PageBuffer::default(),
            found: SmallVec::from_elem(Part::ABSENT, layout.regulars.len()),
            component: Vec::new(),
            first_row_bytes: 0,
            ends: SmallVec::new(),
            beside: 0,
            key: SmallVec::new(),
            count: 0,
            last: Vec::new(),
            last_originals: SmallVec::new(),
        }
    }

    /// Begins a partition; whether it can show anything.
    pub fn begin(&mut self, key: &DecoratedKey) -> bool {
        self.count = 0;
        self.key.clear();
        if !self.layout.has_key {
            return true;
        }
        if self.table.partition_key_count == 1 {
            self.key.push(key.key.clone());
            return true;
        }
        let components = key.components(self.table.partition_key_count);
        let is_there = components.is_some();
        self.key.extend(components.into_iter().flatten());
        is_there
    }

    /// What the page takes so far, bytes.
    pub fn page_bytes(&self) -> usize {
        self.page.len() + self.beside
    }

    /// Adds a row, if it is alive: `clustering` and `entry` are as the engine keeps them.
    pub fn add(
        &mut self,
        clustering: &[u8],
        entry: &[u8],
        view: &mut LiveView<'_>,
    ) -> Result<(), EngineError> {
        let table = self.table.id;
        let is_plain = PlainRow::of(entry).is_some_and(|row| self.find_plain(&row, view));
        if is_plain {
            if view.exists {
                self.keep_last(clustering, &[]);
            }
        } else {
            let row = RowEntry::parse(entry).in_table(table)?;
            self.find(entry, &row, view).in_table(table)?;
            if view.exists {
                self.keep_last(clustering, &row.parts.originals);
            }
        }
        if !view.exists {
            return Ok(());
        }
        let start = self.page.len();
        self.write(clustering, entry).in_table(table)?;
        self.count += 1;
        if start == 0 {
            self.first_row_bytes = self.page.len();
        } else if start == self.first_row_bytes {
            // Rows of a page are alike.
            let rows = self.rows_max.min(ROWS_MADE_ROOM_FOR) as usize;
            self.page.reserve((rows * start).min(ROOM_BYTES_MAX));
        }
        Ok(())
    }

    /// Finds the values of a plain row that are alive; `false` when it is none.
    fn find_plain(&mut self, row: &PlainRow<'_>, view: &mut LiveView<'_>) -> bool {
        let mut found = Found::new(&self.layout.regulars, &mut self.found);
        let mut has_cells = false;
        let is_plain = row.for_each_cell(|id, start, length| {
            if let Some((_, part)) = found.at(id) {
                *part = Part { start, length: i32::from(length) };
                has_cells = true;
            }
        });
        if is_plain {
            view.see_plain(row, has_cells);
        }
        is_plain
    }

    /// Finds the values of any row that are alive.
    fn find(&mut self, bytes: &[u8], row: &RowEntry<'_>, view: &mut LiveView<'_>) -> Result<(), EntryError> {
        view.see_row(&row.parts);
        let mut found = Found::new(&self.layout.regulars, &mut self.found);
        for cell in row.cells() {
            let (id, cell) = cell?;
            if let Some((column, part)) = found.at(id)
                && view.sees(&cell, column.is_queried)
            {
                // The value is a part of the entry.
                let start = cell.value.as_ptr().addr().saturating_sub(bytes.as_ptr().addr());
                *part = Part { start, ..Part::all(cell.value) };
            }
        }
        Ok(())
    }

    fn keep_last(&mut self, clustering: &[u8], originals: &[(u16, &[u8])]) {
        self.last.clear();
        self.last.extend_from_slice(clustering);
        if !originals.is_empty() || !self.last_originals.is_empty() {
            let owned = |&(index, value): &(u16, &[u8])| (index, Bytes::copy_from_slice(value));
            self.last_originals = originals.iter().map(owned).collect();
        }
    }

    fn write(&mut self, clustering: &[u8], entry: &[u8]) -> Result<(), KeyError> {
        let mut components = Components::of(self.table, clustering);
        for place in &self.layout.places {
            let (source, part): (&[u8], Part) = match *place {
                Place::Regular(index) => (entry, self.found.get(index).copied().unwrap_or(Part::ABSENT)),
                Place::PartitionKey(index) => {
                    self.key.get(index).map_or((&[], Part::ABSENT), |value| (value, Part::all(value)))
                }
                Place::Clustering(index) => {
                    let original = self.last_originals.iter().find(|(known, _)| usize::from(*known) == index);
                    if let Some((_, value)) = original {
                        (value, Part::all(value))
                    } else {
                        if components.position() > index {
                            components = Components::of(self.table, clustering);
                        }
                        let is_there = take_component(&mut components, index, &mut self.component)?;
                        (&self.component, if is_there { Part::all(&self.component) } else { Part::ABSENT })
                    }
                }
            };
            self.page.put(source, part);
        }
        Ok(())
    }

    /// Ends a partition and says what it shows. Its bytes come with the page's: see [`Packing::finish`].
    pub fn end(&mut self) -> Result<PackedRows, EngineError> {
        let mut last = Clustering::empty();
        if self.count > 0 && self.table.clustering_count > 0 {
            last = decode_clustering(self.table, &self.last).in_table(self.table.id)?.0;
            for (index, value) in self.last_originals.drain(..) {
                if let Some(component) = last.0.get_mut(usize::from(index)) {
                    *component = Some(value);
                }
            }
        }
        Ok(PackedRows { bytes: Bytes::new(), count: self.count, last })
    }

    /// The partition that has ended is kept on the page.
    pub fn keep(&mut self, key_bytes: usize) {
        self.beside += size_of::<PartitionRows>() + key_bytes;
        self.ends.push(self.page.len());
    }

    /// Gives each partition of the page its rows.
    pub fn finish(self, partitions: &mut [PartitionRows]) {
        let bytes = Bytes::from(self.page.into_bytes());
        let mut start = 0;
        for (partition, end) in partitions.iter_mut().zip(self.ends) {
            if let Some(packed) = &mut partition.packed {
                packed.bytes = bytes.slice(std::mem::replace(&mut start, end)..end);
            }
        }
    }
}

/// Decodes a component; `false` when it is absent.
fn take_component(
    components: &mut Components<'_>,
    index: usize,
    out: &mut Vec<u8>,
) -> Result<bool, KeyError> {
    loop {
        out.clear();
        let is_asked_for = components.position() == index;
        match components.next(out)? {
            Component::End(_) => return Err(KeyError::Malformed("too few components")),
            found if is_asked_for => return Ok(found == Component::Value),
            Component::Value | Component::Absent => {}
        }
    }
}

/// Where the values of a row go, whose columns come ascending.
struct Found<'f> {
    columns: &'f [PackedColumn],
    parts: &'f mut [Part],
    at: usize,
}

impl<'f> Found<'f> {
    /// Nothing yet. There are as many parts as columns.
    fn new(columns: &'f [PackedColumn], parts: &'f mut [Part]) -> Found<'f> {
        parts.fill(Part::ABSENT);
        Found { columns, parts, at: 0 }
    }

    /// The column and its place, if it is a column of the layout.
    #[inline]
    fn at(&mut self, id: ColumnId) -> Option<(&'f PackedColumn, &mut Part)> {
        loop {
            let column = self.columns.get(self.at)?;
            if column.id >= id {
                return (column.id == id).then_some((column, self.parts.get_mut(self.at)?));
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
