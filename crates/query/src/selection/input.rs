//! A row as selectors see it: one value a fetched column, collections put together from their
//! cells, and the times of cells where they are asked for (`Selector.InputRow`).

use basalt_model::types::elements::pack_tuple;
use basalt_model::{Cell, CounterContext, DataType};
use bytes::{BufMut, Bytes, BytesMut};

/// Write time and remaining seconds to live of a cell; `None` where there is no cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellTimes {
    /// Microseconds.
    pub(super) write_time: Option<i64>,
    /// Seconds; `None` if it does not expire.
    pub(super) ttl_s: Option<i32>,
}

impl CellTimes {
    const NONE: CellTimes = CellTimes { write_time: None, ttl_s: None };

    fn of(cell: &Cell, now_s: i64) -> CellTimes {
        let left = cell.local_deletion_time_s - now_s;
        let ttl_s = i32::try_from(left).ok().filter(|left| cell.is_expiring() && *left >= 0);
        CellTimes { write_time: Some(cell.timestamp), ttl_s }
    }
}

/// The times of a column's cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// No time at all.
    None,
    /// Of a column of one cell.
    One(CellTimes),
    /// Of the elements, or fields, in order.
    Many(Vec<CellTimes>),
}

impl Times {
    /// Of a column's live cells.
    pub(super) fn of(data_type: &DataType, cells: &[Cell], now_s: i64) -> Times {
        let all = || cells.iter().map(|cell| CellTimes::of(cell, now_s)).collect();
        match data_type {
            DataType::Udt { definition, frozen: false } if !cells.is_empty() => {
                let mut times = vec![CellTimes::NONE; definition.fields.len()];
                for cell in cells {
                    if let Some(slot) = field_of(cell).and_then(|field| times.get_mut(field)) {
                        *slot = CellTimes::of(cell, now_s);
                    }
                }
                Times::Many(times)
            }
            other if other.is_multi_cell() => Times::Many(all()),
            _ => cells
                .first()
                .map_or(Times::One(CellTimes::NONE), |cell| Times::One(CellTimes::of(cell, now_s))),
        }
    }
}

/// One row.
#[derive(Clone, Debug, Default)]
pub(super) struct InputRow {
    /// In the order of the fetched columns.
    pub(super) values: Vec<Option<Bytes>>,
    /// By place among the fetched columns, for those whose times are asked for.
    pub(super) times: Vec<(usize, Times)>,
}

impl InputRow {
    /// The times of a fetched column.
    pub(super) fn times(&self, index: usize) -> &Times {
        self.times.iter().find(|(known, _)| *known == index).map_or(&Times::None, |(_, times)| times)
    }
}

fn field_of(cell: &Cell) -> Option<usize> {
    let bytes = cell.path.as_ref()?.first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*bytes)))
}

/// The value of a column from its live cells; `None` where there are none.
pub(crate) fn cells_to_value(data_type: &DataType, cells: &[Cell]) -> Option<Bytes> {
    if !data_type.is_multi_cell() {
        let value = &cells.first()?.value;
        return Some(match data_type {
            DataType::Counter => Bytes::copy_from_slice(&CounterContext::total(value).to_be_bytes()),
            _ => value.clone(),
        });
    }
    if cells.is_empty() {
        return None;
    }
    if let DataType::Udt { definition, .. } = data_type {
        let mut fields: Vec<Option<Bytes>> = vec![None; definition.fields.len()];
        for cell in cells {
            if let Some(slot) = field_of(cell).and_then(|field| fields.get_mut(field)) {
                *slot = Some(cell.value.clone());
            }
        }
        return Some(pack_tuple(&fields));
    }
    let (with_path, with_value) = match data_type {
        DataType::Set { .. } => (true, false),
        DataType::Map { .. } => (true, true),
        _ => (false, true),
    };
    let size = cells.iter().map(|cell| cell.value.len() + cell.path.as_ref().map_or(0, Bytes::len) + 8);
    let mut out = BytesMut::with_capacity(4 + size.sum::<usize>());
    out.put_i32(i32::try_from(cells.len()).unwrap_or(i32::MAX));
    let mut put = |part: &[u8]| {
        out.put_i32(i32::try_from(part.len()).unwrap_or(i32::MAX));
        out.put_slice(part);
    };
    for cell in cells {
        if with_path {
            put(cell.path.as_deref().unwrap_or_default());
        }
        if with_value {
            put(&cell.value);
        }
    }
    Some(out.freeze())
}
