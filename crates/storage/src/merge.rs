//! How two versions of an entry become one. Placeholder body until the entry formats land; the
//! signature is the one engines call.

/// Why entries do not merge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The bytes are not an entry.
    #[error("not an entry: {0}")]
    Malformed(&'static str),
}

/// Folds `operands`, any number in any order, into `existing`.
///
/// The result does not depend on order, grouping or repetition, so that an engine may fold
/// whichever it meets first: a partial merge is this function without `existing`.
///
/// # Errors
/// When bytes are not entries, or entries of different kinds.
pub fn merge(existing: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let newest = operands.last().copied().or(existing);
    newest.map(<[u8]>::to_vec).ok_or(MergeError::Malformed("nothing to merge"))
}
