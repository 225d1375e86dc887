//! Tables whose entries lie in windows of time (TimeWindowCompactionStrategy): each window is a family of its own, of which the
//! youngest is written. What lies under a key is what the windows hold of it, folded from the oldest to the youngest. A window goes
//! as a whole, with its family: nothing is rewritten for it.
//!
//! Knows nothing of what is in a window, nor when it may go: that is `basalt_storage::purge`'s matter.

use std::cmp::Ordering;
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{Cursor, CursorOptions, EngineError, OpKind, WindowId};
use basalt_storage::merge::merge;
use bytes::Bytes;
use rocksdb::{DB, ReadOptions, Snapshot, WriteBatch};

use crate::catalogue::{Entry, Place, Record, window_key};
use crate::cursor::{self, RocksCursor};
use crate::engine::RocksEngine;
use crate::error;
use crate::family::own_name;
use crate::table_map::{Home, TableMap, Window};
use crate::tables::Wish;

/// A table has at most so many past windows; further ones begin when one of them has gone. Each is looked at by every read.
const PAST_MAX: usize = 32;

impl RocksEngine {
    pub(crate) fn new_window(&self, table: TableId, now_s: i64) -> Result<bool, EngineError> {
        let mut next = self.definitions();
        let tables = self.tables_now();
        let old = tables.home(table)?;
        let (Some(window_s), Place::Own(number)) = (old.options.window_s, old.record.place) else {
            return Ok(false);
        };
        // Windows begin at multiples of their length, as Cassandra's do.
        let window_s = i64::from(window_s.get());
        let began_s = now_s.div_euclid(window_s).saturating_mul(window_s);
        if old.began_s.is_some_and(|before| before >= began_s) || old.past.len() >= PAST_MAX {
            return Ok(false);
        }
        let mut changed = TableMap::clone(&tables);
        let mut batch = WriteBatch::default();
        let (home, is_new) = if self.is_empty(old)? {
            // Nothing to keep apart.
            (Home { began_s: Some(began_s), ..Home::clone(old) }, false)
        } else {
            let mut home =
                self.new_home(&mut next, &tables, Wish::Own, old.record.generation, &old.options)?;
            if home.prefix.is_some() {
                // No family is left to be had.
                return Ok(false);
            }
            home.heads = Arc::clone(&old.heads);
            home.began_s = Some(began_s);
            home.past.push(Window { number, family: Arc::clone(&old.family) });
            home.past.extend(old.past.iter().cloned());
            let before_s = old.began_s.unwrap_or(i64::MIN);
            self.put(&mut batch, Entry::Window(table, number, before_s));
            self.put(&mut batch, Entry::Next(*next));
            let record = Record { generation: old.record.generation, place: home.record.place };
            self.put(&mut batch, Entry::Table(table, record));
            (home, true)
        };
        self.put(&mut batch, Entry::Window(table, home.record.place.number(), began_s));
        self.write_synced(batch)?;
        changed.homes.insert(table, Arc::new(home));
        self.set_tables(changed);
        Ok(is_new)
    }

    fn is_empty(&self, home: &Home) -> Result<bool, EngineError> {
        let mut iterator = self.db().raw_iterator_cf(home.family.handle());
        iterator.seek_to_first();
        iterator.status().map_err(|error| error::other(None, error))?;
        Ok(!iterator.valid())
    }

    pub(crate) fn remove_windows(&self, table: TableId, windows: &[WindowId]) -> Result<(), EngineError> {
        let _next = self.definitions();
        let tables = self.tables_now();
        let mut home = Home::clone(tables.home(table)?);
        let (gone, past): (Vec<Window>, Vec<Window>) =
            home.past.into_iter().partition(|window| windows.contains(&WindowId(window.number)));
        home.past = past;
        let mut batch = WriteBatch::default();
        for window in &gone {
            batch.delete_cf(self.catalogue().handle(), window_key(table, window.number));
        }
        if gone.is_empty() {
            return Ok(());
        }
        self.write_synced(batch)?;
        let mut changed = TableMap::clone(&tables);
        changed.homes.insert(table, Arc::new(home));
        self.set_tables(changed.clone());
        for window in &gone {
            self.db().drop_cf(&own_name(window.number)).map_err(|error| self.failed_write(error))?;
        }
        self.keep_options(&changed, None)
    }
}

/// A put or a deletion takes out what past windows hold under its key.
pub(crate) fn take_out(batch: &mut WriteBatch, home: &Home, kind: OpKind, key: &[u8]) {
    if kind != OpKind::Merge {
        for window in &home.past {
            batch.delete_cf(window.family.handle(), key);
        }
    }
}

/// What is under a key in all windows, as of the snapshot that `options` hold.
pub(crate) fn get(
    db: &DB,
    home: &Home,
    options: &ReadOptions,
    table: TableId,
    key: &[u8],
) -> Result<Option<Bytes>, EngineError> {
    let mut found = Vec::new();
    for family in home.families() {
        let value = db.get_pinned_cf_opt(family.handle(), key, options);
        found.extend(value.map_err(|error| error::of_read(Some(table), error))?);
    }
    let values = found.iter().map(|value| &**value);
    let mut folded = Vec::new();
    fold(table, values, &mut folded)?;
    Ok((!folded.is_empty()).then(|| Bytes::from(folded)))
}

