//! A workload's keyspaces and tables: made, removed; and what the server says of itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use basalt_wire::response::QueryResult;

use crate::client::{Error, Options, Session};
use crate::workload::Workload;

/// Makes keyspaces and tables that are not there.
///
/// # Errors
/// When the node refuses.
pub fn create(address: SocketAddr, options: &Options, workload: &dyn Workload) -> Result<(), Error> {
    let mut session = Session::connect(address, options)?;
    workload.schema().iter().try_for_each(|statement| session.query(statement).map(|_| ()))
}

/// Removes the keyspaces that the workload makes, with all that is in them.
///
/// # Errors
/// When the node refuses.
pub fn remove(address: SocketAddr, options: &Options, workload: &dyn Workload) -> Result<(), Error> {
    let mut session = Session::connect(address, options)?;
    for keyspace in workload.schema().iter().filter_map(|statement| keyspace_of(statement)) {
        session.query(&format!("DROP KEYSPACE IF EXISTS {keyspace}"))?;
    }
    Ok(())
}

/// The keyspace that a statement creates.
fn keyspace_of(statement: &str) -> Option<&str> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    if !is(0, "create") || !is(1, "keyspace") {
        return None;
    }
    let at = if is(2, "if") && is(3, "not") && is(4, "exists") { 5 } else { 2 };
    words.get(at).copied()
}

/// What the server says of itself, by the names of `system.local`.
///
/// # Errors
/// When the connection fails; a server that does not answer the question says nothing.
pub fn server_facts(address: SocketAddr, options: &Options) -> Result<BTreeMap<String, String>, Error> {
    const NAMES: [&str; 5] =
        ["release_version", "cluster_name", "data_center", "partitioner", "native_protocol_version"];
    let mut session = Session::connect(address, options)?;
    let query = format!("SELECT {} FROM system.local", NAMES.join(", "));
    let Ok(QueryResult::Rows(rows)) = session.query(&query) else { return Ok(BTreeMap::new()) };
    let cells = rows.cells().map_while(Result::ok);
    Ok(NAMES
        .iter()
        .zip(cells)
        .filter_map(|(name, cell)| Some(((*name).to_owned(), String::from_utf8_lossy(&cell?).into_owned())))
        .collect())
}

#[cfg(test)]
mod tests {
    //! Statements as workloads write them.
    use super::*;

    #[test]
    fn the_keyspace_of_a_statement_is_found() {
        assert_eq!(keyspace_of("CREATE KEYSPACE IF NOT EXISTS apm WITH replication = {}"), Some("apm"));
        assert_eq!(keyspace_of("create keyspace \"A\" with x"), Some("\"A\""));
        assert_eq!(keyspace_of("CREATE TABLE apm.t (k int PRIMARY KEY)"), None);
    }
}
