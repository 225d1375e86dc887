//! USE (`UseStatement`).

use basalt_model::Schema;

use crate::error::{CqlResult, bail};
use crate::request::ClientState;
use crate::result::StatementResult;

/// Makes a keyspace the connection's own.
pub(crate) fn execute(
    schema: &Schema,
    keyspace: &str,
    client: &mut ClientState,
) -> CqlResult<StatementResult> {
    let Some(found) = schema.keyspace(keyspace) else {
        bail!("Keyspace '{keyspace}' does not exist");
    };
    client.keyspace = Some(found.name.clone());
    Ok(StatementResult::SetKeyspace(found.name.clone()))
}
