//! A writer: chooses operations, sends them, keeps the model.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_wire::{ProtocolVersion, Value};

use super::model::{BATCH_PARTS, Content, Op, RowState};
use super::{Ended, ended};
use crate::client::values::{int, list, map, text};
use crate::client::{CallError, Client, Statement};
use crate::random::Random;

/// Partitions of `wide` a writer has, and rows in each.
const PARTITIONS: usize = 40;
const ROWS: usize = 24;

/// One writer and what it has written.
pub struct Writer {
    name: String,
    random: Random,
    number: u64,
    /// What was acknowledged.
    pub content: Content,
    /// What was sent and not answered.
    pub in_doubt: Option<Op>,
    /// Requests acknowledged.
    pub acknowledged: u64,
}

struct Statements {
    insert: Statement,
    add: Statement,
    take: Statement,
    delete_row: Statement,
    delete_range: Statement,
    delete_partition: Statement,
    set_static: Statement,
    delete_static: Statement,
    narrow: Statement,
    narrow_once: Statement,
    batch_a: Statement,
    batch_b: Statement,
    unbatch_a: Statement,
    unbatch_b: Statement,
}

impl Statements {
    fn prepare(client: &mut Client) -> Result<Statements, CallError> {
        let mut prepare = |text: &str| client.prepare(text);
        Ok(Statements {
            insert: prepare(
                "INSERT INTO crash.wide (p, c, v, tags, attrs, items) VALUES (?, ?, ?, ?, ?, ?)",
            )?,
            add: prepare(
                "UPDATE crash.wide SET v = ?, tags = tags + ?, attrs = attrs + ?, items = items + ? \
                 WHERE p = ? AND c = ?",
            )?,
            take: prepare(
                "UPDATE crash.wide SET v = null, tags = tags - ?, attrs = attrs - ? WHERE p = ? AND c = ?",
            )?,
            delete_row: prepare("DELETE FROM crash.wide WHERE p = ? AND c = ?")?,
            delete_range: prepare("DELETE FROM crash.wide WHERE p = ? AND c >= ? AND c < ?")?,
            delete_partition: prepare("DELETE FROM crash.wide WHERE p = ?")?,
            set_static: prepare("UPDATE crash.wide SET s = ? WHERE p = ?")?,
            delete_static: prepare("DELETE s FROM crash.wide WHERE p = ?")?,
            narrow: prepare("INSERT INTO crash.narrow (k, v) VALUES (?, ?)")?,
            narrow_once: prepare("INSERT INTO crash.narrow (k, v) VALUES (?, ?) IF NOT EXISTS")?,
            batch_a: prepare("INSERT INTO crash.batch_a (id, v) VALUES (?, ?)")?,
            batch_b: prepare("INSERT INTO crash.batch_b (id, part, v) VALUES (?, ?, ?)")?,
            unbatch_a: prepare("DELETE FROM crash.batch_a WHERE id = ?")?,
            unbatch_b: prepare("DELETE FROM crash.batch_b WHERE id = ? AND part = ?")?,
        })
    }
}

impl Writer {
    /// A writer that has written nothing.
    pub fn new(name: &str, random: Random) -> Writer {
        Writer {
            name: name.to_owned(),
            random,
            number: 0,
            content: Content::default(),
            in_doubt: None,
            acknowledged: 0,
        }
    }

    /// The beginning of all its keys.
    pub fn prefix(&self) -> String {
        format!("{}/", self.name)
    }

    /// Writes until `stop` is set or the node is gone.
    ///
    /// # Panics
    /// When the node refuses, or does not answer.
    pub fn run(&mut self, address: SocketAddr, version: ProtocolVersion, stop: &AtomicBool) {
        assert!(self.in_doubt.is_none(), "what was in doubt has been looked at");
        let connected = Client::connect(address, version)
            .and_then(|mut client| Statements::prepare(&mut client).map(|statements| (client, statements)));
        let (mut client, statements) = match connected {
            Ok(connected) => connected,
            Err(CallError::Lost(_)) => return,
            Err(error) => panic!("preparing: {error:?}"),
        };
        while !stop.load(Ordering::Relaxed) {
            let op = self.choose();
            match ended(&op, send(&mut client, &statements, &op)) {
                Ended::Acknowledged => self.content.apply(&op),
                Ended::InDoubt => {
                    self.in_doubt = Some(op);
                    return;
                }
                Ended::TurnedAway => return,
            }
            self.acknowledged += 1;
        }
    }

