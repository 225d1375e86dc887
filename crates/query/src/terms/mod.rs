//! Terms: what a value position of a statement says, resolved against the type asked for
//! (`Term.Raw.prepare`), and evaluated with the values of a request (`Term.bind`).

mod collection;
mod literal;
mod marker;
mod tuple;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::TermKind;
use basalt_model::types::UserType;
use basalt_model::{DataType, Schema, Table};
use bytes::Bytes;

use crate::assign::{Fit, common_type, is_value_compatible};
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::functions::{self, Function};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::{literals, text, types};

/// What preparing a term may look at.
pub(crate) struct Context<'a> {
    /// The schema.
    pub(crate) schema: &'a Schema,
    /// Where unqualified functions and user types are looked up.
    pub(crate) keyspace: &'a str,
    /// The statement's table; none for options of a batch.
    pub(crate) table: Option<&'a Table>,
    /// The functions of the calls met so far, by where the calls stand in memory.
    pub(crate) calls: RefCell<HashMap<usize, Option<Function>>>,
    /// How often a function was looked for.
    look_ups: Cell<u32>,
}

/// How often functions are looked for in a statement. Calls within literals within calls are looked at anew for
/// every type asked of them, twice as often with each level.
const MAX_LOOK_UPS: u32 = 5_000;

impl<'a> Context<'a> {
    /// A term that was tried for a place, as messages show it.
    pub(crate) fn shown(&self, term: &ast::Term) -> String {
        text::tried_term(term, self.keyspace)
    }

    /// The same for a place of this type: a literal of another kind was not looked into.
    pub(crate) fn shown_for(&self, term: &ast::Term, place: &DataType) -> String {
        use DataType as T;
        let is_looked_into = match (&term.kind, place) {
            (TermKind::Tuple(parts), place) => {
                parts.len() == 1 || matches!(place, T::Tuple(_) | T::Udt { .. })
            }
            (TermKind::List(_), place) => matches!(place, T::List { .. } | T::Vector { .. }),
            (TermKind::Set(_), place) => matches!(place, T::Set { .. }),
            (TermKind::Map(_), place) => matches!(place, T::Map { .. }),
            (TermKind::UserType(_), place) => matches!(place, T::Udt { .. }),
            _ => true,
        };
        if is_looked_into { self.shown(term) } else { text::term(term) }
    }

    /// For a statement without a table.
    pub(crate) fn new(schema: &'a Schema, keyspace: &'a str) -> Context<'a> {
        Context { schema, keyspace, table: None, calls: RefCell::default(), look_ups: Cell::default() }
    }

    /// For a statement of this table.
    pub(crate) fn of(schema: &'a Schema, table: &'a Table) -> Context<'a> {
        Context { table: Some(table), ..Context::new(schema, &table.keyspace) }
    }

    /// A function is about to be looked for.
    ///
    /// # Errors
    /// When that was done too often.
    pub(crate) fn count_look_up(&self) -> CqlResult<()> {
        if self.look_ups.get() >= MAX_LOOK_UPS {
            return invalid("The calls of this statement are too many, or too deep in one another");
        }
        self.look_ups.set(self.look_ups.get() + 1);
        Ok(())
    }
}

/// A term that knows its type.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// A serialized value.
    Constant(Bytes),
    /// Null.
    Null,
    /// As if it were not there.
    Unset,
    /// The timestamp `'now'`.
    Now,
    /// A bound value.
    Marker(marker::Marker),
    /// A column's value in a bound JSON document: `plan::document` puts it, checked, behind the
    /// bound values.
    Document(usize),
    /// A list or set whose elements are not all constant.
    Collection {
        /// Of the collection.
        data_type: DataType,
        /// Its elements; keys and values in turn for a map.
        elements: Vec<Term>,
    },
    /// A vector whose elements are not all constant.
    Vector {
        /// Of the elements.
        element: Arc<DataType>,
        /// Its elements.
        elements: Vec<Term>,
    },
    /// A tuple whose fields are not all constant.
    Tuple(Vec<Term>),
    /// A user type's value whose fields are not all constant.
    Udt {
        /// Its type.
        definition: Arc<UserType>,
        /// All its fields.
        fields: Vec<Term>,
        /// Unset fields are left out.
        multi_cell: bool,
    },
    /// A call.
    Call {
        /// Of what.
        function: Arc<Function>,
        /// With what.
        arguments: Vec<Term>,
    },
}

