//! Where every write set passes on its way into the engine: whoever purges a table learns here how old the data is
//! that is written meanwhile. Knows write times and tables, nothing of what is purged.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arc_swap::{ArcSwap, Guard};
use basalt_model::TableId;
use parking_lot::{Mutex, MutexGuard};

use crate::engine::WriteSet;

/// The time from the beginning of one watch to that of the next.
struct Epoch {
    table: Option<TableId>,
    /// The oldest write time that has passed for the table.
    oldest: AtomicI64,
    /// Dropped with the epoch, by whoever is the last to be within: that wakes who waits for it.
    _inside: SyncSender<()>,
}

impl Epoch {
    fn new(table: Option<TableId>) -> (Arc<Epoch>, Receiver<()>) {
        let (inside, all_gone) = sync_channel(1);
        (Arc::new(Epoch { table, oldest: AtomicI64::new(i64::MAX), _inside: inside }), all_gone)
    }
}

/// The gate of one committer.
pub struct Gate {
    current: ArcSwap<Epoch>,
    /// Ends when nobody is in the current epoch any more. Locked while a table is watched: one at a time.
    all_gone: Mutex<Receiver<()>>,
}

impl Default for Gate {
    fn default() -> Self {
        let (epoch, all_gone) = Epoch::new(None);
        Gate { current: ArcSwap::new(epoch), all_gone: Mutex::new(all_gone) }
    }
}

/// Held while write sets are on their way: until the engine has them.
#[must_use = "the write must have reached the engine before this is dropped"]
pub struct Passage(#[allow(dead_code)] Guard<Arc<Epoch>>);

impl Gate {
    /// Lets write sets in.
    pub fn enter<'s>(&self, sets: impl IntoIterator<Item = &'s WriteSet>) -> Passage {
        let epoch = self.current.load();
        if let Some(table) = epoch.table {
            for oldest in sets.into_iter().filter_map(|set| set.oldest_data(table)) {
                // Times mostly grow: then nobody writes here, and cores do not take the line from each other.
                if oldest < epoch.oldest.load(Ordering::SeqCst) {
                    epoch.oldest.fetch_min(oldest, Ordering::SeqCst);
                }
            }
        }
        Passage(epoch)
    }

    /// Begins to watch a table. When this returns, every write that is not in the engine yet will be noted. Waits for
    /// those on their way, and for another watch to end.
    pub fn watch(&self, table: TableId) -> Watch<'_> {
        let mut all_gone = self.all_gone.lock();
        let (epoch, gone) = Epoch::new(Some(table));
        let before = self.current.swap(Arc::clone(&epoch));
        drop(before);
        // Nothing is ever sent: this ends when the last of those inside drops the sender.
        let _ = all_gone.recv();
        *all_gone = gone;
        Watch { epoch, _one_at_a_time: all_gone }
    }
}

/// A table being watched. Dropping it lets another watch begin.
pub struct Watch<'g> {
    epoch: Arc<Epoch>,
    _one_at_a_time: MutexGuard<'g, Receiver<()>>,
}

impl Watch<'_> {
    /// The oldest write time of data for the table since the watch began; `i64::MAX` for none.
    pub fn oldest(&self) -> i64 {
        self.epoch.oldest.load(Ordering::SeqCst)
    }
}
