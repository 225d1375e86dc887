//! Terms, selectables, relations and properties.

use std::fmt::{Display, Formatter, Result};

use super::{and, by, comma, name};
use crate::ast::{
    ArithmeticOp, ColumnPart, Condition, ConditionTest, IfClause, InValues, Literal, LiteralKind, Marker,
    Operator, Property, PropertyValue, Relation, RelationKind, Selectable, SelectableKind, Term, TermKind,
};
use crate::quote;

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.kind {
            LiteralKind::String => f.write_str(&quote::string(&self.text)),
            _ => f.write_str(&self.text),
        }
    }
}

impl Display for Marker {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.name {
            Some(name) => write!(f, ":{name}"),
            None => f.write_str("?"),
        }
    }
}

impl Display for ArithmeticOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.symbol().fmt(f)
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.symbol())
    }
}

/// `key: value`
fn entries<'a, K: Display, V: Display>(entries: &'a [(K, V)]) -> impl Display + 'a {
    by(move |f| {
        for (i, (key, value)) in entries.iter().enumerate() {
            write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    })
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TermKind::Literal(literal) => literal.fmt(f),
            TermKind::Null => f.write_str("NULL"),
            TermKind::Marker(marker) => marker.fmt(f),
            TermKind::List(items) => write!(f, "[{}]", comma(items)),
            TermKind::Set(items) => write!(f, "{{{}}}", comma(items)),
            TermKind::Map(items) => write!(f, "{{{}}}", entries(items)),
            TermKind::UserType(fields) => write!(f, "{{{}}}", entries(fields)),
            TermKind::Tuple(items) => write!(f, "({})", comma(items)),
            TermKind::Function(name, arguments) => write!(f, "{name}({})", comma(arguments)),
            TermKind::Cast(term, native) => write!(f, "CAST({term} AS {native})"),
            TermKind::TypeHint(cql_type, term) => write!(f, "({cql_type}) {term}"),
            TermKind::Arithmetic(op, left, right) => write!(f, "{left} {op} {right}"),
            // With a space, or the sign would become part of a number.
            TermKind::Negation(term) => write!(f, "- {term}"),
        }
    }
}

impl Display for Selectable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            // Before a selection these two words are none of its columns.
            SelectableKind::Column(column) if matches!(column.as_str(), "json" | "distinct") => {
                write!(f, "\"{}\"", column.name)
            }
            SelectableKind::Column(column) => column.fmt(f),
            SelectableKind::Literal(literal) => literal.fmt(f),
            SelectableKind::Null => f.write_str("NULL"),
            SelectableKind::Marker(marker) => marker.fmt(f),
            SelectableKind::CountRows => f.write_str("count(*)"),
            SelectableKind::CellAttribute(attribute, of) => write!(f, "{}({of})", attribute.name()),
            SelectableKind::Function(name, arguments) => write!(f, "{name}({})", comma(arguments)),
            SelectableKind::Cast(inner, native) => write!(f, "CAST({inner} AS {native})"),
            SelectableKind::TypeHint(cql_type, inner) => write!(f, "({cql_type}) {inner}"),
            // With a space behind a number, or the point would become part of it.
            SelectableKind::Field(base, field) => match base.kind {
                SelectableKind::Literal(_) => write!(f, "{base} .{field}"),
                _ => write!(f, "{base}.{field}"),
            },
            SelectableKind::Element(base, key) => write!(f, "{base}[{key}]"),
            SelectableKind::Slice(base, from, to) => {
                write!(f, "{base}[")?;
                if let Some(from) = from {
                    write!(f, "{from} ")?;
                }
                f.write_str("..")?;
                if let Some(to) = to {
                    write!(f, " {to}")?;
                }
                f.write_str("]")
            }
            SelectableKind::ParenthesesOrTuple(items) => write!(f, "({})", comma(items)),
            SelectableKind::List(items) => write!(f, "[{}]", comma(items)),
            SelectableKind::Set(items) => write!(f, "{{{}}}", comma(items)),
            SelectableKind::MapOrUserType(items) => write!(f, "{{{}}}", entries(items)),
            SelectableKind::Arithmetic(op, left, right) => write!(f, "{left} {op} {right}"),
            SelectableKind::Negation(inner) => write!(f, "- {inner}"),
        }
    }
}

