//! A disk that fails, waits or fills, up to what clients are told: a whole node over an engine that does so on demand.

mod common;

use std::sync::Arc;

use basalt_model::CqlError;
use basalt_model::env::SharedEnv;
use basalt_node::disk::{self, Disk, Verdict};
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::commit::Committer;
use basalt_storage::engine::failing::{Call, FailingEngine};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Condition, Engine, EngineError};
use basalt_wire::response::QueryResult;
use basalt_wire::{ProtocolVersion, Response};
use common::{Client, error_of, query, settings};

/// `ExceptionCode`s.
const SERVER_ERROR: i32 = 0x0000;
const TRUNCATE_ERROR: i32 = 0x1003;
const READ_FAILURE: i32 = 0x1300;
const WRITE_FAILURE: i32 = 0x1500;
const INVALID: i32 = 0x2200;

const FULL: &str = "Guardrail replica_disk_usage violated: Write request failed because disk usage exceeds failure threshold";

const INSERT: &str = "INSERT INTO ks.t (k, v) VALUES (1, 1)";
const SELECT: &str = "SELECT v FROM ks.t WHERE k = 1";
const SCAN: &str = "SELECT v FROM ks.t";

struct World {
    engine: Arc<FailingEngine<MemEngine>>,
    committer: Arc<Committer>,
    disk: Arc<Disk>,
    node: Node,
}

impl World {
    /// A node with tables.
    fn start(yaml: &str) -> World {
        let settings = settings(yaml);
        let env: SharedEnv = Arc::new(SystemEnv::new());
        let engine = Arc::new(FailingEngine::new(MemEngine::new()));
        let given: Arc<dyn Engine> = engine.clone();
        let storage = Storage::open(&settings, Arc::clone(&env), given).expect("storage");
        let (committer, disk) = (Arc::clone(&storage.committer), Arc::clone(&storage.disk));
        let bound = listener::bind(settings.listen, true).expect("a free port");
        let node = Node::start(&settings, env, storage, Some(bound)).expect("started");
        let world = World { engine, committer, disk, node };
        let mut client = world.client();
        for text in [
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "CREATE TABLE ks.t (k int PRIMARY KEY, v int)",
            "CREATE TABLE ks.counted (k int PRIMARY KEY, n counter)",
        ] {
            done(&mut client, text);
        }
        world
    }

    fn client(&self) -> Client {
        Client::ready(self.node.server.as_ref().expect("serves").address, ProtocolVersion::V5, None)
    }

    fn look(&self) {
        self.disk.look(&*self.engine, &self.committer, &disk::names(Vec::new));
    }

    fn verdict(&self) -> Verdict {
        *self.disk.verdict().borrow()
    }

    fn set_space(&self, available_bytes: u64) {
        self.engine.set_condition(Condition { available_bytes, reserve_bytes: 100, ..Condition::default() });
        self.look();
    }
}

fn done(client: &mut Client, text: &str) {
    let answer = client.call(query(text));
    if let Response::Error(error) = answer.decode().expect("decodes") {
        panic!("{text}: {error}");
    }
}

fn refused(client: &mut Client, text: &str) -> CqlError {
    error_of(&client.call(query(text)))
}

fn rows(client: &mut Client, text: &str) -> i32 {
    match client.call(query(text)).decode().expect("decodes") {
        Response::Result(QueryResult::Rows(rows)) => rows.row_count,
        other => panic!("{text}: {other:?}"),
    }
}

fn io() -> EngineError {
    EngineError::Io { detail: "no disk".to_owned() }
}

fn out_of_space() -> EngineError {
    EngineError::OutOfSpace { detail: "No space left on device".to_owned() }
}

fn corruption() -> EngineError {
    EngineError::Corruption { table: None, detail: "block checksum mismatch in /d/000007.sst".to_owned() }
}

const WRITES: [&str; 5] = [
    INSERT,
    "DELETE FROM ks.t WHERE k = 1",
    "INSERT INTO ks.t (k, v) VALUES (7, 7) IF NOT EXISTS",
    "BEGIN BATCH INSERT INTO ks.t (k, v) VALUES (1, 1); INSERT INTO ks.t (k, v) VALUES (2, 2); APPLY BATCH",
    "UPDATE ks.counted SET n = n + 1 WHERE k = 1",
];

