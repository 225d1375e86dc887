//! The Rust driver (scylla) against a node: protocol version 4.
//!
//! The node's address comes from BASALT_HOST and BASALT_PORT, and BASALT_RESTART is the command that
//! restarts it. Run against Apache Cassandra, everything but the restart passes as well.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

use bigdecimal_04::BigDecimal;
use futures::TryStreamExt;
use num_bigint_04::BigInt;
use scylla::client::Compression;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::statement::Statement;
use scylla::statement::batch::{Batch, BatchType};
use scylla::value::{CqlDate, CqlDuration, CqlTime, CqlTimestamp, CqlTimeuuid};
use scylla::{DeserializeValue, SerializeValue};
use uuid::Uuid;

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

async fn connect(compression: Option<Compression>) -> Session {
    let node = format!("{}:{}", variable("BASALT_HOST"), variable("BASALT_PORT"));
    SessionBuilder::new().known_node(node).compression(compression).build().await.unwrap()
}

/// A session on a fresh keyspace of that name.
async fn in_keyspace(name: &str) -> Session {
    let session = connect(None).await;
    run(&session, &format!("DROP KEYSPACE IF EXISTS {name}")).await;
    run(
        &session,
        &format!("CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"),
    )
    .await;
    session.use_keyspace(name, false).await.unwrap();
    session
}

async fn run(session: &Session, text: &str) {
    session.query_unpaged(text, ()).await.unwrap_or_else(|error| panic!("{text}: {error}"));
}

type Numbers = (i8, i16, i32, i64, f32, f64, BigInt, BigDecimal);
type Times = (CqlDate, CqlTime, CqlTimestamp, CqlDuration, CqlTimeuuid, Uuid);
type Others = (String, String, Vec<u8>, bool, IpAddr, Option<i32>);
type Composites = (Vec<i32>, HashSet<String>, BTreeMap<String, i32>, (i32, Option<String>), Vec<f32>);

#[tokio::test]
async fn every_type_round_trips() {
    let session = in_keyspace("drv_rust_types").await;
    run(&session, "CREATE TABLE numbers (k int PRIMARY KEY, a tinyint, b smallint, c int, d bigint, e float, f double, g varint, h decimal)").await;
    let numbers: Numbers =
        (i8::MIN, i16::MIN, i32::MAX, i64::MIN, 1.5, 0.1, BigInt::from(2).pow(200), "-12.3450".parse().unwrap());
    let insert = session.prepare("INSERT INTO numbers (k, a, b, c, d, e, f, g, h) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)").await.unwrap();
    session.execute_unpaged(&insert, &numbers).await.unwrap();
    let read: Numbers = first(&session, "SELECT a, b, c, d, e, f, g, h FROM numbers").await;
    assert_eq!(read, numbers);

    run(&session, "CREATE TABLE times (k int PRIMARY KEY, a date, b time, c timestamp, d duration, e timeuuid, f uuid)").await;
    let times: Times = (
        CqlDate(1 << 31),
        CqlTime(86_399_999_999_999),
        CqlTimestamp(-1),
        CqlDuration { months: 14, days: 3, nanoseconds: 5 },
        "137157a0-c395-11f0-8000-000000000000".parse().unwrap(),
        Uuid::from_u128(1),
    );
    let insert = session.prepare("INSERT INTO times (k, a, b, c, d, e, f) VALUES (1, ?, ?, ?, ?, ?, ?)").await.unwrap();
    session.execute_unpaged(&insert, times).await.unwrap();
    let read: Times = first(&session, "SELECT a, b, c, d, e, f FROM times").await;
    assert_eq!(read, times);

    run(&session, "CREATE TABLE others (k int PRIMARY KEY, a ascii, b text, c blob, d boolean, e inet, f int)").await;
    let others: Others =
        ("plain".into(), "é漢😀".into(), vec![0, 255], true, "2001:db8::1".parse().unwrap(), None);
    let insert = session.prepare("INSERT INTO others (k, a, b, c, d, e, f) VALUES (1, ?, ?, ?, ?, ?, ?)").await.unwrap();
    session.execute_unpaged(&insert, &others).await.unwrap();
    let read: Others = first(&session, "SELECT a, b, c, d, e, f FROM others").await;
    assert_eq!(read, others);

    run(&session, "CREATE TABLE composites (k int PRIMARY KEY, a list<int>, b set<text>, c map<text, int>, d tuple<int, text>, e vector<float, 3>)").await;
    let composites: Composites = (
        vec![3, 1, 3],
        HashSet::from(["a".into(), "b".into()]),
        BTreeMap::from([("a".into(), 1)]),
        (1, None),
        vec![1.0, 2.5, -3.0],
    );
    let insert = session.prepare("INSERT INTO composites (k, a, b, c, d, e) VALUES (1, ?, ?, ?, ?, ?)").await.unwrap();
    session.execute_unpaged(&insert, &composites).await.unwrap();
    let read: Composites = first(&session, "SELECT a, b, c, d, e FROM composites").await;
    assert_eq!(read, composites);
    run(&session, "DROP KEYSPACE drv_rust_types").await;
}

async fn first<Row>(session: &Session, text: &str) -> Row
where
    Row: for<'f, 'm> scylla::deserialize::row::DeserializeRow<'f, 'm>,
{
    let result = session.query_unpaged(text, ()).await.unwrap().into_rows_result().unwrap();
    result.single_row::<Row>().unwrap()
}

