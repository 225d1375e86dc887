//! Statements that are known and not built yet: each says so by name.

use basalt_cql::ast::Statement;
use basalt_model::CqlError;

/// The answer to a statement that is neither over data nor a supported schema change.
pub fn refuse(statement: &Statement) -> CqlError {
    let what = match statement {
        Statement::CreateIndex(_) => "Secondary indexes",
        Statement::CreateView(_) => "Materialized views",
        Statement::CreateFunction(_) => "User-defined functions",
        Statement::CreateAggregate(_) => "User-defined aggregates",
        Statement::CreateTrigger(_) => "Triggers",
        _ => "This statement",
    };
    CqlError::Invalid(
        format!("{what} are not supported yet").replace("This statement are", "This statement is").into(),
    )
}
