//! Which types' values may stand where another type is asked for (`AssignmentTestable`,
//! `AbstractType.isValueCompatibleWith`). Knows types alone.

use basalt_model::DataType;

/// How well something fits a place (`AssignmentTestable.TestResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The same type.
    Exact,
    /// Can be used.
    Weak,
    /// Cannot.
    No,
}

impl Fit {
    /// Whether it can be used.
    pub(crate) fn is_assignable(self) -> bool {
        self != Fit::No
    }

    /// The fit of several parts together (`testAll`).
    pub(crate) fn all(parts: impl IntoIterator<Item = Fit>) -> Fit {
        let mut result = Fit::Exact;
        for part in parts {
            match part {
                Fit::No => return Fit::No,
                Fit::Weak => result = Fit::Weak,
                Fit::Exact => {}
            }
        }
        result
    }
}

/// How a value of type `value` fits a place of type `place` (`AbstractType.testAssignment`).
/// Frozen or not makes no difference, nor does the order of what is given.
pub(crate) fn fit(value: &DataType, place: &DataType) -> Fit {
    let is_same = match (value, place) {
        (DataType::Reversed(value), place) => value.freeze().equals(&place.unwrap_reversed().freeze()),
        (value, place) => value.freeze().equals(&place.freeze()),
    };
    if is_same {
        Fit::Exact
    } else if is_value_compatible(place, value) {
        Fit::Weak
    } else {
        Fit::No
    }
}

/// Whether bytes of type `other` are bytes of type `place` as well.
pub(crate) fn is_value_compatible(place: &DataType, other: &DataType) -> bool {
    use DataType as T;
    let (place, other) = (place.unwrap_reversed(), other.unwrap_reversed());
    if place.freeze().equals(&other.freeze()) {
        return true;
    }
    match (place, other) {
        (T::Blob, _)
        | (T::Text, T::Ascii)
        | (T::Varint, T::Int | T::BigInt | T::Timestamp)
        | (T::BigInt, T::Timestamp)
        | (T::Timestamp, T::BigInt)
        | (T::Date, T::Int)
        | (T::Time, T::BigInt)
        | (T::Uuid, T::TimeUuid) => true,
        (T::List { element: a, .. }, T::List { element: b, .. }) => is_value_compatible(a, b),
        (T::Set { element: a, .. }, T::Set { element: b, .. }) => is_value_compatible(a, b),
        (T::Map { key: ka, value: va, .. }, T::Map { key: kb, value: vb, .. }) => {
            is_value_compatible(ka, kb) && is_value_compatible(va, vb)
        }
        (T::Tuple(a), T::Tuple(b)) => {
            a.len() >= b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_value_compatible(a, b))
        }
        (T::Vector { element: a, dimension: n }, T::Vector { element: b, dimension: m }) => {
            n == m && is_value_compatible(a, b)
        }
        _ => false,
    }
}

/// The one of `types` that all of them fit, if there is one
/// (`AssignmentTestable.getCompatibleTypeIfKnown`).
pub(crate) fn common_type(types: &[DataType]) -> Option<DataType> {
    types.iter().find(|place| types.iter().all(|value| fit(value, place).is_assignable())).cloned()
}
