//! What must be there: a writer's content and what each operation does to it, as CQL defines it.

use std::collections::{BTreeMap, BTreeSet};

/// A row of `wide`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowState {
    /// Whether an INSERT made it: it is there even with all columns null.
    pub is_live: bool,
    /// The plain column.
    pub v: Option<String>,
    /// The set.
    pub tags: BTreeSet<String>,
    /// The map.
    pub attrs: BTreeMap<String, i32>,
    /// The list.
    pub items: Vec<i32>,
}

impl RowState {
    fn is_visible(&self) -> bool {
        self.is_live
            || self.v.is_some()
            || !(self.tags.is_empty() && self.attrs.is_empty() && self.items.is_empty())
    }
}

/// A partition of `wide`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// The static column.
    pub s: Option<String>,
    /// Rows by clustering.
    pub rows: BTreeMap<i32, RowState>,
}

/// Rows of one logged batch: the parts of it that are there, of [`BATCH_PARTS`].
pub type Parts = BTreeSet<i32>;

/// How many rows a batch has, over two tables.
pub const BATCH_PARTS: i32 = 5;

/// All that a writer has in the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Partitions of `wide`.
    pub wide: BTreeMap<String, Partition>,
    /// Rows of `narrow`: what their value is made from.
    pub narrow: BTreeMap<String, Vec<u8>>,
    /// Batches by id.
    pub batches: BTreeMap<String, Parts>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// INSERT of a whole row; collections are replaced.
    Insert(String, i32, RowState),
    /// UPDATE: a value, an element to each collection.
    Add(String, i32, String, i32),
    /// UPDATE and nulls: takes an element of the set and of the map, and the plain value.
    Take(String, i32, String),
    /// DELETE of a row.
    DeleteRow(String, i32),
    /// DELETE of the rows from the first to before the second.
    DeleteRange(String, i32, i32),
    /// DELETE of a partition.
    DeletePartition(String),
    /// Sets, or deletes, the static column.
    Static(String, Option<String>),
    /// INSERT into `narrow`.
    Narrow(String, Vec<u8>),
    /// INSERT IF NOT EXISTS of a new key into `narrow`.
    NarrowOnce(String, Vec<u8>),
    /// A logged batch of inserts.
    Batch(String),
    /// A logged batch that deletes what another inserted.
    Unbatch(String),
}

impl Content {
    /// Does what an operation does.
    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Insert(p, c, row) => {
                self.partition(p).rows.insert(*c, row.clone());
            }
            Op::Add(p, c, text, number) => {
                let row = self.partition(p).rows.entry(*c).or_default();
                row.v = Some(text.clone());
                row.tags.insert(text.clone());
                row.attrs.insert(text.clone(), *number);
                row.items.push(*number);
            }
            Op::Take(p, c, text) => {
                let row = self.partition(p).rows.entry(*c).or_default();
                row.v = None;
                row.tags.remove(text);
                row.attrs.remove(text);
            }
            Op::DeleteRow(p, c) => {
                self.partition(p).rows.remove(c);
            }
            Op::DeleteRange(p, from, to) => {
                self.partition(p).rows.retain(|c, _| c < from || c >= to);
            }
            Op::DeletePartition(p) => {
                self.wide.remove(p);
            }
            Op::Static(p, s) => self.partition(p).s.clone_from(s),
            Op::Narrow(k, v) | Op::NarrowOnce(k, v) => {
                self.narrow.insert(k.clone(), v.clone());
            }
            Op::Batch(id) => {
                self.batches.insert(id.clone(), (0..BATCH_PARTS).collect());
            }
            Op::Unbatch(id) => {
                self.batches.remove(id);
            }
        }
    }

    fn partition(&mut self, p: &str) -> &mut Partition {
        self.wide.entry(p.to_owned()).or_default()
    }

    /// What a reader sees of it: rows and partitions without anything in them are not there, and nobody can tell why
    /// a row is.
    pub fn seen(&self) -> Content {
        let mut seen = self.clone();
        for partition in seen.wide.values_mut() {
            partition.rows.retain(|_, row| row.is_visible());
            partition.rows.values_mut().for_each(|row| row.is_live = false);
        }
        seen.wide.retain(|_, partition| partition.s.is_some() || !partition.rows.is_empty());
        seen
    }

    /// How many rows and batches there are.
    pub fn len(&self) -> usize {
        let wide: usize = self.wide.values().map(|partition| partition.rows.len()).sum();
        wide + self.narrow.len() + self.batches.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first thing that differs, for a human.
    pub fn difference(&self, found: &Content) -> String {
        first_difference("wide", &self.wide, &found.wide)
            .or_else(|| first_difference("narrow", &self.narrow, &found.narrow))
            .or_else(|| first_difference("batch", &self.batches, &found.batches))
            .unwrap_or_else(|| "no difference".to_owned())
    }
}

fn first_difference<T: PartialEq + std::fmt::Debug>(
    table: &str,
    expected: &BTreeMap<String, T>,
    found: &BTreeMap<String, T>,
) -> Option<String> {
    let keys: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let key = keys.into_iter().find(|key| expected.get(*key) != found.get(*key))?;
    let (expected, found) = (expected.get(key), found.get(key));
    let kind = match (expected, found) {
        (Some(_), None) => "lost",
        (None, Some(_)) => "phantom",
        _ => "wrong",
    };
    Some(format!("{kind}: {table} {key}:\n  expected {expected:?}\n  found    {found:?}"))
}

#[cfg(test)]
mod tests;
