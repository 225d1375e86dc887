//! Making, dropping and truncating tables: each one durable step in the catalogue, with the
//! families made before it and dropped after it.
//!
//! A crash before the step leaves a family that no table has; a crash after it, too. Opening drops
//! such families. Nothing here is called on a reactor: making or dropping a family rewrites
//! RocksDB's options file, which takes milliseconds and grows with their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_model::TableId;
use basalt_model::schema::OptionsEffect;
use basalt_storage::engine::{EngineError, StorageOptions};
use rocksdb::WriteBatch;

use crate::catalogue::{Entry, Place, Record, headless_key, table_key, window_key};
use crate::engine::RocksEngine;
use crate::error;
use crate::family::{Family, own_name};
use crate::family_options;
use crate::open::erase_prefix;
use crate::options;
use crate::options_file::{self, FamilyOptions};
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
    pub(crate) fn make_tables(
        &self,
        tables: &[TableId],
        wish: Wish,
        options: &StorageOptions,
    ) -> Result<(), EngineError> {
        let mut next = self.definitions();
        let mut changed = TableMap::clone(&self.tables_now());
        let mut batch = WriteBatch::default();
        for table in tables {
            if !changed.homes.contains_key(table) {
                let home = self.new_home(&mut next, &changed, wish, 0, options)?;
                self.put(&mut batch, Entry::Table(*table, home.record));
                self.put(&mut batch, Entry::Headless(*table));
                home.heads.store(false, Ordering::Release);
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
        batch.delete_cf(self.catalogue().handle(), headless_key(table));
        self.erase(&mut batch, table, home);
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
        let mut home = self.new_home(&mut next, &others, wish, old.record.generation + 1, &old.options)?;
        // A write that was promised before may come after.
        home.heads = Arc::clone(&old.heads);
        // One durable step: the new generation's record, and the end of the old one's entries.
        let mut batch = WriteBatch::default();
        self.put(&mut batch, Entry::Table(table, home.record));
        self.put(&mut batch, Entry::Next(*next));
        self.erase(&mut batch, table, old);
        self.write_synced(batch)?;
        others.homes.insert(table, Arc::new(home));
        self.set_tables(others);
        self.drop_if_own(old)
    }

    pub(crate) fn expect_heads_of(&self, table: TableId) -> Result<(), EngineError> {
        let _next = self.definitions();
        let tables = self.tables_now();
        let home = tables.home(table)?;
        if !home.heads.load(Ordering::Acquire) {
            let mut batch = WriteBatch::default();
            batch.delete_cf(self.catalogue().handle(), headless_key(table));
            self.write_synced(batch)?;
            home.heads.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) fn change_options(
        &self,
        table: TableId,
        options: &StorageOptions,
    ) -> Result<OptionsEffect, EngineError> {
        let _next = self.definitions();
        let tables = self.tables_now();
        let home = tables.home(table)?;
        let Place::Own(number) = home.record.place else {
            let is_default = *options == StorageOptions::default();
            return Ok(if is_default { OptionsEffect::NewFiles } else { OptionsEffect::Shared });
        };
        if home.options == *options {
            return Ok(OptionsEffect::NewFiles);
        }
        // What is kept is what the family is opened with, should the step after it not be reached.
        self.keep_options(&tables, Some((number, options)))?;
        let mut changes = family_options::changeable(options);
        changes.push(family_options::changeable_blocks(options));
        let changes: Vec<(&str, &str)> =
            changes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for family in home.families() {
            self.db()
                .set_options_cf(family.handle(), &changes)
                .map_err(|error| error::other(Some(table), error))?;
        }
        let mut changed = TableMap::clone(&tables);
        let home = Home { options: *options, ..Home::clone(home) };
        let needs_opening = family_options::needs_opening(&tables.home(table)?.options, options);
        changed.homes.insert(table, Arc::new(home));
        self.set_tables(changed);
        Ok(if needs_opening { OptionsEffect::NextStart } else { OptionsEffect::NewFiles })
    }

    /// Writes down which options the families of `tables` have, and one more, if that is not what is written already.
    pub(crate) fn keep_options(
        &self,
        tables: &TableMap,
        one_more: Option<(u32, &StorageOptions)>,
    ) -> Result<(), EngineError> {
        let own = |home: &Arc<Home>| {
            let options = home.options;
            home.own_numbers().map(move |number| (number, options)).collect::<Vec<_>>()
        };
        let mut families: FamilyOptions = tables.homes.values().flat_map(own).collect();
        families.extend(one_more.map(|(number, options)| (number, *options)));
        families.retain(|_, options| *options != StorageOptions::default());
        let mut kept = self.kept_options().lock();
        if *kept != families {
            options_file::write(self.directory(), &families)
                .map_err(|error| EngineError::Io { detail: format!("basalt-options: {error}") })?;
            *kept = families;
        }
        Ok(())
    }

    /// Finds a place among `tables`, making the family if it is to be its own. Partitions there may have heads.
    pub(crate) fn new_home(
        &self,
        next: &mut u32,
        tables: &TableMap,
        wish: Wish,
        generation: u64,
        options: &StorageOptions,
    ) -> Result<Home, EngineError> {
        let number = *next;
        let after = number
            .checked_add(1)
            .ok_or_else(|| EngineError::Io { detail: "the numbers of tables are used up".to_owned() })?;
        // Those with options of their own have families of their own for longer.
        let max = match *options == StorageOptions::default() {
            true => self.kit().own_families_max,
            false => self.kit().own_families_max.saturating_mul(4),
        };
        let heads = Arc::new(AtomicBool::new(true));
        let home = if wish == Wish::Own && tables.own_families() < max {
            let name = own_name(number);
            self.keep_options(tables, Some((number, options)))?;
            let rows = self.kit().rows(options).map_err(|error| self.failed_write(error))?;
            self.db().create_cf(&name, &rows).map_err(|error| self.failed_write(error))?;
            let family = Family::find(self.db(), &name)
                .ok_or_else(|| EngineError::Io { detail: format!("no handle of {name}") })?;
            let record = Record { generation, place: Place::Own(number) };
            Home {
                record,
                family: Arc::new(family),
                prefix: None,
                options: *options,
                heads,
                began_s: None,
                past: Vec::new(),
            }
        } else {
            let record = Record { generation, place: Place::Shared(number) };
            Home {
                record,
                family: Arc::clone(self.shared()),
                prefix: Some(number.to_be_bytes()),
                options: StorageOptions::default(),
                heads,
                began_s: None,
                past: Vec::new(),
            }
        };
        // Even if the step that follows fails: a number is never given twice.
        *next = after;
        Ok(home)
    }

    pub(crate) fn put(&self, batch: &mut WriteBatch, entry: Entry) {
        let (key, value) = entry.encode();
        batch.put_cf(self.catalogue().handle(), key, value);
    }

    /// Adds the end of all entries of a table, where they are not a family that is dropped, and of its windows' records.
    pub(crate) fn erase(&self, batch: &mut WriteBatch, table: TableId, home: &Home) {
        self.erase_if_shared(batch, home);
        for number in home.own_numbers() {
            batch.delete_cf(self.catalogue().handle(), window_key(table, number));
        }
    }

    pub(crate) fn erase_if_shared(&self, batch: &mut WriteBatch, home: &Home) {
        if let Place::Shared(prefix) = home.record.place {
            erase_prefix(batch, self.shared(), prefix);
            self.put(batch, Entry::Erased(prefix));
        }
    }

    pub(crate) fn drop_if_own(&self, home: &Home) -> Result<(), EngineError> {
        home.own_numbers().try_for_each(|number| {
            self.db().drop_cf(&own_name(number)).map_err(|error| self.failed_write(error))
        })
    }

    pub(crate) fn write_synced(&self, batch: WriteBatch) -> Result<(), EngineError> {
        self.db().write_opt(batch, &options::write(true, true)).map_err(|error| self.failed_write(error))
    }
}
