//! Rows of a read to rows of a result (`ResultSetBuilder`, `SelectStatement.processPartition`).

use basalt_model::command::PartitionRows;
use basalt_model::packed::{PackedRows, pack};
use basalt_model::schema::ColumnKind;
use basalt_model::{Clustering, Row, Table};
use bytes::Bytes;

use super::Selection;
use super::groups::{GroupMaker, GroupingState, Groups};
use super::input::{InputRow, Times, cells_to_value};
use super::node::Evaluation;
use crate::bind::Binding;
use crate::error::CqlResult;
use crate::functions::Aggregation;
use crate::request::Value;

/// Builds a result's rows.
pub(crate) struct ResultBuilder<'a> {
    selection: &'a Selection,
    table: &'a Table,
    binding: Binding<'a>,
    now_s: i64,
    shows_static_alone: bool,
    terms: Vec<Value>,
    /// Where one group ends and the next begins, with GROUP BY.
    groups: Option<Box<GroupMaker<'a>>>,
    aggregations: Vec<Aggregation>,
    /// The first row of the group.
    first: Option<InputRow>,
    /// Row by row: the result's columns, then those fetched only to order by.
    values: Vec<Option<Bytes>>,
    /// Rows that came packed, before those of `values`.
    packed: Vec<Bytes>,
    rows: usize,
    bytes: usize,
}

/// A built result.
pub(crate) struct BuiltRows {
    /// Row by row, `width` values each.
    pub(crate) values: Vec<Option<Bytes>>,
    /// All rows instead, if some came packed.
    pub(crate) packed: Vec<Bytes>,
    /// Values a row.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) rows: usize,
}

