//! What can be said of selectors before they are resolved: their types, how they fit, and how
//! messages show them (`Selectable`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::{CellAttribute, Selectable, SelectableKind, TermKind};
use basalt_model::{Column, DataType, Table};

use super::selected_type;
use super::show::show;
use crate::assign::{Fit, common_type, fit as fit_types, is_value_compatible};
use crate::error::{CqlResult, bail, invalid};
use crate::functions::{Argument, Function, arithmetic, resolve, resolve::resolve_native};
use crate::receiver::Receiver;
use crate::restrictions::existing_column;
use crate::terms::{Context, Term};
use crate::{text, types};

/// A selector as a term, if it is one.
pub(super) fn as_term(selectable: &Selectable) -> Option<ast::Term> {
    let kind = match &selectable.kind {
        SelectableKind::Literal(literal) => TermKind::Literal(literal.clone()),
        SelectableKind::Null => TermKind::Null,
        SelectableKind::Marker(marker) => TermKind::Marker(marker.clone()),
        _ => return None,
    };
    Some(ast::Term { kind, pos: selectable.pos })
}

/// A selector as an argument.
pub(super) struct Selected<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) table: &'a Table,
    pub(super) selectable: &'a Selectable,
}

impl Argument for Selected<'_> {
    fn fit(&self, receiver: &Receiver) -> Fit {
        fit(self.context, self.table, self.selectable, receiver)
    }

    fn check_place(&self, place: &Receiver) -> CqlResult<()> {
        check_entries(self.context, self.table, self.selectable, &place.data_type)
    }

    fn check_text(&self) -> CqlResult<()> {
        check_shown(self.context, self.table, self.selectable)
    }

    fn compatible_type(&self) -> Option<DataType> {
        compatible_type(self.context, self.table, self.selectable)
    }

    fn text(&self, _was_tried: bool) -> String {
        show(self.context, self.selectable)
    }

    fn is_marker(&self) -> bool {
        matches!(self.selectable.kind, SelectableKind::Marker(_))
    }

    fn array_length(&self) -> Option<usize> {
        match &self.selectable.kind {
            SelectableKind::List(elements) => Some(elements.len()),
            _ => None,
        }
    }
}

fn column_type(table: &Table, name: &str) -> Option<DataType> {
    table.column(name).map(selected_type)
}

/// The type a selector has whatever is asked for (`getExactTypeIfKnown`).
pub(super) fn exact_type(context: &Context<'_>, table: &Table, selectable: &Selectable) -> Option<DataType> {
    let recurse = |selectable: &Selectable| exact_type(context, table, selectable);
    if let Some(term) = as_term(selectable) {
        return Term::exact_type(context, &term);
    }
    match &selectable.kind {
        SelectableKind::Column(name) => column_type(table, &name.name),
        SelectableKind::CountRows => Some(DataType::BigInt),
        // That of the whole column, whatever part of it is asked about.
        SelectableKind::CellAttribute(attribute, operand) => {
            let column = &table.columns[attribute_column(table, operand).ok()?];
            Some(attribute_type(*attribute, column.data_type.is_multi_cell()))
        }
        SelectableKind::Cast(_, native) => Some(types::native(*native)),
        SelectableKind::TypeHint(cql_type, _) => {
            types::resolve(context.schema, context.keyspace, cql_type).ok().map(|hinted| hinted.freeze())
        }
        SelectableKind::Field(inner, field) => match recurse(inner)? {
            DataType::Udt { definition, .. } => {
                let found = definition.fields.iter().find(|(name, _)| **name == *field.name);
                found.map(|(_, data_type)| data_type.clone())
            }
            _ => None,
        },
        SelectableKind::Element(inner, _) => match recurse(inner)? {
            DataType::Map { value, .. } => Some(DataType::clone(&value)),
            DataType::Set { element, .. } => Some(DataType::clone(&element)),
            // That of the names of its cells; such a selector is refused in the end.
            DataType::List { .. } => Some(DataType::TimeUuid),
            _ => None,
        },
        SelectableKind::Slice(inner, _, _) => recurse(inner).filter(DataType::is_collection),
        SelectableKind::ParenthesesOrTuple(parts) if parts.len() == 1 => None,
        SelectableKind::ParenthesesOrTuple(parts) => {
            let types = parts.iter().map(|part| Some(recurse(part)?.freeze()));
            Some(DataType::Tuple(types.collect::<Option<Vec<DataType>>>()?.into()))
        }
        SelectableKind::List(parts) => {
            let element = parts.iter().find_map(recurse)?;
            Some(DataType::List { element: Arc::new(element), frozen: true })
        }
        SelectableKind::Set(parts) => {
            let element = parts.iter().find_map(recurse)?;
            Some(DataType::Set { element: Arc::new(element), frozen: true })
        }
        SelectableKind::Function(..) | SelectableKind::Arithmetic(..) | SelectableKind::Negation(_) => {
            Some(function_of(context, table, selectable).ok()??.returns)
        }
        _ => None,
    }
}

