//! `user profile=x.yaml ops(insert=1,q=2)`: the profiles of cassandra-stress. A profile defines a table,
//! how its columns' values are spread, what an insert writes, and queries.
//!
//! A record is one insert: some partitions, some rows of each. All values follow from the record's
//! number, so that queries find what inserts wrote. The numbers themselves are not those that
//! cassandra-stress draws; their distributions are.

mod definitions;
mod insert;
mod kind;
mod profile;
mod query;
mod rows;
mod table;

use std::sync::Arc;

use profile::Profile;
use query::Query;
use rows::Rows;
use table::Table;

use self::insert::Insert;
use super::keys::Chooser;
use super::mix::Mix;
use super::{Error, Keys, Operation, Options, Statement, Workload};
use crate::random::Random;

const POSSIBLE: &str = "user profile=FILE.yaml ops(insert=1,QUERY=2), with queries of the profile";

/// Inserts of a load unless `--records` says otherwise.
const RECORDS: u64 = 1_000_000;

struct User {
    name: String,
    schema: Vec<String>,
    statements: Vec<Statement>,
    kinds: Vec<String>,
    /// What each kind does.
    actions: Vec<Action>,
    /// The place of `insert` among the kinds, if it is there.
    insert_kind: Option<usize>,
    insert: Insert,
    table: Table,
    mix: Mix,
    chooser: Chooser,
    records: u64,
}

enum Action {
    Insert,
    Query(Query),
}

/// The statement of inserts; queries' statements follow.
const INSERT: usize = 0;

/// `words` follow `user`.
pub fn user(words: &[String], options: &Options) -> Result<Arc<dyn Workload>, Error> {
    let (file, ops) = arguments(words)?;
    let text = std::fs::read_to_string(&file).map_err(|error| Error::new(format!("{file}: {error}")))?;
    let user = build(&text, &ops, options).map_err(|error| Error::new(format!("{file}: {error}")))?;
    Ok(Arc::new(user))
}

fn build(text: &str, ops: &[(String, u64)], options: &Options) -> Result<User, Error> {
    if options.verify {
        return Err(Error::new("--verify: values of user profiles carry no stamps"));
    }
    if options.value.is_some() || options.replication.is_some() {
        return Err(Error::new("--value and --replication: a profile says them itself"));
    }
    let profile = Profile::parse(text)?;
    let definitions = definitions::read(&profile)?;
    let table = Table::new(&definitions, &profile)?;
    let insert = Insert::new(profile.insert.as_ref(), &table)?;
    let mut statements = vec![Statement { text: insert.text(&table), is_write: true }];
    let mut actions = Vec::new();
    for (name, _) in ops {
        if name == "insert" {
            actions.push(Action::Insert);
            continue;
        }
        let query = profile.queries.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((name, definition)) = query else { return Err(unknown(name, &profile)) };
        let (query, statement) = Query::new(name, definition, statements.len(), &table)?;
        statements.push(statement);
        actions.push(Action::Query(query));
    }
    let weights: Vec<u64> = ops.iter().map(|(_, weight)| *weight).collect();
    Ok(User {
        name: format!("user {}.{}", table.keyspace, table.name),
        schema: definitions.schema,
        statements,
        kinds: ops.iter().map(|(name, _)| name.clone()).collect(),
        insert_kind: ops.iter().position(|(name, _)| name == "insert"),
        actions,
        insert,
        table,
        mix: Mix::new(&weights, options.seed),
        chooser: Chooser::new(options.keys.unwrap_or(Keys::Uniform)),
        records: options.records.unwrap_or(RECORDS),
    })
}

fn unknown(name: &str, profile: &Profile) -> Error {
    if profile.token_range_queries.contains_key(name) {
        return Error::new(format!("{name}: token_range_queries are not supported"));
    }
    let names: Vec<&str> = profile.queries.keys().map(String::as_str).collect();
    Error::new(format!("ops: {name} is no query of the profile, which has insert, {}", names.join(", ")))
}

/// The file and the operations with their weights.
fn arguments(words: &[String]) -> Result<(String, Vec<(String, u64)>), Error> {
    let refused = |what: &str| Error::new(format!("{what}; {POSSIBLE}"));
    let text = words.join(" ");
    let (before, rest) = text.split_once("ops(").ok_or_else(|| refused("ops(...) is missing"))?;
    let (inside, after) = rest.split_once(')').ok_or_else(|| refused("ops( is not closed"))?;
    let mut file = None;
    for word in before.split_whitespace().chain(after.split_whitespace()) {
        match word.split_once('=') {
            Some(("profile", name)) if !name.is_empty() => file = Some(name.to_owned()),
            _ => return Err(refused(&format!("{word:?} is not understood"))),
        }
    }
    let mut ops: Vec<(String, u64)> = Vec::new();
    for op in inside.split(',') {
        let (name, weight) = op.split_once('=').ok_or_else(|| refused("ops are written name=weight"))?;
        let (name, weight) = (name.trim().to_ascii_lowercase(), weight.trim().parse::<f64>());
        // Weights may be fractions; thousandths are kept.
        let weight = weight.ok().filter(|weight| (0.001..=1e9).contains(weight));
        let weight = weight.ok_or_else(|| refused("weights are numbers above 0"))?;
        if ops.iter().any(|(known, _)| *known == name) {
            return Err(refused(&format!("{name} stands twice in ops")));
        }
        ops.push((name, (weight * 1000.0).round() as u64));
    }
    Ok((file.ok_or_else(|| refused("profile= is missing"))?, ops))
}

impl Workload for User {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Vec<String> {
        self.schema.clone()
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn kinds(&self) -> &[String] {
        &self.kinds
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        operation.kind = self.insert_kind.unwrap_or(0);
        self.insert.make(record, &self.table, operation);
    }

    fn next(&self, index: u64, random: &mut Random, operation: &mut Operation) {
        let turn = self.mix.at(index);
        operation.kind = turn.kind;
        let Action::Query(query) = &self.actions[turn.kind] else {
            return self.insert.make(self.records + turn.number, &self.table, operation);
        };
        let added = self.insert_kind.map_or(0, |kind| self.mix.settled(kind, index));
        let record = self.chooser.draw(turn.number, self.records, self.records + added, random);
        let seed = self.insert.partition_of(record, random);
        query.make(Rows::of(&self.table, seed), &self.table, random, operation);
    }
}

#[cfg(test)]
mod tests;
