//! DROP MATERIALIZED VIEW.

use super::QualifiedName;

/// `DROP MATERIALIZED VIEW [IF EXISTS] view`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropView {
    /// The view.
    pub view: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
}
