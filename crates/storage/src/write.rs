//! Mutations becoming write sets.
//!
//! Nearly every write is a merge operand and reads nothing: the rows, cells and deletions it
//! touches are not looked at, reads and compactions fold them. The exception is a range tombstone,
//! which is cut so that those of a partition stay disjoint: see [`range_tombstones`].

mod range_tombstones;
mod rows;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use basalt_model::key::PARTITION_KEY_MAX_BYTES;
use basalt_model::{ColumnId, Mutation, PartitionUpdate, TableId, Token};
use parking_lot::{Mutex, MutexGuard};

use crate::cells::HeadEntry;
use crate::engine::{Engine, EngineError, OpKind, WriteSet};
use crate::keys::{self, EntryKind, KeyError};

/// What one mutation may write where nothing else is said: 16 MiB.
pub const MAX_MUTATION_BYTES_DEFAULT: usize = 16 << 20;

/// Locks for writers of range tombstones; more than threads ever wait for them.
const STRIPES: usize = 256;

/// Why a mutation was not turned into a write set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It would write more than one mutation may.
    #[error("mutation of {bytes} bytes is larger than the limit of {limit_bytes}")]
    TooLarge {
        /// Bytes of keys and values it would write.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// A key or value does not fit its table: whoever made the mutation did not check it.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A cell of a column the table does not have.
    #[error("column {} is not known", .0.0)]
    UnknownColumn(ColumnId),
    /// The value of a counter that no node has counted, or that is none: whoever made the mutation did not
    /// turn it into what is stored (`CounterMutation`).
    #[error("a counter that is not counted")]
    Counter,
    /// What was read for a range tombstone could not be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Held while a write with range tombstones is on its way: until the engine has it.
#[must_use = "the write must have reached the engine before this is dropped"]
pub struct StripeGuards<'w>(#[allow(dead_code)] Vec<MutexGuard<'w, ()>>);

/// Turns mutations into write sets.
pub struct Writer {
    engine: Arc<dyn Engine>,
    stripes: Box<[Mutex<()>]>,
    max_mutation_bytes: usize,
}

impl Writer {
    /// For an engine; `max_mutation_bytes` bounds what one mutation writes, keys and values.
    pub fn new(engine: Arc<dyn Engine>, max_mutation_bytes: usize) -> Writer {
        let stripes = (0..STRIPES).map(|_| Mutex::new(())).collect();
        Writer { engine, stripes, max_mutation_bytes }
    }

    /// Whether writing these needs reads, a lock or a write before it, thus [`Writer::lock_and_encode`] on a thread that may
    /// wait: those with range tombstones, and the first of a table that deletes a partition.
    pub fn waits(&self, mutations: &[Mutation]) -> bool {
        let waits = |update: &PartitionUpdate| {
            !update.range_tombstones.is_empty()
                || (head_of(update) != HeadEntry::NONE && !self.engine.may_have_heads(update.table.id))
        };
        mutations.iter().flat_map(|mutation| &mutation.updates).any(waits)
    }

    /// Appends all mutations to one write set, without waiting. For those that [`Writer::waits`] answers `false` for; of others
    /// those without range tombstones, by whoever may wait.
    ///
    /// # Errors
    /// Nothing is to be written then.
    pub fn encode(&self, mutations: &[Mutation], set: &mut WriteSet) -> Result<(), WriteError> {
        debug_assert!(
            mutations.iter().flat_map(|m| &m.updates).all(|update| update.range_tombstones.is_empty())
        );
        self.encode_all(mutations, set)
    }

    /// Appends any mutations, reading what their range tombstones overlap. The guards must be
    /// kept until the engine has applied the set. May wait for locks and the disk.
    ///
    /// # Errors
    /// Nothing is to be written then.
    pub fn lock_and_encode(
        &self,
        mutations: &[Mutation],
        set: &mut WriteSet,
    ) -> Result<StripeGuards<'_>, WriteError> {
        let mut stripes: Vec<usize> = mutations
            .iter()
            .flat_map(|mutation| &mutation.updates)
            .filter(|update| !update.range_tombstones.is_empty())
            .map(stripe_of)
            .collect();
        // In order and each once, so that two writers never wait for each other.
        stripes.sort_unstable();
        stripes.dedup();
        let guards = StripeGuards(stripes.into_iter().map(|index| self.stripes[index].lock()).collect());
        self.encode_all(mutations, set)?;
        Ok(guards)
    }

    /// Keeps writers of range tombstones of a partition away. May wait for them.
    pub fn lock_partition(&self, table: TableId, token: Token) -> StripeGuards<'_> {
        StripeGuards(vec![self.stripes[stripe(table, token)].lock()])
    }

    fn encode_all(&self, mutations: &[Mutation], set: &mut WriteSet) -> Result<(), WriteError> {
        for mutation in mutations {
            let mut bytes = 0;
            for update in &mutation.updates {
                bytes += self.encode_update(update, set)?;
            }
            if bytes > self.max_mutation_bytes {
                return Err(WriteError::TooLarge { bytes, limit_bytes: self.max_mutation_bytes });
            }
        }
        Ok(())
    }

    /// Answers the bytes that count as the mutation's.
    fn encode_update(&self, update: &PartitionUpdate, set: &mut WriteSet) -> Result<usize, WriteError> {
        if update.key.key.len() > PARTITION_KEY_MAX_BYTES {
            return Err(KeyError::Malformed("a partition key is too long").into());
        }
        let mut prefix = Vec::with_capacity(8 + update.key.key.len() + 8);
        keys::append_partition(&update.key, &mut prefix);
        let table = update.table.id;

        let head = head_of(update);
        if head != HeadEntry::NONE {
            if !self.engine.may_have_heads(table) {
                self.engine.expect_heads(table)?;
            }
            set.append(
                OpKind::Merge,
                table,
                |key| {
                    key.extend_from_slice(&prefix);
                    key.push(EntryKind::Head as u8);
                },
                |value| head.encode(value),
            );
        }
        if head.has_range_tombstones {
            // What cutting older tombstones writes is not the client's doing and does not count.
            range_tombstones::append(&*self.engine, update, &prefix, set)?;
        }
        let start = set.bytes();
        rows::append(update, &prefix, set)?;
        Ok(set.bytes() - start)
    }
}

/// What the partition's head is told of an update.
fn head_of(update: &PartitionUpdate) -> HeadEntry {
    HeadEntry { deletion: update.deletion, has_range_tombstones: !update.range_tombstones.is_empty() }
}

fn stripe_of(update: &PartitionUpdate) -> usize {
    stripe(update.table.id, update.key.token)
}

fn stripe(table: TableId, token: Token) -> usize {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    hasher.hash_one((table, token)) as usize % STRIPES
}

#[cfg(test)]
mod tests;
