//! TRUNCATE (`TruncateStatement`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_model::{Schema, Table};

use super::{Execution, find_table, refuse_own_tables};
use crate::error::{CqlResult, invalid};
use crate::result::StatementResult;

/// A TRUNCATE, resolved.
#[derive(Clone, Debug)]
pub(crate) struct TruncatePlan {
    pub(crate) table: Arc<Table>,
}

/// Resolves a TRUNCATE.
pub(crate) fn prepare(
    schema: &Schema,
    truncate: &ast::Truncate,
    keyspace: Option<&str>,
) -> CqlResult<TruncatePlan> {
    let (table, _) = find_table(schema, &truncate.table, keyspace)?;
    Ok(TruncatePlan { table })
}

impl TruncatePlan {
    /// Removes the table's data.
    pub(crate) async fn execute(&self, execution: &Execution<'_>) -> CqlResult<StatementResult> {
        if self.table.is_virtual {
            return invalid(format!(
                "Truncation is not supported by table {}.{}",
                self.table.keyspace, self.table.name
            ));
        }
        refuse_own_tables(&self.table)?;
        execution.processor.coordinator.truncate(self.table.id).await?;
        Ok(StatementResult::Void)
    }
}