impl Display for InValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            InValues::List(terms) => write!(f, "({})", comma(terms)),
            InValues::Marker(marker) => marker.fmt(f),
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            RelationKind::Column { column, op, value } => write!(f, "{column} {op} {value}"),
            RelationKind::IsNotNull { column } => write!(f, "{column} IS NOT NULL"),
            RelationKind::In { column, values } => write!(f, "{column} IN {values}"),
            RelationKind::Element { column, key, op, value } => write!(f, "{column}[{key}] {op} {value}"),
            RelationKind::Token { columns, op, value } => write!(f, "token({}) {op} {value}", comma(columns)),
            RelationKind::Tuple { columns, op, value } => write!(f, "({}) {op} {value}", comma(columns)),
            RelationKind::TupleIn { columns, values } => write!(f, "({}) IN {values}", comma(columns)),
            RelationKind::CustomIndex { index, value } => write!(f, "expr({index}, {value})"),
        }
    }
}

impl Display for ColumnPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            ColumnPart::Whole => Ok(()),
            ColumnPart::Element(key) => write!(f, "[{key}]"),
            ColumnPart::Field(field) => write!(f, ".{field}"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{} ", self.column, self.part)?;
        match &self.test {
            ConditionTest::Compare(op, value) => write!(f, "{op} {value}"),
            ConditionTest::In(values) => write!(f, "IN {values}"),
        }
    }
}

impl Display for IfClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            IfClause::Exists => f.write_str("IF EXISTS"),
            IfClause::Conditions(conditions) => write!(f, "IF {}", and(conditions)),
        }
    }
}

impl Display for PropertyValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            PropertyValue::Literal(literal) => literal.fmt(f),
            PropertyValue::Keyword(word) => f.write_str(word),
            PropertyValue::Map(map) => write!(f, "{{{}}}", entries(map)),
        }
    }
}

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

/// The words of a map of options.
pub(super) fn literal_map(map: &[(Literal, Literal)]) -> impl Display + '_ {
    by(move |f| write!(f, "{{{}}}", entries(map)))
}

impl Term {
    /// The term as Cassandra's messages show it (`Term.Raw.getText`): not always CQL.
    pub fn text(&self) -> String {
        let list = |items: &[Term]| items.iter().map(Term::text).collect::<Vec<_>>().join(", ");
        match &self.kind {
            TermKind::Literal(literal) if literal.kind == LiteralKind::String => {
                format!("'{}'", literal.text)
            }
            TermKind::Literal(literal) => literal.text.clone(),
            TermKind::Null => "NULL".to_owned(),
            TermKind::Marker(_) => "?".to_owned(),
            TermKind::List(items) => format!("[{}]", list(items)),
            TermKind::Set(items) => format!("{{{}}}", list(items)),
            TermKind::Tuple(items) => format!("({})", list(items)),
            TermKind::Map(items) => {
                let items: Vec<_> =
                    items.iter().map(|(k, v)| format!("{}: {}", k.text(), v.text())).collect();
                format!("{{{}}}", items.join(", "))
            }
            TermKind::UserType(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(k, v)| format!("{}: {}", k.name, v.text())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            TermKind::Function(name, arguments) => format!("{name}({})", list(arguments)),
            TermKind::Cast(term, native) => format!("system.cast_as_{native}({})", term.text()),
            TermKind::TypeHint(cql_type, term) => format!("({cql_type}){}", term.text()),
            TermKind::Arithmetic(op, left, right) => {
                format!("system.\"{}\"({}, {})", operator_function(*op), left.text(), right.text())
            }
            TermKind::Negation(term) => format!("system.\"_negate\"({})", term.text()),
        }
    }
}

/// The native function behind an operator (`OperationFcts`).
fn operator_function(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "_add",
        ArithmeticOp::Subtract => "_substract",
        ArithmeticOp::Multiply => "_multiply",
        ArithmeticOp::Divide => "_divide",
        ArithmeticOp::Modulo => "_modulo",
    }
}

/// A bare function's name.
pub(super) fn bare_function(ident: &crate::ast::Ident) -> impl Display + '_ {
    by(move |f| name::bare_function(f, ident))
}
