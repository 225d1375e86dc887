//! IF: conditions resolved against their columns, bound, and asked of a row (`ColumnCondition`,
//! `Conditions`).

mod check;

use basalt_cql::ast;
use basalt_cql::ast::{ColumnPart, ConditionTest, InValues, Operator};
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Row, Table};
use bytes::Bytes;

use crate::bind::Binding;
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::restrictions::{contained, existing_column, has_duration};
use crate::terms::{Context, Term};
use crate::values::unpack_nullable_list;

/// What a statement asks of the row it writes.
#[derive(Clone, Debug)]
pub(crate) enum Conditions {
    /// Nothing.
    None,
    /// IF EXISTS
    Exists,
    /// IF NOT EXISTS
    NotExists,
    /// IF c = 1 AND ...
    Columns(Vec<Condition>),
}

/// Which part of a column is looked at.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// A list's element or a map's value.
    Element(Term),
    /// A field of a user type.
    Field(usize),
}

/// What a condition compares with.
#[derive(Clone, Debug)]
enum Operands {
    One(Term),
    Several(Vec<Term>),
    ListMarker(Term),
}

/// One condition.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Index in `Table::columns`.
    pub(crate) column: usize,
    part: Part,
    operator: Operator,
    operands: Operands,
}

/// A condition with its values.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    column: usize,
    element: Option<Value>,
    field: Option<usize>,
    operator: Operator,
    /// One of these must hold.
    values: Vec<Option<Bytes>>,
    /// Whether its value is unset: an error, but only once the condition is asked.
    is_unset: bool,
}

impl Conditions {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Conditions::None)
    }

    /// The columns looked at; none for those about existence.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let conditions: &[Condition] = match self {
            Conditions::Columns(conditions) => conditions,
            _ => &[],
        };
        conditions.iter().map(|condition| condition.column)
    }

    fn applies_to(&self, table: &Table, kind: ColumnKind) -> bool {
        self.columns().any(|column| table.columns[column].kind == kind)
    }

    /// Whether static columns are looked at.
    pub(crate) fn applies_to_static(&self, table: &Table) -> bool {
        self.applies_to(table, ColumnKind::Static)
    }

    /// Whether regular columns, or a row's existence, are looked at.
    pub(crate) fn applies_to_regular(&self, table: &Table) -> bool {
        self.applies_to(table, ColumnKind::Regular)
    }
}

/// Resolves the conditions of an IF.
pub(crate) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    written: &[ast::Condition],
) -> CqlResult<Conditions> {
    let mut conditions = Vec::with_capacity(written.len());
    for condition in written {
        let column = existing_column(table, &condition.column.name)?;
        let prepared = prepare_one(context, markers, table, column, condition)?;
        ensure(table.columns[column].kind >= ColumnKind::Static, || {
            format!("PRIMARY KEY column '{}' cannot have IF conditions", table.columns[column].name)
        })?;
        conditions.push(prepared);
    }
    Ok(Conditions::Columns(conditions))
}

fn prepare_one(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    column: usize,
    written: &ast::Condition,
) -> CqlResult<Condition> {
    let receiver = Receiver::column(table, column);
    let name = &receiver.name;
    if receiver.data_type == DataType::Counter {
        return invalid("Conditions on counters are not supported");
    }
    let (part, place) = match (&written.part, &receiver.data_type) {
        (ColumnPart::Whole, _) => (Part::Whole, receiver.clone()),
        // A descending column is none to Cassandra, and later refused for being part of the key.
        (ColumnPart::Element(_), _) if receiver.is_reversed => {
            bail!("Invalid element access syntax for non-collection column {name}")
        }
        (ColumnPart::Element(selector), DataType::List { element, .. }) => {
            let index = Term::prepare(context, markers, selector, &receiver.index_of())?;
            (Part::Element(index), receiver.value_of(element))
        }
        (ColumnPart::Element(selector), DataType::Map { key, value, .. }) => {
            let key = Term::prepare(context, markers, selector, &receiver.key_of(key))?;
            (Part::Element(key), receiver.value_of(value))
        }
        (ColumnPart::Element(_), DataType::Set { .. }) => {
            bail!("Invalid element access syntax for set column {name}")
        }
        (ColumnPart::Element(_), _) => {
            bail!("Invalid element access syntax for non-collection column {name}")
        }
        (ColumnPart::Field(field), DataType::Udt { definition, .. }) => {
            let index = definition.fields.iter().position(|(known, _)| **known == *field.name);
            let Some(index) = index else {
                bail!("Unknown field {} for column {name}", field.name);
            };
            let (known, data_type) = &definition.fields[index];
            (Part::Field(index), receiver.part(format!("{name}.{known}"), data_type))
        }
        (ColumnPart::Field(field), _) => bail!("Unknown field {} for column {name}", field.name),
    };
    let (operator, operands) = prepare_test(context, markers, &place, &written.test)?;
    Ok(Condition { column, part, operator, operands })
}

