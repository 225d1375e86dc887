//! How rows fall into groups: GROUP BY resolved, and the look at each row that says whether a new
//! group begins (`AggregationSpecification`, `GroupMaker`). Does not know what becomes of a group.

use std::cmp::Ordering;

use basalt_cql::ast::Selectable;
use basalt_model::schema::ColumnKind;
use basalt_model::{Clustering, DataType, Table};
use bytes::Bytes;

use super::infer::{check, function_of};
use super::input::InputRow;
use super::node::{Evaluation, Node};
use super::prepare::Preparation;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::receiver::Markers;
use crate::request::Value;
use crate::terms::{Context, Term};

/// What rows of one group have in common beside their partition.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    /// The first clustering columns, as many.
    pub(crate) prefix: usize,
    /// What is computed from the last of them, instead of the column itself.
    pub(crate) selector: Option<GroupSelector>,
}

/// A function of a clustering column by which rows are grouped.
#[derive(Clone, Debug)]
pub(crate) struct GroupSelector {
    /// The column, an index in `Table::columns`.
    pub(crate) column: usize,
    node: Node,
    terms: Vec<Term>,
    returns: DataType,
}

impl GroupSelector {
    /// Resolves a call.
    ///
    /// # Errors
    /// When it is no scalar function of exactly one column, a clustering column.
    pub(crate) fn prepare(
        context: &Context<'_>,
        markers: &mut Markers,
        table: &Table,
        selectable: &Selectable,
    ) -> CqlResult<GroupSelector> {
        check(context, table, selectable)?;
        if let Some(function) = function_of(context, table, selectable)? {
            ensure(!function.is_aggregate(), || {
                format!(
                    "Aggregate functions are not supported within the GROUP BY clause, got: {}",
                    function.full_name()
                )
            })?;
        }
        let mut preparation = Preparation::new(context, table, markers);
        let (node, returns) = preparation.group_selector(selectable)?;
        let (columns, terms) = (preparation.columns, preparation.terms);
        let column = match columns.as_slice() {
            [] => return invalid("GROUP BY functions must have one clustering column name as parameter"),
            [column] => *column,
            several => {
                let names = several.iter().map(|column| quote(table, *column));
                bail!(
                    "GROUP BY functions accept only one clustering column as parameter, got: {}",
                    names.collect::<Vec<String>>().join(",")
                )
            }
        };
        ensure(table.columns[column].kind == ColumnKind::Clustering, || {
            format!(
                "Group by functions are only supported on clustering columns, got {}",
                table.columns[column].name
            )
        })?;
        Ok(GroupSelector { column, node, terms, returns })
    }
}

fn quote(table: &Table, column: usize) -> String {
    basalt_model::quote::identifier(&table.columns[column].name).into_owned()
}

/// Refuses functions that do not keep the order of their argument (`validateForGroupBy`).
fn check_monotonic(node: &Node, evaluation: &Evaluation<'_>) -> CqlResult<()> {
    let (function, arguments) = match node {
        Node::Column(_) => return Ok(()),
        Node::Call { function, arguments } => (function, arguments),
        _ => {
            return invalid(
                "Only column names and monotonic scalar functions are supported in the GROUP BY clause.",
            );
        }
    };
    let constants = arguments.iter().map(|node| node.check_constants(evaluation));
    let constants = constants.collect::<CqlResult<Vec<bool>>>()?;
    ensure(function.is_monotonic(&constants), || {
        let shown = function.signature_with(&constants);
        format!("Only monotonic functions are supported in the GROUP BY clause. Got: {shown} ")
    })?;
    arguments
        .iter()
        .zip(constants)
        .filter(|(_, constant)| !constant)
        .try_for_each(|(node, _)| check_monotonic(node, evaluation))
}

/// A grouping for one execution of its statement.
pub(crate) struct Groups<'a> {
    grouping: &'a Grouping,
    table: &'a Table,
    binding: Binding<'a>,
    terms: Vec<Value>,
}

