//! Which tables there are and where their entries lie: a map that is replaced whole, so that
//! requests look at it without a lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use basalt_model::TableId;
use basalt_storage::engine::{EngineError, StorageOptions};
use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::catalogue::{Place, Record};
use crate::family::Family;

/// A key as RocksDB sees it.
pub(crate) type StoredKey = SmallVec<[u8; 64]>;

/// Bytes of a table's number before each key in a shared family.
pub(crate) type Prefix = [u8; 4];

/// Where the entries of a past window are: a family of its own.
#[derive(Clone)]
pub(crate) struct Window {
    /// The family's number.
    pub(crate) number: u32,
    /// The family.
    pub(crate) family: Arc<Family>,
}

/// A table's family, and its prefix there.
#[derive(Clone)]
pub(crate) struct Home {
    /// Its record in the catalogue.
    pub(crate) record: Record,
    /// Where its entries are.
    pub(crate) family: Arc<Family>,
    /// What its keys begin with, if it shares the family.
    pub(crate) prefix: Option<Prefix>,
    /// What its family was asked for; the defaults if it shares it.
    pub(crate) options: StorageOptions,
    /// Whether its partitions may have heads: of all generations and windows of the table together.
    pub(crate) heads: Arc<AtomicBool>,
    /// When what is written now began, seconds; `None` if the table never had windows.
    pub(crate) began_s: Option<i64>,
    /// Past windows, youngest first: what they hold is older than what is in `family`. Tables that share have none.
    pub(crate) past: Vec<Window>,
}

impl Home {
    /// Bytes before each key.
    pub(crate) fn prefix(&self) -> &[u8] {
        self.prefix.as_ref().map_or(&[], |prefix| prefix.as_slice())
    }

    /// All families with entries of the table, the youngest first.
    pub(crate) fn families(&self) -> impl Iterator<Item = &Arc<Family>> {
        std::iter::once(&self.family).chain(self.past.iter().map(|window| &window.family))
    }

    /// The numbers of families that are the table's alone.
    pub(crate) fn own_numbers(&self) -> impl Iterator<Item = u32> {
        let own = match self.record.place {
            Place::Own(number) => Some(number),
            Place::Shared(_) => None,
        };
        own.into_iter().chain(self.past.iter().map(|window| window.number))
    }

    /// A key of the table as it is stored.
    pub(crate) fn stored(&self, key: &[u8]) -> StoredKey {
        let mut stored = StoredKey::from_slice(self.prefix());
        stored.extend_from_slice(key);
        stored
    }

    /// The first stored key beyond the table's; `None` when the family ends with it.
    pub(crate) fn end(&self) -> Option<Prefix> {
        let number = u32::from_be_bytes(self.prefix?);
        number.checked_add(1).map(u32::to_be_bytes)
    }
}

/// The tables at one moment.
#[derive(Clone, Default)]
pub(crate) struct TableMap {
    /// By id.
    pub(crate) homes: HashMap<TableId, Arc<Home>, RandomState>,
}

impl TableMap {
    /// Where a table is.
    pub(crate) fn home(&self, table: TableId) -> Result<&Arc<Home>, EngineError> {
        self.homes.get(&table).ok_or(EngineError::UnknownTable(table))
    }

    /// How many families are one table's alone.
    pub(crate) fn own_families(&self) -> usize {
        self.homes.values().map(|home| home.own_numbers().count()).sum()
    }
}
