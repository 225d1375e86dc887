//! Read commands as CQL for warnings (`AbstractReadQuery.toCQLString`): close to what the client wrote,
//! not the same.

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, Expression, KeyBound, KeyRange, Operator, ReadTarget, RowSelection,
    TombstoneReport,
};
use basalt_model::{Bound, Clustering, Column, ColumnId, DecoratedKey, ReadCommand, Slice, Table, quote};
use bytes::Bytes;

use crate::literals::print;

/// Characters of a statement that a warning shows.
const SHOWN: usize = 512;

/// What the client is told of a read that met many tombstones (`ReadCommand.withMetricsRecording`).
pub(crate) fn tombstone_warning(report: &TombstoneReport) -> String {
    let text: String = text(&report.command).chars().take(SHOWN).collect();
    let token = report.last_token.map_or_else(|| "null".to_owned(), |token| token.0.to_string());
    format!(
        "Read {} live rows and {} tombstone cells for query {text}; token {token} (see tombstone_warn_threshold)",
        report.live_rows, report.tombstones
    )
}

/// The command as CQL.
fn text(command: &ReadCommand) -> String {
    let table = &*command.table;
    let mut columns = match &command.columns {
        ColumnFilter::All => Vec::new(),
        ColumnFilter::Some(selected) => names(table, selected.queried.as_deref().unwrap_or_default()),
        ColumnFilter::Only(ids) => names(table, ids),
    };
    columns.sort();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let (keyspace, table_name) = (quote::identifier(&table.keyspace), quote::identifier(&table.name));
    let mut text = format!("SELECT {columns} FROM {keyspace}.{table_name}");
    let (mut clauses, filter) = match &command.target {
        ReadTarget::Partition { key, filter } => (key_clauses(table, key), filter),
        ReadTarget::Range { range, filter } => (range_clauses(table, range), filter),
    };
    clauses.extend(row_clauses(table, filter));
    clauses.extend(command.row_filter.0.iter().map(|expression| condition(table, expression)));
    if !clauses.is_empty() {
        text.push_str(" WHERE ");
        text.push_str(&clauses.join(" AND "));
    }
    if filter.reversed {
        let order = |column: &Column| {
            let is_descending = column.order == basalt_model::schema::ClusteringOrder::Desc;
            format!("{} {}", name(column), if is_descending { "ASC" } else { "DESC" })
        };
        let order: Vec<String> = table.clustering().iter().map(order).collect();
        text.push_str(" ORDER BY ");
        text.push_str(&order.join(", "));
    }
    let limits = &command.limits;
    if limits.rows != u32::MAX {
        text.push_str(&format!(" LIMIT {}", limits.rows));
    }
    if limits.rows_per_partition != u32::MAX {
        text.push_str(&format!(" PER PARTITION LIMIT {}", limits.rows_per_partition));
    }
    text.push_str(" ALLOW FILTERING");
    text
}

fn name(column: &Column) -> String {
    quote::identifier(&column.name).into_owned()
}

fn names(table: &Table, ids: &[ColumnId]) -> Vec<String> {
    ids.iter().filter_map(|id| table.column_by_id(*id)).map(name).collect()
}

fn literal(column: &Column, value: &Bytes) -> String {
    print(&column.data_type, Some(value))
}

fn key_clauses(table: &Table, key: &DecoratedKey) -> Vec<String> {
    let values = key.components(table.partition_key_count).unwrap_or_default();
    let columns = table.partition_key().iter().zip(&values);
    columns.map(|(column, value)| format!("{} = {}", name(column), literal(column, value))).collect()
}

fn range_clauses(table: &Table, range: &KeyRange) -> Vec<String> {
    let columns: Vec<String> = table.partition_key().iter().map(name).collect();
    let side = |bound: &KeyBound, inclusive_sign: &str, sign: &str| {
        let (value, inclusive) = match bound {
            KeyBound::Unbounded => return None,
            KeyBound::Token { token, inclusive } => (token.0.to_string(), inclusive),
            KeyBound::Key { key, inclusive } => {
                let values = key.components(table.partition_key_count).unwrap_or_default();
                let values = table.partition_key().iter().zip(&values);
                let values: Vec<String> = values.map(|(column, value)| literal(column, value)).collect();
                (format!("token({})", values.join(", ")), inclusive)
            }
        };
        let sign = if *inclusive { inclusive_sign } else { sign };
        Some(format!("token({}) {sign} {value}", columns.join(", ")))
    };
    [side(&range.start, ">=", ">"), side(&range.end, "<=", "<")].into_iter().flatten().collect()
}

