//! Which columns a replica answers with, and with how much of each (`db/filter/ColumnFilter`).
//!
//! More than a statement asks for: a row exists by any of its cells. Cells that are not asked for come without their
//! values, or not at all if the row's insertion says as much.

use std::sync::Arc;

use basalt_model::command::{ColumnFilter, RowSelection, SelectedColumns};
use basalt_model::schema::{Column, ColumnKind};
use basalt_model::{Cell, ColumnId, DataType, ReadCommand, Row, Slice, Table};

use crate::keys::path::path_type;

/// A column that is fetched.
#[derive(Clone, Debug)]
pub struct FetchedColumn {
    /// Its id.
    pub id: ColumnId,
    /// Its name.
    pub name: Arc<str>,
    /// Its cells are counters.
    pub is_counter: bool,
    /// It has cells with paths.
    pub is_complex: bool,
    /// Orders the paths.
    path_type: Option<DataType>,
    /// The statement asks for it, if only in part.
    is_queried: bool,
    /// The statement asks for a part of it only.
    is_in_part: bool,
}

/// The columns of a read, those of each kind in the order of `db/Columns`: without paths first, each by name.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// Static columns.
    pub statics: Vec<FetchedColumn>,
    /// Regular columns.
    pub regulars: Vec<FetchedColumn>,
    /// Every column of the table is among them and asked for: rows stay as they are.
    is_everything: bool,
    /// All elements of static columns are fetched, those that are not asked for too.
    has_whole_statics: bool,
    selected: Option<Arc<SelectedColumns>>,
}

/// Whether the command shows a partition that has nothing but a static row
/// (`StatementRestrictions.returnStaticContentOnPartitionWithNoRows`).
pub fn shows_static_only(command: &ReadCommand, has_row_conditions: bool) -> bool {
    let selects_all_or_none = match &command.target.filter().rows {
        RowSelection::Names(names) => names.is_empty(),
        RowSelection::Slices(slices) => slices.is_empty() || slices.as_slice() == [Slice::all()],
    };
    selects_all_or_none && !has_row_conditions
}

impl Fetched {
    /// Every column.
    pub fn everything(table: &Table) -> Fetched {
        let all = |columns: &[Column]| in_order(columns.iter().map(|column| fetched(column, true, false)));
        Fetched {
            statics: all(table.statics()),
            regulars: all(table.regulars()),
            is_everything: true,
            has_whole_statics: true,
            selected: None,
        }
    }

    /// Those of a filter. `has_whole_statics`: as of [`shows_static_only`].
    pub fn of(table: &Table, filter: &ColumnFilter, has_whole_statics: bool) -> Fetched {
        let selected = match filter {
            ColumnFilter::All => return Fetched::everything(table),
            ColumnFilter::Some(selected) if selected.queried.is_none() => return Fetched::everything(table),
            ColumnFilter::Some(selected) => Some(selected),
            ColumnFilter::Only(_) => None,
        };
        let choose = |column: &Column| match (filter, selected) {
            (ColumnFilter::Only(ids), _) => {
                ids.binary_search(&column.id).is_ok().then(|| fetched(column, true, false))
            }
            (_, Some(selected)) => {
                let is_queried = selected.queries(column.id);
                let is_fetched = is_queried || has_whole_statics || column.kind != ColumnKind::Static;
                is_fetched.then(|| fetched(column, is_queried, selected.is_in_part(column.id)))
            }
            _ => None,
        };
        Fetched {
            statics: in_order(table.statics().iter().filter_map(choose)),
            regulars: in_order(table.regulars().iter().filter_map(choose)),
            is_everything: false,
            has_whole_statics,
            selected: selected.cloned(),
        }
    }

    /// Those of a kind.
    pub fn columns(&self, is_static: bool) -> &[FetchedColumn] {
        if is_static { &self.statics } else { &self.regulars }
    }

    /// What is fetched of a row (`Row.filter`).
    pub fn cut(&self, mut row: Row, is_static: bool) -> Option<Row> {
        if self.is_everything {
            return Some(row);
        }
        let column_of = |id: ColumnId| self.columns(is_static).iter().find(|column| column.id == id);
        row.complex_deletions.retain(|(id, _)| column_of(*id).is_some());
        let inserted = row.liveness.timestamp;
        row.cells.retain_mut(|cell| {
            let Some(column) = column_of(cell.column) else { return false };
            let (is_fetched, is_queried) = self.sees(column, cell, is_static);
            if !is_queried {
                cell.value.clear();
            }
            is_fetched && (is_queried || cell.timestamp >= inserted)
        });
        (!row.is_empty()).then_some(row)
    }

    /// Whether the cell is fetched, and whether it is asked for.
    fn sees(&self, column: &FetchedColumn, cell: &Cell, is_static: bool) -> (bool, bool) {
        if !column.is_in_part {
            return (true, column.is_queried);
        }
        let is_part = match (&self.selected, &column.path_type, &cell.path) {
            (Some(selected), Some(path_type), Some(path)) => {
                selected.queries_path(column.id, path_type, path)
            }
            _ => true,
        };
        (is_part || !is_static || self.has_whole_statics, is_part)
    }
}

fn fetched(column: &Column, is_queried: bool, is_in_part: bool) -> FetchedColumn {
    let is_complex = column.data_type.is_multi_cell();
    FetchedColumn {
        id: column.id,
        name: column.name.clone(),
        is_counter: column.data_type == DataType::Counter,
        is_complex,
        path_type: if is_complex { path_type(&column.data_type) } else { None },
        is_queried,
        is_in_part,
    }
}

fn in_order(columns: impl Iterator<Item = FetchedColumn>) -> Vec<FetchedColumn> {
    let mut columns: Vec<FetchedColumn> = columns.collect();
    columns.sort_by(|a, b| (a.is_complex, a.name.as_bytes()).cmp(&(b.is_complex, b.name.as_bytes())));
    columns
}
