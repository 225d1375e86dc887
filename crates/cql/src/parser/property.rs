//! `WITH name = value AND ...`.

use std::collections::BTreeSet;

use super::name::is_name;
use super::term::{begins_term, literal_kind};
use super::{Parser, Result};
use crate::ast::{Literal, Property, PropertyValue, Term, TermKind};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    /// `name = value AND ...`, at least one.
    pub(super) fn properties(&mut self) -> Result<Vec<Property>> {
        let mut names = BTreeSet::new();
        self.and_separated(|parser| parser.property(&mut names))
    }

    /// `WITH name = value AND ...`, if it is there.
    pub(super) fn optional_properties(&mut self) -> Result<Vec<Property>> {
        if self.eat_key(Keyword::With)? { self.properties() } else { Ok(Vec::new()) }
    }

    /// `name = value`; `names` are those that came before.
    pub(super) fn property(&mut self, names: &mut BTreeSet<String>) -> Result<Property> {
        if !is_name(self.kind()) {
            return Err(self.no_viable());
        }
        if self.peek(1)? != Kind::Equal {
            return Err(self.no_viable_ahead(1));
        }
        let first = self.peek(2)?;
        if first != Kind::LeftBrace && literal_kind(first).is_none() && !is_keyword_name(first) {
            return Err(self.no_viable_ahead(2));
        }
        self.decided_by(2)?;
        let name = self.ident()?;
        self.expect(Kind::Equal)?;
        let value = if first == Kind::LeftBrace {
            PropertyValue::Map(self.literal_map()?)
        } else if literal_kind(first).is_some() {
            PropertyValue::Literal(self.literal()?)
        } else {
            PropertyValue::Keyword(self.advance()?.text.to_owned())
        };
        if !names.insert(name.name.clone()) {
            return Err(self.refused(format!("Multiple definitions for property '{}'", name.name)));
        }
        Ok(Property { name, value })
    }

    /// `{k: v, ...}` of constants, no key twice.
    pub(super) fn literal_map(&mut self) -> Result<Vec<(Literal, Literal)>> {
        self.expect(Kind::LeftBrace)?;
        let entries =
            if begins_term(self.kind()) { self.comma_separated(Self::map_entry)? } else { Vec::new() };
        self.expect(Kind::RightBrace)?;
        let mut keys = BTreeSet::new();
        entries.into_iter().map(|(key, value)| self.literal_entry(key, value, &mut keys)).collect()
    }

    fn literal_entry(
        &self,
        key: Term,
        value: Term,
        keys: &mut BTreeSet<String>,
    ) -> Result<(Literal, Literal)> {
        let suffix = |term: &Term| match term.kind {
            TermKind::Marker(_) => " (bind variables are not supported in DDL queries)",
            _ => "",
        };
        let TermKind::Literal(literal_key) = &key.kind else {
            return Err(self.refused(format!("Invalid property name: {}{}", key.text(), suffix(&key))));
        };
        let TermKind::Literal(literal_value) = &value.kind else {
            let message = format!(
                "Invalid property value: {} for property: {}{}",
                value.text(),
                key.text(),
                suffix(&value)
            );
            return Err(self.refused(message));
        };
        if !keys.insert(literal_key.text.clone()) {
            return Err(self.refused(format!("Multiple definition for property {}", literal_key.text)));
        }
        Ok((literal_key.clone(), literal_value.clone()))
    }
}

/// Whether the token is a keyword that may be a name.
fn is_keyword_name(kind: Kind) -> bool {
    matches!(kind, Kind::Key(_)) && is_name(kind)
}