fn row_clauses(table: &Table, filter: &ClusteringFilter) -> Vec<String> {
    match &filter.rows {
        RowSelection::Names(names) if table.clustering_count > 0 && !names.is_empty() => {
            vec![named_rows(table, names)]
        }
        RowSelection::Names(_) => Vec::new(),
        RowSelection::Slices(slices) => slices.first().map_or_else(Vec::new, |first| sliced(table, first)),
    }
}

fn named_rows(table: &Table, names: &[Clustering]) -> String {
    let wrap = |text: String| if table.clustering_count == 1 { text } else { format!("({text})") };
    let columns: Vec<String> = table.clustering().iter().map(name).collect();
    let row = |row: &Clustering| {
        let values = table.clustering().iter().zip(&row.0);
        let values: Vec<String> =
            values.map(|(column, value)| print(&column.data_type, value.as_ref())).collect();
        wrap(values.join(", "))
    };
    let rows: Vec<String> = names.iter().map(row).collect();
    let columns = wrap(columns.join(", "));
    match rows.as_slice() {
        [one] => format!("{columns} = {one}"),
        many => format!("{columns} IN ({})", many.join(", ")),
    }
}

/// The columns bound by a slice: equal ones first, then the two sides of the next.
fn sliced(table: &Table, slice: &Slice) -> Vec<String> {
    let mut clauses = Vec::new();
    let at = |bound: &Bound, index: usize| bound.prefix.0.get(index).cloned().flatten();
    for (index, column) in table.clustering().iter().enumerate() {
        let (start, end) = (at(&slice.start, index), at(&slice.end, index));
        if start == end {
            let Some(value) = start else { break };
            clauses.push(format!("{} = {}", name(column), literal(column, &value)));
            continue;
        }
        let is_reversed = column.order == basalt_model::schema::ClusteringOrder::Desc;
        let clause = |value: &Bytes, bound: &Bound, is_lower: bool| {
            let is_in = bound.kind.is_start() != bound.kind.is_after_prefix();
            let sign = match (is_lower, is_in) {
                (true, true) => ">=",
                (true, false) => ">",
                (false, true) => "<=",
                (false, false) => "<",
            };
            format!("{} {sign} {}", name(column), literal(column, value))
        };
        clauses.extend(start.map(|value| clause(&value, &slice.start, !is_reversed)));
        clauses.extend(end.map(|value| clause(&value, &slice.end, is_reversed)));
    }
    clauses
}

fn condition(table: &Table, expression: &Expression) -> String {
    let Some(column) = table.columns.get(expression.column) else { return String::new() };
    let sign = match expression.operator {
        Operator::Eq => "=",
        Operator::Neq => "!=",
        Operator::Lt => "<",
        Operator::Lte => "<=",
        Operator::Gt => ">",
        Operator::Gte => ">=",
        Operator::In => "IN",
        Operator::NotIn => "NOT IN",
        Operator::Contains => "CONTAINS",
        Operator::NotContains => "NOT CONTAINS",
        Operator::ContainsKey => "CONTAINS KEY",
        Operator::NotContainsKey => "NOT CONTAINS KEY",
    };
    use basalt_model::DataType::{List, Map, Set};
    let (element, key) = match &column.data_type {
        List { element, .. } | Set { element, .. } => (&**element, &**element),
        Map { key, value, .. } => (&**value, &**key),
        other => (other, other),
    };
    if let Some(map_key) = &expression.map_key {
        let (map_key, value) = (print(key, Some(map_key)), print(element, Some(&expression.value)));
        return format!("{}[{map_key}] {sign} {value}", name(column));
    }
    let value = match expression.operator {
        Operator::In | Operator::NotIn => {
            let values: Vec<String> = expression.values.iter().map(|value| literal(column, value)).collect();
            format!("[{}]", values.join(", "))
        }
        Operator::Contains | Operator::NotContains => print(element, Some(&expression.value)),
        Operator::ContainsKey | Operator::NotContainsKey => print(key, Some(&expression.value)),
        _ => literal(column, &expression.value),
    };
    format!("{} {sign} {value}", name(column))
}
