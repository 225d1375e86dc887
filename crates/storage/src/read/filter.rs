//! Conditions on live rows (`db/filter/RowFilter`, `cql3/Operator.isSatisfiedBy`).
//!
//! Conditions on the partition key and static columns decide over whole partitions, the others
//! over rows. An absent value meets no condition.

use std::cmp::Ordering;

use basalt_model::command::{Expression, Operator};
use basalt_model::schema::{Column, ColumnKind};
use basalt_model::types::elements::take_value;
use basalt_model::{CounterContext, DataType, DecoratedKey, ReadCommand, Row, Table};
use bytes::Bytes;

/// The conditions of a command.
pub struct Conditions<'c> {
    table: &'c Table,
    of_partitions: Vec<(&'c Expression, &'c Column)>,
    of_rows: Vec<(&'c Expression, &'c Column)>,
}

impl<'c> Conditions<'c> {
    /// Those of a command. An expression on a column its table does not have cannot be made.
    pub fn new(command: &'c ReadCommand) -> Conditions<'c> {
        let table = &command.table;
        let with_column = |expression: &'c Expression| {
            table.columns.get(expression.column).map(|column| (expression, column))
        };
        let (of_partitions, of_rows) =
            command.row_filter.0.iter().filter_map(with_column).partition(|(_, column)| {
                matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static)
            });
        Conditions { table, of_partitions, of_rows }
    }

    /// Whether some condition concerns clustering or regular columns.
    pub fn has_row_conditions(&self) -> bool {
        !self.of_rows.is_empty()
    }

    /// Whether the partition may show anything.
    pub fn accept_partition(&self, key: &DecoratedKey, static_row: Option<&Row>) -> bool {
        self.of_partitions.iter().all(|(expression, column)| match column.kind {
            ColumnKind::PartitionKey => key
                .components(self.table.partition_key_count)
                .and_then(|components| components.into_iter().nth(usize::from(column.position)))
                .is_some_and(|value| is_met_by_value(expression, &column.data_type, &value)),
            _ => static_row.is_some_and(|row| is_met_by_row(expression, column, row)),
        })
    }

    /// Whether the row is shown.
    pub fn accept_row(&self, row: &Row) -> bool {
        self.of_rows.iter().all(|(expression, column)| is_met_by_row(expression, column, row))
    }
}

fn is_met_by_row(expression: &Expression, column: &Column, row: &Row) -> bool {
    if column.data_type.is_multi_cell() {
        return is_met_by_cells(expression, column, row);
    }
    let value: Option<&Bytes> = match column.kind {
        ColumnKind::Clustering => row.clustering.0.get(usize::from(column.position)).and_then(Option::as_ref),
        _ => row.cell(column.id).map(|cell| &cell.value),
    };
    if column.data_type == DataType::Counter {
        let total = value.map(|context| CounterContext::total(context).to_be_bytes());
        return total.is_some_and(|total| is_met_by_value(expression, &DataType::BigInt, &total));
    }
    value.is_some_and(|value| is_met_by_value(expression, &column.data_type, value))
}

fn is_met_by_value(expression: &Expression, data_type: &DataType, found: &[u8]) -> bool {
    let operand = &expression.value;
    if let Some(key) = &expression.map_key {
        let DataType::Map { key: key_type, value: value_type, .. } = data_type else { return false };
        let is_key = |entry: &Option<&[u8]>| key_type.compare(entry.unwrap_or_default(), key).is_eq();
        let value = entries(found).find(|(k, _)| is_key(k)).map(|(_, v)| v.unwrap_or_default());
        return value.is_some_and(|value| compares(expression.operator, value_type, value, operand));
    }
    match expression.operator {
        Operator::In => expression.values.iter().any(|value| data_type.compare(found, value).is_eq()),
        Operator::NotIn => expression.values.iter().all(|value| data_type.compare(found, value).is_ne()),
        Operator::Contains => contains(data_type, found, operand),
        Operator::NotContains => !contains(data_type, found, operand),
        Operator::ContainsKey => contains_key(data_type, found, operand),
        Operator::NotContainsKey => !contains_key(data_type, found, operand),
        operator => compares(operator, data_type, found, operand),
    }
}

fn compares(operator: Operator, data_type: &DataType, found: &[u8], operand: &[u8]) -> bool {
    let order = data_type.compare(found, operand);
    match operator {
        Operator::Eq => order == Ordering::Equal,
        Operator::Neq => order != Ordering::Equal,
        Operator::Lt => order == Ordering::Less,
        Operator::Lte => order != Ordering::Greater,
        Operator::Gt => order == Ordering::Greater,
        Operator::Gte => order != Ordering::Less,
        Operator::In
        | Operator::NotIn
        | Operator::Contains
        | Operator::NotContains
        | Operator::ContainsKey
        | Operator::NotContainsKey => false,
    }
}

/// A multi-cell column is the cells it has; without any it is null.
fn is_met_by_cells(expression: &Expression, column: &Column, row: &Row) -> bool {
    let cells = row.cells_of(column.id);
    if cells.is_empty() {
        return false;
    }
    let operand = &expression.value;
    let has_path = |path_type: &DataType, path: &[u8]| {
        cells.iter().find(|c| c.path.as_ref().is_some_and(|p| path_type.compare(p, path).is_eq()))
    };
    match (&column.data_type, &expression.map_key, expression.operator) {
        (DataType::Map { key, value, .. }, Some(map_key), operator) => {
            has_path(key, map_key).is_some_and(|cell| compares(operator, value, &cell.value, operand))
        }
        (DataType::Set { element, .. }, None, Operator::Contains) => has_path(element, operand).is_some(),
        (DataType::Set { element, .. }, None, Operator::NotContains) => has_path(element, operand).is_none(),
        (
            DataType::List { element: value, .. } | DataType::Map { value, .. },
            None,
            operator @ (Operator::Contains | Operator::NotContains),
        ) => {
            let is_there = cells.iter().any(|cell| value.compare(&cell.value, operand).is_eq());
            is_there == (operator == Operator::Contains)
        }
        (DataType::Map { key, .. }, None, Operator::ContainsKey) => has_path(key, operand).is_some(),
        (DataType::Map { key, .. }, None, Operator::NotContainsKey) => has_path(key, operand).is_none(),
        // Whole multi-cell columns are compared by no operator: planning refuses it.
        _ => false,
    }
}

/// In a frozen collection a value is found if it is the same once read, in cells if it compares as equal.
fn contains(data_type: &DataType, found: &[u8], operand: &[u8]) -> bool {
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            elements(found).any(|value| element.part_reads_as_same(value, Some(operand)))
        }
        DataType::Map { value, .. } => {
            entries(found).any(|(_, v)| value.part_reads_as_same(v, Some(operand)))
        }
        _ => false,
    }
}

fn contains_key(data_type: &DataType, found: &[u8], operand: &[u8]) -> bool {
    match data_type {
        DataType::Map { key, .. } => {
            entries(found).any(|(k, _)| key.compare(k.unwrap_or_default(), operand).is_eq())
        }
        _ => false,
    }
}

/// The parts of a frozen list or set behind their number; of a map, keys and values in turn.
fn elements(value: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = value.get(4..).unwrap_or_default();
    std::iter::from_fn(move || take_value(&mut rest))
}

fn entries(value: &[u8]) -> impl Iterator<Item = (Option<&[u8]>, Option<&[u8]>)> {
    let mut parts = elements(value);
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}
