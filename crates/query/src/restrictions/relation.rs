//! Written relations to restrictions (`SingleColumnRelation`, `MultiColumnRelation`,
//! `TokenRelation`).

use basalt_cql::ast;
use basalt_cql::ast::{Ident, InValues, Operator, RelationKind};
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Table, quote};

use super::restriction::{InTerms, Restriction, Side, Test};
use super::token::{TokenRestriction, TokenTest};
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::receiver::{Markers, Receiver};
use crate::terms::{Context, Term};
use crate::text;

/// A relation resolved against its table.
pub(super) enum Resolved {
    /// On columns.
    Columns(Restriction),
    /// On the partition key's token.
    Token(TokenRestriction),
}

/// The column of that name, as an index.
pub(crate) fn existing_column(table: &Table, name: &str) -> CqlResult<usize> {
    let named = |column: &basalt_model::Column| &*column.name == name && !table.is_hidden(column);
    match table.columns.iter().position(named) {
        Some(index) => Ok(index),
        None => bail!("Undefined column name {} in table {}", quote::identifier(name), table_name(table)),
    }
}

/// `keyspace.table`, quoted where it must be.
pub(crate) fn table_name(table: &Table) -> String {
    format!("{}.{}", quote::identifier(&table.keyspace), quote::identifier(&table.name))
}

/// Whether values of the type hold a duration (`AbstractType.referencesDuration`). Cassandra does not
/// look into sets, keys of maps and vectors.
pub(crate) fn has_duration(data_type: &DataType) -> bool {
    match data_type {
        DataType::Duration => true,
        DataType::List { element, .. } => has_duration(element),
        DataType::Map { value, .. } => has_duration(value),
        DataType::Tuple(types) => types.iter().any(has_duration),
        DataType::Udt { definition, .. } => definition.fields.iter().any(|(_, t)| has_duration(t)),
        _ => false,
    }
}

/// Resolves a relation.
pub(super) fn resolve(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    relation: &ast::Relation,
) -> CqlResult<Resolved> {
    refuse_inequality(relation)?;
    let columns = match &relation.kind {
        RelationKind::Column { column, op, value } => single(context, markers, table, (column, *op, value))?,
        RelationKind::In { column, values } => single_in(context, markers, table, column, values)?,
        RelationKind::Element { column, key, op, value } => {
            element(context, markers, table, (column, key, *op, value))?
        }
        RelationKind::Tuple { columns, op, value } => {
            let receivers = tuple_columns(table, columns, relation)?;
            tuple(context, markers, table, receivers, (*op, value))?
        }
        RelationKind::TupleIn { columns, values } => {
            let receivers = tuple_columns(table, columns, relation)?;
            tuple_in(context, markers, table, receivers, values)?
        }
        RelationKind::Token { columns, op, value } => {
            return token(context, markers, table, columns, (*op, value)).map(Resolved::Token);
        }
        RelationKind::IsNotNull { .. } => bail!("Unsupported restriction: {}", text::relation(relation)),
        RelationKind::CustomIndex { .. } => bail!("Unsupported restriction: {}", text::relation(relation)),
    };
    Ok(Resolved::Columns(columns))
}

/// `!=` is refused before anything else is looked at.
fn refuse_inequality(relation: &ast::Relation) -> CqlResult<()> {
    let op = match &relation.kind {
        RelationKind::Column { op, .. }
        | RelationKind::Element { op, .. }
        | RelationKind::Tuple { op, .. }
        | RelationKind::Token { op, .. } => *op,
        _ => return Ok(()),
    };
    ensure(op != Operator::Neq, || format!("Unsupported \"!=\" relation: {}", text::relation(relation)))
}

fn check_multi_cell(table: &Table, column: usize, operator: &str) -> CqlResult<()> {
    let column = &table.columns[column];
    let (name, data_type) = (&column.name, &column.data_type);
    if matches!(data_type, DataType::Udt { frozen: false, .. }) {
        bail!("Non-frozen UDT column '{name}' ({data_type}) cannot be restricted by any relation");
    }
    if data_type.is_collection() && data_type.is_multi_cell() {
        bail!("Collection column '{name}' ({data_type}) cannot be restricted by a '{operator}' relation");
    }
    Ok(())
}

fn slice_test(op: Operator, value: Term) -> Test {
    let side = |inclusive| Some(Side { value: value.clone(), inclusive });
    match op {
        Operator::Lt => Test::Slice { start: None, end: side(false) },
        Operator::Lte => Test::Slice { start: None, end: side(true) },
        Operator::Gte => Test::Slice { start: side(true), end: None },
        _ => Test::Slice { start: side(false), end: None },
    }
}

