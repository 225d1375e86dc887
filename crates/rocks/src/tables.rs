//! Making, dropping and truncating tables: each one durable step in the catalogue, with the
//! families made before it and dropped after it.
//!
//! A crash before the step leaves a family that no table has; a crash after it, too. Opening drops
//! such families. Nothing here is called on a reactor: making or dropping a family rewrites
//! RocksDB's options file, which takes milliseconds and grows with their number.

use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::EngineError;
use rocksdb::WriteBatch;

use crate::catalogue::{Entry, Place, Record, table_key};
use crate::engine::RocksEngine;
use crate::family::{Family, own_name};
use crate::open::erase_prefix;
use crate::options;
use crate::table_map::{Home, TableMap};

/// Where a new table, or a new generation of one, is to live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// With the other small ones.
    Shared,
    /// Alone, if there is room.
    Own,
}

impl RocksEngine {
    pub(crate) fn make_tables(&self, tables: &[TableId], wish: Wish) -> Result<(), EngineError> {
        let mut next = self.definitions();
        let mut changed = TableMap::clone(&self.tables_now());
        let mut batch = WriteBatch::default();
        for table in tables {
            if !changed.homes.contains_key(table) {
                let home = self.new_home(&mut next, &changed, wish, 0)?;
                self.put(&mut batch, Entry::Table(*table, home.record));
                changed.homes.insert(*table, Arc::new(home));
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.put(&mut batch, Entry::Next(*next));
        self.write_synced(batch)?;
        self.set_tables(changed);
        Ok(())
    }

    pub(crate) fn remove_table(&self, table: TableId) -> Result<(), EngineError> {
        let _next = self.definitions();
        let tables = self.tables_now();
        let Some(home) = tables.homes.get(&table) else { return Ok(()) };
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.catalogue().handle(), table_key(table));
        self.erase_if_shared(&mut batch, home);
        self.write_synced(batch)?;
        let mut changed = TableMap::clone(&tables);
        changed.homes.remove(&table);
        self.set_tables(changed);
        self.drop_if_own(home)
    }

    pub(crate) fn empty_table(&self, table: TableId) -> Result<(), EngineError> {
        let mut next = self.definitions();
        let tables = self.tables_now();
        let old = tables.home(table)?;
        let wish = if old.prefix.is_some() { Wish::Shared } else { Wish::Own };
        let mut others = TableMap::clone(&tables);
        others.homes.remove(&table);
        let home = self.new_home(&mut next, &others, wish, old.record.generation + 1)?;
        // One durable step: the new generation's record, and the end of the old one's entries.
        let mut batch = WriteBatch::default();
        self.put(&mut batch, Entry::Table(table, home.record));
        self.put(&mut batch, Entry::Next(*next));
        self.erase_if_shared(&mut batch, old);
        self.write_synced(batch)?;
        others.homes.insert(table, Arc::new(home));
        self.set_tables(others);
        self.drop_if_own(old)
    }

    /// Finds a place among `tables`, making the family if it is to be its own.
    fn new_home(
        &self,
        next: &mut u32,
        tables: &TableMap,
        wish: Wish,
        generation: u64,
    ) -> Result<Home, EngineError> {
        let number = *next;
        let after = number
            .checked_add(1)
            .ok_or_else(|| EngineError::Io { detail: "the numbers of tables are used up".to_owned() })?;
        let home = if wish == Wish::Own && tables.own_families() < self.kit().own_families_max {
            let name = own_name(number);
            self.db().create_cf(&name, &self.kit().rows()).map_err(|error| self.failed_write(error))?;
            let family = Family::find(self.db(), &name)
                .ok_or_else(|| EngineError::Io { detail: format!("no handle of {name}") })?;
            let record = Record { generation, place: Place::Own(number) };
            Home { record, family: Arc::new(family), prefix: None }
        } else {
            let record = Record { generation, place: Place::Shared(number) };
            Home { record, family: Arc::clone(self.shared()), prefix: Some(number.to_be_bytes()) }
        };
        // Even if the step that follows fails: a number is never given twice.
        *next = after;
        Ok(home)
    }

    fn put(&self, batch: &mut WriteBatch, entry: Entry) {
        let (key, value) = entry.encode();
        batch.put_cf(self.catalogue().handle(), key, value);
    }

    fn erase_if_shared(&self, batch: &mut WriteBatch, home: &Home) {
        if let Place::Shared(prefix) = home.record.place {
            erase_prefix(batch, self.shared(), prefix);
            self.put(batch, Entry::Erased(prefix));
        }
    }

    fn drop_if_own(&self, home: &Home) -> Result<(), EngineError> {
        match home.record.place {
            Place::Own(number) => {
                self.db().drop_cf(&own_name(number)).map_err(|error| self.failed_write(error))
            }
            Place::Shared(_) => Ok(()),
        }
    }

    fn write_synced(&self, batch: WriteBatch) -> Result<(), EngineError> {
        self.db().write_opt(batch, &options::write(true, true)).map_err(|error| self.failed_write(error))
    }
}
