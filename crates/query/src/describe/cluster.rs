//! DESCRIBE CLUSTER: who this ring is, and with a user keyspace in use who owns which range.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::schema::KeyspaceKind;
use basalt_model::types::elements::pack_collection;
use bytes::Bytes;

use super::{DescribeContext, paging};
use crate::result::ResultSet;
use crate::schema::encode;
use crate::system_tables::facts::PARTITIONER;
use crate::system_tables::kind_of;

pub(super) fn describe(context: &DescribeContext<'_>) -> ResultSet {
    let partitioner = PARTITIONER.strip_prefix("org.apache.cassandra.dht.").unwrap_or(PARTITIONER);
    let mut columns =
        vec![("cluster", DataType::Text), ("partitioner", DataType::Text), ("snitch", DataType::Text)];
    let texts = [&context.facts.cluster_name, partitioner, &context.facts.snitch];
    let mut values: Vec<Option<Bytes>> = texts.iter().map(|text| Some(encode::text(text))).collect();
    if context.keyspace.is_some_and(|keyspace| kind_of(keyspace) == KeyspaceKind::User) {
        columns.push(("range_ownership", ownership_type()));
        values.push(Some(ownership(context)));
    }
    paging::result(columns.into_iter(), values, None)
}

fn ownership_type() -> DataType {
    let endpoints = DataType::List { element: Arc::new(DataType::Text), frozen: true };
    DataType::Map { key: Arc::new(DataType::Text), value: Arc::new(endpoints), frozen: true }
}

/// Each range by its end; the one node has them all.
fn ownership(context: &DescribeContext<'_>) -> Bytes {
    let endpoint = format!("/{}:{}", context.facts.broadcast_address, context.facts.broadcast_port);
    let endpoints = pack_collection(1, &[encode::text(&endpoint)]);
    let ends: BTreeMap<String, ()> = context.tokens.iter().map(|token| (token.to_string(), ())).collect();
    let flat: Vec<Bytes> = ends.keys().flat_map(|end| [encode::text(end), endpoints.clone()]).collect();
    pack_collection(ends.len(), &flat)
}
