//! Restrictions of one kind of columns, by column (`RestrictionSet`).

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::Table;
use basalt_model::schema::ColumnKind;

use super::restriction::Restriction;
use crate::error::CqlResult;

/// Restrictions by column, in column order: by position for key columns, by name for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestrictionSet {
    by_column: BTreeMap<usize, Arc<Restriction>>,
    has_in: bool,
    has_slice: bool,
    has_contains: bool,
    has_other_than_equality: bool,
}

/// Static columns come before regular ones in the table but not here: the order is by name.
fn in_order(by_column: &BTreeMap<usize, Arc<Restriction>>, table: &Table) -> Vec<usize> {
    let mut columns: Vec<usize> = by_column.keys().copied().collect();
    columns.sort_by_key(|column| (table.columns[*column].position, table.columns[*column].name.clone()));
    columns
}

impl RestrictionSet {
    /// Adds one, joined with those that share a column.
    pub(crate) fn add(&mut self, restriction: Restriction, table: &Table) -> CqlResult<()> {
        self.has_in |= restriction.is_in();
        self.has_slice |= restriction.is_slice();
        self.has_contains |= restriction.is_contains();
        self.has_other_than_equality |= !(restriction.is_eq() || restriction.is_in());
        let mut existing: Vec<Arc<Restriction>> = Vec::new();
        for column in &restriction.columns {
            if let Some(found) = self.by_column.get(column)
                && !existing.iter().any(|known| Arc::ptr_eq(known, found))
            {
                existing.push(found.clone());
            }
        }
        if existing.is_empty() {
            self.put(&restriction.columns, Arc::new(restriction.clone()));
        }
        for found in existing {
            self.put(&restriction.columns, Arc::new(found.merge(&restriction, table)?));
        }
        Ok(())
    }

    fn put(&mut self, columns: &[usize], restriction: Arc<Restriction>) {
        for column in columns {
            self.by_column.insert(*column, restriction.clone());
        }
    }

    /// The restrictions in column order, each once.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Restriction> {
        let mut previous: Option<&Arc<Restriction>> = None;
        self.by_column.values().filter_map(move |restriction| {
            let repeated = previous.is_some_and(|known| Arc::ptr_eq(known, restriction));
            previous = Some(restriction);
            (!repeated).then_some(&**restriction)
        })
    }

    /// The last restriction.
    pub(crate) fn last(&self) -> Option<&Restriction> {
        self.by_column.values().next_back().map(|restriction| &**restriction)
    }

    /// The restriction of a column.
    pub(crate) fn get(&self, column: usize) -> Option<&Restriction> {
        self.by_column.get(&column).map(|restriction| &**restriction)
    }

    /// The restricted columns in order.
    pub(crate) fn columns(&self, table: &Table) -> Vec<usize> {
        in_order(&self.by_column, table)
    }

    /// The next restricted column behind `column`.
    pub(crate) fn next_column(&self, column: usize) -> Option<usize> {
        self.by_column.range(column + 1..).next().map(|(column, _)| *column)
    }

    /// How many columns are restricted.
    pub(crate) fn len(&self) -> usize {
        self.by_column.len()
    }

    /// None is.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_column.is_empty()
    }

    /// Whether a column of that kind is restricted.
    pub(crate) fn restricts(&self, kind: ColumnKind, table: &Table) -> bool {
        self.by_column.keys().any(|column| table.columns[*column].kind == kind)
    }

    /// Whether there is an IN.
    pub(crate) fn has_in(&self) -> bool {
        self.has_in
    }

    /// Whether there is a slice.
    pub(crate) fn has_slice(&self) -> bool {
        self.has_slice
    }

    /// Whether there is a CONTAINS.
    pub(crate) fn has_contains(&self) -> bool {
        self.has_contains
    }

    /// Whether all are `=` or IN.
    pub(crate) fn has_only_equality(&self) -> bool {
        !self.has_other_than_equality
    }
}