fn is_slice(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte)
}

fn single(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    (name, op, value): (&Ident, Operator, &ast::Term),
) -> CqlResult<Restriction> {
    let column = existing_column(table, &name.name)?;
    let receiver = Receiver::column(table, column);
    let data_type = &table.columns[column].data_type;
    if is_slice(op) && has_duration(data_type) {
        let what = match data_type {
            DataType::Tuple(_) => "tuples containing durations",
            DataType::Udt { .. } => "UDTs containing durations",
            other if other.is_collection() => "collections containing durations",
            _ => "duration columns",
        };
        bail!("Slice restrictions are not supported on {what}");
    }
    match op {
        Operator::Contains | Operator::ContainsKey => {
            return contains(context, markers, (column, &receiver), op, value);
        }
        Operator::Like => {
            check_multi_cell(table, column, op.symbol())?;
            Term::prepare(context, markers, value, &receiver)?;
            bail!(
                "LIKE restriction is only supported on properly indexed columns. {} LIKE {} is not valid.",
                quote::identifier(&name.name),
                text::term(value)
            );
        }
        _ => {}
    }
    check_multi_cell(table, column, op.symbol())?;
    let value = Term::prepare(context, markers, value, &receiver)?;
    let test = if op == Operator::Eq { Test::Eq(value) } else { slice_test(op, value) };
    Ok(Restriction::single(column, test))
}

fn contains(
    context: &Context<'_>,
    markers: &mut Markers,
    (column, receiver): (usize, &Receiver),
    op: Operator,
    value: &ast::Term,
) -> CqlResult<Restriction> {
    let place = contained(receiver, op == Operator::ContainsKey)?;
    if matches!(receiver.data_type, DataType::Udt { frozen: false, .. }) {
        bail!(
            "Non-frozen UDT column '{}' ({}) cannot be restricted by any relation",
            receiver.name,
            receiver.data_type
        );
    }
    let value = Term::prepare(context, markers, value, &place)?;
    let (values, keys) =
        if op == Operator::ContainsKey { (vec![], vec![value]) } else { (vec![value], vec![]) };
    Ok(Restriction::single(column, Test::Contains { values, keys, entries: Vec::new() }))
}

/// The place of what a collection is asked to contain (`CollectionType.makeCollectionReceiver`).
pub(crate) fn contained(receiver: &Receiver, key_wanted: bool) -> CqlResult<Receiver> {
    match &receiver.data_type {
        DataType::Map { key, .. } if key_wanted && !receiver.is_reversed => Ok(receiver.key_of(key)),
        _ if key_wanted => bail!("Cannot use CONTAINS KEY on non-map column {}", receiver.name),
        DataType::Map { value: part, .. }
        | DataType::List { element: part, .. }
        | DataType::Set { element: part, .. }
            if !receiver.is_reversed =>
        {
            Ok(receiver.value_of(part))
        }
        _ => bail!("Cannot use CONTAINS on non-collection column {}", receiver.name),
    }
}

fn single_in(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    name: &Ident,
    values: &InValues,
) -> CqlResult<Restriction> {
    let column = existing_column(table, &name.name)?;
    check_multi_cell(table, column, "IN")?;
    let receiver = Receiver::column(table, column);
    let test = match values {
        InValues::Marker(marker) => {
            Test::In(InTerms::Marker(Term::prepare_in(context, markers, marker, &receiver)))
        }
        InValues::List(terms) => {
            let terms = terms.iter().map(|term| Term::prepare(context, markers, term, &receiver));
            let mut terms = terms.collect::<CqlResult<Vec<Term>>>()?;
            if terms.len() == 1 { Test::Eq(terms.remove(0)) } else { Test::In(InTerms::List(terms)) }
        }
    };
    Ok(Restriction::single(column, test))
}

fn element(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    (name, key, op, value): (&Ident, &ast::Term, Operator, &ast::Term),
) -> CqlResult<Restriction> {
    let column = existing_column(table, &name.name)?;
    let receiver = Receiver::column(table, column);
    let shown = &receiver.name;
    let (keys, values) = match &receiver.data_type {
        _ if receiver.is_reversed => bail!("Column {shown} cannot be used as a map"),
        DataType::List { .. } => {
            bail!("Indexes on list entries ({shown}[index] = value) are not currently supported.")
        }
        DataType::Map { frozen: true, .. } => {
            bail!("Map-entry equality predicates on frozen map column {shown} are not supported")
        }
        DataType::Map { key, value, .. } => (receiver.key_of(key), receiver.value_of(value)),
        _ => bail!("Column {shown} cannot be used as a map"),
    };
    ensure(op == Operator::Eq, || "Only EQ relations are supported on map entries".to_owned())?;
    let key = Term::prepare(context, markers, key, &keys)?;
    let value = Term::prepare(context, markers, value, &values)?;
    let test = Test::Contains { values: Vec::new(), keys: Vec::new(), entries: vec![(key, value)] };
    Ok(Restriction::single(column, test))
}

