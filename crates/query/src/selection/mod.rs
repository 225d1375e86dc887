//! What a SELECT returns: selectors resolved against the table (`prepare`), and evaluated for the
//! rows a read brings (`node`, `builder`). Does not know which rows those are.

mod builder;
mod composite;
mod groups;
mod infer;
mod input;
mod json;
mod node;
mod parts;
mod prepare;
mod show;
mod times;

use std::sync::Arc;

use basalt_model::command::{ColumnFilter, SelectedColumns};
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{Column, ColumnId, DataType, Table};

use self::json::JsonRow;
use self::node::Node;
use self::parts::Part;
use crate::functions::{Aggregate, Aggregation, Body, Function};
use crate::result::{ColumnSpec, ResultMetadata};
use crate::terms::Term;
use basalt_model::ids;

pub(crate) use builder::ResultBuilder;
pub(crate) use groups::{GroupMaker, GroupSelector, Grouping, GroupingState, Groups};
pub(crate) use infer::{check, selects_column};
pub(crate) use input::cells_to_value;
pub(crate) use prepare::prepare;

/// A column of a result before ids are computed.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its type.
    pub(crate) data_type: DataType,
}

/// What a SELECT returns.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Fetched columns, indices in `Table::columns`, in the order they were met.
    pub(crate) columns: Vec<usize>,
    /// How many of `columns` were asked for; the rest only serve to order the result.
    pub(crate) asked_columns: usize,
    /// Columns of which only elements are asked for.
    parts: Vec<Part>,
    /// What is computed from them; absent when the columns themselves are returned.
    outputs: Option<Vec<Node>>,
    /// Terms among the selectors.
    terms: Vec<Term>,
    /// Aggregates among the selectors.
    aggregates: Vec<(Aggregate, DataType)>,
    /// Fetched columns whose cells' times are asked for.
    timed_columns: Vec<usize>,
    /// The result's columns.
    pub(crate) metadata: Arc<ResultMetadata>,
    /// `*`
    pub(crate) is_wildcard: bool,
    /// `JSON`: what was asked for becomes one text.
    json: Option<JsonRow>,
}

impl Selection {
    /// The columns themselves, in this order.
    pub(crate) fn of_columns(table: &Table, columns: Vec<usize>, is_wildcard: bool) -> Selection {
        let outputs: Vec<Output> = columns.iter().map(|column| column_output(table, *column)).collect();
        Selection {
            asked_columns: columns.len(),
            columns,
            parts: Vec::new(),
            outputs: None,
            terms: Vec::new(),
            aggregates: Vec::new(),
            timed_columns: Vec::new(),
            metadata: Arc::new(metadata(table, outputs)),
            is_wildcard,
            json: None,
        }
    }

    /// All columns of the table that may be seen.
    pub(crate) fn wildcard(table: &Table) -> Selection {
        let shown = table.columns.iter().enumerate().filter(|(_, column)| !table.is_hidden(column));
        Selection::of_columns(table, shown.map(|(index, _)| index).collect(), true)
    }

    /// Computes the result even of columns alone: a group shows those of its first row.
    pub(crate) fn compute(&mut self) {
        self.outputs.get_or_insert_with(|| (0..self.asked_columns).map(Node::Column).collect());
    }

    /// The same as JSON, in one column.
    pub(crate) fn into_json(self, table: &Table) -> Selection {
        let json = Some(JsonRow::of(&self.metadata));
        let output = Output { name: "[json]".into(), data_type: DataType::Text };
        Selection { metadata: Arc::new(metadata(table, vec![output])), json, ..self }
    }

    /// The columns of the result, if it shows columns as they are and nothing else.
    pub(crate) fn shown_columns(&self) -> Option<&[usize]> {
        let is_plain = self.outputs.is_none() && self.json.is_none() && !self.is_aggregate();
        (is_plain && self.columns.len() == self.asked_columns).then_some(&self.columns)
    }

    /// Values of a row that are returned.
    fn width(&self) -> usize {
        match (&self.json, &self.outputs) {
            (Some(_), _) => 1,
            (None, Some(outputs)) => outputs.len(),
            (None, None) => self.asked_columns,
        }
    }