/// The column at the bottom of `writetime`'s operand.
pub(super) fn attribute_column(table: &Table, operand: &Selectable) -> CqlResult<usize> {
    match &operand.kind {
        SelectableKind::Column(name) => existing_column(table, &name.name),
        SelectableKind::Field(inner, _)
        | SelectableKind::Element(inner, _)
        | SelectableKind::Slice(inner, _, _) => attribute_column(table, inner),
        _ => invalid("Invalid operand of a selection function"),
    }
}

/// The type of `writetime(x)` and its like.
pub(super) fn attribute_type(attribute: CellAttribute, of_many_cells: bool) -> DataType {
    let single = match attribute {
        CellAttribute::Ttl => DataType::Int,
        CellAttribute::WriteTime | CellAttribute::MaxWriteTime => DataType::BigInt,
    };
    if of_many_cells && attribute != CellAttribute::MaxWriteTime {
        return DataType::List { element: Arc::new(single), frozen: true };
    }
    single
}

/// The type a selector would have if left alone.
fn compatible_type(context: &Context<'_>, table: &Table, selectable: &Selectable) -> Option<DataType> {
    if let Some(term) = as_term(selectable) {
        return Term::compatible_type(context, &term);
    }
    match &selectable.kind {
        SelectableKind::List(parts) => {
            let types: Vec<DataType> =
                parts.iter().filter_map(|part| compatible_type(context, table, part)).collect();
            Some(DataType::List { element: Arc::new(common_type(&types)?), frozen: true })
        }
        SelectableKind::Set(parts) => {
            let types: Vec<DataType> =
                parts.iter().filter_map(|part| compatible_type(context, table, part)).collect();
            Some(DataType::Set { element: Arc::new(common_type(&types)?), frozen: true })
        }
        SelectableKind::ParenthesesOrTuple(parts) if parts.len() > 1 => {
            let types = parts.iter().map(|part| Some(compatible_type(context, table, part)?.freeze()));
            Some(DataType::Tuple(types.collect::<Option<Vec<DataType>>>()?.into()))
        }
        _ => exact_type(context, table, selectable),
    }
}

