//! Who wants to know how long reads and writes take, whether they succeed or not. Knows no histogram.

use basalt_model::{Mutation, TableId};
use smallvec::SmallVec;

/// Told of each read and write that has ended.
pub trait Observer: Send + Sync {
    /// A clock reading to begin with, nanoseconds.
    fn begin(&self) -> u64;

    /// A read of one page has ended.
    fn read(&self, table: TableId, is_range: bool, began_nanos: u64);

    /// A write to these tables has ended.
    fn wrote(&self, tables: &[TableId], began_nanos: u64);
}

/// Tables; mostly one.
pub type TableIds = SmallVec<[TableId; 2]>;

/// The tables that mutations write to, each once.
pub fn tables_of(mutations: &[Mutation]) -> TableIds {
    let mut tables = TableIds::new();
    for update in mutations.iter().flat_map(|mutation| &mutation.updates) {
        if tables.last() != Some(&update.table.id) {
            tables.push(update.table.id);
        }
    }
    if tables.len() > 1 {
        tables.sort_unstable();
        tables.dedup();
    }
    tables
}
