//! Restrictions that are applied row by row, as expressions of a read (`RowFilter`).

use basalt_model::Table;
use basalt_model::command::{Expression, Operator};
use bytes::Bytes;

use super::restriction::{InTerms, Restriction, Side, Test};
use super::values;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::request::Value;
use crate::terms::Term;

/// Appends a restriction's expressions.
pub(super) fn append(
    out: &mut Vec<Expression>,
    restriction: &Restriction,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<()> {
    let column = restriction.first();
    match (&restriction.test, restriction.is_tuple) {
        (Test::Eq(term), false) => out.push(simple(column, Operator::Eq, term, table, binding)?),
        (Test::Eq(term), true) => {
            let fields = term.bind_fields(binding)?.unwrap_or_default();
            for (index, column) in restriction.columns.iter().enumerate() {
                let Some(value) = fields.get(index).cloned().flatten() else {
                    bail!("Unsupported null value for column {}", table.columns[*column].name);
                };
                out.push(expression(*column, Operator::Eq, value));
            }
        }
        (Test::In(terms), tuple) => {
            if tuple && restriction.columns.len() > 1 {
                return invalid("Multicolumn IN filters are not supported");
            }
            out.push(in_list(terms, restriction, table, binding)?);
        }
        (Test::Slice { .. }, true) => {
            return invalid("Multi-column slice restrictions cannot be used for filtering.");
        }
        (Test::Slice { start, end }, _) => {
            let mut side = |side: &Option<Side>, inclusive: Operator, exclusive: Operator| -> CqlResult<()> {
                if let Some(side) = side {
                    let operator = if side.inclusive { inclusive } else { exclusive };
                    out.push(simple(column, operator, &side.value, table, binding)?);
                }
                Ok(())
            };
            side(start, Operator::Gte, Operator::Gt)?;
            side(end, Operator::Lte, Operator::Lt)?;
        }
        (Test::Contains { values, keys, entries }, _) => {
            for value in values {
                out.push(simple(column, Operator::Contains, value, table, binding)?);
            }
            for key in keys {
                out.push(simple(column, Operator::ContainsKey, key, table, binding)?);
            }
            for (key, value) in entries {
                let key = required("map key", key, column, table, binding)?;
                let value = required("map value", value, column, table, binding)?;
                out.push(Expression { map_key: Some(key), ..expression(column, Operator::Eq, value) });
            }
        }
    }
    Ok(())
}

fn in_list(
    terms: &InTerms,
    restriction: &Restriction,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Expression> {
    let column = restriction.first();
    let values = if restriction.is_tuple {
        let mut combinations = values::Combinations::new();
        values::append(&mut combinations, restriction, table, binding)?;
        combinations.into_prefixes().into_iter().filter_map(|mut row| row.pop().flatten()).collect()
    } else {
        values::in_values_to_filter(terms, column, table, binding)?
    };
    Ok(Expression { values, ..expression(column, Operator::In, Bytes::new()) })
}

fn expression(column: usize, operator: Operator, value: Bytes) -> Expression {
    Expression { column, operator, value, map_key: None, values: Vec::new() }
}

fn simple(
    column: usize,
    operator: Operator,
    term: &Term,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Expression> {
    Ok(expression(column, operator, required("value", term, column, table, binding)?))
}

fn required(
    what: &str,
    term: &Term,
    column: usize,
    table: &Table,
    binding: &Binding<'_>,
) -> CqlResult<Bytes> {
    let name = &table.columns[column].name;
    match term.bind(binding)? {
        Value::Bytes(bytes) => Ok(bytes),
        Value::Null => bail!("Unsupported null {what} for column {name}"),
        Value::Unset => bail!("Unsupported unset {what} for column {name}"),
    }
}
