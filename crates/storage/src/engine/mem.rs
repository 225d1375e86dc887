//! An engine in memory: one ordered map per table, copied only when it is written while a view of
//! it lives. For virtual tables, simulation and tests. Nothing survives the process.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use basalt_model::TableId;
use bytes::Bytes;
use parking_lot::RwLock;

use super::{
    Cursor, CursorOptions, Engine, EngineError, OpKind, ReadTier, Reads, TableInfo, TableStats, Values,
    WriteOptions, WriteSet,
};

type Map = BTreeMap<Bytes, Bytes>;

#[derive(Clone, Default)]
struct MemTable {
    generation: u64,
    may_have_heads: bool,
    map: Arc<Map>,
}

type Tables = BTreeMap<TableId, MemTable>;

#[derive(Default)]
struct State {
    tables: Tables,
    is_closed: bool,
}

/// The engine in memory.
#[derive(Default)]
pub struct MemEngine {
    state: RwLock<State>,
}

impl MemEngine {
    /// Without tables.
    pub fn new() -> MemEngine {
        MemEngine::default()
    }

    fn open<T>(&self, use_state: impl FnOnce(&State) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let state = self.state.read();
        if state.is_closed { Err(EngineError::Closed) } else { use_state(&state) }
    }

    fn open_mut<T>(
        &self,
        use_state: impl FnOnce(&mut State) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut state = self.state.write();
        if state.is_closed { Err(EngineError::Closed) } else { use_state(&mut state) }
    }

    fn map(&self, table: TableId) -> Result<Arc<Map>, EngineError> {
        self.open(|state| map_of(&state.tables, table))
    }
}

fn map_of(tables: &Tables, table: TableId) -> Result<Arc<Map>, EngineError> {
    tables.get(&table).map(|t| t.map.clone()).ok_or(EngineError::UnknownTable(table))
}

fn multi_get(map: &Map, keys: &[&[u8]]) -> Values {
    keys.iter().map(|key| map.get(*key).cloned()).collect()
}

impl Reads for MemEngine {
    fn get(&self, table: TableId, key: &[u8], _tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        self.open(|state| {
            let table = state.tables.get(&table).ok_or(EngineError::UnknownTable(table))?;
            Ok(table.map.get(key).cloned())
        })
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], _tier: ReadTier) -> Result<Values, EngineError> {
        Ok(multi_get(&*self.map(table)?, keys))
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        Ok(Box::new(MemCursor::new(self.map(table)?, options)))
    }
}

struct MemView {
    tables: Tables,
}

impl Reads for MemView {
    fn get(&self, table: TableId, key: &[u8], _tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        Ok(map_of(&self.tables, table)?.get(key).cloned())
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], _tier: ReadTier) -> Result<Values, EngineError> {
        Ok(multi_get(&*map_of(&self.tables, table)?, keys))
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        Ok(Box::new(MemCursor::new(map_of(&self.tables, table)?, options)))
    }
}

struct MemCursor {
    map: Arc<Map>,
    lower: Bytes,
    upper: Option<Bytes>,
    here: Option<(Bytes, Bytes)>,
}

impl MemCursor {
    fn new(map: Arc<Map>, options: CursorOptions<'_>) -> MemCursor {
        MemCursor {
            map,
            lower: Bytes::copy_from_slice(options.lower),
            upper: options.upper.map(Bytes::copy_from_slice),
            here: None,
        }
    }

    fn forward(&mut self, from: Bound<&[u8]>) -> bool {
        let from = match from {
            Bound::Included(key) | Bound::Excluded(key) if key < &*self.lower => {
                Bound::Included(&*self.lower)
            }
            other => other,
        };
        let found = self.map.range::<[u8], _>((from, Bound::Unbounded)).next();
        self.here = found
            .filter(|(key, _)| self.upper.as_ref().is_none_or(|upper| *key < upper))
            .map(|(key, value)| (key.clone(), value.clone()));
        self.here.is_some()
    }

    fn backward(&mut self, from: Bound<&[u8]>) -> bool {
        let from = match (from, &self.upper) {
            (Bound::Included(key), Some(upper)) if key >= &**upper => Bound::Excluded(&**upper),
            (other, _) => other,
        };
        let found = self.map.range::<[u8], _>((Bound::Unbounded, from)).next_back();
        self.here =
            found.filter(|(key, _)| **key >= self.lower).map(|(key, value)| (key.clone(), value.clone()));
        self.here.is_some()
    }
}

