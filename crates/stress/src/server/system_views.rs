//! What Cassandra tells of itself in the tables of `system_views`: requests that wait for a thread,
//! and compactions that are under way. Rows come from whoever holds a connection.

use std::net::SocketAddr;

use super::{Recorder, Source, Unit};
use crate::client::{Options, Session, Table};

/// Someone who asks the server a question in CQL.
pub trait Ask: Send {
    /// The rows of the answer.
    ///
    /// # Errors
    /// When there are none, in words for the user.
    fn rows(&mut self, statement: &str) -> Result<Table, String>;
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
    fn rows(&mut self, statement: &str) -> Result<Table, String> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::connect(self.address, &self.options).map_err(|error| error.to_string())?,
        };
        let rows = session.rows(statement).map_err(|error| error.to_string())?;
        self.session = Some(session);
        Ok(rows)
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
    //! What a Cassandra 5.0 answered under load, and rows that are others.
    use basalt_wire::{Opcode, ProtocolVersion, Response};

    use super::*;
    use crate::client::table;

    /// Its RESULT for [`THREAD_POOLS`], of two pools.
    const POOLS_ANSWER: &str = "\
        000000020000000100000004000c73797374656d5f7669657773000c7468726561645f706f6f6c7300046e616d65000d000c6163746976655f\
        7461736b730009000d70656e64696e675f7461736b730009000d626c6f636b65645f7461736b730002000000020000000b476f737369705374\
        616765000000040000000000000004000000000000000800000000000000000000000952656164537461676500000004000000030000000400\
        000001000000080000000000000000";

    /// Its RESULT for [`SSTABLE_TASKS`] during a compaction.
    const TASKS_ANSWER: &str = "\
        000000020000000100000003000c73797374656d5f7669657773000d73737461626c655f7461736b73000d6b657973706163655f6e616d6500\
        0d000870726f677265737300020005746f74616c0002000000010000000570726530370000000800000000000c6a0f00000008000000000308\
        dc40";

    fn recorded(hex: &str) -> Table {
        let digits = hex.as_bytes().chunks(2);
        let bytes: Vec<u8> =
            digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect();
        match Response::decode(Opcode::Result, ProtocolVersion::V4, bytes.into()).unwrap() {
            Response::Result(result) => table(&result).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    struct Recorded(Table, Table);

    impl Ask for Recorded {
        fn rows(&mut self, statement: &str) -> Result<Table, String> {
            Ok(if statement == THREAD_POOLS { self.0.clone() } else { self.1.clone() })
        }
    }

    #[test]
    fn pools_and_compactions_become_series() {
        let answers = Recorded(recorded(POOLS_ANSWER), recorded(TASKS_ANSWER));
        let mut views = SystemViews::new(answers, "127.0.0.1".into());
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
                ("ReadStage, active", 3.0),
                ("ReadStage, pending", 1.0),
                ("ReadStage, blocked", 0.0),
                ("compactions under way", 1.0),
                ("compactions, bytes left", 50_098_737.0),
            ]
        );
    }

    #[test]
    fn other_rows_are_refused() {
        let odd = vec![Some("ReadStage".into()), Some(vec![1].into()), None, None];
        for pools in [vec![vec![]], vec![odd]] {
            let mut views = SystemViews::new(Recorded(pools, Vec::new()), "x".into());
            assert!(views.sample(&mut Recorder::default()).is_err());
        }
    }
}
