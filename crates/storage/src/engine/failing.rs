//! An engine that fails on demand, waits on demand, and has as much space as it is told, around any other. Knows which
//! call to fail, not why.

use std::collections::BTreeMap;

use basalt_model::TableId;
use basalt_model::schema::OptionsEffect;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};

use super::{
    Condition, Cursor, CursorOptions, Engine, EngineError, ReadTier, Reads, StorageOptions, Sync, TableInfo,
    TableStats, Values, WriteOptions, WriteSet,
};

/// A kind of call that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// `write`, of either durability.
    Write,
    /// `sync_log`, and the sync of a synced write: the write is applied, then the call fails.
    Sync,
    /// `get`, `multi_get`, `cursor`, `view` and every move of a cursor.
    Read,
    /// `create_table`, `drop_table`, `truncate_table`.
    Catalogue,
    /// `flush` and `compact`.
    Flush,
    /// `resume`.
    Resume,
}

#[derive(Default)]
struct Plan {
    made: u64,
    fail_at: Option<(u64, EngineError)>,
    fails_for_good: bool,
    meanwhile: Option<(u64, Box<dyn FnOnce() + Send>)>,
}

/// Wraps an engine; see [`FailingEngine::fail`].
pub struct FailingEngine<E> {
    inner: E,
    plans: Mutex<BTreeMap<Call, Plan>>,
    condition: Mutex<Option<Condition>>,
    /// Held by [`FailingEngine::hold_writes`].
    log: RwLock<()>,
}

impl<E: Engine> FailingEngine<E> {
    /// Fails nothing yet.
    pub fn new(inner: E) -> FailingEngine<E> {
        FailingEngine {
            inner,
            plans: Mutex::new(BTreeMap::new()),
            condition: Mutex::new(None),
            log: RwLock::new(()),
        }
    }

    /// Lets `after` more calls of a kind succeed and fails the next one with `error`; and, if
    /// `for_good`, all that follow.
    pub fn fail(&self, call: Call, after: u64, error: EngineError, for_good: bool) {
        let mut plans = self.plans.lock();
        let plan = plans.entry(call).or_default();
        plan.fail_at = Some((plan.made + after, error));
        plan.fails_for_good = for_good;
    }

    /// Lets `after` more calls of a kind succeed and does something when the next one has begun, before it does its work.
    pub fn meanwhile(&self, call: Call, after: u64, act: impl FnOnce() + Send + 'static) {
        let mut plans = self.plans.lock();
        let plan = plans.entry(call).or_default();
        plan.meanwhile = Some((plan.made + after, Box::new(act)));
    }

    /// Fails nothing any more.
    pub fn heal(&self) {
        self.plans.lock().clear();
    }

    /// Says this of itself from now on; failures are told once.
    pub fn set_condition(&self, condition: Condition) {
        *self.condition.lock() = Some(condition);
    }

    /// Lets writes and flushes wait, as for a slow disk, until what this gives is dropped: they have begun and are not durable.
    pub fn hold_writes(&self) -> impl Drop + '_ {
        self.log.write()
    }

    /// How many calls of a kind were made since the start or the last [`FailingEngine::heal`].
    pub fn made(&self, call: Call) -> u64 {
        self.plans.lock().get(&call).map_or(0, |plan| plan.made)
    }

    /// The wrapped engine.
    pub fn inner(&self) -> &E {
        &self.inner
    }
}

fn check(plans: &Mutex<BTreeMap<Call, Plan>>, call: Call) -> Result<(), EngineError> {
    let mut plans = plans.lock();
    let plan = plans.entry(call).or_default();
    let number = plan.made;
    plan.made += 1;
    let outcome = match &plan.fail_at {
        Some((at, error)) if number == *at || (number > *at && plan.fails_for_good) => Err(error.clone()),
        _ => Ok(()),
    };
    let act = plan.meanwhile.take_if(|(at, _)| *at == number);
    drop(plans);
    if let Some((_, act)) = act {
        act();
    }
    outcome
}

