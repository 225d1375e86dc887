//! Taking out what is dead for longer than `gc_grace_seconds`, and what deletions cover: our own background rewrite,
//! one partition after the other, with merge operands ([`PurgeEntry`]) that take effect wherever the engine folds them.
//!
//! Nothing that shadows may go before what it shadows. Below one key that is certain: a purge is folded after
//! everything that was written to the key before it. A deletion that shadows other keys (of a partition, a range, a
//! row with cells of its own, a collection) goes only after a walk over all it shadows, as of one moment, has taken
//! that out, and only if no data as old as the deletion has been written since that moment: [`Committer::watch`] says,
//! and is asked again for each decision. So it does not matter in which file or memtable anything is.
//!
//! A write that is older than a tombstone and comes after the tombstone has gone shows, in Cassandra as here: that is
//! what `gc_grace_seconds` are for. Knows no clock and no schedule; whoever calls has both.

mod pass;
mod range_tombstones;
mod windows;

use std::ops::ControlFlow;
use std::sync::Arc;

use basalt_model::Table;

use crate::commit::{CommitError, Committer};
use crate::engine::{CursorOptions, Engine, EngineError, ReadTier};
use crate::keys::split;
use crate::read::{InTable, ReadError};
use crate::write::Writer;
use pass::Pass;

pub use windows::{KnownWindows, Times};

/// What is taken out of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Expiring cells are dead from their expiry on.
    pub now_s: i64,
    /// Of the dead, what died before this goes: `now_s` without `gc_grace_seconds`.
    pub gc_before_s: i64,
    /// A call ends with the partition in which it has read so much.
    pub chunk_bytes: usize,
    /// Operands are written when they have grown to this.
    pub batch_bytes: usize,
}

impl Terms {
    /// Of a table with this `gc_grace_seconds`, in chunks that hold views for a moment only.
    pub fn new(now_s: i64, gc_grace_s: u32) -> Terms {
        let gc_before_s = now_s.saturating_sub(i64::from(gc_grace_s));
        Terms { now_s, gc_before_s, chunk_bytes: 16 << 20, batch_bytes: 256 << 10 }
    }
}

/// What a purge met and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeCounts {
    /// Rows read, static ones too.
    pub rows: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Entries that something was taken out of.
    pub purged: u64,
    /// Deletions old enough that stay, because data as old was written meanwhile.
    pub withheld: u64,
    /// When the first of what stays may go, seconds; nothing of it is mortal without.
    pub next_due_s: Option<i64>,
}

impl PurgeCounts {
    /// Adds what was met and done elsewhere.
    pub fn add(&mut self, other: PurgeCounts) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.purged += other.purged;
        self.withheld += other.withheld;
        if let Some(due_s) = other.next_due_s {
            self.stays_until(due_s);
        }
    }

    fn stays_until(&mut self, due_s: i64) {
        self.next_due_s = Some(self.next_due_s.map_or(due_s, |next| next.min(due_s)));
    }
}

/// How far a call came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where to go on; `None` at the end of the table.
    pub next: Option<Vec<u8>>,
    /// What was done.
    pub counts: PurgeCounts,
}

/// Why a purge ended early. What it has done stays done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PurgeError {
    /// The engine did not answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was to be taken out could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The table is not the one that was stored.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The caller wanted it.
    #[error("stopped")]
    Stopped,
}

/// Asked with the bytes read since it was asked last: whether to go on. It may wait.
pub type Pace<'p> = dyn FnMut(usize) -> ControlFlow<()> + 'p;

/// Purges tables of one engine.
pub struct Purger {
    engine: Arc<dyn Engine>,
    writer: Arc<Writer>,
    committer: Arc<Committer>,
}

impl Purger {
    /// Every write to the engine must go through this committer, every range tombstone through this writer.
    pub fn new(engine: Arc<dyn Engine>, writer: Arc<Writer>, committer: Arc<Committer>) -> Purger {
        Purger { engine, writer, committer }
    }

    /// Purges partitions of `table` from `from` on, an engine key (empty for the first). Not for a reactor.
    ///
    /// # Errors
    /// See [`PurgeError`].
    pub fn purge(
        &self,
        table: &Table,
        from: &[u8],
        terms: Terms,
        pace: &mut Pace<'_>,
    ) -> Result<Chunk, PurgeError> {
        let watch = self.committer.watch(table.id);
        // After the watch began: what is not in the view is noted there.
        let view = self.engine.view()?;
        let options = CursorOptions { tier: ReadTier::All, lower: from, upper: None, fills_cache: false };
        let mut cursor = view.cursor(table.id, options)?;
        let mut pass = Pass::new(self, table, terms, &watch, &*view, pace);
        let mut is_at = cursor.seek(from)?;
        while is_at {
            let partition = split(cursor.key()).in_table(table.id)?.partition.to_vec();
            if pass.counts.bytes >= terms.chunk_bytes as u64 {
                let counts = pass.end()?;
                return Ok(Chunk { next: Some(partition), counts });
            }
            is_at = pass.partition(&mut *cursor, &partition)?;
        }
        Ok(Chunk { next: None, counts: pass.end()? })
    }
}

#[cfg(test)]
mod tests;
