//! Selectors resolved against their table (`Selectable.newSelectorFactory`,
//! `Selection.fromSelectors`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::{Selectable, SelectableKind, Selector};
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Table};

use super::infer::{
    as_term, attribute_column, attribute_type, check, check_entries, exact_type, fit, function_of,
    known_function,
};
use super::node::Node;
use super::parts::parts_of;
use super::show::show;
use super::{Output, Selection, aggregate_of, column_output, metadata};
use crate::error::{CqlResult, bail, invalid};
use crate::functions::{Aggregate, Function};
use crate::receiver::{Markers, Receiver};
use crate::restrictions::existing_column;
use crate::terms::{Context, Term};
use crate::{text, types};

/// A resolved selector.
pub(super) struct Resolved {
    pub(super) node: Node,
    pub(super) output: Output,
    pub(super) is_aggregate: bool,
}

/// What is collected while selectors are resolved.
pub(super) struct Preparation<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) table: &'a Table,
    markers: &'a mut Markers,
    /// Columns met, in order.
    pub(super) columns: Vec<usize>,
    /// Terms met, in order.
    pub(super) terms: Vec<Term>,
    aggregates: Vec<(Aggregate, DataType)>,
    timed_columns: Vec<usize>,
}

/// Resolves the selectors of a SELECT that are not `*`.
pub(crate) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    selectors: &[Selector],
) -> CqlResult<Selection> {
    let mut preparation = Preparation::new(context, table, markers);
    let mut nodes = Vec::with_capacity(selectors.len());
    let mut outputs = Vec::with_capacity(selectors.len());
    let mut only_columns = true;
    for selector in selectors {
        check(context, table, &selector.selectable)?;
        let mut resolved = preparation.resolve(&selector.selectable, None)?;
        if let Some(alias) = &selector.alias {
            resolved.output.name = alias.name.as_str().into();
        }
        only_columns &= matches!(resolved.node, Node::Column(_));
        nodes.push(resolved.node);
        outputs.push(resolved.output);
    }
    let columns = preparation.columns;
    let is_simple = only_columns && columns.len() == selectors.len();
    Ok(Selection {
        asked_columns: columns.len(),
        parts: parts_of(&nodes, table, &columns),
        columns,
        outputs: (!is_simple).then_some(nodes),
        terms: preparation.terms,
        aggregates: preparation.aggregates,
        timed_columns: preparation.timed_columns,
        metadata: Arc::new(metadata(table, outputs)),
        is_wildcard: false,
        json: None,
    })
}

pub(super) fn resolved(node: Node, name: String, data_type: DataType, is_aggregate: bool) -> Resolved {
    let output = Output { name: name.into(), data_type };
    Resolved { node, output, is_aggregate }
}