impl<E: Engine> Reads for FailingEngine<E> {
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        check(&self.plans, Call::Read)?;
        self.inner.get(table, key, tier)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        check(&self.plans, Call::Read)?;
        self.inner.multi_get(table, keys, tier)
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        check(&self.plans, Call::Read)?;
        let inner = self.inner.cursor(table, options)?;
        Ok(Box::new(FailingCursor { inner, plans: &self.plans }))
    }
}

struct FailingView<'e> {
    inner: Box<dyn Reads + 'e>,
    plans: &'e Mutex<BTreeMap<Call, Plan>>,
}

impl Reads for FailingView<'_> {
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.get(table, key, tier)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.multi_get(table, keys, tier)
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        check(self.plans, Call::Read)?;
        let inner = self.inner.cursor(table, options)?;
        Ok(Box::new(FailingCursor { inner, plans: self.plans }))
    }
}

struct FailingCursor<'e> {
    inner: Box<dyn Cursor + 'e>,
    plans: &'e Mutex<BTreeMap<Call, Plan>>,
}

impl Cursor for FailingCursor<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.seek(key)
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.seek_for_prev(key)
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.next()
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        check(self.plans, Call::Read)?;
        self.inner.prev()
    }

    fn key(&self) -> &[u8] {
        self.inner.key()
    }

    fn value(&self) -> &[u8] {
        self.inner.value()
    }
}

impl<E: Engine> Engine for FailingEngine<E> {
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError> {
        check(&self.plans, Call::Write)?;
        let _log = self.log.read();
        self.inner.write(sets, options)?;
        match options.sync {
            Sync::None => Ok(()),
            Sync::Synced => check(&self.plans, Call::Sync),
        }
    }

    fn view(&self) -> Result<Box<dyn Reads + '_>, EngineError> {
        check(&self.plans, Call::Read)?;
        Ok(Box::new(FailingView { inner: self.inner.view()?, plans: &self.plans }))
    }

    fn create_table(&self, table: TableId) -> Result<(), EngineError> {
        check(&self.plans, Call::Catalogue)?;
        self.inner.create_table(table)
    }

    fn set_options(&self, table: TableId, options: &StorageOptions) -> Result<OptionsEffect, EngineError> {
        check(&self.plans, Call::Catalogue)?;
        self.inner.set_options(table, options)
    }

    fn drop_table(&self, table: TableId) -> Result<(), EngineError> {
        check(&self.plans, Call::Catalogue)?;
        self.inner.drop_table(table)
    }

    fn truncate_table(&self, table: TableId) -> Result<(), EngineError> {
        check(&self.plans, Call::Catalogue)?;
        self.inner.truncate_table(table)
    }

    fn may_have_heads(&self, table: TableId) -> bool {
        self.inner.may_have_heads(table)
    }

    fn expect_heads(&self, table: TableId) -> Result<(), EngineError> {
        check(&self.plans, Call::Catalogue)?;
        self.inner.expect_heads(table)
    }

    fn tables(&self) -> Result<Vec<TableInfo>, EngineError> {
        self.inner.tables()
    }

    fn sync_log(&self) -> Result<(), EngineError> {
        check(&self.plans, Call::Sync)?;
        self.inner.sync_log()
    }

    fn flush(&self, table: Option<TableId>) -> Result<(), EngineError> {
        check(&self.plans, Call::Flush)?;
        let _log = self.log.read();
        self.inner.flush(table)
    }

    fn compact(&self, table: TableId) -> Result<(), EngineError> {
        check(&self.plans, Call::Flush)?;
        self.inner.compact(table)
    }

    fn condition(&self) -> Result<Condition, EngineError> {
        match &mut *self.condition.lock() {
            Some(condition) => {
                let failures = std::mem::take(&mut condition.failures);
                Ok(Condition { failures, ..condition.clone() })
            }
            None => self.inner.condition(),
        }
    }

    fn resume(&self) -> Result<(), EngineError> {
        check(&self.plans, Call::Resume)?;
        self.inner.resume()
    }

    fn stats(&self, table: TableId) -> Result<TableStats, EngineError> {
        self.inner.stats(table)
    }

    fn close(&self) -> Result<(), EngineError> {
        self.inner.close()
    }
}
