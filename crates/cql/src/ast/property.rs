//! `WITH name = value AND ...`. Knows no property by name; refuses only what Cassandra's grammar refuses.

use super::{Ident, Literal};

/// `name = value`; within one statement no name comes twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The name, folded.
    pub name: Ident,
    /// The value.
    pub value: PropertyValue,
}

/// The value of a [`Property`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyValue {
    /// A constant.
    Literal(Literal),
    /// An unreserved keyword as written, e.g. `caching = all`.
    Keyword(String),
    /// `{k: v, ...}`, constants only, no key twice, in the order of the text.
    Map(Vec<(Literal, Literal)>),
}

impl PropertyValue {
    /// The text of a simple value, as Cassandra reads properties; `None` for a map.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            PropertyValue::Literal(literal) => Some(&literal.text),
            PropertyValue::Keyword(text) => Some(text),
            PropertyValue::Map(_) => None,
        }
    }

    /// The entries of a map as texts; `None` for a simple value.
    pub fn as_map(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        match self {
            PropertyValue::Map(entries) => {
                Some(entries.iter().map(|(k, v)| (k.text.as_str(), v.text.as_str())))
            }
            PropertyValue::Literal(_) | PropertyValue::Keyword(_) => None,
        }
    }
}