/// After a sync has failed nothing is acknowledged, in every mode, whatever is healed; reads go on.
#[test]
fn after_a_failed_sync_every_write_fails_and_reads_go_on() {
    for mode in [
        "commitlog_sync: batch",
        "commitlog_sync: group\ncommitlog_sync_group_window: 1ms",
        "commitlog_sync: periodic\ncommitlog_sync_period: 1ms\nperiodic_commitlog_sync_lag_block: 1h",
    ] {
        let world = World::start(&format!("{mode}\ncommit_failure_policy: stop_commit\n"));
        let mut client = world.client();
        done(&mut client, INSERT);
        world.engine.fail(Call::Sync, 0, io(), false);
        let error = loop {
            // In `periodic` the sync comes a moment later.
            if let Response::Error(error) = client.call(query(INSERT)).decode().expect("decodes") {
                break error;
            }
        };
        assert_eq!(error.code(), WRITE_FAILURE, "{mode}: {error}");
        assert!(
            error.to_string().starts_with("Operation failed - received 0 responses and 1 failures"),
            "{error}"
        );
        world.engine.heal();
        for text in WRITES {
            assert_eq!(refused(&mut client, text).code(), WRITE_FAILURE, "{mode}: {text}");
        }
        world.look();
        assert_eq!(refused(&mut client, INSERT).code(), WRITE_FAILURE, "{mode}: for good");
        assert_eq!(rows(&mut client, SELECT), 1);
        assert_eq!(rows(&mut client, SCAN), 1, "nothing else was written");
        assert_eq!(world.verdict(), Verdict::GoOn);
        world.node.drain().expect_err("not everything is durable, and that is said");
    }
}

#[test]
fn a_failed_read_is_a_read_failure_and_passes() {
    for error in [io(), corruption()] {
        let world = World::start("disk_failure_policy: ignore\n");
        let mut client = world.client();
        done(&mut client, INSERT);
        for text in [SELECT, SCAN] {
            world.engine.fail(Call::Read, 0, error.clone(), false);
            assert_eq!(refused(&mut client, text).code(), READ_FAILURE, "{text}");
            assert_eq!(rows(&mut client, text), 1);
        }
        assert_eq!(world.verdict(), Verdict::GoOn);
        world.node.drain().expect("all is well");
    }
}

#[test]
fn failed_changes_of_tables_are_said() {
    let world = World::start("disk_failure_policy: ignore\n");
    let mut client = world.client();
    done(&mut client, INSERT);
    for (text, code) in
        [("TRUNCATE ks.t", TRUNCATE_ERROR), ("CREATE TABLE ks.new (k int PRIMARY KEY)", SERVER_ERROR)]
    {
        world.engine.fail(Call::Catalogue, 0, io(), false);
        assert_eq!(refused(&mut client, text).code(), code, "{text}");
    }
    assert_eq!(rows(&mut client, SELECT), 1);
    assert_eq!(refused(&mut client, "SELECT * FROM ks.new").code(), INVALID, "it was not made");
    world.node.drain().expect("all is well");
}

/// A write that has begun and is not durable is not there for anybody, and nobody is told that it is.
#[test]
fn nothing_is_readable_before_it_is_durable() {
    for mode in ["commitlog_sync: batch", "commitlog_sync: group\ncommitlog_sync_group_window: 1ms"] {
        let world = World::start(mode);
        let (mut writer, mut reader) = (world.client(), world.client());
        let before = world.engine.made(Call::Write);
        let held = world.engine.hold_writes();
        let stream = writer.send(&query(INSERT));
        while world.engine.made(Call::Write) == before {
            std::thread::yield_now();
        }
        for text in [SELECT, SCAN] {
            assert_eq!(rows(&mut reader, text), 0, "{mode}: read before it was durable");
        }
        drop(held);
        let answer = writer.receive().expect("an answer");
        assert_eq!(answer.stream, stream);
        assert!(!matches!(answer.decode(), Ok(Response::Error(_))));
        assert_eq!(rows(&mut reader, SELECT), 1, "{mode}");
        drop((writer, reader));
        world.node.drain().expect("all is well");
    }
}

#[test]
fn a_disk_that_fills_refuses_writes_early_and_takes_them_when_there_is_space() {
    let world = World::start("auto_snapshot: false\n");
    let mut client = world.client();
    done(&mut client, INSERT);
    world.set_space(99);
    let writes = world.engine.made(Call::Write);
    for text in WRITES {
        let error = refused(&mut client, text);
        assert_eq!((error.code(), error.to_string().as_str()), (INVALID, FULL), "{text}");
    }
    assert_eq!(world.engine.made(Call::Write), writes, "the engine is not even asked");
    assert_eq!(rows(&mut client, SELECT), 1, "reads go on");
    // What frees space is done.
    done(&mut client, "TRUNCATE ks.t");
    done(&mut client, "DROP TABLE ks.counted");
    assert_eq!(rows(&mut client, SCAN), 0);
    world.set_space(110);
    assert_eq!(refused(&mut client, INSERT).code(), INVALID, "some more than the reserve");
    world.set_space(125);
    done(&mut client, INSERT);
    assert_eq!(rows(&mut client, SELECT), 1);
    assert_eq!(world.verdict(), Verdict::GoOn);
    world.node.drain().expect("all is well");
}