impl Term {
    /// Resolves a written term for `receiver`, noting its markers.
    pub(crate) fn prepare(
        context: &Context<'_>,
        markers: &mut Markers,
        written: &ast::Term,
        receiver: &Receiver,
    ) -> CqlResult<Term> {
        match &written.kind {
            TermKind::Literal(literal) => literal::prepare(literal, receiver),
            TermKind::Null if receiver.data_type == DataType::Counter => {
                invalid("Invalid null value for counter increment/decrement")
            }
            TermKind::Null => Ok(Term::Null),
            TermKind::Marker(marker) => {
                markers.add(marker, receiver, context.table);
                Ok(marker::prepare(marker, receiver))
            }
            TermKind::List(elements) => collection::prepare_array(context, markers, elements, receiver),
            TermKind::Set(elements) => collection::prepare_set(context, markers, elements, receiver),
            TermKind::Map(entries) => collection::prepare_map(context, markers, entries, receiver),
            TermKind::UserType(fields) => tuple::prepare_udt(context, markers, fields, receiver),
            TermKind::Tuple(elements) => tuple::prepare(context, markers, elements, receiver),
            TermKind::TypeHint(cql_type, value) => {
                Term::prepare_hint(context, markers, written, (cql_type, value), receiver)
            }
            TermKind::Function(..)
            | TermKind::Cast(..)
            | TermKind::Arithmetic(..)
            | TermKind::Negation(..) => functions::call::prepare(context, markers, written, receiver),
        }
    }

    /// Resolves a tuple or marker for several columns at once: `(a, b) > (1, ?)`, `(a, b) > ?`.
    pub(crate) fn prepare_columns(
        context: &Context<'_>,
        markers: &mut Markers,
        written: &ast::Term,
        receivers: &[Receiver],
    ) -> CqlResult<Term> {
        match &written.kind {
            TermKind::Tuple(elements) => {
                if elements.len() != receivers.len() {
                    bail!(
                        "Expected {} elements in value tuple, but got {}: {}",
                        receivers.len(),
                        elements.len(),
                        text::term(written)
                    );
                }
                let elements = elements.iter().zip(receivers);
                let elements = elements.map(|(e, receiver)| Term::prepare(context, markers, e, receiver));
                Ok(Term::Tuple(elements.collect::<CqlResult<_>>()?))
            }
            TermKind::Marker(marker) => {
                let receiver = marker::tuple_receiver(receivers);
                markers.add(marker, &receiver, context.table);
                Ok(marker::prepare_tuple(marker, &receiver))
            }
            _ => bail!("Invalid value for a multi-column relation: {}", text::term(written)),
        }
    }

    /// Resolves the marker of `(a, b) IN ?`.
    pub(crate) fn prepare_columns_in(
        context: &Context<'_>,
        markers: &mut Markers,
        marker: &ast::Marker,
        receivers: &[Receiver],
    ) -> CqlResult<Term> {
        let receiver = marker::tuple_in_receiver(receivers)?;
        markers.add(marker, &receiver, context.table);
        Ok(marker::prepare_tuple(marker, &receiver))
    }

    /// Resolves the marker of `a IN ?`.
    pub(crate) fn prepare_in(
        context: &Context<'_>,
        markers: &mut Markers,
        marker: &ast::Marker,
        receiver: &Receiver,
    ) -> Term {
        let receiver = receiver.in_list();
        markers.add(marker, &receiver, context.table);
        marker::prepare(marker, &receiver)
    }

    fn prepare_hint(
        context: &Context<'_>,
        markers: &mut Markers,
        written: &ast::Term,
        (cql_type, value): (&ast::CqlType, &ast::Term),
        receiver: &Receiver,
    ) -> CqlResult<Term> {
        let hinted = types::resolve(context.schema, context.keyspace, cql_type)?;
        let casted = receiver.part(text::term(written), &hinted);
        if !Term::is_assignable(context, value, &casted)? {
            let shown = text::type_name(&types::qualified(cql_type, context.keyspace));
            bail!("Cannot cast value {} to type {shown}", context.shown(value));
        }
        if !Term::fit(context, written, receiver).is_assignable() {
            let shown = text::type_name(&types::qualified(cql_type, context.keyspace));
            bail!(
                "Cannot assign value ({shown}){} to {} of type {}",
                context.shown(value),
                receiver.name,
                receiver.data_type
            );
        }
        Term::prepare(context, markers, value, receiver)
    }

