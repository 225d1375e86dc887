//! Values of `=` and IN restrictions, combined over the columns of a key (`MultiCBuilder`).

use basalt_model::Table;
use bytes::Bytes;

use super::restriction::{InTerms, Restriction, Test};
use crate::bind::Binding;
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::request::Value;
use crate::terms::Term;
use crate::values::{split_tuple, unpack_nullable_list};

/// Prefixes of a key: every combination of the values given for each column.
pub(crate) struct Combinations {
    prefixes: Vec<Vec<Option<Bytes>>>,
}

impl Combinations {
    /// The empty prefix.
    pub(super) fn new() -> Combinations {
        Combinations { prefixes: vec![Vec::new()] }
    }

    /// No value was given for a column: there is no combination.
    pub(super) fn is_nothing(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// Whether each prefix has as many values.
    pub(super) fn are_all_of(&self, values: usize) -> bool {
        self.prefixes.iter().all(|prefix| prefix.len() == values)
    }

    /// The prefixes.
    pub(super) fn into_prefixes(self) -> Vec<Vec<Option<Bytes>>> {
        self.prefixes
    }

    fn push_all(&mut self, values: &[Bytes]) {
        for prefix in &mut self.prefixes {
            prefix.extend(values.iter().cloned().map(Some));
        }
    }

    fn push_each(&mut self, alternatives: &[Vec<Bytes>]) {
        let mut prefixes = Vec::with_capacity(self.prefixes.len() * alternatives.len());
        for prefix in &self.prefixes {
            for values in alternatives {
                prefixes.push(prefix.iter().cloned().chain(values.iter().cloned().map(Some)).collect());
            }
        }
        self.prefixes = prefixes;
    }
}

/// Adds the values of an `=` or IN restriction. A value for a tuple of columns may have fewer
/// elements than there are columns: it is a shorter prefix then.
pub(super) fn append(
    combinations: &mut Combinations,
    restriction: &Restriction,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<()> {
    match (&restriction.test, restriction.is_tuple) {
        (Test::Eq(value), false) => {
            let value = single(value, restriction.first(), table, binding)?;
            combinations.push_all(&[value]);
        }
        (Test::Eq(value), true) => {
            let fields = value.bind_fields(binding)?;
            let fields = fields.unwrap_or_else(|| vec![None; restriction.columns.len()]);
            let mut values = Vec::with_capacity(fields.len());
            for (value, column) in fields.into_iter().zip(&restriction.columns) {
                match value {
                    Some(value) => values.push(value),
                    None => bail!("Invalid null value for column {}", table.columns[*column].name),
                }
            }
            combinations.push_all(&values);
        }
        (Test::In(terms), false) => {
            let values = in_values(terms, restriction.first(), table, binding)?;
            let values: Vec<Vec<Bytes>> = values.into_iter().map(|value| vec![value]).collect();
            combinations.push_each(&values);
        }
        (Test::In(terms), true) => combinations.push_each(&tuples(terms, restriction, table, binding)?),
        // The callers stop at slices and filter what CONTAINS asks.
        (Test::Slice { .. } | Test::Contains { .. }, _) => {}
    }
    Ok(())
}

fn single(value: &Term, column: usize, table: &Table, binding: &Binding<'_>) -> CqlResult<Bytes> {
    let name = &table.columns[column].name;
    match value.bind(binding)? {
        Value::Bytes(bytes) => Ok(bytes),
        Value::Null => bail!("Invalid null value in condition for column {name}"),
        Value::Unset => bail!("Invalid unset value for column {name}"),
    }
}

/// The values of an IN that filters, as Cassandra reads them from its list: none behind a null, and
/// an unset value is no bytes.
pub(super) fn in_values_to_filter(
    terms: &InTerms,
    column: usize,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Vec<Bytes>> {
    let values: Vec<Option<Bytes>> = match terms {
        InTerms::List(terms) => {
            let bound = terms.iter().map(|term| match term.bind(binding)? {
                Value::Bytes(bytes) => Ok(Some(bytes)),
                Value::Unset => Ok(Some(Bytes::new())),
                Value::Null => Ok(None),
            });
            bound.collect::<CqlResult<_>>()?
        }
        InTerms::Marker(marker) => match marker.bind(binding)? {
            Value::Bytes(list) => unpack_nullable_list(&list).unwrap_or_default(),
            _ => return in_values(terms, column, table, binding),
        },
    };
    Ok(values.into_iter().map_while(|value| value).collect())
}

/// The values of an IN on one column.
pub(super) fn in_values(
    terms: &InTerms,
    column: usize,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Vec<Bytes>> {
    let name = &table.columns[column].name;
    match terms {
        InTerms::List(terms) => {
            let values = terms.iter().map(|term| term.bind(binding)).collect::<CqlResult<Vec<Value>>>()?;
            ensure(!values.contains(&Value::Null), || {
                format!("Invalid null value in condition for column {name}")
            })?;
            let present = values.into_iter().map(|value| match value {
                Value::Bytes(bytes) => Ok(bytes),
                _ => bail!("Invalid unset value for column {name}"),
            });
            present.collect()
        }
        InTerms::Marker(marker) => match marker.bind(binding)? {
            Value::Null => bail!("Invalid null value for column {name}"),
            Value::Unset => bail!("Invalid unset value for column {name}"),
            Value::Bytes(list) => {
                let Some(values) = unpack_nullable_list(&list) else {
                    return invalid("Not enough bytes to read a list");
                };
                match values.into_iter().collect::<Option<Vec<Bytes>>>() {
                    Some(values) => Ok(values),
                    None => bail!("Invalid null value in condition for column {name}"),
                }
            }
        },
    }
}

fn tuples(
    terms: &InTerms,
    restriction: &Restriction,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Vec<Vec<Bytes>>> {
    let fields: Vec<Vec<Option<Bytes>>> = match terms {
        InTerms::List(terms) => {
            let bound = terms.iter().map(|term| Ok(term.bind_fields(binding)?.unwrap_or(vec![None])));
            bound.collect::<CqlResult<_>>()?
        }
        InTerms::Marker(marker) => match marker.bind(binding)? {
            Value::Null | Value::Unset => return invalid("Invalid null value for IN restriction"),
            Value::Bytes(list) => {
                let tuples = unpack_nullable_list(&list).unwrap_or_default().into_iter();
                tuples
                    .map(|tuple| tuple.and_then(|tuple| split_tuple(&tuple)).unwrap_or(vec![None]))
                    .collect()
            }
        },
    };
    let names = || {
        let names: Vec<&str> =
            restriction.columns.iter().map(|column| &*table.columns[*column].name).collect();
        names.join(", ")
    };
    let mut tuples = Vec::with_capacity(fields.len());
    for fields in fields {
        let values = fields.into_iter().collect::<Option<Vec<Bytes>>>();
        match values.filter(|values| values.len() <= restriction.columns.len()) {
            Some(values) => tuples.push(values),
            None => bail!("Invalid null value in condition for columns: [{}]", names()),
        }
    }
    Ok(tuples)
}
