//! DROP TABLE (`DropTableStatement`).

use std::sync::Arc;

use basalt_cql::ast::DropTable;
use basalt_model::{CqlError, Keyspace};

use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};

pub(super) fn plan(statement: &DropTable, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(&statement.table, context)?;
    let shown = names::shown(keyspace, &statement.table.name);
    names::authorize(keyspace, "DROP", || format!("<table {shown}>"))?;
    names::check_keyspace(keyspace)?;
    let table: Arc<str> = statement.table.name.as_str().into();
    let plan = |state| DdlPlan::new(keyspace, Change::Dropped, ChangeTarget::Table(table.clone()), state);
    let before = context.schema.keyspace(keyspace).filter(|before| before.tables.contains_key(&table));
    match before {
        Some(before) => {
            let mut after = Keyspace::clone(before);
            after.tables.remove(&table);
            Ok(plan(NewState::Keyspace(Arc::new(after))))
        }
        None if statement.if_exists => Ok(plan(NewState::Same)),
        None => Err(CqlError::invalid(format!("Table '{shown}' doesn't exist"))),
    }
}
