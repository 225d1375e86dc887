//! Restrictions on the partition key's token (`TokenRestriction`, `TokenFilter`).

use basalt_model::Token;
use basalt_model::command::{KeyBound, KeyRange};

use super::restriction::Side;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::request::Value;
use crate::terms::Term;

/// What is asked of the token.
#[derive(Clone, Debug)]
pub(crate) enum TokenTest {
    /// `=`
    Eq(Term),
    /// `<`, `<=`, `>`, `>=`
    Slice {
        /// The lower side.
        start: Option<Side>,
        /// The upper side.
        end: Option<Side>,
    },
}

/// A restriction on the token.
#[derive(Clone, Debug)]
pub(crate) struct TokenRestriction(pub(super) TokenTest);

/// The tokens a restriction lets through: those between two ends, or, where the ends have crossed,
/// those outside them.
pub(crate) struct TokenRange {
    start: Option<(i64, bool)>,
    end: Option<(i64, bool)>,
}

impl TokenRestriction {
    /// Joins another.
    pub(super) fn merge(&self, other: &TokenRestriction, names: &str) -> CqlResult<TokenRestriction> {
        match (&self.0, &other.0) {
            (TokenTest::Eq(_), _) => {
                bail!("{names} cannot be restricted by more than one relation if it includes an Equal")
            }
            (TokenTest::Slice { .. }, TokenTest::Eq(_)) => bail!(
                "Columns \"{names}\" cannot be restricted by both an equality and an inequality relation"
            ),
            (TokenTest::Slice { start, end }, TokenTest::Slice { start: other_start, end: other_end }) => {
                if start.is_some() && other_start.is_some() {
                    bail!("More than one restriction was found for the start bound on {names}");
                }
                if end.is_some() && other_end.is_some() {
                    bail!("More than one restriction was found for the end bound on {names}");
                }
                Ok(TokenRestriction(TokenTest::Slice {
                    start: start.clone().or_else(|| other_start.clone()),
                    end: end.clone().or_else(|| other_end.clone()),
                }))
            }
        }
    }

    /// Evaluates the ends.
    pub(crate) fn bind(&self, binding: &Binding<'_>) -> CqlResult<TokenRange> {
        match &self.0 {
            TokenTest::Eq(value) => {
                let token = token(value, binding)?;
                Ok(TokenRange { start: Some((token, true)), end: Some((token, true)) })
            }
            TokenTest::Slice { start, end } => {
                let side = |side: &Option<Side>| -> CqlResult<Option<(i64, bool)>> {
                    let Some(side) = side else { return Ok(None) };
                    Ok(Some((token(&side.value, binding)?, side.inclusive)))
                };
                Ok(TokenRange { start: side(start)?, end: side(end)? })
            }
        }
    }
}

fn token(value: &Term, binding: &Binding<'_>) -> CqlResult<i64> {
    match value.bind(binding)? {
        Value::Bytes(bytes) => match bytes.first_chunk::<8>() {
            Some(bytes) => Ok(i64::from_be_bytes(*bytes)),
            None => invalid("Invalid token value"),
        },
        Value::Null => invalid("Invalid null token value"),
        Value::Unset => invalid("Invalid unset value for column partition key token"),
    }
}

impl TokenRange {
    /// The range of the ring; `None` when it is empty. As in Cassandra, the minimum token as an end
    /// does not bound.
    pub(crate) fn key_range(&self) -> Option<KeyRange> {
        let minimum = Token::MIN.0;
        let start = self.start.filter(|(token, _)| *token != minimum);
        let end = self.end.filter(|(token, _)| *token != minimum);
        if let (Some((start, start_in)), Some((end, end_in))) = (start, end)
            && (start > end || (start == end && !(start_in && end_in)))
        {
            return None;
        }
        let bound = |end: Option<(i64, bool)>| match end {
            Some((token, inclusive)) => KeyBound::Token { token: Token(token), inclusive },
            None => KeyBound::Unbounded,
        };
        Some(KeyRange { start: bound(start), end: bound(end) })
    }

    /// Whether a token is let through.
    pub(crate) fn contains(&self, token: i64) -> bool {
        let above = |(start, inclusive): (i64, bool)| token > start || (inclusive && token == start);
        let below = |(end, inclusive): (i64, bool)| token < end || (inclusive && token == end);
        match (self.start, self.end) {
            (Some(start), Some(end)) if start.0 == end.0 && !(start.1 && end.1) => false,
            (Some(start), Some(end)) if start.0 <= end.0 => above(start) && below(end),
            (Some(start), Some(end)) => above(start) || below(end),
            (Some(start), None) => above(start),
            (None, Some(end)) => below(end),
            (None, None) => true,
        }
    }
}
