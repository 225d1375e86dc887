//! Rows packed for the answer: what is alive of a row's entry goes from the engine's bytes into the page, through nothing.

use basalt_model::command::PartitionRows;
use basalt_model::packed::{Layout, PackedRows, Place, pack};
use basalt_model::{Clustering, DecoratedKey, Table};
use bytes::Bytes;
use smallvec::SmallVec;

use super::InTable;
use super::stored_row::LiveView;
use crate::cells::RowEntry;
use crate::engine::EngineError;
use crate::keys::KeyError;
use crate::keys::clustering::{Component, Components, decode_clustering};

/// Tables mostly have no more regular columns.
const FEW: usize = 16;

/// The first row of a page makes room for so many more, if they are asked for, in so many bytes at most; for itself it has
/// some.
const ROWS_MADE_ROOM_FOR: u32 = 100;
const ROOM_BYTES_MAX: usize = 16 << 10;
const ROOM_BYTES: usize = 256;

/// Packed rows of a page.
pub struct Packing<'c> {
    table: &'c Table,
    layout: &'c Layout,
    /// No more rows are asked for.
    rows_max: u32,
    bytes: Vec<u8>,
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
            bytes: Vec::new(),
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
        self.bytes.len() + self.beside
    }

    /// Adds a row, if it is alive: `clustering` and `entry` are as the engine keeps them.
    pub fn add(
        &mut self,
        clustering: &[u8],
        entry: &[u8],
        view: &mut LiveView<'_>,
    ) -> Result<(), EngineError> {
        let table = self.table.id;
        let entry = RowEntry::parse(entry).in_table(table)?;
        view.see_row(&entry.parts);
        let regulars = self.layout.regulars.as_slice();
        let (mut few, mut many) = ([None; FEW], Vec::new());
        let found = match few.get_mut(..regulars.len()) {
            Some(few) => few,
            None => {
                many.resize(regulars.len(), None);
                many.as_mut_slice()
            }
        };
        let mut at = 0;
        let seen = entry.for_each_cell(|id, cell| {
            while regulars.get(at).is_some_and(|column| column.id < id) {
                at += 1;
            }
            if let Some(column) = regulars.get(at)
                && column.id == id
                && view.sees(cell, column.is_queried)
                && let Some(value) = found.get_mut(at)
            {
                *value = Some(cell.value);
            }
        });
        seen.in_table(table)?;
        if !view.exists {
            return Ok(());
        }
        self.keep_last(clustering, &entry.parts.originals);
        let start = self.bytes.len();
        if start == 0 {
            self.bytes.reserve(ROOM_BYTES);
        }
        self.write(clustering, found).in_table(table)?;
        self.count += 1;
        if start == 0 {
            // Rows of a page are alike.
            let rows = self.rows_max.min(ROWS_MADE_ROOM_FOR).saturating_sub(1) as usize;
            self.bytes.reserve((rows * self.bytes.len()).min(ROOM_BYTES_MAX));
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

    fn write(&mut self, clustering: &[u8], found: &[Option<&[u8]>]) -> Result<(), KeyError> {
        if self.layout.has_clustering {
            return self.write_with_clustering(clustering, found);
        }
        for place in &self.layout.places {
            let value = match *place {
                Place::PartitionKey(index) => self.key.get(index).map(|value| &**value),
                Place::Regular(index) => found.get(index).copied().flatten(),
                Place::Clustering(_) => None,
            };
            pack(value, &mut self.bytes);
        }
        Ok(())
    }

    fn write_with_clustering(&mut self, clustering: &[u8], found: &[Option<&[u8]>]) -> Result<(), KeyError> {
        let mut components = Components::of(self.table, clustering);
        for place in &self.layout.places {
            match *place {
                Place::PartitionKey(index) => {
                    pack(self.key.get(index).map(|value| &**value), &mut self.bytes)
                }
                Place::Regular(index) => pack(found.get(index).copied().flatten(), &mut self.bytes),
                Place::Clustering(index) => {
                    let original = self.last_originals.iter().find(|(known, _)| usize::from(*known) == index);
                    if let Some((_, value)) = original {
                        pack(Some(&**value), &mut self.bytes);
                        continue;
                    }
                    if components.position() > index {
                        components = Components::of(self.table, clustering);
                    }
                    pack_component(&mut components, index, &mut self.bytes)?;
                }
            }
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
        self.ends.push(self.bytes.len());
    }

    /// Gives each partition of the page its rows.
    pub fn finish(self, partitions: &mut [PartitionRows]) {
        let bytes = Bytes::from(self.bytes);
        let mut start = 0;
        for (partition, end) in partitions.iter_mut().zip(self.ends) {
            if let Some(packed) = &mut partition.packed {
                packed.bytes = bytes.slice(std::mem::replace(&mut start, end)..end);
            }
        }
    }
}

/// Decodes a component into the page, its length put before it when that is known.
fn pack_component(components: &mut Components<'_>, index: usize, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let start = out.len();
    pack(None, out);
    let behind = out.len();
    while components.position() < index {
        if matches!(components.next(out)?, Component::End(_)) {
            return Err(KeyError::Malformed("too few components"));
        }
        out.truncate(behind);
    }
    if components.next(out)? == Component::Value {
        let length = i32::try_from(out.len() - behind).unwrap_or(i32::MAX);
        if let Some(place) = out.get_mut(start..behind) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