/// Who starts on a full disk does not begin by filling it.
#[test]
fn a_disk_that_is_full_at_the_start_is_known_to_be() {
    let settings = settings("auto_snapshot: false\n");
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    engine.set_condition(Condition { available_bytes: 99, reserve_bytes: 100, ..Condition::default() });
    let storage = Storage::open(&settings, Arc::clone(&env), engine).expect("storage");
    let disk = Arc::clone(&storage.disk);
    let node = Node::start(&settings, env, storage, None).expect("started");
    assert!(disk.is_full(), "before anybody is served");
    node.drain().expect("all is well");
}

/// An engine in memory has no files to link: every snapshot fails.
#[test]
fn what_cannot_be_kept_is_not_removed() {
    let world = World::start("disk_failure_policy: ignore\n");
    let mut client = world.client();
    done(&mut client, INSERT);
    assert_eq!(refused(&mut client, "TRUNCATE ks.t").code(), TRUNCATE_ERROR);
    assert_eq!(refused(&mut client, "DROP TABLE ks.t").code(), SERVER_ERROR);
    assert_eq!(refused(&mut client, "DROP KEYSPACE ks").code(), SERVER_ERROR);
    assert_eq!(rows(&mut client, SELECT), 1, "it is all there");
    done(&mut client, "ALTER TABLE ks.t WITH allow_auto_snapshot = false");
    done(&mut client, "TRUNCATE ks.t");
    assert_eq!(rows(&mut client, SCAN), 0);
    world.node.drain().expect("all is well");
}

#[test]
fn a_log_that_met_a_full_disk_goes_on_when_there_is_space() {
    for mode in ["commitlog_sync: batch", "commitlog_sync: periodic\ncommitlog_sync_period: 10s"] {
        let world = World::start(&format!("{mode}\ncommit_failure_policy: die\ndisk_failure_policy: die\n"));
        let mut client = world.client();
        done(&mut client, INSERT);
        world.engine.fail(Call::Write, 0, out_of_space(), true);
        world.engine.fail(Call::Resume, 0, out_of_space(), true);
        for _ in 0..2 {
            for text in WRITES {
                assert_eq!(refused(&mut client, text).code(), WRITE_FAILURE, "{mode}: {text}");
            }
            world.look();
        }
        assert_eq!(rows(&mut client, SELECT), 1, "reads go on");
        world.engine.heal();
        assert_eq!(
            refused(&mut client, INSERT).code(),
            WRITE_FAILURE,
            "{mode}: not before the engine has resumed"
        );
        world.look();
        for text in WRITES {
            done(&mut client, text);
        }
        assert_eq!(rows(&mut client, SCAN), 3, "{mode}");
        assert_eq!(world.verdict(), Verdict::GoOn, "a full disk is no failure");
        world.node.drain().expect("all is well");
    }
}

/// Requests that come in one frame write in one step, and all of them are told how it ended.
#[test]
fn what_comes_together_is_written_together() {
    let world = World::start("commitlog_sync: periodic\ncommitlog_sync_period: 1h\n");
    let mut client = world.client();
    let insert = query("INSERT INTO ks.t (k, v) VALUES (1, 1)");
    let conditional = query("INSERT INTO ks.t (k, v) VALUES (2, 2) IF NOT EXISTS");
    let together = [&insert, &insert, &conditional, &insert];
    let before = world.engine.made(Call::Write);
    client.send_all(&together);
    for _ in together {
        let answer = client.receive().expect("an answer").decode().expect("decodes");
        assert!(matches!(answer, Response::Result(_)), "{answer:?}");
    }
    // What looks before it writes may be a step of its own.
    let writes = world.engine.made(Call::Write) - before;
    assert!((1..=2).contains(&writes), "{writes} writes");
    assert_eq!(rows(&mut client, SCAN), 2);

    world.engine.fail(Call::Write, 0, io(), true);
    client.send_all(&[&insert, &insert]);
    for _ in 0..2 {
        assert_eq!(error_of(&client.receive().expect("an answer")).code(), WRITE_FAILURE);
    }
}