impl<'a> Groups<'a> {
    /// Evaluates the terms of the grouping.
    ///
    /// # Errors
    /// When the function could give one value to rows with others between: only here, as Cassandra
    /// looks when terms are known.
    pub(crate) fn new(
        grouping: &'a Grouping,
        table: &'a Table,
        binding: Binding<'a>,
    ) -> CqlResult<Groups<'a>> {
        let terms = grouping.selector.iter().flat_map(|selector| &selector.terms);
        let terms = terms.map(|term| term.bind(&binding)).collect::<CqlResult<Vec<_>>>()?;
        if let Some(selector) = &grouping.selector {
            let row = &InputRow::default();
            check_monotonic(&selector.node, &Evaluation { row, terms: &terms, aggregates: &[], binding })?;
        }
        Ok(Groups { grouping, table, binding, terms })
    }

    /// What is computed of a row's clustering; `None` without a function.
    fn output(&self, clustering: Option<&Clustering>) -> CqlResult<Option<Bytes>> {
        let (Some(selector), Some(clustering)) = (&self.grouping.selector, clustering) else {
            return Ok(None);
        };
        let value = clustering.0.get(self.grouping.prefix.wrapping_sub(1)).cloned().flatten();
        let row = InputRow { values: vec![value], times: Vec::new() };
        let evaluation = Evaluation { row: &row, terms: &self.terms, aggregates: &[], binding: self.binding };
        selector.node.evaluate(&evaluation)
    }

    fn compare_outputs(&self, a: Option<&Bytes>, b: Option<&Bytes>) -> Ordering {
        match (&self.grouping.selector, a, b) {
            (Some(selector), Some(a), Some(b)) => selector.returns.compare(a, b),
            (_, a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    /// Whether two rows of a partition have the columns in common that are grouped by as they are.
    fn share_prefix(&self, a: &Clustering, b: &Clustering) -> bool {
        let columns = self.grouping.prefix - usize::from(self.grouping.selector.is_some());
        let pairs = self.table.clustering().iter().zip(a.0.iter().zip(&b.0)).take(columns);
        pairs.into_iter().all(|(column, pair)| match pair {
            (Some(a), Some(b)) => column.data_type.compare(a, b).is_eq(),
            (a, b) => a.is_none() && b.is_none(),
        })
    }
}

/// The row a group maker continues behind (`GroupingState`).
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupingState {
    /// Its partition's key.
    pub(crate) key: Option<Bytes>,
    /// Its clustering; none if it was a static row alone.
    pub(crate) clustering: Option<Clustering>,
}

/// Looks at one row after the other.
pub(crate) struct GroupMaker<'a> {
    groups: &'a Groups<'a>,
    last: GroupingState,
    last_output: Option<Bytes>,
}

impl<'a> GroupMaker<'a> {
    /// Continues behind a row.
    ///
    /// # Errors
    /// Those of the function grouped by.
    pub(crate) fn new(groups: &'a Groups<'a>, last: GroupingState) -> CqlResult<GroupMaker<'a>> {
        let last_output = groups.output(last.clustering.as_ref())?;
        Ok(GroupMaker { groups, last, last_output })
    }

    /// Whether a row (a static one alone, without a clustering) begins a group.
    ///
    /// # Errors
    /// Those of the function grouped by.
    pub(crate) fn is_new(&mut self, key: &Bytes, clustering: Option<&Clustering>) -> CqlResult<bool> {
        let output = self.groups.output(clustering)?;
        let continues = self.last.key.as_ref() == Some(key)
            && match (&self.last.clustering, clustering) {
                (Some(last), Some(clustering)) => self.groups.share_prefix(last, clustering),
                _ => false,
            }
            && self.groups.compare_outputs(output.as_ref(), self.last_output.as_ref()).is_eq();
        self.last = GroupingState { key: Some(key.clone()), clustering: clustering.cloned() };
        self.last_output = output;
        Ok(!continues)
    }
}