/// How a selector fits a place.
pub(super) fn fit(context: &Context<'_>, table: &Table, selectable: &Selectable, receiver: &Receiver) -> Fit {
    if let Some(term) = as_term(selectable) {
        return Term::fit(context, &term, receiver);
    }
    let all = |parts: &[Selectable], element: &DataType| {
        let place = receiver.value_of(element);
        Fit::all(parts.iter().map(|part| fit(context, table, part, &place)))
    };
    match (&selectable.kind, &receiver.data_type) {
        (SelectableKind::TypeHint(cql_type, _), place) => {
            match types::resolve(context.schema, context.keyspace, cql_type) {
                Ok(hinted) if hinted.freeze().equals(&place.freeze()) => Fit::Exact,
                Ok(hinted) if is_value_compatible(place, &hinted) => Fit::Weak,
                _ => Fit::No,
            }
        }
        (SelectableKind::ParenthesesOrTuple(parts), DataType::Tuple(types)) => {
            fit_tuple(context, table, parts, types.iter(), receiver)
        }
        (SelectableKind::ParenthesesOrTuple(parts), _) if parts.len() == 1 => {
            fit(context, table, &parts[0], receiver)
        }
        (SelectableKind::ParenthesesOrTuple(parts), DataType::Udt { definition, .. }) => {
            fit_tuple(context, table, parts, definition.fields.iter().map(|(_, field)| field), receiver)
        }
        // Collections are not seen through a descending order.
        (SelectableKind::List(_) | SelectableKind::Set(_), _) if receiver.is_reversed => Fit::No,
        (SelectableKind::List(parts), DataType::List { element, .. })
        | (SelectableKind::Set(parts), DataType::Set { element, .. }) => match parts.as_slice() {
            [] => Fit::Weak,
            parts => all(parts, element),
        },
        // How many there are is asked later.
        (SelectableKind::List(parts), DataType::Vector { .. }) if parts.is_empty() => Fit::Weak,
        (SelectableKind::List(parts), DataType::Vector { element, .. }) => all(parts, element),
        (SelectableKind::Set(parts), DataType::Map { .. }) if parts.is_empty() => Fit::Weak,
        (SelectableKind::MapOrUserType(entries), DataType::Map { key, value, .. }) => {
            let (keys, values) = (receiver.key_of(key), receiver.value_of(value));
            let fits = entries
                .iter()
                .flat_map(|(k, v)| [fit(context, table, k, &keys), fit(context, table, v, &values)]);
            Fit::all(fits)
        }
        (SelectableKind::MapOrUserType(entries), DataType::Udt { definition, .. }) => {
            let value_of = |field: &str| {
                entries.iter().rev().find_map(|(key, value)| match &key.kind {
                    SelectableKind::Column(name) if name.name == field => Some(value),
                    _ => None,
                })
            };
            let given = definition.fields.iter().filter_map(|(name, field)| Some((value_of(name)?, field)));
            let mut fits = given.map(|(value, field)| fit(context, table, value, &receiver.value_of(field)));
            if fits.all(Fit::is_assignable) { Fit::Weak } else { Fit::No }
        }
        (
            SelectableKind::ParenthesesOrTuple(_)
            | SelectableKind::List(_)
            | SelectableKind::Set(_)
            | SelectableKind::MapOrUserType(_),
            _,
        ) => Fit::No,
        (SelectableKind::Function(..), place) => match function_of(context, table, selectable) {
            Ok(Some(function)) => function.fit(place),
            _ => Fit::No,
        },
        (_, place) => match exact_type(context, table, selectable) {
            // A column of many cells is no frozen value, to Cassandra.
            Some(own) if own.is_multi_cell() && !place.is_multi_cell() && *place != DataType::Blob => Fit::No,
            Some(own) => fit_types(&own, place),
            None => Fit::No,
        },
    }
}

/// How `(a, b)` fits a tuple, or a user type with these fields.
fn fit_tuple<'a>(
    context: &Context<'_>,
    table: &Table,
    parts: &[Selectable],
    types: impl ExactSizeIterator<Item = &'a DataType>,
    receiver: &Receiver,
) -> Fit {
    if parts.len() > types.len() {
        return Fit::No;
    }
    let mut fits = parts.iter().zip(types).map(|(part, t)| fit(context, table, part, &receiver.value_of(t)));
    if fits.all(Fit::is_assignable) { Fit::Weak } else { Fit::No }
}

/// The function a call among selectors means. It is looked for once per call: each candidate for an outer
/// call asks for the types of the inner ones.
pub(super) fn function_of(
    context: &Context<'_>,
    table: &Table,
    selectable: &Selectable,
) -> CqlResult<Option<Function>> {
    let place = std::ptr::from_ref(selectable).addr();
    if let Some(known) = context.calls.borrow().get(&place) {
        return Ok(known.clone());
    }
    let found = find_function(context, table, selectable)?;
    context.calls.borrow_mut().insert(place, found.clone());
    Ok(found)
}

