//! Terms, names and relations as Cassandra's messages show them (`Term.Raw.getText`,
//! `Relation.toCQLString`). Not CQL that could be parsed again: strings are not escaped.

use std::collections::BTreeSet;
use std::fmt::Write;

use basalt_cql::ast::{
    CqlType, FunctionName, Ident, InValues, Literal, LiteralKind, Relation, RelationKind, Term, TermKind,
};
use basalt_model::quote;

use crate::ddl::java;
use crate::types::qualified;

/// A term, as it was written.
pub(crate) fn term(term: &Term) -> String {
    shown(term, None)
}

/// A term that was tried for a place: since then its user types are known by their keyspace.
pub(crate) fn tried_term(term: &Term, keyspace: &str) -> String {
    shown(term, Some(keyspace))
}

fn shown(term: &Term, keyspace: Option<&str>) -> String {
    let inner = |term: &Term| shown(term, keyspace);
    let join = |open: &str, terms: &[Term], close: &str| {
        let terms: Vec<String> = terms.iter().map(inner).collect();
        format!("{open}{}{close}", terms.join(", "))
    };
    match &term.kind {
        TermKind::Literal(literal) => self::literal(literal),
        TermKind::Null => "NULL".to_owned(),
        TermKind::Marker(_) => "?".to_owned(),
        TermKind::List(elements) => join("[", elements, "]"),
        TermKind::Set(elements) => join("{", elements, "}"),
        TermKind::Tuple(elements) => join("(", elements, ")"),
        TermKind::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", inner(key), inner(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        TermKind::UserType(fields) => {
            let fields: Vec<String> = in_map_order(fields)
                .into_iter()
                .map(|(field, value)| format!("{}: {}", field.name, inner(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        TermKind::Function(name, arguments) => {
            format!("{}{}", function_name(name), join("(", arguments, ")"))
        }
        TermKind::Cast(value, native) => format!("system.cast_as_{}({})", native.name(), inner(value)),
        TermKind::TypeHint(cql_type, value) => match keyspace {
            Some(keyspace) => format!("({}){}", type_name(&qualified(cql_type, keyspace)), inner(value)),
            None => format!("({}){}", type_name(cql_type), inner(value)),
        },
        TermKind::Arithmetic(op, left, right) => {
            let name = crate::functions::arithmetic::function_name(*op);
            format!("system.\"{name}\"({}, {})", inner(left), inner(right))
        }
        TermKind::Negation(value) => format!("system.\"_negate\"({})", inner(value)),
    }
}

/// What was written for names of columns or fields, as the map that Cassandra puts it into has it: the last of a name
/// counts.
pub(crate) fn in_map_order<T>(written: &[(Ident, T)]) -> Vec<&(Ident, T)> {
    let mut names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let last = |name: &str| written.iter().rev().find(|(known, _)| known.as_str() == name);
    java::name_order(&names).into_iter().filter_map(last).collect()
}

/// A constant.
pub(crate) fn literal(literal: &Literal) -> String {
    match literal.kind {
        LiteralKind::String => format!("'{}'", literal.text),
        _ => literal.text.clone(),
    }
}

/// A function's name as it stands in errors, never quoted (`FunctionName.toString`).
pub(crate) fn plain_function_name(name: &FunctionName) -> String {
    match &name.keyspace {
        Some(keyspace) => format!("{}.{}", keyspace.name, name.name.name),
        None => name.name.name.clone(),
    }
}

/// A function's name as CQL.
pub(crate) fn function_name(name: &FunctionName) -> String {
    match &name.keyspace {
        Some(keyspace) => {
            format!("{}.{}", quote::identifier(&keyspace.name), quote::identifier(&name.name.name))
        }
        // A keyword, but never quoted.
        None if name.name.name == "token" => name.name.name.clone(),
        None => quote::identifier(&name.name.name).into_owned(),
    }
}

/// A type as it was written (`CQL3Type.Raw.toString`).
pub(crate) fn type_name(cql_type: &CqlType) -> String {
    raw_type(cql_type, false)
}

/// What is in frozen collections and in tuples is frozen; tuples and vectors do not say so.
fn raw_type(cql_type: &CqlType, frozen: bool) -> String {
    let freeze = |text: String| if frozen { format!("frozen<{text}>") } else { text };
    match cql_type {
        CqlType::Native(native) => native.name().to_owned(),
        CqlType::List(element) => freeze(format!("list<{}>", raw_type(element, frozen))),
        CqlType::Set(element) => freeze(format!("set<{}>", raw_type(element, frozen))),
        CqlType::Map(key, value) => {
            freeze(format!("map<{}, {}>", raw_type(key, frozen), raw_type(value, frozen)))
        }
        CqlType::Tuple(types) => {
            let types: Vec<String> = types.iter().map(|inner| raw_type(inner, true)).collect();
            format!("tuple<{}>", types.join(", "))
        }
        CqlType::Vector(element, dimension) => format!("vector<{}, {dimension}>", raw_type(element, false)),
        CqlType::User(name) => freeze(match &name.keyspace {
            Some(keyspace) => format!("{}.{}", keyspace.name, name.name.name),
            None => name.name.name.clone(),
        }),
        CqlType::Frozen(inner) => raw_type(inner, true),
        CqlType::Custom(class) => format!("'{class}'"),
    }
}

/// A relation.
pub(crate) fn relation(relation: &Relation) -> String {
    let name = |ident: &Ident| quote::identifier(&ident.name).into_owned();
    let names = |idents: &[Ident]| {
        let names: Vec<String> = idents.iter().map(name).collect();
        format!("({})", names.join(", "))
    };
    match &relation.kind {
        RelationKind::Column { column, op, value } => {
            format!("{} {} {}", name(column), op.symbol(), term(value))
        }
        RelationKind::IsNotNull { column } => format!("{} IS NOT NULL", name(column)),
        RelationKind::In { column, values } => format!("{} IN {}", name(column), in_values(values)),
        RelationKind::Element { column, key, op, value } => {
            format!("{}[{}] {} {}", name(column), term(key), op.symbol(), term(value))
        }
        RelationKind::Token { columns, op, value } => {
            format!("token{} {} {}", names(columns), op.symbol(), term(value))
        }
        RelationKind::Tuple { columns, op, value } => {
            format!("{} {} {}", names(columns), op.symbol(), term(value))
        }
        RelationKind::TupleIn { columns, values } => format!("{} IN {}", names(columns), in_values(values)),
        RelationKind::CustomIndex { index, value } => format!("expr({},{})", index.name, term(value)),
    }
}

fn in_values(values: &InValues) -> String {
    match values {
        InValues::List(terms) => join("(", terms, ")"),
        InValues::Marker(_) => "?".to_owned(),
    }
}

fn join(open: &str, terms: &[Term], close: &str) -> String {
    let mut text = open.to_owned();
    for (index, element) in terms.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        // A String never refuses what is written to it.
        let _ = write!(text, "{comma}{}", term(element));
    }
    text.push_str(close);
    text
}
