//! DELETE.

use super::name::is_column;
use super::{Parser, Result};
use crate::ast::{Delete, Deletion};
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn delete(&mut self) -> Result<Delete> {
        self.expect_key(Keyword::Delete)?;
        let deletions =
            if is_column(self.kind()) { self.comma_separated(Self::deletion)? } else { Vec::new() };
        self.expect_key(Keyword::From)?;
        let table = self.table_name()?;
        let mut timestamp = None;
        if self.eat_key(Keyword::Using)? {
            self.expect_key(Keyword::Timestamp)?;
            timestamp = Some(self.integer()?);
        }
        let where_clause = self.where_clause()?;
        Ok(Delete { deletions, table, timestamp, where_clause, if_clause: self.if_clause()? })
    }

    fn deletion(&mut self) -> Result<Deletion> {
        let (column, part) = self.column_part()?;
        Ok(Deletion { column, part })
    }
}
