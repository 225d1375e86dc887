//! Which of two cells wins.

use std::cmp::Reverse;

use basalt_model::deletion::NO_DELETION_TIME;

use crate::cells::CellData;

/// The winner of two cells in one place (`Cells.resolveRegular`): the later timestamp; at equal
/// ones what is or will be deleted wins over what is not, a tombstone over an expiring cell, the
/// later local deletion time, the lower TTL, and at last the larger value.
pub fn reconcile<'a>(left: CellData<'a>, right: CellData<'a>) -> CellData<'a> {
    let rank = |cell: &CellData<'a>| {
        (
            cell.timestamp,
            cell.local_deletion_time_s != NO_DELETION_TIME,
            !cell.is_expiring(),
            cell.local_deletion_time_s,
            Reverse(cell.ttl_s),
            cell.value,
        )
    };
    if rank(&right) > rank(&left) { right } else { left }
}
