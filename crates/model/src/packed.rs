//! Rows as they travel: value after value, each behind its length, as tuples hold their fields and results their rows. For
//! statements that show columns as they are: nothing is made of their rows but the answer.

use bytes::Bytes;

use crate::clustering::Clustering;
use crate::command::ColumnFilter;
use crate::schema::{ColumnId, ColumnKind, Table};
use crate::types::DataType;

/// What stands before an absent value instead of its length.
pub const ABSENT_LENGTH: i32 = -1;

const ABSENT: [u8; 4] = ABSENT_LENGTH.to_be_bytes();

/// Where a value of a packed row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A column of the partition key.
    PartitionKey(usize),
    /// A clustering column.
    Clustering(usize),
    /// One of [`Layout::regulars`].
    Regular(usize),
}

/// A regular column as packing sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedColumn {
    /// Its id.
    pub id: ColumnId,
    /// As of [`crate::command::SelectedColumns::queries`].
    pub is_queried: bool,
}

/// What packed rows hold: made once for a statement, of tables whose rows are one entry each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// A row's values, in order.
    pub places: Vec<Place>,
    /// All regular columns of the table, ascending by id.
    pub regulars: Vec<PackedColumn>,
    /// Values of the partition key are among them.
    pub has_key: bool,
}

impl Layout {
    /// Of these columns, by their places in `Table::columns`; `None` when rows of the table are more than their entry, or a
    /// value is not stored as it is shown.
    pub fn of(table: &Table, filter: &ColumnFilter, columns: &[usize]) -> Option<Layout> {
        let is_plain = !table.is_virtual
            && table.compact.is_none()
            && !table.has_statics()
            && table.dropped_columns.is_empty()
            && table.regulars().iter().all(|column| {
                !column.data_type.is_multi_cell() && !matches!(column.data_type, DataType::Counter)
            });
        let selected = match filter {
            ColumnFilter::All => None,
            ColumnFilter::Some(selected) if selected.parts.is_empty() => Some(selected),
            ColumnFilter::Some(_) | ColumnFilter::Only(_) => return None,
        };
        if !is_plain {
            return None;
        }
        let packed = |id| PackedColumn { id, is_queried: selected.is_none_or(|columns| columns.queries(id)) };
        let mut regulars: Vec<PackedColumn> =
            table.regulars().iter().map(|column| packed(column.id)).collect();
        regulars.sort_unstable_by_key(|column| column.id);
        let place = |index: &usize| {
            let column = table.columns.get(*index)?;
            Some(match column.kind {
                ColumnKind::PartitionKey => Place::PartitionKey(usize::from(column.position)),
                ColumnKind::Clustering => Place::Clustering(usize::from(column.position)),
                ColumnKind::Regular => {
                    Place::Regular(regulars.binary_search_by_key(&column.id, |column| column.id).ok()?)
                }
                ColumnKind::Static => return None,
            })
        };
        let places = columns.iter().map(place).collect::<Option<Vec<Place>>>()?;
        let has_key = places.iter().any(|place| matches!(place, Place::PartitionKey(_)));
        Some(Layout { places, regulars, has_key })
    }
}

/// Rows of one partition, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedRows {
    /// One row behind the other.
    pub bytes: Bytes,
    /// How many.
    pub count: u32,
    /// The clustering of the last one.
    pub last: Clustering,
}

/// Appends a value, or that there is none.
#[inline]
pub fn pack(value: Option<&[u8]>, out: &mut Vec<u8>) {
    match value {
        Some(value) => {
            out.reserve(ABSENT.len() + value.len());
            // Values are shorter than 2 GiB: mutations and frames are.
            let length = i32::try_from(value.len()).unwrap_or(i32::MAX);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(value);
        }
        None => out.extend_from_slice(&ABSENT),
    }
}

/// Takes the value at the start of `rest`; `None` at the end.
pub fn unpack(rest: &mut Bytes) -> Option<Option<Bytes>> {
    let length = i32::from_be_bytes(*rest.first_chunk::<4>()?);
    let mut value = rest.split_off(4);
    match usize::try_from(length) {
        Err(_) => {
            *rest = value;
            Some(None)
        }
        Ok(length) if length <= value.len() => {
            *rest = value.split_off(length);
            Some(Some(value))
        }
        Ok(_) => None,
    }
}
