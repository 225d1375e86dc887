//! DESCRIBE.

use super::name::{NameOf, is_name};
use super::{Parser, Result};
use crate::ast::{Describe, DescribeTarget};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn describe(&mut self) -> Result<Describe> {
        self.advance()?;
        let target = self.describe_target()?;
        let with_internals = self.eat_key(Keyword::With)?;
        if with_internals {
            self.expect_key(Keyword::Internals)?;
        }
        Ok(Describe { target, with_internals })
    }

    fn describe_target(&mut self) -> Result<DescribeTarget> {
        let Kind::Key(keyword) = self.kind() else {
            return self.describe_generic();
        };
        match keyword {
            Keyword::Cluster => self.describe_all(DescribeTarget::Cluster),
            Keyword::Keyspaces => self.describe_all(DescribeTarget::Keyspaces),
            Keyword::Tables => self.describe_all(DescribeTarget::Tables),
            Keyword::Types => self.describe_all(DescribeTarget::Types),
            Keyword::Functions => self.describe_all(DescribeTarget::Functions),
            Keyword::Aggregates => self.describe_all(DescribeTarget::Aggregates),
            Keyword::Full | Keyword::Schema => {
                let full = self.eat_key(Keyword::Full)?;
                self.expect_key(Keyword::Schema)?;
                Ok(DescribeTarget::Schema { full })
            }
            Keyword::Keyspace => self.describe_keyspace(false),
            Keyword::Only if self.peek(1)? == Kind::Key(Keyword::Keyspace) => {
                self.advance()?;
                self.describe_keyspace(true)
            }
            Keyword::Table => {
                self.advance()?;
                Ok(DescribeTarget::Table(self.table_name()?))
            }
            Keyword::Index => {
                self.advance()?;
                Ok(DescribeTarget::Index(self.table_name()?))
            }
            Keyword::Materialized => {
                self.expect_keys(&[Keyword::Materialized, Keyword::View])?;
                Ok(DescribeTarget::View(self.table_name()?))
            }
            Keyword::Type if is_name(self.peek(1)?) => {
                self.advance()?;
                Ok(DescribeTarget::Type(self.user_type_name()?))
            }
            Keyword::Function if self.describes_one()? => {
                self.advance()?;
                Ok(DescribeTarget::Function(self.function_name()?))
            }
            Keyword::Aggregate if self.describes_one()? => {
                self.advance()?;
                Ok(DescribeTarget::Aggregate(self.function_name()?))
            }
            _ => self.describe_generic(),
        }
    }

    fn describe_all(&mut self, target: DescribeTarget) -> Result<DescribeTarget> {
        self.decided_by(1)?;
        self.advance()?;
        Ok(target)
    }

    fn describe_keyspace(&mut self, only: bool) -> Result<DescribeTarget> {
        self.expect_key(Keyword::Keyspace)?;
        let named = is_name(self.kind()) || self.kind() == Kind::QuestionMark;
        let keyspace = if named { Some(self.keyspace_name()?) } else { None };
        Ok(DescribeTarget::Keyspace { keyspace, only })
    }

    /// Whether a name follows the current word, which is no name itself then.
    fn describes_one(&mut self) -> Result<bool> {
        let next = self.peek(1)?;
        Ok(is_name(next) || matches!(next, Kind::QuestionMark | Kind::Key(Keyword::Token)))
    }

    fn describe_generic(&mut self) -> Result<DescribeTarget> {
        if !is_name(self.kind()) {
            return Err(self.no_viable());
        }
        let follows = |kind| matches!(kind, Kind::Eof | Kind::Semicolon | Kind::Key(Keyword::With));
        Ok(DescribeTarget::Generic(self.qualified(NameOf::Table, follows)?))
    }
}