/// As [`function_of`], for a call that must have one.
pub(super) fn known_function(
    context: &Context<'_>,
    table: &Table,
    selectable: &Selectable,
) -> CqlResult<Function> {
    let Some(function) = function_of(context, table, selectable)? else {
        let shown = match &selectable.kind {
            SelectableKind::Function(name, _) => text::plain_function_name(name),
            _ => show(context, selectable),
        };
        bail!("Unknown function '{shown}'");
    };
    Ok(function)
}

fn find_function(
    context: &Context<'_>,
    table: &Table,
    selectable: &Selectable,
) -> CqlResult<Option<Function>> {
    let parts: Vec<&Selectable> = match &selectable.kind {
        SelectableKind::Function(_, arguments) => arguments.iter().collect(),
        SelectableKind::Arithmetic(_, left, right) => vec![left, right],
        SelectableKind::Negation(operand) | SelectableKind::Cast(operand, _) => vec![operand],
        _ => Vec::new(),
    };
    let arguments: Vec<Selected<'_>> =
        parts.iter().map(|selectable| Selected { context, table, selectable }).collect();
    let arguments: Vec<&dyn Argument> = arguments.iter().map(|a| a as &dyn Argument).collect();
    let native = |name: &str, arguments: &[&dyn Argument]| {
        resolve_native(name, &format!("system.{name}"), arguments, None, Some(table))
    };
    match &selectable.kind {
        SelectableKind::Function(name, written) => {
            let counts_rows = name.name.name == "count"
                && matches!(written.as_slice(), [Selectable { kind: SelectableKind::Literal(_), .. }]);
            if counts_rows {
                return native("count_rows", &[]);
            }
            resolve(name, &arguments, None, Some(table))
        }
        SelectableKind::Arithmetic(op, ..) => native(arithmetic::function_name(*op), &arguments),
        SelectableKind::Negation(_) => native(arithmetic::NEGATE, &arguments),
        SelectableKind::Cast(_, target) => native(&format!("cast_as_{}", target.name()), &arguments),
        SelectableKind::CountRows => native("count_rows", &[]),
        _ => Ok(None),
    }
}

/// Refuses names that are no column of the table, and calls of which the function is not clear, innermost first
/// (`Selectable.Raw.prepare`). Maps are looked into later: their keys may be names of fields.
pub(crate) fn check(context: &Context<'_>, table: &Table, selectable: &Selectable) -> CqlResult<()> {
    let recurse = |selectable: &Selectable| check(context, table, selectable);
    match &selectable.kind {
        SelectableKind::Column(name) => existing_column(table, &name.name).map(|_| ()),
        SelectableKind::Literal(_)
        | SelectableKind::Null
        | SelectableKind::Marker(_)
        | SelectableKind::CountRows
        | SelectableKind::MapOrUserType(_) => Ok(()),
        SelectableKind::ParenthesesOrTuple(parts)
        | SelectableKind::List(parts)
        | SelectableKind::Set(parts) => parts.iter().try_for_each(recurse),
        SelectableKind::CellAttribute(_, inner)
        | SelectableKind::Cast(inner, _)
        | SelectableKind::Field(inner, _)
        | SelectableKind::Element(inner, _)
        | SelectableKind::Slice(inner, _, _) => recurse(inner),
        SelectableKind::TypeHint(cql_type, inner) => {
            recurse(inner)?;
            types::resolve(context.schema, context.keyspace, cql_type).map(|_| ())
        }
        SelectableKind::Function(_, parts) => {
            parts.iter().try_for_each(recurse)?;
            known_function(context, table, selectable).map(|_| ())
        }
        SelectableKind::Negation(operand) => {
            recurse(operand)?;
            known_function(context, table, selectable).map(|_| ())
        }
        SelectableKind::Arithmetic(_, left, right) => {
            recurse(left)?;
            recurse(right)?;
            known_function(context, table, selectable).map(|_| ())
        }
    }
}

