//! How serialized values of a type compare (`AbstractType.compare`).

use std::cmp::Ordering;

use super::DataType;

impl DataType {
    /// Orders two serialized values. Bytes that are not values of the type (they never pass
    /// [`DataType::validate`]) still have some total order and never panic.
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }
}
