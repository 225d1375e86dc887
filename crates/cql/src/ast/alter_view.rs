//! ALTER MATERIALIZED VIEW.

use super::{Property, QualifiedName};

/// `ALTER MATERIALIZED VIEW [IF EXISTS] view WITH ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterView {
    /// The view.
    pub view: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// `WITH`, at least one.
    pub properties: Vec<Property>,
}
