//! What an insert of a profile writes: some partitions, some rows of each, in one batch if there are
//! several.

use basalt_cql::ast::Statement;

use super::INSERT;
use super::definitions::parse;
use super::profile::{BatchType, InsertSpec};
use super::rows::Rows;
use super::table::{Column, Table};
use crate::distribution::{Distribution, Ratio};
use crate::random::{Random, mix};
use crate::workload::{BatchKind, Error, Operation};

/// Statements that a batch may have (its count is 16 bits on the wire).
const BATCH_MAX: usize = 65_535;

/// Keep draws for different purposes apart.
const PARTITIONS: u64 = 0x7061_7274;
const SELECT: u64 = 0x7365_6c65;
const POPULATION: u64 = 0x706f_7075;

/// The `insert` section.
#[derive(Debug)]
pub struct Insert {
    partitions: Distribution,
    select: Ratio,
    row_population: Ratio,
    batch: BatchKind,
    condition: Option<String>,
}

impl Insert {
    /// As the section says, or as cassandra-stress does without it.
    pub fn new(spec: Option<&InsertSpec>, table: &Table) -> Result<Insert, Error> {
        let nothing = InsertSpec::default();
        let spec = spec.unwrap_or(&nothing);
        let is_counter = table.columns.iter().any(|column| column.kind.is_counter());
        let insert = Insert {
            partitions: spec.partitions.clone().unwrap_or(Distribution::fixed(1)),
            select: spec.select.clone().unwrap_or(Ratio::ONE),
            row_population: spec.row_population.clone().unwrap_or(Ratio::ONE),
            batch: match spec.batchtype {
                _ if is_counter => BatchKind::Counter,
                Some(BatchType::Unlogged) => BatchKind::Unlogged,
                Some(BatchType::Counter) => {
                    return Err(Error::new("insert: batchtype COUNTER is for tables with counters"));
                }
                Some(BatchType::Logged) | None => BatchKind::Logged,
            },
            condition: spec.condition.clone(),
        };
        if insert.partitions.min() < 1 {
            return Err(Error::new("insert: partitions must be at least 1"));
        }
        if is_counter && insert.row_population != Ratio::ONE {
            return Err(Error::new("insert: row-population cannot leave counters out"));
        }
        let rows = table.rows_max() as f64 * insert.select.max().min(1.0) * insert.partitions.max() as f64;
        if rows > BATCH_MAX as f64 {
            return Err(Error::new(format!(
                "insert: up to {rows:.0} rows, but a batch has at most {BATCH_MAX}; lower partitions, select or cluster"
            )));
        }
        if insert.condition.is_some() {
            if table.regular.is_empty() || insert.partitions.max() > 1 {
                return Err(Error::new(
                    "insert: condition needs a column besides the key, and one partition an insert",
                ));
            }
            if !matches!(parse("insert: condition", &insert.text(table))?, Statement::Update(_)) {
                return Err(Error::new("insert: condition is not IF ..."));
            }
        }
        Ok(insert)
    }

    /// Its statement: an UPDATE of all columns, as cassandra-stress writes; an INSERT where all are key.
    pub fn text(&self, table: &Table) -> String {
        let names = |places: &[usize], join: &str, form: &dyn Fn(&Column, String) -> String| {
            let quoted = |&place: &usize| {
                let column: &Column = &table.columns[place];
                form(column, basalt_cql::quote::identifier(&column.name).into_owned())
            };
            places.iter().map(quoted).collect::<Vec<_>>().join(join)
        };
        let keys: Vec<usize> = table.partition.iter().chain(&table.clustering).copied().collect();
        if table.regular.is_empty() {
            let markers = vec!["?"; keys.len()].join(", ");
            let names = names(&keys, ", ", &|_, name| name);
            return format!("INSERT INTO {} ({names}) VALUES ({markers})", table.quoted());
        }
        let sets = names(&table.regular, ", ", &|column, name| {
            if column.is_added_to { format!("{name} = {name} + ?") } else { format!("{name} = ?") }
        });
        let wheres = names(&keys, " AND ", &|_, name| format!("{name} = ?"));
        let condition = self.condition.as_ref().map(|condition| format!(" {condition}")).unwrap_or_default();
        format!("UPDATE {} SET {sets} WHERE {wheres}{condition}", table.quoted())
    }

    /// The seed of one of the partitions that an insert writes.
    pub fn partition_of(&self, record: u64, random: &mut Random) -> u64 {
        self.seed(record, random.below(self.count(record)))
    }

    fn count(&self, record: u64) -> u64 {
        self.partitions.draw(PARTITIONS, record, 0).max(1) as u64
    }

    fn seed(&self, record: u64, which: u64) -> u64 {
        record.wrapping_mul(self.partitions.max() as u64).wrapping_add(which)
    }

    /// Makes insert number `record`.
    pub fn make(&self, record: u64, table: &Table, operation: &mut Operation) {
        for which in 0..self.count(record) {
            let seed = self.seed(record, which);
            let chance = self.select.draw(SELECT, seed, 0);
            let mut random = Random::new(mix(seed ^ SELECT));
            Rows::of(table, seed).visit(table, chance, &mut random, &mut |rows| {
                if operation.parts().len() < BATCH_MAX {
                    self.row(rows, table, operation);
                }
            });
        }
        operation.batch = (operation.parts().len() > 1).then_some(self.batch);
    }

    fn row(&self, rows: &Rows, table: &Table, operation: &mut Operation) {
        let id = rows.id(table);
        let values = operation.add(INSERT);
        for &place in table.regular.iter().chain(&table.partition).chain(&table.clustering) {
            let column = &table.columns[place];
            let is_key = !table.regular.contains(&place);
            if !is_key && self.row_population != Ratio::ONE {
                let mut random = Random::new(mix(id ^ column.spread.salt ^ POPULATION));
                if random.unit() >= self.row_population.draw(POPULATION, id, 0) {
                    // Adding null adds nothing; servers refuse to add what is unset to a list.
                    if column.is_added_to {
                        values.push_null()
                    } else {
                        values.push_unset()
                    }
                    continue;
                }
            }
            let number = rows.number(table, place);
            values.push_with(|out| column.kind.put(number, &column.spread, out));
        }
    }
}
