//! Storage that costs nothing, for whoever wants to know what everything else costs (`tests/instructions`): a table that
//! was read once is not looked at again. Not for any other use.

use std::collections::HashMap;
use std::sync::Arc;

use basalt_coordinator::{OnApplied, Replica, Reply};
use basalt_model::command::ReadPage;
use basalt_model::{Deadline, Mutation, ReadCommand, TableId};
use foldhash::fast::RandomState;
use parking_lot::RwLock;

/// Gives every read of a user's table what the first one found there, and from then on keeps no writes to it.
pub struct Alike {
    replica: Arc<dyn Replica>,
    pages: RwLock<HashMap<TableId, ReadPage, RandomState>>,
}

impl Alike {
    /// In front of a replica that has something to find.
    pub fn new(replica: Arc<dyn Replica>) -> Alike {
        Alike { replica, pages: RwLock::default() }
    }

    fn keeps(&self, mutations: &[Mutation]) -> bool {
        let pages = self.pages.read();
        mutations
            .iter()
            .flat_map(|mutation| &mutation.updates)
            .any(|update| !pages.contains_key(&update.table.id))
    }
}

impl Replica for Alike {
    fn apply(&self, mutations: Vec<Mutation>, deadline: Deadline) -> Reply<()> {
        if self.keeps(&mutations) { self.replica.apply(mutations, deadline) } else { Reply::ready(Ok(())) }
    }

    fn end_turn(&self) -> bool {
        self.replica.end_turn()
    }

    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        self.replica.apply_then(mutations, deadline, on_applied)
    }

    fn read(&self, command: ReadCommand, deadline: Deadline) -> Reply<ReadPage> {
        let table = command.table.id;
        if let Some(page) = self.pages.read().get(&table) {
            return Reply::ready(Ok(page.clone()));
        }
        let is_of_a_user = !command.table.keyspace.starts_with("system");
        let reply = self.replica.read(command, deadline);
        if let Reply::Ready(Some(Ok(page))) = &reply
            && is_of_a_user
            && !page.partitions.is_empty()
        {
            self.pages.write().insert(table, page.clone());
        }
        reply
    }

    fn truncate(&self, table: TableId, deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        self.replica.truncate(table, deadline, on_truncated)
    }
}
