//! Selectors as a tree, and its evaluation for one row (`Selector`).

use std::ops::Range;
use std::sync::Arc;

use basalt_cql::ast::CellAttribute;
use basalt_model::DataType;
use basalt_model::types::elements::{pack_collection, pack_tuple, unpack_collection, unpack_tuple};
use bytes::Bytes;

use super::input::InputRow;
use super::times;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::functions::{Aggregation, Body, Function};
use crate::request::Value;
use crate::values::{pack_map, pack_nullable_list, pack_set, vector};

/// A selector. Columns are places among the fetched ones, terms places among the selection's.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Column(usize),
    Term(usize),
    Call {
        function: Arc<Function>,
        arguments: Vec<Node>,
    },
    Aggregate {
        slot: usize,
        argument: Option<Box<Node>>,
    },
    Attribute {
        attribute: CellAttribute,
        operand: Box<Node>,
    },
    Field {
        inner: Box<Node>,
        index: usize,
    },
    /// `collection[key]`
    Element {
        inner: Box<Node>,
        collection: DataType,
        key: usize,
        name: String,
    },
    /// `collection[from..to]`
    Slice {
        inner: Box<Node>,
        collection: DataType,
        from: Option<usize>,
        to: Option<usize>,
        name: String,
    },
    Tuple(Vec<Node>),
    List(Vec<Node>),
    Vector(Arc<DataType>, Vec<Node>),
    Set(Arc<DataType>, Vec<Node>),
    Map(Arc<DataType>, Vec<(Node, Node)>),
    /// Fields in the type's order.
    Udt(Vec<Option<Node>>),
}

/// With what selectors are evaluated.
pub(super) struct Evaluation<'a> {
    /// The row.
    pub(super) row: &'a InputRow,
    /// The selection's terms, evaluated.
    pub(super) terms: &'a [Value],
    /// Aggregates so far.
    pub(super) aggregates: &'a [Aggregation],
    /// For functions.
    pub(super) binding: Binding<'a>,
}

impl Evaluation<'_> {
    fn term(&self, index: usize) -> &Value {
        self.terms.get(index).unwrap_or(&Value::Null)
    }

    /// The key of an element of `name`.
    fn element_key(&self, key: usize, name: &str) -> CqlResult<&Bytes> {
        match self.term(key) {
            Value::Bytes(wanted) => Ok(wanted),
            Value::Null => bail!("Invalid null value for element selection on {name}"),
            Value::Unset => bail!("Invalid unset value for element selection on {name}"),
        }
    }

    /// An end of a slice of `name`; none if it is open.
    fn slice_end(&self, end: Option<usize>, name: &str) -> CqlResult<Option<&Bytes>> {
        match end.map(|end| self.term(end)) {
            None | Some(Value::Unset) => Ok(None),
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Value::Null) => bail!("Invalid null value for slice selection on {name}"),
        }
    }
}

impl Node {
    /// The value for a row.
    pub(super) fn evaluate(&self, evaluation: &Evaluation<'_>) -> CqlResult<Option<Bytes>> {
        match self {
            Node::Column(index) => Ok(evaluation.row.values.get(*index).cloned().flatten()),
            Node::Term(index) => match evaluation.term(*index) {
                Value::Bytes(bytes) => Ok(Some(bytes.clone())),
                Value::Null => Ok(None),
                // Cassandra's unset value is a buffer of no bytes, and shown as that.
                Value::Unset => Ok(Some(Bytes::new())),
            },
            Node::Call { function, arguments } => {
                let values = arguments.iter().map(|argument| argument.argument(&function.name, evaluation));
                let values = values.collect::<CqlResult<Vec<Option<Bytes>>>>()?;
                match &function.body {
                    Body::Scalar(scalar) => scalar.call(function, &values, &evaluation.binding),
                    Body::Aggregate(_) => Ok(None),
                }
            }
            Node::Aggregate { slot, .. } => {
                Ok(evaluation.aggregates.get(*slot).and_then(Aggregation::result))
            }
            Node::Attribute { attribute, operand } => times::attribute(*attribute, operand, evaluation),
            Node::Field { inner, index } => {
                let Some(value) = inner.evaluate(evaluation)? else { return Ok(None) };
                Ok(unpack_tuple(&value, index + 1)
                    .or_else(|| crate::values::split_tuple(&value))
                    .and_then(|fields| fields.get(*index).cloned().flatten()))
            }
            Node::Element { .. } => self.element(evaluation),
            Node::Slice { .. } => self.slice(evaluation),
            Node::Tuple(parts) => Ok(Some(pack_tuple(&all(parts, evaluation)?))),
            Node::Udt(fields) => {
                let value = |field: &Option<Node>| match field {
                    Some(field) => field.evaluate(evaluation),
                    None => Ok(None),
                };
                let fields = fields.iter().map(value).collect::<CqlResult<Vec<Option<Bytes>>>>()?;
                Ok(Some(pack_tuple(&fields)))
            }
            // Nulls stay in lists, and only there.
            Node::List(parts) => Ok(Some(pack_nullable_list(&all(parts, evaluation)?))),
            Node::Vector(element, parts) => Ok(Some(vector(element, &present(parts, evaluation)?))),
            Node::Set(element, _) | Node::Map(element, _) if **element == DataType::Counter => {
                invalid("Counters are not comparable: they cannot be elements of a set or keys of a map")
            }
            Node::Set(element, parts) => Ok(Some(pack_set(element, present(parts, evaluation)?))),
            Node::Map(key, entries) => {
                let mut pairs = Vec::with_capacity(entries.len());
                for (k, v) in entries {
                    match (k.evaluate(evaluation)?, v.evaluate(evaluation)?) {
                        (Some(k), Some(v)) => pairs.push((k, v)),
                        _ => return invalid("null is not supported inside collections"),
                    }
                }
                Ok(Some(pack_map(key, pairs)))
            }
        }
    }

