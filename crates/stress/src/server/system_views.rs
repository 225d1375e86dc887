//! What Cassandra tells of itself in the tables of `system_views`: requests that wait for a thread,
//! and compactions that are under way. Rows come from whoever holds a connection.

use std::net::SocketAddr;

use basalt_wire::response::QueryResult;

use super::{Recorder, Source, Unit};
use crate::client::{Options, Session};

/// Rows of an answer: the values of the columns asked for, as the wire carries them.
pub type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// Someone who asks the server a question in CQL.
pub trait Ask: Send {
    /// The rows of the answer.
    ///
    /// # Errors
    /// When there are none, in words for the user.
    fn rows(&mut self, statement: &str) -> Result<Rows, String>;
}

/// Thread pools, asked for once a look.
pub const THREAD_POOLS: &str =
    "SELECT name, active_tasks, pending_tasks, blocked_tasks FROM system_views.thread_pools";

/// Compactions and the like under way.
pub const SSTABLE_TASKS: &str = "SELECT keyspace_name, progress, total FROM system_views.sstable_tasks";

/// Pools whose waiting requests users feel.
const POOLS: [&str; 5] =
    ["ReadStage", "MutationStage", "Native-Transport-Requests", "CompactionExecutor", "MemtableFlushWriter"];

/// A connection of one's own to a node, made when it is first needed and anew after it broke.
pub struct Asker {
    address: SocketAddr,
    options: Options,
    session: Option<Session>,
}

impl Asker {
    /// One that connects to this node.
    pub fn new(address: SocketAddr, options: Options) -> Asker {
        Asker { address, options, session: None }
    }
}

impl Ask for Asker {
    fn rows(&mut self, statement: &str) -> Result<Rows, String> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::connect(self.address, &self.options).map_err(|error| error.to_string())?,
        };
        let answer = session.query(statement).map_err(|error| error.to_string())?;
        self.session = Some(session);
        let QueryResult::Rows(rows) = answer else { return Err("the answer has no rows".to_owned()) };
        let columns = usize::try_from(rows.metadata.column_count).unwrap_or(0).max(1);
        let cells: Result<Vec<_>, _> = rows.cells().collect();
        let cells = cells.map_err(|error| error.to_string())?;
        let row = |row: &[Option<bytes::Bytes>]| {
            row.iter().map(|cell| cell.as_ref().map(|cell| cell.to_vec())).collect()
        };
        Ok(cells.chunks(columns).map(row).collect())
    }
}

/// The tables of one node.
pub struct SystemViews<A> {
    ask: A,
    node: String,
}

impl<A: Ask> SystemViews<A> {
    /// Those of the node that `ask` is connected to, with its name for the report.
    pub fn new(ask: A, node: String) -> SystemViews<A> {
        SystemViews { ask, node }
    }
}

impl<A: Ask> Source for SystemViews<A> {
    fn name(&self) -> String {
        format!("system_views of {}", self.node)
    }

    fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        for row in self.ask.rows(THREAD_POOLS)? {
            let [Some(name), active, pending, blocked] = row.as_slice() else {
                return Err("thread_pools has other columns than Cassandra's".to_owned());
            };
            let name = String::from_utf8_lossy(name);
            if !POOLS.contains(&name.as_ref()) {
                continue;
            }
            for (value, what) in [(active, "active"), (pending, "pending"), (blocked, "blocked")] {
                let value = number(value.as_deref()).ok_or("thread_pools has a value that is no number")?;
                recorder.gauge(&format!("{name}, {what}"), Unit::Count, value);
            }
        }
        let tasks = self.ask.rows(SSTABLE_TASKS)?;
        let mut left = 0.0;
        for row in &tasks {
            let [_, progress, total] = row.as_slice() else {
                return Err("sstable_tasks has other columns than Cassandra's".to_owned());
            };
            let (done, all) = (number(progress.as_deref()), number(total.as_deref()));
            left += all.zip(done).map_or(0.0, |(all, done)| (all - done).max(0.0));
        }
        recorder.gauge("compactions under way", Unit::Count, tasks.len() as f64);
        recorder.gauge("compactions, bytes left", Unit::Bytes, left);
        Ok(())
    }
}

/// An `int` or a `bigint`.
fn number(value: Option<&[u8]>) -> Option<f64> {
    let value = value?;
    match value.len() {
        4 => Some(f64::from(i32::from_be_bytes(value.try_into().ok()?))),
        8 => Some(i64::from_be_bytes(value.try_into().ok()?) as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    //! Rows of the types that Cassandra 5.0 gives these columns, and rows that are others.
    use super::*;

    struct Recorded(Rows, Rows);

    impl Ask for Recorded {
        fn rows(&mut self, statement: &str) -> Result<Rows, String> {
            Ok(if statement == THREAD_POOLS { self.0.clone() } else { self.1.clone() })
        }
    }

    /// `name text, active_tasks int, pending_tasks int, blocked_tasks bigint`.
    fn pool(name: &str, active: i32, pending: i32, blocked: i64) -> Vec<Option<Vec<u8>>> {
        vec![
            Some(name.into()),
            Some(active.to_be_bytes().into()),
            Some(pending.to_be_bytes().into()),
            Some(blocked.to_be_bytes().into()),
        ]
    }

    #[test]
    fn pools_and_compactions_become_series() {
        let pools = vec![pool("ReadStage", 32, 7, 0), pool("GossipStage", 1, 9, 0)];
        let bytes = |value: i64| Some(value.to_be_bytes().to_vec());
        let tasks = vec![
            vec![Some(b"apm".to_vec()), bytes(10), bytes(100)],
            vec![Some(b"apm".to_vec()), bytes(5), bytes(5)],
        ];
        let mut views = SystemViews::new(Recorded(pools, tasks), "127.0.0.1".into());
        let mut recorder = Recorder::default();
        views.sample(&mut recorder).unwrap();
        let told: Vec<(String, f64)> = recorder
            .into_samples()
            .series
            .into_iter()
            .map(|series| (series.name, series.points[0].1))
            .collect();
        let told: Vec<(&str, f64)> = told.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(
            told,
            [
                ("ReadStage, active", 32.0),
                ("ReadStage, pending", 7.0),
                ("ReadStage, blocked", 0.0),
                ("compactions under way", 2.0),
                ("compactions, bytes left", 90.0),
            ]
        );
    }

    #[test]
    fn other_rows_are_refused() {
        let odd = vec![Some(b"ReadStage".to_vec()), Some(vec![1]), None, None];
        for pools in [vec![vec![]], vec![odd]] {
            let mut views = SystemViews::new(Recorded(pools, Vec::new()), "x".into());
            assert!(views.sample(&mut Recorder::default()).is_err());
        }
    }
}
