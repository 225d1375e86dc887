//! Many clients increment the same counters at once: no increment is lost, none is counted twice, whatever the
//! log's mode, with counts remembered or read each time, from memory or over the pool.

mod common;

use std::sync::Arc;
use std::thread;

use basalt_model::TableId;
use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{
    Cursor, CursorOptions, Engine, EngineError, ReadTier, Reads, TableInfo, TableStats, Values, WriteOptions,
    WriteSet,
};
use basalt_wire::response::QueryResult;
use basalt_wire::{ProtocolVersion, Response};
use bytes::Bytes;
use common::{Client, query, settings};

const CLIENTS: i64 = 8;
const WAVES: i64 = 12;
/// Requests that one client has under way at a time.
const WAVE: i64 = 25;

/// An engine whose every read would wait for the disk.
struct Cold(MemEngine);

fn would_wait(tier: ReadTier) -> Result<(), EngineError> {
    if tier == ReadTier::CacheOnly { Err(EngineError::WouldBlock) } else { Ok(()) }
}

impl Reads for Cold {
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        would_wait(tier)?;
        self.0.get(table, key, tier)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        would_wait(tier)?;
        self.0.multi_get(table, keys, tier)
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        would_wait(options.tier)?;
        self.0.cursor(table, options)
    }
}

impl Engine for Cold {
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError> {
        self.0.write(sets, options)
    }

    fn view(&self) -> Result<Box<dyn Reads + '_>, EngineError> {
        self.0.view()
    }

    fn create_table(&self, table: TableId) -> Result<(), EngineError> {
        self.0.create_table(table)
    }

    fn drop_table(&self, table: TableId) -> Result<(), EngineError> {
        self.0.drop_table(table)
    }

    fn truncate_table(&self, table: TableId) -> Result<(), EngineError> {
        self.0.truncate_table(table)
    }

    fn tables(&self) -> Result<Vec<TableInfo>, EngineError> {
        self.0.tables()
    }

    fn sync_log(&self) -> Result<(), EngineError> {
        self.0.sync_log()
    }

    fn flush(&self, table: Option<TableId>) -> Result<(), EngineError> {
        self.0.flush(table)
    }

    fn compact(&self, table: TableId) -> Result<(), EngineError> {
        self.0.compact(table)
    }

    fn stats(&self, table: TableId) -> Result<TableStats, EngineError> {
        self.0.stats(table)
    }

    fn close(&self) -> Result<(), EngineError> {
        self.0.close()
    }
}

fn start(yaml: &str, engine: Arc<dyn Engine>) -> Node {
    let settings = settings(&format!(
        "available_processors: 4\nconcurrent_reads: 8\ncounter_write_request_timeout: 1h\n{yaml}"
    ));
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), engine).expect("storage");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    Node::start(&settings, env, storage, Some(bound)).expect("started")
}

fn connect(node: &Node) -> Client {
    Client::ready(node.server.as_ref().expect("serves").address, ProtocolVersion::V4, None)
}

fn ask(client: &mut Client, text: &str) -> Response {
    match client.call(query(text)).decode().expect("decodes") {
        Response::Error(error) => panic!("{text}: {error}"),
        other => other,
    }
}

fn numbers(client: &mut Client, text: &str) -> Vec<i64> {
    let Response::Result(QueryResult::Rows(rows)) = ask(client, text) else { panic!("rows") };
    let number =
        |cell: Option<Bytes>| i64::from_be_bytes(*cell.expect("counted").first_chunk().expect("8 bytes"));
    rows.cells().map(|cell| number(cell.expect("a cell"))).collect()
}

/// One client's requests: a counter of all, a static one, one of its own, and a batch over two partitions.
fn increment(mut client: Client, own: i64) {
    for wave in 0..WAVES {
        let text = |index: i64| match index % 4 {
            0 => "UPDATE ks.wide SET n = n + 3, m = m - 1 WHERE k = 1 AND c = 1".to_owned(),
            1 => "UPDATE ks.wide SET s = s + 1, n = n + 1 WHERE k = 1 AND c = 2".to_owned(),
            2 => format!("UPDATE ks.wide SET n = n + {wave} WHERE k = {own} AND c = 1"),
            _ => {
                "BEGIN COUNTER BATCH UPDATE ks.flat SET n = n + 1 WHERE k = 1; UPDATE ks.flat SET n = n - 1 \
                  WHERE k = 2; UPDATE ks.wide SET n = n + 1 WHERE k = 1 AND c = 1; APPLY BATCH"
                    .to_owned()
            }
        };
        let requests: Vec<_> = (0..WAVE).map(|index| query(&text(index))).collect();
        client.send_all(&requests.iter().collect::<Vec<_>>());
        for _ in 0..WAVE {
            let answer = client.receive().expect("an answer").decode().expect("decodes");
            assert_eq!(answer, Response::Result(QueryResult::Void));
        }
    }
}

fn nothing_is_lost(yaml: &str, engine: Arc<dyn Engine>) {
    let node = start(yaml, engine);
    let mut client = connect(&node);
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    ask(&mut client, &format!("CREATE KEYSPACE ks WITH replication = {replication}"));
    ask(
        &mut client,
        "CREATE TABLE ks.wide (k int, c int, s counter static, n counter, m counter, PRIMARY KEY (k, c))",
    );
    ask(&mut client, "CREATE TABLE ks.flat (k int PRIMARY KEY, n counter)");
    thread::scope(|scope| {
        for own in 10..10 + CLIENTS {
            let client = connect(&node);
            scope.spawn(move || increment(client, own));
        }
    });
    // Of each wave: 7, 6, 6 and 6 of the four kinds.
    let waves = CLIENTS * WAVES;
    let hot = numbers(&mut client, "SELECT n, m FROM ks.wide WHERE k = 1 AND c = 1");
    assert_eq!(hot, [waves * (7 * 3 + 6), -waves * 7]);
    let statics = numbers(&mut client, "SELECT s, n FROM ks.wide WHERE k = 1 AND c = 2");
    assert_eq!(statics, [waves * 6, waves * 6]);
    for own in 10..10 + CLIENTS {
        let of_one = numbers(&mut client, &format!("SELECT n FROM ks.wide WHERE k = {own} AND c = 1"));
        assert_eq!(of_one, [6 * WAVES * (WAVES - 1) / 2]);
    }
    let batched = numbers(&mut client, "SELECT n FROM ks.flat WHERE k IN (1, 2)");
    assert_eq!(batched, [waves * 6, -waves * 6]);
    node.drain().expect("all on disk");
}

#[test]
fn nothing_is_lost_in_batch_mode() {
    nothing_is_lost("", Arc::new(MemEngine::new()));
}

#[test]
fn nothing_is_lost_in_periodic_mode() {
    nothing_is_lost("commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n", Arc::new(MemEngine::new()));
}

#[test]
fn nothing_is_lost_when_nothing_is_remembered() {
    nothing_is_lost("counter_cache_size: 0MiB\n", Arc::new(MemEngine::new()));
}

#[test]
fn nothing_is_lost_when_counts_are_read_by_the_pool() {
    nothing_is_lost("counter_cache_size: 0MiB\n", Arc::new(Cold(MemEngine::new())));
}