fn prepare_test(
    context: &Context<'_>,
    markers: &mut Markers,
    place: &Receiver,
    test: &ConditionTest,
) -> CqlResult<(Operator, Operands)> {
    match test {
        ConditionTest::In(InValues::Marker(marker)) => {
            let marker = Term::prepare_in(context, markers, marker, place);
            Ok((Operator::Eq, Operands::ListMarker(marker)))
        }
        ConditionTest::In(InValues::List(terms)) => {
            let terms = terms.iter().map(|term| Term::prepare(context, markers, term, place));
            Ok((Operator::Eq, Operands::Several(terms.collect::<CqlResult<_>>()?)))
        }
        ConditionTest::Compare(operator, value) => {
            check_durations(*operator, &place.data_type)?;
            let contains = matches!(operator, Operator::Contains | Operator::ContainsKey);
            let place =
                if contains { contained(place, *operator == Operator::ContainsKey)? } else { place.clone() };
            Ok((*operator, Operands::One(Term::prepare(context, markers, value, &place)?)))
        }
    }
}

fn check_durations(operator: Operator, data_type: &DataType) -> CqlResult<()> {
    let is_slice = matches!(operator, Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte);
    if !is_slice || !has_duration(data_type) {
        return Ok(());
    }
    let what = match data_type {
        DataType::Tuple(_) => "tuples",
        DataType::Udt { .. } => "UDTs",
        other if other.is_collection() => "collections",
        _ => bail!("Slice conditions ( {} ) are not supported on durations", operator.symbol()),
    };
    bail!("Slice conditions are not supported on {what} containing durations")
}

impl Condition {
    /// Evaluates the values.
    pub(crate) fn bind(&self, binding: &Binding<'_>) -> CqlResult<Bound> {
        let element = match &self.part {
            Part::Element(term) => Some(term.bind(binding)?),
            Part::Whole | Part::Field(_) => None,
        };
        let field = if let Part::Field(index) = self.part { Some(index) } else { None };
        let (mut values, mut is_unset) = (Vec::new(), false);
        match &self.operands {
            Operands::One(term) => match (term.bind(binding)?, self.operator) {
                (Value::Bytes(bytes), _) => values.push(Some(bytes)),
                (Value::Null, _) => values.push(None),
                (Value::Unset, Operator::Contains | Operator::ContainsKey) => values.push(Some(Bytes::new())),
                (Value::Unset, _) => is_unset = true,
            },
            Operands::Several(terms) => {
                for term in terms {
                    match term.bind(binding)? {
                        Value::Bytes(bytes) => values.push(Some(bytes)),
                        Value::Null => values.push(None),
                        Value::Unset => {}
                    }
                }
            }
            Operands::ListMarker(marker) => match marker.bind(binding)? {
                Value::Null => return invalid("Invalid null list in IN condition"),
                Value::Unset => return invalid("Invalid 'unset' value in condition"),
                Value::Bytes(list) => values = unpack_nullable_list(&list).unwrap_or_default(),
            },
        }
        Ok(Bound { column: self.column, element, field, operator: self.operator, values, is_unset })
    }
}

impl Bound {
    /// Whether it holds for a row that may not exist.
    pub(crate) fn holds(&self, table: &Table, row: Option<&Row>) -> CqlResult<bool> {
        check::holds(self, &table.columns[self.column], row)
    }
}