#[derive(Debug, PartialEq, SerializeValue, DeserializeValue)]
struct Address {
    street: String,
    zip: Option<i32>,
}

#[tokio::test]
async fn user_types_round_trip() {
    let session = in_keyspace("drv_rust_udt").await;
    run(&session, "CREATE TYPE address (street text, zip int)").await;
    run(&session, "CREATE TABLE people (k int PRIMARY KEY, home address)").await;
    let insert = session.prepare("INSERT INTO people (k, home) VALUES (1, ?)").await.unwrap();
    session.execute_unpaged(&insert, (Address { street: "Main".into(), zip: None },)).await.unwrap();
    let (home,): (Address,) = first(&session, "SELECT home FROM people").await;
    assert_eq!(home, Address { street: "Main".into(), zip: None });
    run(&session, "DROP KEYSPACE drv_rust_udt").await;
}

#[tokio::test]
async fn batches_and_pages() {
    let session = in_keyspace("drv_rust_pages").await;
    run(&session, "CREATE TABLE pages (k int, c int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)").await;
    let insert = session.prepare("INSERT INTO pages (k, c) VALUES (?, ?)").await.unwrap();
    for k in 0..5 {
        let mut batch = Batch::new(if k % 2 == 0 { BatchType::Logged } else { BatchType::Unlogged });
        let values: Vec<(i32, i32)> = (0..50).map(|c| (k, c)).collect();
        values.iter().for_each(|_| batch.append_statement(insert.clone()));
        session.batch(&batch, values).await.unwrap();
    }
    for page_size in [1, 7, 249, 250, 1000] {
        let mut statement = Statement::new("SELECT k, c FROM pages");
        statement.set_page_size(page_size);
        let pager = session.query_iter(statement, ()).await.unwrap();
        let rows: Vec<(i32, i32)> = pager.rows_stream::<(i32, i32)>().unwrap().try_collect().await.unwrap();
        let distinct: HashSet<&(i32, i32)> = rows.iter().collect();
        assert_eq!((rows.len(), distinct.len()), (250, 250), "pages of {page_size}");
    }
    run(&session, "DROP KEYSPACE drv_rust_pages").await;
}

#[tokio::test]
async fn compression_works() {
    for (compression, name) in [(Compression::Lz4, "lz4"), (Compression::Snappy, "snappy")] {
        let keyspace = format!("drv_rust_{name}");
        drop(in_keyspace(&keyspace).await);
        let session = connect(Some(compression)).await;
        run(&session, &format!("CREATE TABLE {keyspace}.t (k int PRIMARY KEY, v text)")).await;
        let text = "compressible ".repeat(5000);
        session.query_unpaged(format!("INSERT INTO {keyspace}.t (k, v) VALUES (1, ?)"), (&text,)).await.unwrap();
        let (read,): (String,) = first(&session, &format!("SELECT v FROM {keyspace}.t")).await;
        assert_eq!(read, text);
        run(&session, &format!("DROP KEYSPACE {keyspace}")).await;
    }
}

#[tokio::test]
async fn errors_and_metadata() {
    let session = in_keyspace("drv_rust_misc").await;
    let refused = session.query_unpaged("SELECT * FROM no_such_table", ()).await.unwrap_err();
    assert!(
        matches!(refused, ExecutionError::LastAttemptError(RequestAttemptError::DbError(DbError::Invalid, _))),
        "{refused:?}"
    );
    run(&session, "CREATE TABLE described (k int, c text, v map<text, int>, PRIMARY KEY (k, c))").await;
    session.refresh_metadata().await.unwrap();
    let state = session.get_cluster_state();
    let table = &state.get_keyspace("drv_rust_misc").unwrap().tables["described"];
    assert_eq!((table.partition_key.as_slice(), table.clustering_key.as_slice()), (&["k".to_owned()][..], &["c".to_owned()][..]));
    assert_eq!(table.columns.len(), 3);
    assert!(session.await_schema_agreement().await.is_ok());
    run(&session, "DROP KEYSPACE drv_rust_misc").await;
}

#[tokio::test]
async fn statements_are_prepared_again_after_a_restart() {
    let Ok(restart) = std::env::var("BASALT_RESTART") else {
        eprintln!("no command to restart the node: nothing is tested");
        return;
    };
    let session = in_keyspace("drv_rust_restart").await;
    run(&session, "CREATE TABLE restarted (k int PRIMARY KEY, v text)").await;
    let insert = session.prepare("INSERT INTO drv_rust_restart.restarted (k, v) VALUES (?, ?)").await.unwrap();
    session.execute_unpaged(&insert, (1, "before")).await.unwrap();
    let words: Vec<&str> = restart.split(' ').collect();
    assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success());
    let mut last = None;
    for _ in 0..120 {
        last = session.execute_unpaged(&insert, (2, "after")).await.err();
        if last.is_none() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    assert!(last.is_none(), "{last:?}");
    let (count,): (i64,) = first(&session, "SELECT count(*) FROM drv_rust_restart.restarted").await;
    assert_eq!(count, 2);
    run(&session, "DROP KEYSPACE drv_rust_restart").await;
}