impl Cursor for MemCursor {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        Ok(self.forward(Bound::Included(key)))
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        Ok(self.backward(Bound::Included(key)))
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        match self.here.take() {
            Some((key, _)) => Ok(self.forward(Bound::Excluded(&key))),
            None => Ok(false),
        }
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        match self.here.take() {
            Some((key, _)) => Ok(self.backward(Bound::Excluded(&key))),
            None => Ok(false),
        }
    }

    fn key(&self) -> &[u8] {
        self.here.as_ref().map_or(&[], |(key, _)| key)
    }

    fn value(&self) -> &[u8] {
        self.here.as_ref().map_or(&[], |(_, value)| value)
    }
}

impl Engine for MemEngine {
    fn write(&self, sets: &[&WriteSet], _options: WriteOptions) -> Result<(), EngineError> {
        self.open_mut(|state| {
            // Everything that can fail is done before the first change: the step is atomic.
            let mut changes: BTreeMap<(TableId, &[u8]), Option<Bytes>> = BTreeMap::new();
            for op in sets.iter().flat_map(|set| set.ops()) {
                let table = state.tables.get(&op.table).ok_or(EngineError::UnknownTable(op.table))?;
                let value = match op.kind {
                    OpKind::Put => Some(Bytes::copy_from_slice(op.value)),
                    OpKind::Delete => None,
                    OpKind::Merge => {
                        let earlier = match changes.get(&(op.table, op.key)) {
                            Some(change) => change.as_ref(),
                            None => table.map.get(op.key),
                        };
                        let merged = crate::merge::merge(earlier.map(|v| &**v), &[op.value]);
                        Some(Bytes::from(merged.map_err(|error| EngineError::Corruption {
                            table: Some(op.table),
                            detail: error.to_string(),
                        })?))
                    }
                };
                changes.insert((op.table, op.key), value.filter(|value| !value.is_empty()));
            }
            for ((table, key), value) in changes {
                let Some(table) = state.tables.get_mut(&table) else { continue };
                let map = Arc::make_mut(&mut table.map);
                match value {
                    Some(value) => map.insert(Bytes::copy_from_slice(key), value),
                    None => map.remove(key),
                };
            }
            Ok(())
        })
    }

    fn view(&self) -> Result<Box<dyn Reads + '_>, EngineError> {
        self.open(|state| Ok(Box::new(MemView { tables: state.tables.clone() }) as Box<dyn Reads>))
    }

    fn create_table(&self, table: TableId) -> Result<(), EngineError> {
        self.open_mut(|state| {
            state.tables.entry(table).or_default();
            Ok(())
        })
    }

    fn drop_table(&self, table: TableId) -> Result<(), EngineError> {
        self.open_mut(|state| {
            state.tables.remove(&table);
            Ok(())
        })
    }

    fn truncate_table(&self, table: TableId) -> Result<(), EngineError> {
        self.open_mut(|state| {
            let table = state.tables.get_mut(&table).ok_or(EngineError::UnknownTable(table))?;
            table.generation += 1;
            table.map = Arc::default();
            Ok(())
        })
    }

    fn may_have_heads(&self, table: TableId) -> bool {
        self.state.read().tables.get(&table).is_none_or(|table| table.may_have_heads)
    }

    fn expect_heads(&self, table: TableId) -> Result<(), EngineError> {
        self.open_mut(|state| {
            state.tables.get_mut(&table).ok_or(EngineError::UnknownTable(table))?.may_have_heads = true;
            Ok(())
        })
    }

    fn tables(&self) -> Result<Vec<TableInfo>, EngineError> {
        self.open(|state| {
            let info =
                |(table, t): (&TableId, &MemTable)| TableInfo { table: *table, generation: t.generation };
            Ok(state.tables.iter().map(info).collect())
        })
    }

    fn sync_log(&self) -> Result<(), EngineError> {
        self.open(|_| Ok(()))
    }

    fn flush(&self, table: Option<TableId>) -> Result<(), EngineError> {
        self.open(|state| match table {
            Some(table) => map_of(&state.tables, table).map(|_| ()),
            None => Ok(()),
        })
    }

    fn compact(&self, table: TableId) -> Result<(), EngineError> {
        self.flush(Some(table))
    }

    fn stats(&self, table: TableId) -> Result<TableStats, EngineError> {
        let map = self.map(table)?;
        let bytes: usize = map.iter().map(|(key, value)| key.len() + value.len()).sum();
        Ok(TableStats { keys: map.len() as u64, memtable_bytes: bytes as u64, disk_bytes: 0 })
    }

    fn close(&self) -> Result<(), EngineError> {
        self.state.write().is_closed = true;
        Ok(())
    }
}