    fn choose(&mut self) -> Op {
        self.number += 1;
        let random = &mut self.random;
        let p = format!("{}/{}", self.name, random.below(PARTITIONS));
        let c = random.below(ROWS) as i32;
        let row = self.content.wide.get(&p).and_then(|partition| partition.rows.get(&c));
        let unique = format!("{}/{}", self.name, self.number);
        match random.below(100) {
            0..20 => Op::Insert(p, c, fresh_row(random, &unique, self.number)),
            20..40 if row.is_none_or(|row| row.items.len() < 20) => Op::Add(p, c, unique, self.number as i32),
            20..40 => Op::DeleteRow(p, c),
            40..47 => {
                let known = row.and_then(|row| row.tags.iter().next().cloned());
                Op::Take(p, c, known.unwrap_or(unique))
            }
            47..53 => Op::DeleteRow(p, c),
            53..56 => Op::DeleteRange(p, c, c + 1 + random.below(6) as i32),
            56..57 => Op::DeletePartition(p),
            57..62 => Op::Static(p, (!random.once_in(4)).then_some(unique)),
            62..80 => {
                let length = *random.pick(&[0, 10, 100, 100, 1000, 4000, 60_000]);
                Op::Narrow(unique, random.bytes(length))
            }
            80..83 => Op::NarrowOnce(unique, random.bytes(50)),
            83..97 => Op::Batch(unique),
            _ => {
                let first = self.content.batches.keys().next().cloned();
                first.map_or(Op::Batch(unique), Op::Unbatch)
            }
        }
    }
}

fn fresh_row(random: &mut Random, unique: &str, number: u64) -> RowState {
    let tag = |index: usize| format!("{unique}+{index}");
    RowState {
        is_live: true,
        v: (!random.once_in(3)).then(|| unique.to_owned()),
        tags: (0..random.below(4)).map(tag).collect(),
        attrs: (0..random.below(4)).map(|index| (tag(index), index as i32)).collect(),
        items: (0..random.below(4)).map(|index| number as i32 + index as i32).collect(),
    }
}

fn send(client: &mut Client, statements: &Statements, op: &Op) -> Result<(), CallError> {
    let number = |value: &i32| value.to_be_bytes();
    let (statement, values) = match op {
        Op::Insert(p, c, row) => {
            let items: Vec<[u8; 4]> = row.items.iter().map(number).collect();
            let v = row.v.as_deref().map_or(Value::Null, text);
            let tags = list(row.tags.iter().map(String::as_bytes));
            let items = list(items.iter().map(<[u8; 4]>::as_slice));
            (&statements.insert, vec![text(p), int(*c), v, tags, map(&row.attrs), items])
        }
        Op::Add(p, c, added, item) => {
            let values = vec![
                text(added),
                list([added.as_bytes()]),
                map([(added, item)]),
                list([number(item).as_slice()]),
                text(p),
                int(*c),
            ];
            (&statements.add, values)
        }
        Op::Take(p, c, taken) => {
            let taken = list([taken.as_bytes()]);
            (&statements.take, vec![taken.clone(), taken, text(p), int(*c)])
        }
        Op::DeleteRow(p, c) => (&statements.delete_row, vec![text(p), int(*c)]),
        Op::DeleteRange(p, from, to) => (&statements.delete_range, vec![text(p), int(*from), int(*to)]),
        Op::DeletePartition(p) => (&statements.delete_partition, vec![text(p)]),
        Op::Static(p, Some(s)) => (&statements.set_static, vec![text(s), text(p)]),
        Op::Static(p, None) => (&statements.delete_static, vec![text(p)]),
        Op::Narrow(k, v) => (&statements.narrow, vec![text(k), Value::Bytes(v.clone().into())]),
        Op::NarrowOnce(k, v) => (&statements.narrow_once, vec![text(k), Value::Bytes(v.clone().into())]),
        Op::Batch(id) => return client.logged_batch(batch(statements, id)),
        Op::Unbatch(id) => return client.logged_batch(unbatch(statements, id)),
    };
    let rows = client.execute(statement, values)?;
    if matches!(op, Op::NarrowOnce(..)) {
        assert_eq!(rows, [vec![Some(bytes::Bytes::from_static(&[1]))]], "{op:?} is applied: the key is new");
    }
    Ok(())
}

/// Part 0 goes to one table, the others to another, of which the last stands in a partition of its own.
fn batch<'a>(statements: &'a Statements, id: &str) -> Vec<(&'a Statement, Vec<Value>)> {
    let mut parts = vec![(&statements.batch_a, vec![text(id), text(id)])];
    parts.extend(
        (1..BATCH_PARTS)
            .map(|part| (&statements.batch_b, vec![text(&partition_of(id, part)), int(part), text(id)])),
    );
    parts
}

fn unbatch<'a>(statements: &'a Statements, id: &str) -> Vec<(&'a Statement, Vec<Value>)> {
    let mut parts = vec![(&statements.unbatch_a, vec![text(id)])];
    parts.extend(
        (1..BATCH_PARTS).map(|part| (&statements.unbatch_b, vec![text(&partition_of(id, part)), int(part)])),
    );
    parts
}

/// Where a part of a batch lies in `batch_b`.
fn partition_of(id: &str, part: i32) -> String {
    if part == BATCH_PARTS - 1 { format!("{id}#last") } else { id.to_owned() }
}