impl<'a> Preparation<'a> {
    /// Nothing met yet.
    pub(super) fn new(
        context: &'a Context<'a>,
        table: &'a Table,
        markers: &'a mut Markers,
    ) -> Preparation<'a> {
        Preparation {
            context,
            table,
            markers,
            columns: Vec::new(),
            terms: Vec::new(),
            aggregates: Vec::new(),
            timed_columns: Vec::new(),
        }
    }

    /// Resolves a call that GROUP BY names, and its type.
    pub(super) fn group_selector(&mut self, selectable: &Selectable) -> CqlResult<(Node, DataType)> {
        let resolved = self.resolve(selectable, None)?;
        Ok((resolved.node, resolved.output.data_type))
    }

    /// Resolves a selector, for a place of the expected type if there is one.
    pub(super) fn resolve(
        &mut self,
        selectable: &Selectable,
        expected: Option<&DataType>,
    ) -> CqlResult<Resolved> {
        if let Some(term) = as_term(selectable) {
            return self.term(&term, expected);
        }
        match &selectable.kind {
            SelectableKind::Column(name) => self.column(&name.name),
            SelectableKind::CellAttribute(attribute, operand) => self.attribute(*attribute, operand),
            SelectableKind::Cast(operand, native) => self.cast(selectable, operand, *native),
            SelectableKind::TypeHint(cql_type, operand) => self.hint(selectable, cql_type, operand),
            SelectableKind::Field(inner, field) => self.field(inner, &field.name),
            SelectableKind::Element(inner, key) => self.element(selectable, inner, key),
            SelectableKind::Slice(inner, from, to) => {
                self.slice(selectable, inner, from.as_ref(), to.as_ref())
            }
            SelectableKind::ParenthesesOrTuple(parts) => self.parentheses(selectable, parts, expected),
            SelectableKind::List(parts) => self.array(selectable, parts, expected),
            SelectableKind::Set(parts) => self.set(selectable, parts, expected),
            SelectableKind::MapOrUserType(entries) => self.map_or_udt(selectable, entries, expected),
            SelectableKind::Function(_, arguments) => {
                let arguments: Vec<&Selectable> = arguments.iter().collect();
                self.call(selectable, &arguments)
            }
            SelectableKind::Arithmetic(_, left, right) => self.call(selectable, &[left, right]),
            SelectableKind::Negation(operand) => self.call(selectable, &[operand]),
            _ => self.call(selectable, &[]),
        }
    }

    fn term(&mut self, written: &ast::Term, expected: Option<&DataType>) -> CqlResult<Resolved> {
        let Some(data_type) = Term::exact_type(self.context, written).or_else(|| expected.cloned()) else {
            bail!(
                "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                text::term(written)
            );
        };
        let place = Receiver::named(self.table, "[selection]", data_type.clone());
        let term = Term::prepare(self.context, self.markers, written, &place)?;
        let index = self.push_term(term);
        Ok(resolved(Node::Term(index), text::term(written), data_type, false))
    }

    fn push_term(&mut self, term: Term) -> usize {
        self.terms.push(term);
        self.terms.len() - 1
    }

    fn fetch(&mut self, column: usize) -> usize {
        match self.columns.iter().position(|known| *known == column) {
            Some(index) => index,
            None => {
                self.columns.push(column);
                self.columns.len() - 1
            }
        }
    }

    fn column(&mut self, name: &str) -> CqlResult<Resolved> {
        let index = existing_column(self.table, name)?;
        let place = self.fetch(index);
        Ok(Resolved {
            node: Node::Column(place),
            output: column_output(self.table, index),
            is_aggregate: false,
        })
    }

    fn attribute(&mut self, attribute: ast::CellAttribute, operand: &Selectable) -> CqlResult<Resolved> {
        let column = attribute_column(self.table, operand)?;
        if self.table.columns[column].kind <= ColumnKind::Clustering {
            bail!(
                "Cannot use selection function {} on PRIMARY KEY part {}",
                attribute.name(),
                self.table.columns[column].name
            );
        }
        let inner = self.resolve(operand, None)?;
        let place = self.fetch(column);
        if !self.timed_columns.contains(&place) {
            self.timed_columns.push(place);
        }
        let name = format!("{}({})", attribute.name(), inner.output.name);
        let data_type = attribute_type(attribute, inner.output.data_type.is_multi_cell());
        Ok(resolved(Node::Attribute { attribute, operand: Box::new(inner.node) }, name, data_type, false))
    }

    fn cast(
        &mut self,
        selectable: &Selectable,
        operand: &Selectable,
        target: ast::NativeType,
    ) -> CqlResult<Resolved> {
        let inner = self.resolve(operand, None)?;
        // The type of a descending column is another.
        if inner.output.data_type.equals(&types::native(target)) {
            return Ok(inner);
        }
        let Some(function) = function_of(self.context, self.table, selectable)? else {
            let first = self.columns.first().map(|column| self.table.columns[*column].name.to_string());
            bail!("{} cannot be cast to {}", first.unwrap_or_default(), target.name());
        };
        let name = function.column_name(&[inner.output.name.to_string()]);
        let returns = function.returns.clone();
        let node = Node::Call { function: Arc::new(function), arguments: vec![inner.node] };
        Ok(resolved(node, name, returns, inner.is_aggregate))
    }

    fn hint(
        &mut self,
        selectable: &Selectable,
        cql_type: &ast::CqlType,
        operand: &Selectable,
    ) -> CqlResult<Resolved> {
        let hinted = types::resolve(self.context.schema, self.context.keyspace, cql_type)?.freeze();
        let shown = show(self.context, selectable);
        let place = Receiver::named(self.table, &shown, hinted.clone());
        check_entries(self.context, self.table, operand, &hinted)?;
        if !fit(self.context, self.table, operand, &place).is_assignable() {
            bail!("Cannot assign value {shown} to {shown} of type {hinted}");
        }
        let inner = self.resolve(operand, Some(&hinted))?;
        let cql_type = types::qualified(cql_type, self.context.keyspace);
        let name = format!("({}){}", text::type_name(&cql_type), inner.output.name);
        Ok(resolved(inner.node, name, hinted, inner.is_aggregate))
    }

    fn field(&mut self, inner: &Selectable, field: &str) -> CqlResult<Resolved> {
        let expected = match &inner.kind {
            SelectableKind::ParenthesesOrTuple(parts) => {
                parts.first().and_then(|part| exact_type(self.context, self.table, part))
            }
            _ => None,
        };
        let selected = self.resolve(inner, expected.as_ref())?;
        let data_type = selected.output.data_type.unwrap_reversed();
        let DataType::Udt { definition, .. } = data_type else {
            bail!(
                "Invalid field selection: {} of type {data_type} is not a user type",
                show(self.context, inner)
            );
        };
        let found = definition.fields.iter().position(|(name, _)| **name == *field);
        let Some(index) = found else {
            bail!("{} of type {data_type} has no field {field}", show(self.context, inner));
        };
        let field_type = definition.fields[index].1.clone();
        let name = format!("{}.{field}", selected.output.name);
        let node = Node::Field { inner: Box::new(selected.node), index };
        Ok(resolved(node, name, field_type, selected.is_aggregate))
    }

    /// A collection of which elements are selected, and the place its keys go to.
    fn selected_collection(
        &mut self,
        inner: &Selectable,
        kind: &str,
        (what, verb): (&str, &str),
    ) -> CqlResult<(Resolved, Receiver)> {
        let selected = self.resolve(inner, None)?;
        let data_type = selected.output.data_type.unwrap_reversed().clone();
        let place = Receiver::named(self.table, &selected.output.name, data_type.clone());
        let place = match &data_type {
            DataType::Set { element, .. } => place.value_of(element),
            DataType::Map { key, .. } => place.key_of(key),
            DataType::List { .. } => {
                bail!(
                    "{kind} selection is only allowed on sets and maps, but {} is a list",
                    show(self.context, inner)
                )
            }
            other => {
                bail!(
                    "Invalid {what} selection: {} {verb} type {other} is not a collection",
                    show(self.context, inner)
                )
            }
        };
        Ok((selected, place))
    }

    fn element(
        &mut self,
        selectable: &Selectable,
        inner: &Selectable,
        key: &ast::Term,
    ) -> CqlResult<Resolved> {
        let (selected, place) = self.selected_collection(inner, "Element", ("element", "is of"))?;
        let term = Term::prepare(self.context, self.markers, key, &place)?;
        let key = self.push_term(term);
        let collection = selected.output.data_type.unwrap_reversed().clone();
        let returns = match &collection {
            DataType::Map { value, .. } => DataType::clone(value),
            _ => place.data_type.clone(),
        };
        let name = selected.output.name.to_string();
        let node = Node::Element { inner: Box::new(selected.node), collection, key, name };
        Ok(resolved(node, show(self.context, selectable), returns, selected.is_aggregate))
    }

    fn slice(
        &mut self,
        selectable: &Selectable,
        inner: &Selectable,
        from: Option<&ast::Term>,
        to: Option<&ast::Term>,
    ) -> CqlResult<Resolved> {
        let (selected, place) = self.selected_collection(inner, "Slice", ("slice", "of"))?;
        let mut end = |written: Option<&ast::Term>| -> CqlResult<Option<usize>> {
            let Some(written) = written else { return Ok(None) };
            let term = Term::prepare(self.context, self.markers, written, &place)?;
            Ok(Some(self.push_term(term)))
        };
        let (from, to) = (end(from)?, end(to)?);
        let collection = selected.output.data_type.unwrap_reversed().clone();
        let name = selected.output.name.to_string();
        let node =
            Node::Slice { inner: Box::new(selected.node), collection: collection.clone(), from, to, name };
        Ok(resolved(node, show(self.context, selectable), collection, selected.is_aggregate))
    }

    fn call(&mut self, selectable: &Selectable, arguments: &[&Selectable]) -> CqlResult<Resolved> {
        let function = known_function(self.context, self.table, selectable)?;
        let arguments = if function.arguments.is_empty() { &[] } else { arguments };
        let mut nodes = Vec::with_capacity(arguments.len());
        let mut names = Vec::with_capacity(arguments.len());
        let mut of_aggregate = false;
        for (argument, expected) in arguments.iter().zip(&function.arguments) {
            let argument = self.resolve(argument, Some(expected))?;
            of_aggregate |= argument.is_aggregate;
            names.push(argument.output.name.to_string());
            nodes.push(argument.node);
        }
        let name = function.column_name(&names);
        let returns = function.returns.clone();
        let (node, is_aggregate) = self.call_node(function, nodes, of_aggregate)?;
        Ok(resolved(node, name, returns, is_aggregate))
    }

    fn call_node(
        &mut self,
        function: Function,
        arguments: Vec<Node>,
        of_aggregate: bool,
    ) -> CqlResult<(Node, bool)> {
        let Some(aggregate) = aggregate_of(&function) else {
            return Ok((Node::Call { function: Arc::new(function), arguments }, of_aggregate));
        };
        if of_aggregate {
            return invalid("aggregate functions cannot be used as arguments of aggregate functions");
        }
        self.aggregates.push((aggregate, function.returns));
        let argument = arguments.into_iter().next().map(Box::new);
        Ok((Node::Aggregate { slot: self.aggregates.len() - 1, argument }, true))
    }
}
