//! What a modification does to columns: resolved from SET and DELETE (`prepare`), carried out on a
//! row being written (`apply`).

mod apply;
mod lists;
mod prepare;
mod writer;

use crate::terms::Term;

pub(crate) use prepare::{deletion, set_value, update};
pub(crate) use writer::{Writer, add_increments, compare_paths, is_counter};

/// One change of one column.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Index in `Table::columns`.
    pub(crate) column: usize,
    /// What happens to it.
    pub(crate) action: Action,
}

/// What happens to a column.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// It gets a value.
    Set(Term),
    /// It would get a tuple's value, but is of a user type: refused when the statement has got that far.
    SetTuple(Term),
    /// A number grows or a text gets longer, from what it is (conditional updates only).
    Increment(Term),
    /// A counter grows.
    AddToCounter(Term),
    /// A counter shrinks.
    SubtractFromCounter(Term),
    /// A list's element at an index gets a value.
    SetIndex {
        /// The index.
        index: Term,
        /// The value.
        value: Term,
    },
    /// A map's entry gets a value.
    SetKey {
        /// The key.
        key: Term,
        /// The value.
        value: Term,
    },
    /// A user type's field gets a value.
    SetField {
        /// Which field.
        field: u16,
        /// The value.
        value: Term,
    },
    /// Elements join the end of a list.
    Append(Term),
    /// Elements join the front of a list.
    Prepend(Term),
    /// Elements join a set, or entries a map.
    Add(Term),
    /// All elements equal to some leave a list.
    DiscardValues(Term),
    /// Elements leave a set, or keys a map.
    Discard(Term),
    /// The column is deleted.
    Delete,
    /// A list's element at an index is deleted.
    DeleteIndex(Term),
    /// A set's element or a map's entry is deleted.
    DeleteElement(Term),
    /// A user type's field is deleted.
    DeleteField(u16),
}

impl Operation {
    /// Whether it must know what is there.
    pub(crate) fn requires_read(&self) -> bool {
        matches!(
            self.action,
            Action::Increment(_)
                | Action::SetIndex { .. }
                | Action::DiscardValues(_)
                | Action::DeleteIndex(_)
        )
    }
}
