//! `system_schema.keyspaces`.

use basalt_model::Keyspace;

use super::SchemaMutation;
use crate::schema::encode;

/// The keyspace itself; every change of anything in it writes it again.
pub fn write(keyspace: &Keyspace, mutation: &mut SchemaMutation<'_>) {
    mutation.row("keyspaces", &[], |row| {
        row.set("durable_writes", encode::boolean(keyspace.durable_writes));
        row.set("replication", encode::text_map(&keyspace.replication));
    });
}
