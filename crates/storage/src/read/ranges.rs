//! Which encoded positions a command asks for, in reading order.

use basalt_model::command::{ClusteringFilter, RowSelection};
use basalt_model::{Clustering, Table};

use super::partition::EncodedRange;
use crate::keys::KeyError;
use crate::keys::clustering::{append_bound, append_clustering};

/// Larger than any byte a row's cells go on with.
const BEHIND_ROW: u8 = 0xFF;

/// Most clusterings fit.
const ROOM_BYTES: usize = 32;

/// The ranges of rows to read, ascending, or descending if the filter is reversed; `resumes`
/// leaves out all up to `resume_after`.
pub fn ranges(
    table: &Table,
    filter: &ClusteringFilter,
    resumes: bool,
) -> Result<Vec<EncodedRange>, KeyError> {
    let mut ranges = Vec::new();
    match &filter.rows {
        RowSelection::Names(names) => {
            for name in names {
                ranges.push(of_row(table, name)?);
            }
        }
        RowSelection::Slices(slices) => {
            for slice in slices {
                let (mut lower, mut upper) = (Vec::with_capacity(ROOM_BYTES), Vec::with_capacity(ROOM_BYTES));
                append_bound(table, &slice.start, &mut lower)?;
                append_bound(table, &slice.end, &mut upper)?;
                ranges.push(EncodedRange { lower, upper });
            }
        }
    }
    if let Some(clustering) = filter.resume_after.as_ref().filter(|_| resumes) {
        let row = of_row(table, clustering)?;
        for range in &mut ranges {
            if filter.reversed && range.upper > row.lower {
                range.upper.clone_from(&row.lower);
            } else if !filter.reversed && range.lower < row.upper {
                range.lower.clone_from(&row.upper);
            }
        }
    }
    ranges.retain(|range| range.lower < range.upper);
    if filter.reversed {
        ranges.reverse();
    }
    Ok(ranges)
}

fn of_row(table: &Table, clustering: &Clustering) -> Result<EncodedRange, KeyError> {
    let mut lower = Vec::with_capacity(ROOM_BYTES);
    append_clustering(table, clustering, &mut lower)?;
    let mut upper = Vec::with_capacity(lower.len() + 1);
    upper.extend_from_slice(&lower);
    upper.push(BEHIND_ROW);
    Ok(EncodedRange { lower, upper })
}