    /// Whether a written value may stand inside a place.
    ///
    /// # Errors
    /// For `[...]` where neither a list nor a vector is wanted, inside other collections too: Cassandra does not ask
    /// further then (`ArrayLiteral.forReceiver`). Of a tuple's or a user type's parts it takes that for a no.
    pub(crate) fn is_assignable(
        context: &Context<'_>,
        written: &ast::Term,
        receiver: &Receiver,
    ) -> CqlResult<bool> {
        match (&written.kind, &receiver.data_type) {
            (TermKind::List(elements), DataType::List { element, .. })
            | (TermKind::Set(elements), DataType::Set { element, .. }) => {
                return collection::are_assignable(context, elements, &receiver.value_of(element));
            }
            (TermKind::List(elements), DataType::Vector { element, dimension }) => {
                return Ok(usize::try_from(*dimension) == Ok(elements.len())
                    && collection::are_assignable(context, elements, &receiver.value_of(element))?);
            }
            (TermKind::List(_), place) => {
                bail!("Unexpected receiver type '{place}'; only list and vector are expected")
            }
            (TermKind::Map(entries), DataType::Map { key, value, .. }) => {
                return collection::are_entries_assignable(
                    context,
                    entries,
                    &receiver.key_of(key),
                    &receiver.value_of(value),
                );
            }
            (TermKind::Tuple(_), DataType::Tuple(_) | DataType::Udt { .. }) => {}
            (TermKind::Tuple(parts), _) if parts.len() == 1 => {
                return Term::is_assignable(context, &parts[0], receiver);
            }
            _ => {}
        }
        Ok(Term::fit(context, written, receiver).is_assignable())
    }

    /// How a written term fits a place (`testAssignment`).
    pub(crate) fn fit(context: &Context<'_>, written: &ast::Term, receiver: &Receiver) -> Fit {
        match &written.kind {
            TermKind::Literal(literal) => literal::fit(literal, &receiver.data_type),
            TermKind::Null if receiver.data_type == DataType::Counter => Fit::No,
            TermKind::Null | TermKind::Marker(_) => Fit::Weak,
            TermKind::List(elements) => collection::fit_array(context, elements, receiver),
            TermKind::Set(elements) => collection::fit_set(context, elements, receiver),
            TermKind::Map(entries) => collection::fit_map(context, entries, receiver),
            TermKind::UserType(fields) => tuple::fit_udt(context, fields, receiver),
            TermKind::Tuple(elements) => tuple::fit(context, elements, receiver),
            TermKind::TypeHint(cql_type, _) => {
                let frozen_otherwise =
                    |hinted: &DataType| hinted.is_multi_cell() != receiver.data_type.is_multi_cell();
                match types::resolve(context.schema, context.keyspace, cql_type) {
                    Ok(hinted) if hinted == receiver.data_type => Fit::Exact,
                    Ok(hinted) if frozen_otherwise(&hinted) => Fit::No,
                    Ok(hinted) if is_value_compatible(&receiver.data_type, &hinted) => Fit::Weak,
                    _ => Fit::No,
                }
            }
            TermKind::Function(..)
            | TermKind::Cast(..)
            | TermKind::Arithmetic(..)
            | TermKind::Negation(..) => functions::call::fit(context, written, receiver),
        }
    }