/// Folds the values of a key in several windows, the youngest first; nothing if nothing is left.
fn fold<'v>(
    table: TableId,
    youngest_first: impl Iterator<Item = &'v [u8]>,
    into: &mut Vec<u8>,
) -> Result<(), EngineError> {
    let mut values: Vec<&[u8]> = youngest_first.filter(|value| !value.is_empty()).collect();
    values.reverse();
    into.clear();
    match values[..] {
        [] => {}
        [only] => into.extend_from_slice(only),
        _ => {
            *into = merge(None, &values)
                .map_err(|error| EngineError::Corruption { table: Some(table), detail: error.to_string() })?;
        }
    }
    Ok(())
}

/// A cursor over one window only.
pub(crate) fn cursor_of<'a>(
    db: &'a DB,
    table: TableId,
    home: Arc<Home>,
    window: Option<WindowId>,
    options: CursorOptions<'_>,
) -> Result<RocksCursor<'a>, EngineError> {
    let home = match window {
        None => home,
        Some(WindowId(number)) => {
            let window = home.past.iter().find(|window| window.number == number);
            let window = window.ok_or(EngineError::UnknownTable(table))?;
            Arc::new(Home { family: Arc::clone(&window.family), ..Home::clone(&home) })
        }
    };
    let read = cursor::read_options(&home, options);
    Ok(RocksCursor::new(db, table, home, read, options.tier))
}

/// A walk over all windows of a table at once: the cursors of the windows go side by side.
pub(crate) struct WindowsCursor<'a> {
    table: TableId,
    /// The youngest first, and whether each has a position.
    windows: Vec<(RocksCursor<'a>, bool)>,
    /// Where they stand: at `key` or behind it, or at it or before it. `None` without a position.
    at: Option<Way>,
    key: Vec<u8>,
    value: Vec<u8>,
    /// What the cursors read as of, unless a view keeps it.
    _snapshot: Option<Snapshot<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

impl<'a> WindowsCursor<'a> {
    /// A walk as of a snapshot, which has to outlive the cursor.
    pub(crate) fn new(
        db: &'a DB,
        table: TableId,
        home: &Home,
        options: CursorOptions<'_>,
        snapshot: &Snapshot<'a>,
    ) -> Result<WindowsCursor<'a>, EngineError> {
        let cursor = |family| {
            let home = Arc::new(Home { family: Arc::clone(family), ..Home::clone(home) });
            let mut read = cursor::read_options(&home, options);
            read.set_snapshot(snapshot);
            (RocksCursor::new(db, table, home, read, options.tier), false)
        };
        let windows = home.families().map(cursor).collect();
        Ok(WindowsCursor { table, windows, at: None, key: Vec::new(), value: Vec::new(), _snapshot: None })
    }

    /// Keeps the snapshot as long as it lives itself.
    pub(crate) fn keeping(mut self, snapshot: Snapshot<'a>) -> WindowsCursor<'a> {
        self._snapshot = Some(snapshot);
        self
    }

    /// Takes the nearest key of those where the windows stand, folds what is there, and goes on while nothing is left.
    fn settle(&mut self, way: Way) -> Result<bool, EngineError> {
        let nearer = match way {
            Way::Forward => Ordering::Less,
            Way::Backward => Ordering::Greater,
        };
        loop {
            let keys = self.windows.iter().filter(|(_, is_at)| *is_at).map(|(cursor, _)| cursor.key());
            let Some(key) = keys.reduce(|best, key| if key.cmp(best) == nearer { key } else { best }) else {
                return Ok(false);
            };
            self.key.clear();
            self.key.extend_from_slice(key);
            let here = self.windows.iter().filter(|(cursor, is_at)| *is_at && cursor.key() == self.key);
            fold(self.table, here.map(|(cursor, _)| cursor.value()), &mut self.value)?;
            if !self.value.is_empty() {
                self.at = Some(way);
                return Ok(true);
            }
            self.leave(way)?;
        }
    }

    /// Moves the windows that stand at the key beyond it.
    fn leave(&mut self, way: Way) -> Result<(), EngineError> {
        for (cursor, is_at) in &mut self.windows {
            if *is_at && cursor.key() == self.key {
                *is_at = match way {
                    Way::Forward => cursor.next()?,
                    Way::Backward => cursor.prev()?,
                };
            }
        }
        Ok(())
    }

    fn aim(&mut self, key: &[u8], way: Way) -> Result<(), EngineError> {
        for (cursor, is_at) in &mut self.windows {
            *is_at = match way {
                Way::Forward => cursor.seek(key)?,
                Way::Backward => cursor.seek_for_prev(key)?,
            };
        }
        Ok(())
    }

    fn go(&mut self, way: Way) -> Result<bool, EngineError> {
        let Some(at) = self.at.take() else { return Ok(false) };
        if at != way {
            let key = std::mem::take(&mut self.key);
            self.aim(&key, way)?;
            self.key = key;
        }
        self.leave(way)?;
        self.settle(way)
    }
}

impl Cursor for WindowsCursor<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.at = None;
        self.aim(key, Way::Forward)?;
        self.settle(Way::Forward)
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.at = None;
        self.aim(key, Way::Backward)?;
        self.settle(Way::Backward)
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        self.go(Way::Forward)
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        self.go(Way::Backward)
    }

    fn key(&self) -> &[u8] {
        if self.at.is_some() { &self.key } else { &[] }
    }

    fn value(&self) -> &[u8] {
        if self.at.is_some() { &self.value } else { &[] }
    }
}
