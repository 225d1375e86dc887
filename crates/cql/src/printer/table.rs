//! CREATE, ALTER and DROP of tables and views.

use std::fmt::{Display, Formatter, Result};

use super::select::optional_where;
use super::{and, by, comma, when};
use crate::ast::{
    AlterTable, AlterView, ColumnDefinition, ColumnMask, CreateTable, CreateView, DropTable, DropView, Ident,
    PrimaryKey, TableChange, TableOptions,
};

impl Display for ColumnMask {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "MASKED WITH {}({})", self.function, comma(&self.arguments))
    }
}

impl Display for ColumnDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}{}", self.name, self.cql_type, when(self.is_static, " STATIC"))?;
        if let Some(mask) = &self.mask {
            write!(f, " {mask}")?;
        }
        f.write_str(when(self.primary_key, " PRIMARY KEY"))
    }
}

impl Display for PrimaryKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "PRIMARY KEY (({})", comma(&self.partition))?;
        for column in &self.clustering {
            write!(f, ", {column}")?;
        }
        f.write_str(")")
    }
}

impl Display for TableOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut word = " WITH ";
        for property in &self.properties {
            write!(f, "{word}{property}")?;
            word = " AND ";
        }
        if self.compact_storage {
            write!(f, "{word}COMPACT STORAGE")?;
            word = " AND ";
        }
        if !self.clustering_order.is_empty() {
            write!(f, "{word}CLUSTERING ORDER BY (")?;
            for (i, (column, direction)) in self.clustering_order.iter().enumerate() {
                write!(f, "{}{column} {direction}", when(i > 0, ", "))?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let between = when(!self.columns.is_empty() && !self.primary_keys.is_empty(), ", ");
        write!(f, "CREATE TABLE {}{} (", when(self.if_not_exists, "IF NOT EXISTS "), self.table)?;
        write!(f, "{}{between}{}){}", comma(&self.columns), comma(&self.primary_keys), self.options)
    }
}

/// `a TO b AND ...`
pub(super) fn renames(pairs: &[(Ident, Ident)]) -> impl Display + '_ {
    by(move |f| {
        for (i, (from, to)) in pairs.iter().enumerate() {
            write!(f, "{}{from} TO {to}", when(i > 0, " AND "))?;
        }
        Ok(())
    })
}

impl Display for TableChange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TableChange::AlterType { column, cql_type } => write!(f, "ALTER {column} TYPE {cql_type}"),
            TableChange::Mask { if_exists, column, mask } => {
                write!(f, "ALTER {}{column} ", when(*if_exists, "IF EXISTS "))?;
                match mask {
                    Some(mask) => mask.fmt(f),
                    None => f.write_str("DROP MASKED"),
                }
            }
            TableChange::Add { if_not_exists, columns } => {
                write!(f, "ADD {}({})", when(*if_not_exists, "IF NOT EXISTS "), comma(columns))
            }
            TableChange::Drop { if_exists, columns, timestamp } => {
                write!(f, "DROP {}({})", when(*if_exists, "IF EXISTS "), comma(columns))?;
                timestamp.map_or(Ok(()), |timestamp| write!(f, " USING TIMESTAMP {timestamp}"))
            }
            TableChange::Rename { if_exists, columns } => {
                write!(f, "RENAME {}{}", when(*if_exists, "IF EXISTS "), renames(columns))
            }
            TableChange::DropCompactStorage => f.write_str("DROP COMPACT STORAGE"),
            TableChange::With(properties) => write!(f, "WITH {}", and(properties)),
        }
    }
}

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER TABLE {}{} {}", when(self.if_exists, "IF EXISTS "), self.table, self.change)
    }
}

impl Display for DropTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP TABLE {}{}", when(self.if_exists, "IF EXISTS "), self.table)
    }
}

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let if_not_exists = when(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE MATERIALIZED VIEW {if_not_exists}{} AS ", self.view)?;
        write!(f, "SELECT {} FROM {}", self.selectors, self.base)?;
        write!(f, "{} {}{}", optional_where(&self.where_clause), self.primary_key, self.options)
    }
}

impl Display for AlterView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let if_exists = when(self.if_exists, "IF EXISTS ");
        write!(f, "ALTER MATERIALIZED VIEW {if_exists}{} WITH {}", self.view, and(&self.properties))
    }
}

impl Display for DropView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP MATERIALIZED VIEW {}{}", when(self.if_exists, "IF EXISTS "), self.view)
    }
}
