//! The rows of a partition, all of which follow from its seed: under each value of a clustering column
//! stands a number of values of the next, as `cluster` says.

use smallvec::SmallVec;

use super::table::Table;
use crate::random::{Random, mix};

/// Keeps the counts of clustering values apart from the values.
const COUNTS: u64 = 0x636f_756e_7473;

/// A partition, or a row of it.
#[derive(Clone, Debug)]
pub struct Rows {
    /// What partition key values are drawn from.
    seed: u64,
    /// What follows from the partition key's values: the same key has the same rows, whatever its seed.
    key: u64,
    /// For each clustering column so far what its values are drawn from, and which of them.
    path: SmallVec<[(u64, u64); 8]>,
}

impl Rows {
    /// The partition with this seed.
    pub fn of(table: &Table, seed: u64) -> Rows {
        let mut rows = Rows { seed, key: 0, path: SmallVec::new() };
        for &place in &table.partition {
            rows.key = mix(rows.key ^ mix(rows.number(table, place) as u64));
        }
        rows
    }

    /// The number that a column's value is made from, in this row.
    pub fn number(&self, table: &Table, place: usize) -> i64 {
        let spread = &table.columns[place].spread;
        if table.partition.contains(&place) {
            return spread.population.draw(spread.salt, self.seed, 0);
        }
        let (from, which) = match table.clustering.iter().position(|&other| other == place) {
            Some(depth) => self.path.get(depth).copied().unwrap_or_default(),
            None if table.columns[place].is_static => (self.key, 0),
            None => (self.below(table), 0),
        };
        spread.population.draw(spread.salt, from, which)
    }

    /// A number of this row alone.
    pub fn id(&self, table: &Table) -> u64 {
        self.below(table)
    }

    /// What is drawn from below the path.
    fn below(&self, table: &Table) -> u64 {
        match self.path.last() {
            None => self.key,
            Some((from, _)) => {
                let place = table.clustering[self.path.len() - 1];
                mix(from ^ mix(self.number(table, place) as u64 ^ COUNTS))
            }
        }
    }

    /// How many values the next clustering column has below the path.
    fn count(&self, table: &Table, below: u64) -> u64 {
        let column = &table.columns[table.clustering[self.path.len()]];
        column.cluster.draw(column.spread.salt ^ COUNTS, below, 0).max(1) as u64
    }

    /// Makes it a random row of its partition.
    pub fn pick(&mut self, table: &Table, random: &mut Random) {
        self.path.clear();
        while self.path.len() < table.clustering.len() {
            let below = self.below(table);
            let count = self.count(table, below);
            self.path.push((below, random.below(count)));
        }
    }

    /// Visits each row of the partition with a chance, and at least one. A table without clustering
    /// columns has one row.
    pub fn visit(mut self, table: &Table, chance: f64, random: &mut Random, visit: &mut dyn FnMut(&Rows)) {
        let mut is_any = false;
        self.path.clear();
        self.descend(table, chance, random, &mut |rows| {
            is_any = true;
            visit(rows);
        });
        if !is_any {
            self.pick(table, random);
            visit(&self);
        }
    }

    fn descend(&mut self, table: &Table, chance: f64, random: &mut Random, visit: &mut dyn FnMut(&Rows)) {
        let depth = self.path.len();
        if depth == table.clustering.len() {
            return visit(self);
        }
        let below = self.below(table);
        let count = self.count(table, below);
        let is_last = depth + 1 == table.clustering.len();
        let mut which = if is_last { gap(chance, random) } else { 0 };
        while which < count {
            self.path.push((below, which));
            self.descend(table, chance, random, visit);
            self.path.pop();
            which += 1 + if is_last { gap(chance, random) } else { 0 };
        }
    }
}

/// How many rows in a row are not visited: a geometric number.
fn gap(chance: f64, random: &mut Random) -> u64 {
    if chance >= 1.0 {
        return 0;
    }
    // A chance of 0 gives infinity, which is cut to the greatest number; half of it leaves room to add.
    let gap = (1.0 - random.unit()).ln() / (1.0 - chance).ln();
    if gap.is_finite() { (gap as u64).min(u64::MAX / 2) } else { u64::MAX / 2 }
}
