//! BATCH.

use super::{Parser, Result};
use crate::ast::{Batch, BatchKind, Modification};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn batch(&mut self) -> Result<Batch> {
        self.expect_key(Keyword::Begin)?;
        let kind = if self.eat_key(Keyword::Unlogged)? {
            BatchKind::Unlogged
        } else if self.eat_key(Keyword::Counter)? {
            BatchKind::Counter
        } else {
            BatchKind::Logged
        };
        self.expect_key(Keyword::Batch)?;
        let using = self.using()?;
        let mut statements = Vec::new();
        while let Some(statement) = self.modification()? {
            statements.push(statement);
            self.eat(Kind::Semicolon)?;
        }
        self.expect_keys(&[Keyword::Apply, Keyword::Batch])?;
        Ok(Batch { kind, using, statements })
    }

    fn modification(&mut self) -> Result<Option<Modification>> {
        Ok(match self.kind() {
            Kind::Key(Keyword::Insert) => Some(Modification::Insert(self.insert()?)),
            Kind::Key(Keyword::Update) => Some(Modification::Update(self.update()?)),
            Kind::Key(Keyword::Delete) => Some(Modification::Delete(self.delete()?)),
            _ => None,
        })
    }
}
