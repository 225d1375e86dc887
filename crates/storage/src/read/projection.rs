//! Which columns of one kind (static or regular) a read knows, looks at and returns.

use std::sync::Arc;

use basalt_model::command::{ColumnFilter, SelectedColumns};
use basalt_model::deletion::NO_TIMESTAMP;
use basalt_model::schema::Column;
use basalt_model::{ColumnId, DataType, ReadCommand, Table};

use crate::keys::path::path_type;

/// A column as a read sees it.
#[derive(Clone, Debug)]
pub struct Projected {
    /// Its id.
    pub id: ColumnId,
    /// Cells up to this time belong to an earlier column of the name, which was dropped.
    pub dropped_time: i64,
    /// Orders the paths of its cells, if it has paths.
    pub path_type: Option<DataType>,
    /// Its cells are built: they come back, or the row filter looks at them.
    pub is_built: bool,
    /// Its cells come back.
    pub is_returned: bool,
    /// It is asked for, or a part of it.
    pub is_queried: bool,
    /// Only a part of it is asked for.
    pub is_in_part: bool,
}

/// The columns of one kind, by id. Cells of others were dropped, or are newer than the command.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    columns: Vec<Projected>,
    /// Whether some column is looked at but does not come back.
    pub strips: bool,
    /// Whether a row may have cells in entries of their own.
    pub has_paths: bool,
    /// What the statement asks for, if not for everything.
    selected: Option<Arc<SelectedColumns>>,
}

impl Projection {
    /// Of a command, for `columns` of its table.
    pub fn of(command: &ReadCommand, columns: &[Column]) -> Projection {
        let table = &command.table;
        let is_tested = |id: ColumnId| {
            let column = |index: usize| table.columns.get(index);
            command.row_filter.0.iter().any(|e| column(e.column).is_some_and(|c| c.id == id))
        };
        let choose = |id| {
            let is_returned = command.columns.includes(id);
            (is_returned, is_returned || is_tested(id))
        };
        let knows_all = !matches!(command.columns, ColumnFilter::Only(_));
        let known = columns.iter().filter(|column| knows_all || choose(column.id).1);
        let mut projection = Projection::with(table, known, choose);
        if let ColumnFilter::Some(selected) = &command.columns {
            for column in &mut projection.columns {
                column.is_queried = selected.queries(column.id);
                column.is_in_part = selected.is_in_part(column.id);
            }
            projection.selected = Some(Arc::clone(selected));
        }
        projection
    }

    /// Whether the cell at `path` of a column that is asked for in part is asked for.
    pub fn queries_path(&self, column: &Projected, path: &[u8]) -> bool {
        let (Some(selected), Some(path_type)) = (&self.selected, &column.path_type) else { return true };
        selected.queries_path(column.id, path_type, path)
    }

    /// Of all columns.
    pub fn everything(table: &Table, columns: &[Column]) -> Projection {
        Projection::with(table, columns.iter(), |_| (true, true))
    }

    fn with<'c>(
        table: &Table,
        columns: impl Iterator<Item = &'c Column>,
        choose: impl Fn(ColumnId) -> (bool, bool),
    ) -> Projection {
        let mut projection = Projection::default();
        for column in columns {
            let (is_returned, is_built) = choose(column.id);
            let path_type = path_type_of(column);
            projection.strips |= is_built && !is_returned;
            projection.has_paths |= path_type.is_some();
            projection.columns.push(Projected {
                id: column.id,
                dropped_time: dropped_time(table, column.id),
                path_type,
                is_built,
                is_returned,
                is_queried: true,
                is_in_part: false,
            });
        }
        projection.columns.sort_unstable_by_key(|column| column.id);
        // Cells of a dropped collection may still stand behind their rows.
        projection.has_paths |= !table.dropped_columns.is_empty();
        projection
    }

    /// The column of that id, searched from `from` on, which is moved to it.
    pub fn seek(&self, id: ColumnId, from: &mut usize) -> Option<&Projected> {
        while self.columns.get(*from).is_some_and(|column| column.id < id) {
            *from += 1;
        }
        self.columns.get(*from).filter(|column| column.id == id)
    }

    /// Whether cells of the column come back.
    pub fn returns(&self, id: ColumnId) -> bool {
        self.seek(id, &mut 0).is_some_and(|column| column.is_returned)
    }

    /// Whether any column's cells are built.
    pub fn builds_any(&self) -> bool {
        self.columns.iter().any(|column| column.is_built)
    }
}

fn path_type_of(column: &Column) -> Option<DataType> {
    if column.data_type.is_multi_cell() { path_type(&column.data_type) } else { None }
}

fn dropped_time(table: &Table, id: ColumnId) -> i64 {
    table
        .dropped_columns
        .values()
        .filter(|dropped| dropped.column.id == id)
        .map(|dropped| dropped.dropped_time)
        .max()
        .unwrap_or(NO_TIMESTAMP)
}
