//! What the node says unasked, in the words of the wire: schema changes, as events and as results.

use basalt_query::result::{Change, ChangeTarget, SchemaChange};
use basalt_wire::response::{self, SchemaChangeKind, SchemaTarget};

/// A schema change as it travels.
pub fn schema_change(change: &SchemaChange) -> response::SchemaChange {
    response::SchemaChange {
        kind: match change.change {
            Change::Created => SchemaChangeKind::Created,
            Change::Updated => SchemaChangeKind::Updated,
            Change::Dropped => SchemaChangeKind::Dropped,
        },
        keyspace: change.keyspace.as_ref().to_owned(),
        target: match &change.target {
            ChangeTarget::Keyspace => SchemaTarget::Keyspace,
            ChangeTarget::Table(name) => SchemaTarget::Table(name.as_ref().to_owned()),
            ChangeTarget::Type(name) => SchemaTarget::Type(name.as_ref().to_owned()),
        },
    }
}
