//! One restriction on one or several columns, and how two on the same columns join
//! (`SingleColumnRestriction`, `MultiColumnRestriction`).

use basalt_model::Table;

use crate::error::{CqlResult, bail, ensure};
use crate::terms::Term;

/// One side of a slice.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// The value.
    pub(crate) value: Term,
    /// Whether the value itself is in.
    pub(crate) inclusive: bool,
}

/// The right side of an IN.
#[derive(Clone, Debug)]
pub(crate) enum InTerms {
    /// Several terms.
    List(Vec<Term>),
    /// One marker for the whole list.
    Marker(Term),
}

/// What is asked of the columns.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// `=`
    Eq(Term),
    /// `IN`
    In(InTerms),
    /// `<`, `<=`, `>`, `>=`
    Slice {
        /// The lower side.
        start: Option<Side>,
        /// The upper side.
        end: Option<Side>,
    },
    /// `CONTAINS`, `CONTAINS KEY`, `c[k] = v`
    Contains {
        /// `CONTAINS v`
        values: Vec<Term>,
        /// `CONTAINS KEY k`
        keys: Vec<Term>,
        /// `c[k] = v`
        entries: Vec<(Term, Term)>,
    },
}

/// A restriction. `columns` are indices in `Table::columns`.
#[derive(Clone, Debug)]
pub(crate) struct Restriction {
    /// Restricted columns; several only with `is_tuple`.
    pub(crate) columns: Vec<usize>,
    /// Written as `(a, b) op ...`: values are tuples.
    pub(crate) is_tuple: bool,
    /// What is asked.
    pub(crate) test: Test,
}

impl Restriction {
    /// On one column.
    pub(crate) fn single(column: usize, test: Test) -> Restriction {
        Restriction { columns: vec![column], is_tuple: false, test }
    }

    /// The first column.
    pub(crate) fn first(&self) -> usize {
        self.columns[0]
    }

    /// The last column.
    pub(crate) fn last(&self) -> usize {
        self.columns[self.columns.len() - 1]
    }

    /// `=`
    pub(crate) fn is_eq(&self) -> bool {
        matches!(self.test, Test::Eq(_))
    }

    /// `IN`
    pub(crate) fn is_in(&self) -> bool {
        matches!(self.test, Test::In(_))
    }

    /// A slice.
    pub(crate) fn is_slice(&self) -> bool {
        matches!(self.test, Test::Slice { .. })
    }

    /// `CONTAINS` and its like.
    pub(crate) fn is_contains(&self) -> bool {
        matches!(self.test, Test::Contains { .. })
    }

    /// Joins another restriction that shares a column.
    pub(crate) fn merge(&self, other: &Restriction, table: &Table) -> CqlResult<Restriction> {
        let is_tuple = self.is_tuple || other.is_tuple;
        let names = self.shared_names(other, is_tuple, table);
        match (&self.test, &other.test) {
            (Test::Contains { .. }, Test::Contains { .. }) => Ok(self.merge_contains(other)),
            (Test::Contains { .. }, _) => bail!(
                "Collection column {names} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
            ),
            (Test::Eq(_), _) => {
                bail!("{names} cannot be restricted by more than one relation if it includes an Equal")
            }
            (Test::In(_), _) => {
                bail!("{names} cannot be restricted by more than one relation if it includes a IN")
            }
            (Test::Slice { .. }, Test::Slice { .. }) => self.merge_slices(other, &names, table),
            (Test::Slice { .. }, _) => bail!(
                "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
            ),
        }
    }

    fn shared_names(&self, other: &Restriction, is_tuple: bool, table: &Table) -> String {
        let shared = self.columns.iter().filter(|column| !is_tuple || other.columns.contains(column));
        shared.map(|column| &*table.columns[*column].name).collect::<Vec<&str>>().join(" ,")
    }

    fn merge_contains(&self, other: &Restriction) -> Restriction {
        let mut merged = self.clone();
        if let (
            Test::Contains { values, keys, entries },
            Test::Contains { values: more_values, keys: more_keys, entries: more_entries },
        ) = (&mut merged.test, &other.test)
        {
            values.extend(more_values.iter().cloned());
            keys.extend(more_keys.iter().cloned());
            entries.extend(more_entries.iter().cloned());
        }
        merged
    }

    fn merge_slices(&self, other: &Restriction, names: &str, table: &Table) -> CqlResult<Restriction> {
        let (Test::Slice { start, end }, Test::Slice { start: other_start, end: other_end }) =
            (&self.test, &other.test)
        else {
            return Ok(self.clone());
        };
        if self.first() != other.first() {
            let name = &table.columns[self.first().max(other.first())].name;
            bail!(
                "Column \"{name}\" cannot be restricted by two inequalities not starting with the same column"
            );
        }
        ensure(start.is_none() || other_start.is_none(), || {
            format!("More than one restriction was found for the start bound on {names}")
        })?;
        ensure(end.is_none() || other_end.is_none(), || {
            format!("More than one restriction was found for the end bound on {names}")
        })?;
        let longer = if self.columns.len() >= other.columns.len() { self } else { other };
        // A single column joined with a tuple counts as a tuple of one.
        let as_tuple = |side: &Option<Side>, from: &Restriction| -> Option<Side> {
            let side = side.clone()?;
            let wrap = (self.is_tuple || other.is_tuple) && !from.is_tuple;
            let value = if wrap { Term::Tuple(vec![side.value]) } else { side.value };
            Some(Side { value, inclusive: side.inclusive })
        };
        Ok(Restriction {
            columns: longer.columns.clone(),
            is_tuple: self.is_tuple || other.is_tuple,
            test: Test::Slice {
                start: as_tuple(start, self).or_else(|| as_tuple(other_start, other)),
                end: as_tuple(end, self).or_else(|| as_tuple(other_end, other)),
            },
        })
    }
}
