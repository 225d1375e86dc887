//! Somebody who changes the schema all the time: makes, fills, truncates, alters and drops tables and a keyspace, and
//! knows what must be left. The tables are few and their names come again, so that what was dropped has every chance
//! to come back.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_wire::ProtocolVersion;

use super::{Ended, ended};
use crate::client::Client;
use crate::client::values::{as_int, as_text};
use crate::random::Random;

/// A table that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    rows: BTreeSet<i32>,
    /// Columns besides the key.
    columns: BTreeSet<String>,
}

type Tables = BTreeMap<String, Table>;

#[derive(Clone, Debug)]
enum Change {
    Create(String),
    Insert(String, i32),
    Truncate(String),
    AddColumn(String, String),
    DropColumn(String, String),
    Drop(String),
    /// All tables of the keyspace at once.
    DropKeyspace,
}

/// The keyspace of these tables.
const KEYSPACE: &str = "schemer";

/// The one who changes the schema.
pub struct Schemer {
    random: Random,
    number: i32,
    /// `None` while the keyspace is not there.
    tables: Option<Tables>,
    in_doubt: Option<Change>,
    /// Changes acknowledged.
    pub acknowledged: u64,
}

impl Schemer {
    /// One who has changed nothing.
    pub fn new(random: Random) -> Schemer {
        Schemer { random, number: 0, tables: None, in_doubt: None, acknowledged: 0 }
    }

    /// Changes things until `stop` is set or the node is gone.
    ///
    /// # Panics
    /// When the node refuses, or does not answer.
    pub fn run(&mut self, address: SocketAddr, version: ProtocolVersion, stop: &AtomicBool) {
        let Ok(mut client) = Client::connect(address, version) else { return };
        while !stop.load(Ordering::Relaxed) {
            let change = self.choose();
            let text = statement(&change);
            match ended(&text, client.query(&text)) {
                Ended::Acknowledged => apply(&mut self.tables, &change),
                Ended::InDoubt => {
                    self.in_doubt = Some(change);
                    return;
                }
                Ended::TurnedAway => return,
            }
            self.acknowledged += 1;
        }
    }

    fn choose(&mut self) -> Change {
        self.number += 1;
        let Some(tables) = &self.tables else { return Change::Create(String::new()) };
        let name = format!("t{}", self.random.below(5));
        let Some(table) = tables.get(&name) else { return Change::Create(name) };
        match self.random.below(100) {
            0..60 => Change::Insert(name, self.number),
            60..72 => Change::Truncate(name),
            72..82 => {
                let column = format!("c{}", self.random.below(4));
                if table.columns.contains(&column) {
                    Change::DropColumn(name, column)
                } else {
                    Change::AddColumn(name, column)
                }
            }
            82..98 => Change::Drop(name),
            _ => Change::DropKeyspace,
        }
    }

    /// Compares the schema and the tables with what must be there.
    ///
    /// # Panics
    /// When they differ.
    pub fn check(&mut self, client: &mut Client) {
        let found = read(client);
        if let Some(change) = self.in_doubt.take() {
            let mut applied = self.tables.clone();
            apply(&mut applied, &change);
            if applied == found {
                self.tables = applied;
                return;
            }
            assert_eq!(self.tables, found, "the schema; in doubt was {change:?}");
        }
        assert_eq!(self.tables, found, "the schema");
    }
}

fn statement(change: &Change) -> String {
    match change {
        Change::Create(name) if name.is_empty() => format!(
            "CREATE KEYSPACE {KEYSPACE} WITH replication = \
             {{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}}"
        ),
        Change::Create(name) => format!("CREATE TABLE {KEYSPACE}.{name} (k int PRIMARY KEY, v int)"),
        Change::Insert(name, row) => format!("INSERT INTO {KEYSPACE}.{name} (k, v) VALUES ({row}, {row})"),
        Change::Truncate(name) => format!("TRUNCATE {KEYSPACE}.{name}"),
        Change::AddColumn(name, column) => format!("ALTER TABLE {KEYSPACE}.{name} ADD {column} text"),
        Change::DropColumn(name, column) => format!("ALTER TABLE {KEYSPACE}.{name} DROP {column}"),
        Change::Drop(name) => format!("DROP TABLE {KEYSPACE}.{name}"),
        Change::DropKeyspace => format!("DROP KEYSPACE {KEYSPACE}"),
    }
}

fn apply(tables: &mut Option<Tables>, change: &Change) {
    let known = tables.get_or_insert_default();
    match change {
        Change::Create(name) if name.is_empty() => {}
        Change::Create(name) => {
            let columns = BTreeSet::from(["v".to_owned()]);
            known.insert(name.clone(), Table { rows: BTreeSet::new(), columns });
        }
        Change::Insert(name, row) => {
            known.entry(name.clone()).or_default().rows.insert(*row);
        }
        Change::Truncate(name) => known.entry(name.clone()).or_default().rows.clear(),
        Change::AddColumn(name, column) => {
            known.entry(name.clone()).or_default().columns.insert(column.clone());
        }
        Change::DropColumn(name, column) => {
            known.entry(name.clone()).or_default().columns.remove(column);
        }
        Change::Drop(name) => {
            known.remove(name);
        }
        Change::DropKeyspace => *tables = None,
    }
}

fn read(client: &mut Client) -> Option<Tables> {
    let mut query = |text: String| client.query(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let keyspaces = query("SELECT keyspace_name FROM system_schema.keyspaces".to_owned());
    let is_there = keyspaces.iter().any(|row| row[0].as_deref() == Some(KEYSPACE.as_bytes()));
    let mut tables = Tables::new();
    let columns = format!(
        "SELECT table_name, column_name, kind FROM system_schema.columns WHERE keyspace_name = '{KEYSPACE}'"
    );
    for row in query(columns) {
        let cell = |index: usize| as_text(row[index].as_deref().expect("not null"));
        let table = tables.entry(cell(0)).or_default();
        if cell(2) == "regular" {
            table.columns.insert(cell(1));
        }
    }
    let listed =
        query(format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{KEYSPACE}'"));
    let listed: BTreeSet<String> =
        listed.iter().map(|row| as_text(row[0].as_deref().expect("a name"))).collect();
    assert_eq!(
        tables.keys().cloned().collect::<BTreeSet<_>>(),
        listed,
        "tables with columns and tables listed"
    );
    for (name, table) in &mut tables {
        for row in query(format!("SELECT k, v FROM {KEYSPACE}.{name}")) {
            assert_eq!(row[0], row[1], "{name}: half a row");
            table.rows.insert(as_int(row[0].as_deref().expect("a key")));
        }
        for column in &table.columns {
            query(format!("SELECT {column} FROM {KEYSPACE}.{name} LIMIT 1"));
        }
    }
    for name in (0..5).map(|number| format!("t{number}")) {
        if !tables.contains_key(&name) {
            let gone = client.query(&format!("SELECT * FROM {KEYSPACE}.{name}"));
            assert!(gone.is_err(), "{name} is not listed and can be read");
        }
    }
    assert!(is_there || tables.is_empty(), "tables without their keyspace");
    is_there.then_some(tables)
}
