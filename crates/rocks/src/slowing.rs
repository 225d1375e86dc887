//! Writes that are slowed for what waits to be flushed and compacted. By which rule: [`crate::pace`]; what is due is asked of RocksDB here.

use basalt_storage::engine::EngineError;
use rocksdb::properties::{self, PropName};

use crate::engine::RocksEngine;
use crate::family::Family;
use crate::family_options;
use crate::pace::Owed;
use crate::table_map::{Home, TableMap};

impl RocksEngine {
    /// Lets a write of so many bytes in, or has it wait.
    ///
    /// # Errors
    /// `WouldStall`: it would have to wait, and may not.
    pub(crate) fn keep_pace(
        &self,
        tables: &TableMap,
        bytes: usize,
        may_wait: bool,
    ) -> Result<(), EngineError> {
        let pace = &self.kit().pace;
        if self.events().take_debt_changed() {
            let own = tables.homes.values().filter(|home| home.prefix.is_none());
            pace.look(own.map(|home| self.owed_by_table(home)).chain([self.owed_by(self.shared())]));
        }
        match pace.admit(bytes as u64, self.memtable_bytes(), may_wait) {
            true => Ok(()),
            false => Err(EngineError::WouldStall),
        }
    }

    /// How far writes are slowed, 0 to 1 and a little more.
    pub(crate) fn brake(&self) -> f64 {
        self.kit().pace.brake(self.memtable_bytes())
    }

    fn memtable_bytes(&self) -> u64 {
        self.kit().memtables.get_usage() as u64
    }

    fn owed_by_table(&self, home: &Home) -> Owed {
        let owed = self.owed_by(&home.family);
        match home.options.is_compacting {
            true => Owed { trigger: u64::from(family_options::trigger(&home.options)), ..owed },
            // Nobody would ever pay it.
            false => Owed { active_bytes: owed.active_bytes, ..Owed::default() },
        }
    }

    /// Asks a family, which takes RocksDB's lock for a moment.
    fn owed_by(&self, family: &Family) -> Owed {
        let number = |property: &PropName| {
            self.db().property_int_value_cf(family.handle(), property).ok().flatten().unwrap_or(0)
        };
        let files = self.db().property_value_cf(family.handle(), properties::num_files_at_level(0));
        Owed {
            active_bytes: number(properties::CUR_SIZE_ACTIVE_MEM_TABLE),
            runs: files.ok().flatten().and_then(|files| files.parse().ok()).unwrap_or(0),
            trigger: u64::from(family_options::LEVELED_TRIGGER),
            pending_bytes: number(properties::ESTIMATE_PENDING_COMPACTION_BYTES),
        }
    }
}
