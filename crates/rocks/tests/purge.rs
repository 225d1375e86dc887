//! Purges on RocksDB: nobody sees them, whatever is flushed, compacted, killed and opened again in between; and what
//! was purged leaves the files.

mod common;

use std::num::NonZeroU32;
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::checker::{self, Ground, Numbers};
use basalt_storage::engine::{Engine, StorageOptions};
use common::env;
use common::ground::Disk;

#[test]
fn nobody_sees_a_purge() {
    for seed in 0..40 {
        checker::run(seed, &mut Disk::new(), &env());
    }
}

/// A table whose windows end every now and then.
struct Windows {
    disk: Disk,
    now_s: i64,
}

impl Ground for Windows {
    fn open(&mut self) -> Arc<dyn Engine> {
        self.disk.open()
    }

    fn disturb(&mut self, table: TableId, numbers: &mut Numbers) {
        if numbers.below(3) == 0 {
            return self.disk.disturb(table, numbers);
        }
        let options = StorageOptions { window_s: NonZeroU32::new(60), ..StorageOptions::default() };
        let engine = self.disk.engine();
        engine.set_options(table, &options).expect("options");
        self.now_s += 60;
        engine.begin_window(table, self.now_s).expect("a window, or none");
    }
}

#[test]
fn nobody_sees_windows() {
    for seed in 0..12 {
        checker::run(seed, &mut Windows { disk: Disk::new(), now_s: 0 }, &env());
    }
}