    /// The value as an argument of a function.
    fn argument(&self, function: &str, evaluation: &Evaluation<'_>) -> CqlResult<Option<Bytes>> {
        if let Node::Term(index) = self
            && matches!(evaluation.term(*index), Value::Unset)
        {
            bail!("Invalid unset value for argument in call to function {function}");
        }
        self.evaluate(evaluation)
    }

    /// Calls the pure functions beneath whose arguments depend on no row, so that what fails in them
    /// fails without a row as well (`AbstractFunctionSelector.newFactory`). Whether this is constant.
    pub(super) fn check_constants(&self, evaluation: &Evaluation<'_>) -> CqlResult<bool> {
        let all = |parts: &[Node]| {
            parts.iter().try_fold(true, |all, part| Ok(part.check_constants(evaluation)? && all))
        };
        match self {
            Node::Column(_) => Ok(false),
            Node::Attribute { operand, .. } => operand.check_constants(evaluation).map(|_| false),
            Node::Term(_) => Ok(true),
            Node::Call { function, arguments } => check_call(function, arguments, evaluation),
            Node::Aggregate { argument, .. } => {
                argument.iter().try_for_each(|argument| argument.check_constants(evaluation).map(drop))?;
                Ok(false)
            }
            Node::Element { inner, key, name, .. } => {
                evaluation.element_key(*key, name)?;
                inner.check_constants(evaluation)
            }
            Node::Slice { inner, from, to, name, .. } => {
                evaluation.slice_end(*from, name)?;
                evaluation.slice_end(*to, name)?;
                inner.check_constants(evaluation)
            }
            Node::Field { inner, .. } => inner.check_constants(evaluation),
            Node::Tuple(parts) | Node::List(parts) | Node::Vector(_, parts) | Node::Set(_, parts) => {
                all(parts)
            }
            Node::Map(_, entries) => entries.iter().try_fold(true, |all, (key, value)| {
                let (key, value) = (key.check_constants(evaluation)?, value.check_constants(evaluation)?);
                Ok(key && value && all)
            }),
            Node::Udt(fields) => fields
                .iter()
                .flatten()
                .try_fold(true, |all, field| Ok(field.check_constants(evaluation)? && all)),
        }
    }

    /// Shows each selector directly beneath.
    pub(super) fn for_each_child(&self, see: &mut impl FnMut(&Node)) {
        match self {
            Node::Column(_) | Node::Term(_) | Node::Aggregate { argument: None, .. } => {}
            Node::Aggregate { argument: Some(inner), .. }
            | Node::Attribute { operand: inner, .. }
            | Node::Field { inner, .. }
            | Node::Element { inner, .. }
            | Node::Slice { inner, .. } => see(inner),
            Node::Call { arguments: parts, .. }
            | Node::Tuple(parts)
            | Node::List(parts)
            | Node::Vector(_, parts)
            | Node::Set(_, parts) => parts.iter().for_each(see),
            Node::Map(_, entries) => entries.iter().flat_map(|(key, value)| [key, value]).for_each(see),
            Node::Udt(fields) => fields.iter().flatten().for_each(see),
        }
    }

    /// Adds a row to the aggregates beneath.
    pub(super) fn aggregate(
        &self,
        evaluation: &Evaluation<'_>,
        aggregations: &mut [Aggregation],
    ) -> CqlResult<()> {
        match self {
            Node::Aggregate { slot, argument } => {
                let Some(aggregation) = aggregations.get_mut(*slot) else { return Ok(()) };
                let value = match argument {
                    Some(argument) => argument.argument(aggregation.name(), evaluation)?,
                    None => None,
                };
                aggregation.add(value.as_ref())
            }
            Node::Column(_) | Node::Term(_) | Node::Attribute { .. } => Ok(()),
            Node::Call { arguments: parts, .. }
            | Node::Tuple(parts)
            | Node::List(parts)
            | Node::Vector(_, parts)
            | Node::Set(_, parts) => {
                parts.iter().try_for_each(|part| part.aggregate(evaluation, aggregations))
            }
            Node::Field { inner, .. } | Node::Element { inner, .. } | Node::Slice { inner, .. } => {
                inner.aggregate(evaluation, aggregations)
            }
            Node::Map(_, entries) => entries.iter().try_for_each(|(key, value)| {
                key.aggregate(evaluation, aggregations)?;
                value.aggregate(evaluation, aggregations)
            }),
            Node::Udt(fields) => {
                fields.iter().flatten().try_for_each(|field| field.aggregate(evaluation, aggregations))
            }
        }
    }

