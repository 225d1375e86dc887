//! What the requests of one turn of a reactor write, gathered to be written in one step: one record of the log, one call
//! of the system, instead of one for each. Knows no mutation and no committer.

use std::cell::{Cell, RefCell};

use basalt_storage::commit::OnCommitted;
use basalt_storage::engine::WriteSet;

/// Write sets, and whom to tell what became of each.
pub type Gathered = Vec<(WriteSet, OnCommitted)>;

thread_local! {
    /// What this reactor has gathered; `None` on threads that have no turns.
    static GATHERED: RefCell<Option<Gathered>> = const { RefCell::new(None) };
    /// Whether more requests are to be polled in this turn.
    static HAS_MORE: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread one that has turns: it ends each with [`take`].
pub fn enter_reactor() {
    GATHERED.set(Some(Vec::new()));
}

/// Says whether more requests are to be polled in this turn: a write that is alone need not wait for its end.
pub fn has_more(has_more: bool) {
    HAS_MORE.set(has_more);
}

/// Keeps a write set until the end of the turn and takes it out of `set`; `false` where there are no turns, or nothing would
/// join it.
pub fn gather(set: &mut WriteSet, on_committed: impl FnOnce() -> OnCommitted) -> bool {
    GATHERED.with_borrow_mut(|gathered| {
        let Some(gathered) = gathered else { return false };
        if gathered.is_empty() && !HAS_MORE.get() {
            return false;
        }
        gathered.push((std::mem::take(set), on_committed()));
        true
    })
}

/// What was gathered.
pub fn take() -> Gathered {
    GATHERED.with_borrow_mut(|gathered| gathered.as_mut().map(std::mem::take).unwrap_or_default())
}