fn tuple_columns(table: &Table, names: &[Ident], relation: &ast::Relation) -> CqlResult<Vec<usize>> {
    let mut columns: Vec<usize> = Vec::with_capacity(names.len());
    for name in names {
        let index = existing_column(table, &name.name)?;
        let column = &table.columns[index];
        ensure(column.kind == ColumnKind::Clustering, || {
            format!(
                "Multi-column relations can only be applied to clustering columns but was applied to: {}",
                column.name
            )
        })?;
        ensure(!columns.contains(&index), || {
            format!("Column \"{}\" appeared twice in a relation: {}", column.name, text::relation(relation))
        })?;
        ensure(columns.last().is_none_or(|last| index == last + 1), || {
            format!(
                "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {}",
                text::relation(relation)
            )
        })?;
        columns.push(index);
    }
    Ok(columns)
}

fn tuple(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    columns: Vec<usize>,
    (op, value): (Operator, &ast::Term),
) -> CqlResult<Restriction> {
    let receivers: Vec<Receiver> = columns.iter().map(|column| Receiver::column(table, *column)).collect();
    match op {
        Operator::Eq => {}
        _ if is_slice(op) => {}
        other => bail!("{} cannot be used for multi-column relations", other.symbol()),
    }
    let value = Term::prepare_columns(context, markers, value, &receivers)?;
    let test = if op == Operator::Eq { Test::Eq(value) } else { slice_test(op, value) };
    Ok(Restriction { columns, is_tuple: true, test })
}

fn tuple_in(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    columns: Vec<usize>,
    values: &InValues,
) -> CqlResult<Restriction> {
    let receivers: Vec<Receiver> = columns.iter().map(|column| Receiver::column(table, *column)).collect();
    let test = match values {
        InValues::Marker(marker) => {
            Test::In(InTerms::Marker(Term::prepare_columns_in(context, markers, marker, &receivers)?))
        }
        InValues::List(terms) => {
            let terms = terms.iter().map(|term| Term::prepare_columns(context, markers, term, &receivers));
            let mut terms = terms.collect::<CqlResult<Vec<Term>>>()?;
            if terms.len() == 1 { Test::Eq(terms.remove(0)) } else { Test::In(InTerms::List(terms)) }
        }
    };
    Ok(Restriction { columns, is_tuple: true, test })
}

fn token(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    names: &[Ident],
    (op, value): (Operator, &ast::Term),
) -> CqlResult<TokenRestriction> {
    if op != Operator::Eq && !is_slice(op) {
        bail!("{} cannot be used with the token function", op.symbol());
    }
    let columns = names.iter().map(|name| existing_column(table, &name.name));
    let columns = columns.collect::<CqlResult<Vec<usize>>>()?;
    check_token_columns(table, &columns)?;
    let receiver = Receiver::named(table, "partition key token", DataType::BigInt);
    let value = Term::prepare(context, markers, value, &receiver)?;
    let test = if op == Operator::Eq {
        TokenTest::Eq(value)
    } else {
        match slice_test(op, value) {
            Test::Slice { start, end } => TokenTest::Slice { start, end },
            _ => return invalid("Invalid token restriction"),
        }
    };
    Ok(TokenRestriction(test))
}

fn check_token_columns(table: &Table, columns: &[usize]) -> CqlResult<()> {
    let key = table.partition_key_count;
    if columns.iter().copied().eq(0..key) {
        return Ok(());
    }
    if !(0..key).all(|column| columns.contains(&column)) {
        bail!("The token() function must be applied to all partition key components or none of them");
    }
    let mut distinct = columns.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() != columns.len() {
        bail!("The token() function contains duplicate partition key components");
    }
    if columns.iter().any(|column| *column >= key) {
        bail!("The token() function must contains only partition key components");
    }
    let names: Vec<&str> = table.partition_key().iter().map(|column| &*column.name).collect();
    bail!("The token function arguments must be in the partition key order: {}", names.join(", "))
}