/// Entries of a map are looked into once it is asked for a type; only then are names keys or fields. Types nest at
/// most 64 deep.
pub(super) fn check_entries(
    context: &Context<'_>,
    table: &Table,
    selectable: &Selectable,
    place: &DataType,
) -> CqlResult<()> {
    let each = |parts: &[Selectable], place: &DataType| {
        parts.iter().try_for_each(|part| check_entries(context, table, part, place))
    };
    match (&selectable.kind, place) {
        (SelectableKind::MapOrUserType(entries), DataType::Udt { .. }) => {
            entries.iter().try_for_each(|(_, value)| check(context, table, value))
        }
        (SelectableKind::MapOrUserType(entries), _) => entries
            .iter()
            .flat_map(|(key, value)| [key, value])
            .try_for_each(|one| check(context, table, one)),
        // What is wrong inside of a tuple makes it fit no tuple.
        (SelectableKind::ParenthesesOrTuple(_), DataType::Tuple(_)) => Ok(()),
        (SelectableKind::ParenthesesOrTuple(parts), place) if parts.len() == 1 => each(parts, place),
        (SelectableKind::List(parts), DataType::List { element, .. } | DataType::Vector { element, .. })
        | (SelectableKind::Set(parts), DataType::Set { element, .. }) => each(parts, element),
        _ => Ok(()),
    }
}

/// To be shown in a message, entries of maps are looked into first, other than names for keys
/// (`WithMapOrUdt.toString`).
pub(super) fn check_shown(context: &Context<'_>, table: &Table, selectable: &Selectable) -> CqlResult<()> {
    let recurse = |selectable: &Selectable| check_shown(context, table, selectable);
    match &selectable.kind {
        SelectableKind::MapOrUserType(entries) => {
            let is_looked_into = |one: &&Selectable| !matches!(one.kind, SelectableKind::Column(_));
            entries.iter().try_for_each(|(key, value)| {
                let both = || Some(key).filter(is_looked_into).into_iter().chain([value]);
                both().try_for_each(|one| check(context, table, one))?;
                both().try_for_each(recurse)
            })
        }
        _ => parts_of(selectable).into_iter().try_for_each(recurse),
    }
}

/// What a selector is made of, but for entries of maps.
fn parts_of(selectable: &Selectable) -> Vec<&Selectable> {
    match &selectable.kind {
        SelectableKind::Function(_, parts)
        | SelectableKind::ParenthesesOrTuple(parts)
        | SelectableKind::List(parts)
        | SelectableKind::Set(parts) => parts.iter().collect(),
        SelectableKind::CellAttribute(_, inner)
        | SelectableKind::Cast(inner, _)
        | SelectableKind::TypeHint(_, inner)
        | SelectableKind::Field(inner, _)
        | SelectableKind::Element(inner, _)
        | SelectableKind::Slice(inner, _, _)
        | SelectableKind::Negation(inner) => vec![inner],
        SelectableKind::Arithmetic(_, left, right) => vec![left, right],
        SelectableKind::Column(_)
        | SelectableKind::Literal(_)
        | SelectableKind::Null
        | SelectableKind::Marker(_)
        | SelectableKind::CountRows
        | SelectableKind::MapOrUserType(_) => Vec::new(),
    }
}

/// Whether a selector uses a column of which `test` holds. A name that is no column is not one.
pub(crate) fn selects_column(table: &Table, selectable: &Selectable, test: &dyn Fn(&Column) -> bool) -> bool {
    let recurse = |selectable: &Selectable| selects_column(table, selectable, test);
    match &selectable.kind {
        SelectableKind::Column(name) => table.column(&name.name).is_some_and(test),
        // Cassandra's own slip, kept: an entry counts when its value does not.
        SelectableKind::MapOrUserType(entries) => {
            let names = |key: &Selectable| matches!(key.kind, SelectableKind::Column(_));
            entries.iter().any(|(key, value)| !names(key) && recurse(key) || !recurse(value))
        }
        _ => parts_of(selectable).into_iter().any(recurse),
    }
}