impl<'a> ResultBuilder<'a> {
    /// Evaluates the selection's terms and the calls that depend on nothing else; no row yet.
    pub(crate) fn new(
        selection: &'a Selection,
        table: &'a Table,
        groups: Option<&'a Groups<'a>>,
        binding: Binding<'a>,
        now_s: i64,
        shows_static_alone: bool,
    ) -> CqlResult<ResultBuilder<'a>> {
        let terms = selection.terms.iter().map(|term| term.bind(&binding)).collect::<CqlResult<Vec<_>>>()?;
        if !terms.is_empty() {
            let row = &InputRow::default();
            let evaluation = Evaluation { row, terms: &terms, aggregates: &[], binding };
            for node in selection.outputs.iter().flatten() {
                node.check_constants(&evaluation)?;
            }
        }
        Ok(ResultBuilder {
            selection,
            table,
            binding,
            now_s,
            shows_static_alone,
            terms,
            groups: groups
                .map(|groups| GroupMaker::new(groups, GroupingState::default()).map(Box::new))
                .transpose()?,
            aggregations: selection.aggregations(),
            first: None,
            values: Vec::new(),
            packed: Vec::new(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Bytes of the values so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a partition's rows.
    pub(crate) fn add(&mut self, partition: &PartitionRows) -> CqlResult<()> {
        if let Some(packed) = &partition.packed {
            self.add_packed(packed);
            return Ok(());
        }
        let Some(key) = partition.key.components(self.table.partition_key_count) else { return Ok(()) };
        let static_row = partition.static_row.as_ref();
        if partition.rows.is_empty() {
            if static_row.is_some() && self.shows_static_alone {
                self.turn_group(&partition.key.key, None)?;
                self.add_row(&key, static_row, None)?;
            }
            return Ok(());
        }
        for row in &partition.rows {
            self.turn_group(&partition.key.key, Some(&row.clustering))?;
            self.add_row(&key, static_row, Some(row))?;
        }
        Ok(())
    }

    fn add_packed(&mut self, packed: &PackedRows) {
        self.pack_values();
        let lengths = 4 * self.selection.columns.len() * packed.count as usize;
        self.rows += packed.count as usize;
        self.bytes += packed.bytes.len().saturating_sub(lengths);
        self.packed.push(packed.bytes.clone());
    }

    /// Puts rows that came otherwise among the packed ones, in their order.
    fn pack_values(&mut self) {
        if self.values.is_empty() {
            return;
        }
        let mut bytes = Vec::new();
        self.values.drain(..).for_each(|value| pack(value.as_deref(), &mut bytes));
        self.packed.push(bytes.into());
    }

    /// Ends the group before the next row, if that begins another.
    fn turn_group(&mut self, key: &Bytes, clustering: Option<&Clustering>) -> CqlResult<()> {
        let Some(groups) = &mut self.groups else { return Ok(()) };
        if groups.is_new(key, clustering)? { self.end_group() } else { Ok(()) }
    }

    /// Shows what came of a group's rows.
    fn end_group(&mut self) -> CqlResult<()> {
        let Some(first) = self.first.take() else { return Ok(()) };
        self.output(&first)?;
        self.aggregations = self.selection.aggregations();
        Ok(())
    }

    fn add_row(&mut self, key: &[Bytes], static_row: Option<&Row>, row: Option<&Row>) -> CqlResult<()> {
        if self.selection.outputs.is_none() {
            let start = self.values.len();
            for column in &self.selection.columns {
                let value = self.value(*column, key, static_row, row);
                self.bytes += value.as_ref().map_or(0, Bytes::len);
                self.values.push(value);
            }
            return self.finish_row(start);
        }
        let input = self.input(key, static_row, row);
        if self.groups.is_some() || self.selection.is_aggregate() {
            return self.aggregate(input);
        }
        self.output(&input)
    }

    /// The value of a column in a row.
    fn value(
        &self,
        column: usize,
        key: &[Bytes],
        static_row: Option<&Row>,
        row: Option<&Row>,
    ) -> Option<Bytes> {
        let column = &self.table.columns[column];
        let position = usize::from(column.position);
        match column.kind {
            ColumnKind::PartitionKey => key.get(position).cloned(),
            ColumnKind::Clustering => row?.clustering.0.get(position).cloned().flatten(),
            ColumnKind::Static => cells_to_value(&column.data_type, static_row?.cells_of(column.id)),
            ColumnKind::Regular => cells_to_value(&column.data_type, row?.cells_of(column.id)),
        }
    }

    fn input(&self, key: &[Bytes], static_row: Option<&Row>, row: Option<&Row>) -> InputRow {
        let columns = self.selection.columns.iter();
        let values = columns.map(|column| self.value(*column, key, static_row, row)).collect();
        let timed = self.selection.timed_columns.iter().filter_map(|place| {
            let column = &self.table.columns[*self.selection.columns.get(*place)?];
            let source = if column.kind == ColumnKind::Static { static_row } else { row };
            let cells = source.map(|row| row.cells_of(column.id)).unwrap_or_default();
            Some((*place, Times::of(&column.data_type, cells, self.now_s)))
        });
        InputRow { values, times: timed.collect() }
    }

    fn output(&mut self, input: &InputRow) -> CqlResult<()> {
        let evaluation = Evaluation {
            row: input,
            terms: &self.terms,
            aggregates: &self.aggregations,
            binding: self.binding,
        };
        let start = self.values.len();
        for node in self.selection.outputs.iter().flatten() {
            let value = node.evaluate(&evaluation)?;
            self.bytes += value.as_ref().map_or(0, Bytes::len);
            self.values.push(value);
        }
        // Aggregates of no rows have no first row.
        let only_for_order = self.selection.asked_columns..self.selection.columns.len();
        self.values.extend(only_for_order.map(|place| input.values.get(place).cloned().flatten()));
        self.finish_row(start)
    }

    /// Ends the row whose values begin at `start`.
    fn finish_row(&mut self, start: usize) -> CqlResult<()> {
        if let Some(json) = &self.selection.json {
            self.bytes += json.replace(&mut self.values, start)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn aggregate(&mut self, input: InputRow) -> CqlResult<()> {
        let evaluation =
            Evaluation { row: &input, terms: &self.terms, aggregates: &[], binding: self.binding };
        for node in self.selection.outputs.iter().flatten() {
            node.aggregate(&evaluation, &mut self.aggregations)?;
        }
        if self.first.is_none() {
            self.first = Some(input);
        }
        Ok(())
    }

    /// The rows; one, where there are aggregates of all rows.
    pub(crate) fn finish(mut self) -> CqlResult<BuiltRows> {
        if self.groups.is_some() {
            self.end_group()?;
        } else if self.selection.is_aggregate() {
            let first = self.first.take().unwrap_or_default();
            self.output(&first)?;
        }
        let only_for_order = self.selection.columns.len() - self.selection.asked_columns;
        let width = self.selection.width() + only_for_order;
        if !self.packed.is_empty() {
            self.pack_values();
        }
        Ok(BuiltRows { values: self.values, packed: self.packed, width, rows: self.rows })
    }
}
