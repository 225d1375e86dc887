//! What is wrong with a text, in Cassandra's words.

use crate::ast::Pos;

/// The text is no statement; the native protocol's `SYNTAX_ERROR` (0x2000) carries the message as it is.
///
/// The message is the first error Cassandra's parser reports, e.g.
/// `line 1:7 no viable alternative at input 'FROM' (SELECT [FROM]...)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The whole message, with place and snippet.
    pub message: String,
    /// The place that the message names; line 0 at the end of the text, as in Cassandra.
    pub pos: Pos,
}