    /// The type a written term has whatever the place (`getExactTypeIfKnown`).
    pub(crate) fn exact_type(context: &Context<'_>, written: &ast::Term) -> Option<DataType> {
        match &written.kind {
            TermKind::Literal(_)
            | TermKind::Null
            | TermKind::Marker(_)
            | TermKind::UserType(_)
            | TermKind::List(_) => None,
            TermKind::Set(elements) => {
                let element = elements.iter().find_map(|e| Term::exact_type(context, e))?;
                Some(DataType::Set { element: Arc::new(element), frozen: true })
            }
            TermKind::Map(entries) => {
                let key = entries.iter().find_map(|(key, _)| Term::exact_type(context, key))?;
                let value = entries.iter().find_map(|(_, value)| Term::exact_type(context, value))?;
                Some(DataType::Map { key: Arc::new(key), value: Arc::new(value), frozen: true })
            }
            TermKind::Tuple(elements) => {
                let types = elements.iter().map(|e| Term::exact_type(context, e));
                Some(DataType::Tuple(types.collect::<Option<Vec<DataType>>>()?.into()))
            }
            TermKind::TypeHint(cql_type, _) => {
                types::resolve(context.schema, context.keyspace, cql_type).ok()
            }
            TermKind::Function(..)
            | TermKind::Cast(..)
            | TermKind::Arithmetic(..)
            | TermKind::Negation(..) => functions::call::exact_type(context, written),
        }
    }

    /// The type a written term would have if left alone (`getCompatibleTypeIfKnown`).
    pub(crate) fn compatible_type(context: &Context<'_>, written: &ast::Term) -> Option<DataType> {
        let common = |parts: &mut dyn Iterator<Item = &ast::Term>| -> Option<Arc<DataType>> {
            let types: Vec<DataType> =
                parts.filter_map(|part| Term::compatible_type(context, part)).collect();
            common_type(&types).map(Arc::new)
        };
        match &written.kind {
            TermKind::Literal(literal) => literals::preferred_type(literal),
            TermKind::Set(elements) => {
                Some(DataType::Set { element: common(&mut elements.iter())?, frozen: true })
            }
            TermKind::Map(entries) => {
                let key = common(&mut entries.iter().map(|(key, _)| key))?;
                let value = common(&mut entries.iter().map(|(_, value)| value))?;
                Some(DataType::Map { key, value, frozen: true })
            }
            _ => Term::exact_type(context, written),
        }
    }

    /// Evaluates the term.
    pub(crate) fn bind(&self, binding: &Binding<'_>) -> CqlResult<Value> {
        match self {
            Term::Constant(value) => Ok(Value::Bytes(value.clone())),
            Term::Null => Ok(Value::Null),
            Term::Unset => Ok(Value::Unset),
            Term::Now => Ok(Value::Bytes(binding.now_ms().to_be_bytes().to_vec().into())),
            Term::Marker(marker) => marker.bind(binding),
            Term::Document(index) => Ok(binding.value(*index).clone()),
            Term::Collection { data_type, elements } => collection::bind(data_type, elements, binding),
            Term::Vector { element, elements } => tuple::bind_vector(element, elements, binding),
            Term::Tuple(elements) => tuple::bind(elements, binding),
            Term::Udt { definition, fields, multi_cell } => {
                tuple::bind_udt(definition, fields, *multi_cell, binding)
            }
            Term::Call { function, arguments } => functions::call::bind(function, arguments, binding),
        }
    }

    /// Evaluates a tuple of several columns into their values; `None` for null.
    pub(crate) fn bind_fields(&self, binding: &Binding<'_>) -> CqlResult<Option<Vec<Option<Bytes>>>> {
        match self {
            Term::Tuple(elements) => Ok(Some(tuple::bind_elements(elements, binding)?)),
            other => match other.bind(binding)? {
                Value::Bytes(bytes) => match crate::values::split_tuple(&bytes) {
                    Some(fields) => Ok(Some(fields)),
                    None => invalid("Not enough bytes to read a tuple"),
                },
                Value::Null | Value::Unset => Ok(None),
            },
        }
    }

    /// Whether a marker is in it.
    pub(crate) fn has_marker(&self) -> bool {
        match self {
            Term::Constant(_) | Term::Null | Term::Unset | Term::Now => false,
            Term::Marker(_) | Term::Document(_) => true,
            // Collections refuse markers when they are prepared.
            Term::Collection { .. } => false,
            Term::Vector { elements, .. } | Term::Tuple(elements) | Term::Udt { fields: elements, .. } => {
                elements.iter().any(Term::has_marker)
            }
            Term::Call { arguments, .. } => arguments.iter().any(Term::has_marker),
        }
    }
}
