//! What the coordinator asks of a replica. `node` supplies the local one (over storage) and, with
//! the ring, the remote one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use basalt_model::command::ReadPage;
use basalt_model::schema::OptionsEffect;
use basalt_model::{Deadline, Mutation, ReadCommand, Table, TableId};
use tokio::sync::oneshot;

/// Why a replica did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReplicaError {
    /// Too much is queued: nothing was done.
    #[error("overloaded: {0}")]
    Overloaded(&'static str),
    /// The table is gone or was made anew since the plan was made.
    #[error("table {0:?} is not known here")]
    UnknownTable(TableId),
    /// The update is larger than a mutation may be; nothing was written.
    #[error("mutation of {bytes} bytes is larger than the limit of {limit_bytes}")]
    MutationTooLarge {
        /// Its size.
        bytes: usize,
        /// `max_mutation_size`.
        limit_bytes: usize,
    },
    /// The read met more tombstones than `tombstone_failure_threshold`.
    #[error("scanned over {scanned} tombstones")]
    TombstoneOverwhelming {
        /// Tombstones met.
        scanned: u32,
    },
    /// The deadline passed: what was asked may be done later, or never.
    #[error("timed out")]
    TimedOut,
    /// Storage failed; the text is for the log, not for clients.
    #[error("storage: {0}")]
    Storage(String),
    /// Its disk is full: nothing was written.
    #[error("the disk is full")]
    DiskFull,
    /// The replica is shutting down.
    #[error("shutting down")]
    Closed,
}

/// An answer that is often there at once: no allocation then.
pub enum Reply<T> {
    /// It is there.
    Ready(Option<Result<T, ReplicaError>>),
    /// Another thread or peer will send it.
    Pending(oneshot::Receiver<Result<T, ReplicaError>>),
}

impl<T> Reply<T> {
    /// An answer that is there.
    pub fn ready(result: Result<T, ReplicaError>) -> Reply<T> {
        Reply::Ready(Some(result))
    }
}

// Nothing inside is pinned: the receiver is Unpin and the value is moved out whole.
impl<T> Unpin for Reply<T> {}

impl<T> Future for Reply<T> {
    type Output = Result<T, ReplicaError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Reply::Ready(result) => Poll::Ready(result.take().unwrap_or(Err(ReplicaError::Closed))),
            Reply::Pending(receiver) => {
                let answer = ready!(Pin::new(receiver).poll(context));
                Poll::Ready(answer.unwrap_or(Err(ReplicaError::Closed)))
            }
        }
    }
}

/// What is done as soon as the engine has a change, on whichever thread gave it to it; dropped undone if it
/// fails. It must not wait.
pub type OnApplied = Box<dyn FnOnce() + Send>;

/// A node in its role for a token. Work that has not begun when its deadline passes is not begun:
/// the answer is [`ReplicaError::TimedOut`]. What has begun may go on, and its answer may come later.
pub trait Replica: Send + Sync {
    /// Applies all mutations as one atomic, durable step (as the configured sync mode defines
    /// durable). One mutation for a single statement; several for a logged batch on one node.
    fn apply(&self, mutations: Vec<Mutation>, deadline: Deadline) -> Reply<()>;

    /// Ends a turn of the calling thread: what it has begun to write and not written yet is written now. Says whether there
    /// was something.
    fn end_turn(&self) -> bool {
        false
    }

    /// As [`Replica::apply`]; `on_applied` is done though nobody waits for the answer any more.
    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()>;

    /// Live data for the command. A read that has begun ends soon after its deadline.
    fn read(&self, command: ReadCommand, deadline: Deadline) -> Reply<ReadPage>;

    /// Removes all data of the table written before this call; then `on_truncated`, though nobody waits.
    fn truncate(&self, table: TableId, deadline: Deadline, on_truncated: OnApplied) -> Reply<()>;
}

/// Where tables' data is kept on this node: made and removed with the tables, by the schema's keeper.
///
/// A schema change creates storage first and drops it last, so that a crash leaves storage without
/// a table (removed at the next start), never a table without storage.
pub trait TableStorage: Send + Sync {
    /// Makes storage for the tables, durable before the answer, and says of each when its options have their effect. Tables that
    /// have storage keep it.
    fn create(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>>;

    /// Gives storage of tables the options that they have now; says of each when they have their effect.
    fn set_options(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>>;

    /// The same for tables that are expected to stay small, as system tables are: storage that is
    /// quick to make matters more for them than storage of their own.
    fn create_small(&self, tables: Vec<TableId>) -> Reply<()>;

    /// Keeps the data of tables that are about to be dropped, where that is wished.
    fn keep_dropped(&self, tables: Vec<TableId>) -> Reply<()> {
        drop(tables);
        Reply::ready(Ok(()))
    }

    /// Removes the storage of the tables with all data. Tables without storage are passed over.
    fn remove(&self, tables: Vec<TableId>) -> Reply<()>;

    /// The tables that have storage; empty in a new data directory.
    fn existing(&self) -> Reply<Vec<TableId>>;
}
