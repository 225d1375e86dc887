//! A profile as its YAML says it; distributions are read, CQL is not.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::distribution::{Distribution, Ratio};
use crate::workload::Error;

/// The sections of a profile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// A name for the report of several profiles together; cassandra-stress's own example misspells it.
    #[serde(rename = "specname", alias = "spacenam")]
    _name: Option<String>,
    pub keyspace: String,
    pub keyspace_definition: Option<String>,
    pub table: String,
    pub table_definition: Option<String>,
    #[serde(default, deserialize_with = "or_empty")]
    pub extra_definitions: Vec<String>,
    #[serde(default, deserialize_with = "or_empty")]
    pub columnspec: Vec<ColumnSpec>,
    pub insert: Option<InsertSpec>,
    #[serde(default, deserialize_with = "or_empty")]
    pub queries: BTreeMap<String, QuerySpec>,
    #[serde(default, deserialize_with = "or_empty")]
    pub token_range_queries: BTreeMap<String, serde::de::IgnoredAny>,
}

/// How a column's values are spread.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    pub name: String,
    /// Bytes of texts and blobs, elements of collections.
    #[serde(default, deserialize_with = "parsed")]
    pub size: Option<Distribution>,
    /// The values, as numbers.
    #[serde(default, deserialize_with = "parsed")]
    pub population: Option<Distribution>,
    /// How many values a clustering column has under those before it.
    #[serde(default, deserialize_with = "parsed")]
    pub cluster: Option<Distribution>,
}

/// What an insert writes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InsertSpec {
    /// Partitions.
    #[serde(default, deserialize_with = "parsed")]
    pub partitions: Option<Distribution>,
    /// The chance of each row of a partition.
    #[serde(default, deserialize_with = "parsed")]
    pub select: Option<Ratio>,
    /// The chance of each column of a row.
    #[serde(default, deserialize_with = "parsed")]
    pub row_population: Option<Ratio>,
    pub batchtype: Option<BatchType>,
    /// `IF ...`
    pub condition: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BatchType {
    #[serde(rename = "LOGGED", alias = "logged")]
    Logged,
    #[serde(rename = "UNLOGGED", alias = "unlogged")]
    Unlogged,
    #[serde(rename = "COUNTER", alias = "counter")]
    Counter,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuerySpec {
    pub cql: String,
    #[serde(default)]
    pub fields: Fields,
}

/// Whether a query's values are of one row, or each of any row of the partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Fields {
    #[serde(rename = "samerow", alias = "SAMEROW", alias = "sameRow")]
    SameRow,
    #[default]
    #[serde(rename = "multirow", alias = "MULTIROW", alias = "multiRow")]
    MultiRow,
}

impl Profile {
    /// Reads a document.
    pub fn parse(text: &str) -> Result<Profile, Error> {
        // Behind the first line the parser draws the source.
        let reason =
            |error: serde_saphyr::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
        serde_saphyr::from_str(text).map_err(|error| Error::new(reason(error)))
    }
}

/// A section that is there without content is empty.
fn or_empty<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(from).map(Option::unwrap_or_default)
}

fn parsed<'de, D: Deserializer<'de>, T>(from: D) -> Result<Option<T>, D::Error>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
}