    /// Whether there are aggregates.
    pub(crate) fn is_aggregate(&self) -> bool {
        !self.aggregates.is_empty()
    }

    /// The aggregates, nothing added to them yet.
    fn aggregations(&self) -> Vec<Aggregation> {
        self.aggregates.iter().map(|(aggregate, returns)| Aggregation::new(*aggregate, returns)).collect()
    }

    /// Whether static columns are fetched.
    pub(crate) fn has_statics(&self, table: &Table) -> bool {
        self.columns.iter().any(|column| table.columns[*column].kind == ColumnKind::Static)
    }

    /// Where a column stands in a built row, for ordering by it. If it is not shown itself it is
    /// fetched once more, behind what is shown (`Selection.filterOrderingColumns`); JSON shows none. `JSON *` fetches
    /// none either, unless something has to be done with its columns: Cassandra compares the texts, as if they were
    /// values of the column.
    pub(crate) fn place_for_order(&mut self, table: &Table, column: usize) -> usize {
        let is_processed = self.outputs.is_some() || table.columns.iter().any(|column| column.mask.is_some());
        if self.is_wildcard && self.json.is_some() && !is_processed {
            return 0;
        }
        let asked = self.columns.get(..self.asked_columns).unwrap_or_default();
        let fetched = asked.iter().position(|known| *known == column).filter(|_| self.json.is_none());
        let shown = fetched.and_then(|fetched| match &self.outputs {
            None => Some(fetched),
            Some(outputs) => {
                outputs.iter().position(|node| matches!(node, Node::Column(index) if *index == fetched))
            }
        });
        if let Some(place) = shown {
            return place;
        }
        self.columns.push(column);
        self.width() + self.columns.len() - 1 - self.asked_columns
    }

    /// Which cells a read must bring: those selected, those filtered by, and all static ones where
    /// a partition's static content alone makes a row. Which of them are asked for only in part is known with
    /// values (`column_parts`).
    pub(crate) fn column_filter(
        &self,
        table: &Table,
        filtered: &[usize],
        with_statics: bool,
    ) -> ColumnFilter {
        if self.is_wildcard {
            return ColumnFilter::All;
        }
        let sorted = |mut ids: Vec<ColumnId>| {
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let asked = self.columns.iter().chain(filtered).map(|column| &table.columns[*column]);
        let asked = asked.filter(|column| column.kind >= ColumnKind::Static).map(|column| column.id);
        let queried = sorted(asked.collect());
        let statics = if with_statics { table.statics() } else { &[] };
        let fetched = sorted(queried.iter().copied().chain(statics.iter().map(|column| column.id)).collect());
        let queried = Some(queried).filter(|queried| !queried.is_empty());
        ColumnFilter::Some(Arc::new(SelectedColumns { fetched, queried, parts: Vec::new() }))
    }
}

/// A column as a result column.
pub(crate) fn column_output(table: &Table, column: usize) -> Output {
    let column = &table.columns[column];
    Output { name: column.name.clone(), data_type: selected_type(column) }
}

/// A column's type as selections see it: its order is part of it.
fn selected_type(column: &Column) -> DataType {
    match column.order {
        ClusteringOrder::Desc => DataType::Reversed(Arc::new(column.data_type.clone())),
        ClusteringOrder::Asc => column.data_type.clone(),
    }
}

/// The metadata of these result columns, with its id.
pub(crate) fn metadata(table: &Table, outputs: Vec<Output>) -> ResultMetadata {
    let classes = outputs.iter().map(|output| (output.name.as_bytes(), output.data_type.class_name()));
    let id = ids::result_metadata_id(classes);
    let spec = |output: Output| ColumnSpec {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name: output.name,
        data_type: output.data_type.unwrap_reversed().clone(),
    };
    ResultMetadata { columns: outputs.into_iter().map(spec).collect(), id }
}

/// An aggregate function's body.
fn aggregate_of(function: &Function) -> Option<Aggregate> {
    match function.body {
        Body::Aggregate(aggregate) => Some(aggregate),
        Body::Scalar(_) => None,
    }
}
