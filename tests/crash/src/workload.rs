//! Writers with a model: each keeps what must be there, writes, and knows which one request was in flight when the
//! node went away. Afterwards everything is read back and compared.
//!
//! A writer waits for each answer, so exactly one of its requests can be in doubt. Keys are a writer's own.

mod check;
mod counting;
mod ddl;
mod model;
mod truncating;
mod writer;

pub use check::{Checked, check};
pub use counting::{Counting, check_counters, create_counter_tables};
pub use ddl::Schemer;
pub use model::{Content, Op};
pub use truncating::Truncating;
pub use writer::Writer;

use basalt_model::CqlError;

use crate::client::{CallError, Client};

/// The keyspace of all tables here.
pub const KEYSPACE: &str = "crash";

/// The tables of the writers.
const TABLES: [&str; 5] = [
    "CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE crash.wide (p text, c int, s text STATIC, v text, tags set<text>, attrs map<text, int>, \
     items list<int>, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC) AND gc_grace_seconds = 0",
    "CREATE TABLE crash.narrow (k text PRIMARY KEY, v blob)",
    "CREATE TABLE crash.batch_a (id text PRIMARY KEY, v text) WITH gc_grace_seconds = 0",
    "CREATE TABLE crash.batch_b (id text, part int, v text, PRIMARY KEY (id, part))",
];

/// Makes the tables.
///
/// # Panics
/// When the node refuses.
pub fn create_tables(client: &mut Client) {
    for statement in TABLES {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
}

/// How a request ended.
enum Ended {
    /// It was applied.
    Acknowledged,
    /// The connection ended before the answer: it may have been applied.
    InDoubt,
    /// The node drains: it was not applied, and nothing else will be.
    TurnedAway,
}

/// What an answer says.
///
/// # Panics
/// When the node refused, broke the protocol, or did not answer.
fn ended<T>(what: &dyn std::fmt::Debug, answer: Result<T, CallError>) -> Ended {
    match answer {
        Ok(_) => Ended::Acknowledged,
        Err(CallError::Lost(_)) => Ended::InDoubt,
        Err(CallError::Refused(error)) if matches!(*error, CqlError::Overloaded(_)) => {
            assert_eq!(error.to_string(), "Server is shutting down", "{what:?}");
            Ended::TurnedAway
        }
        Err(error) => panic!("{what:?}: {error:?}"),
    }
}
