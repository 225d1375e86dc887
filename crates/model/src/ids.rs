//! The ids that drivers and ring peers keep: of prepared statements and of result metadata. Both
//! are MD5 over exact bytes; docs/formats/paging-state.md draws them.

use md5::{Digest, Md5};

/// An MD5 digest.
pub type Md5Id = [u8; 16];

/// The id of a prepared statement (`cql3/QueryProcessor.computeId`): over the keyspace's name, if
/// any, directly followed by the query's text as the client sent it.
///
/// Cassandra stores a statement that names its keyspace under the id without one and answers with
/// that; one that does not, under the id with the connection's keyspace.
pub fn statement_id(keyspace: Option<&str>, query: &str) -> Md5Id {
    let mut hash = Md5::new();
    hash.update(keyspace.unwrap_or_default());
    hash.update(query);
    hash.finalize().into()
}

/// The id of result metadata (`ResultSet.computeResultMetadataId`): for each column its name, a 0,
/// its type's class name, and two more 0.
///
/// The class name is the stored type's (`AbstractType.toString`): frozen types say so, and a
/// clustering column in descending order is a `ReversedType(...)`.
pub fn result_metadata_id<N, T>(columns: impl IntoIterator<Item = (N, T)>) -> Md5Id
where
    N: AsRef<[u8]>,
    T: AsRef<[u8]>,
{
    let mut hash = Md5::new();
    for (name, class_name) in columns {
        hash.update(name);
        hash.update([0]);
        hash.update(class_name);
        hash.update([0, 0]);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
