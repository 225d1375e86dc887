//! Why the schema could not be read or changed. Texts are for the log, not for clients.

use basalt_coordinator::ReplicaError;
use basalt_model::CqlError;

/// A failure of the schema's keeper.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SchemaError {
    /// The local replica or the table storage did not do what it was asked.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
    /// The data belongs to another cluster, datacenter or rack.
    #[error("{0}")]
    Refused(String),
    /// What is stored contradicts itself: starting would show tables that are not what was written.
    #[error("the stored schema is damaged: {0}")]
    Damaged(String),
}

impl From<SchemaError> for CqlError {
    fn from(error: SchemaError) -> CqlError {
        match error {
            SchemaError::Replica(ReplicaError::Overloaded(_)) => {
                CqlError::Overloaded("Request is overloaded".into())
            }
            SchemaError::Replica(ReplicaError::Closed) => CqlError::server("the node is shutting down"),
            SchemaError::Replica(_) => CqlError::server("the schema change could not be stored"),
            SchemaError::Refused(_) | SchemaError::Damaged(_) => {
                CqlError::server("the stored schema is damaged")
            }
        }
    }
}