    /// Which elements of the collection an element or slice selects; `None` without a collection.
    pub(super) fn selected_range(&self, evaluation: &Evaluation<'_>) -> CqlResult<Option<Range<usize>>> {
        let (inner, collection) = match self {
            Node::Element { inner, collection, .. } | Node::Slice { inner, collection, .. } => {
                (inner, collection)
            }
            _ => return Ok(None),
        };
        let Some(value) = inner.evaluate(evaluation)? else { return Ok(None) };
        let (key_type, width) = match collection {
            DataType::Map { key, .. } => (key, 2),
            DataType::Set { element, .. } => (element, 1),
            _ => return Ok(None),
        };
        let flat = unpack_collection(&value, width).unwrap_or_default();
        let keys: Vec<&Bytes> = flat.iter().step_by(width).collect();
        match self {
            Node::Element { key, name, .. } => {
                let wanted = evaluation.element_key(*key, name)?;
                // The search ends where a sorted collection could no longer have it; not all that are stored are sorted.
                let end = keys.iter().position(|key| key_type.compare(key, wanted).is_ge());
                let found = end.filter(|index| key_type.compare(keys[*index], wanted).is_eq());
                Ok(Some(found.map_or(0..0, |index| index..index + 1)))
            }
            Node::Slice { from, to, name, .. } => {
                let (from, to) = (evaluation.slice_end(*from, name)?, evaluation.slice_end(*to, name)?);
                let reached = |key: &&Bytes, end: &Bytes| key_type.compare(key, end);
                let start =
                    from.map_or(Some(0), |from| keys.iter().position(|key| reached(key, from).is_ge()));
                let start = start.unwrap_or(keys.len());
                let rest = &keys[start..];
                let length = to.and_then(|to| {
                    let last = rest.iter().position(|key| reached(key, to).is_ge())?;
                    Some(last + usize::from(reached(&rest[last], to).is_eq()))
                });
                Ok(Some(start..start + length.unwrap_or(rest.len())))
            }
            _ => Ok(None),
        }
    }

    fn element(&self, evaluation: &Evaluation<'_>) -> CqlResult<Option<Bytes>> {
        let Node::Element { inner, collection, .. } = self else { return Ok(None) };
        let Some(range) = self.selected_range(evaluation)? else { return Ok(None) };
        let Some(value) = inner.evaluate(evaluation)? else { return Ok(None) };
        if range.is_empty() {
            return Ok(None);
        }
        let (width, offset) = if matches!(collection, DataType::Map { .. }) { (2, 1) } else { (1, 0) };
        let flat = unpack_collection(&value, width).unwrap_or_default();
        Ok(flat.get(range.start * width + offset).cloned())
    }

    fn slice(&self, evaluation: &Evaluation<'_>) -> CqlResult<Option<Bytes>> {
        let Node::Slice { inner, collection, .. } = self else { return Ok(None) };
        let Some(range) = self.selected_range(evaluation)? else { return Ok(None) };
        let Some(value) = inner.evaluate(evaluation)? else { return Ok(None) };
        // A multi-cell collection without elements does not exist; a frozen one may be empty.
        if range.is_empty() && collection.is_multi_cell() {
            return Ok(None);
        }
        let width = if matches!(collection, DataType::Map { .. }) { 2 } else { 1 };
        let flat = unpack_collection(&value, width).unwrap_or_default();
        let count = range.len();
        let parts = flat.get(range.start * width..range.end * width).unwrap_or_default();
        Ok(Some(pack_collection(count, parts)))
    }
}

fn all(parts: &[Node], evaluation: &Evaluation<'_>) -> CqlResult<Vec<Option<Bytes>>> {
    parts.iter().map(|part| part.evaluate(evaluation)).collect()
}

fn present(parts: &[Node], evaluation: &Evaluation<'_>) -> CqlResult<Vec<Bytes>> {
    match all(parts, evaluation)?.into_iter().collect::<Option<Vec<Bytes>>>() {
        Some(parts) => Ok(parts),
        None => invalid("null is not supported inside collections"),
    }
}

/// A call of constants is made, and single constants among its arguments are looked at.
fn check_call(function: &Function, arguments: &[Node], evaluation: &Evaluation<'_>) -> CqlResult<bool> {
    let Body::Scalar(scalar) = &function.body else { return Ok(false) };
    let mut all_constant = scalar.is_pure() && !arguments.is_empty();
    let mut constants = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let is_constant = argument.check_constants(evaluation)?;
        all_constant &= is_constant;
        constants.push(if is_constant { argument.argument(&function.name, evaluation)? } else { None });
    }
    if all_constant {
        scalar.call(function, &constants, &evaluation.binding)?;
    } else {
        scalar.check_constants(function, &constants)?;
    }
    Ok(all_constant)
}
