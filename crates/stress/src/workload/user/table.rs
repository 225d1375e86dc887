//! The table of a profile: its columns and how their values are spread.

use basalt_cql::ast::{CqlType, CreateTable};

use super::definitions::Definitions;
use super::kind::{Kind, Spread, VALUE_BYTES_MAX};
use super::profile::{ColumnSpec, Profile};
use crate::distribution::Distribution;
use crate::random::mix;
use crate::workload::Error;

/// What a column without a specification has, as in cassandra-stress.
const SIZE: Distribution = Distribution::uniform(4, 8);
const POPULATION: Distribution = Distribution::uniform(1, 100_000_000_000);
const CLUSTER: Distribution = Distribution::fixed(1);

/// Rows that one partition may have.
const ROWS_MAX: u64 = 100_000_000;

/// A table to write to.
#[derive(Debug)]
pub struct Table {
    pub keyspace: String,
    pub name: String,
    pub columns: Vec<Column>,
    /// Places of the partition key's columns.
    pub partition: Vec<usize>,
    /// Places of the clustering columns.
    pub clustering: Vec<usize>,
    /// Places of all others.
    pub regular: Vec<usize>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub spread: Spread,
    /// Of a clustering column: values under those before it.
    pub cluster: Distribution,
    pub is_static: bool,
    /// Whether an insert adds to it (`c = c + ?`): counters, and collections of several cells.
    pub is_added_to: bool,
}

impl Table {
    /// As the definitions and specifications say.
    pub fn new(definitions: &Definitions, profile: &Profile) -> Result<Table, Error> {
        let created = &definitions.table;
        let mut types: Vec<(String, Kind)> = Vec::new();
        for definition in &definitions.types {
            let kind = Kind::of_user_type(definition, &types)?;
            types.push((definition.name.name.name.clone(), kind));
        }
        let mut columns = Vec::new();
        for (place, column) in created.columns.iter().enumerate() {
            let spec =
                profile.columnspec.iter().find(|spec| spec.name.eq_ignore_ascii_case(&column.name.name));
            let kind = Kind::of(&column.cql_type, &types)?;
            let is_multi_cell =
                matches!(column.cql_type, CqlType::List(_) | CqlType::Set(_) | CqlType::Map(..));
            columns.push(Column {
                is_added_to: kind.is_counter() || is_multi_cell,
                ..column_of(&column.name.name, kind, column.is_static, place, spec)?
            });
        }
        if let Some(spec) = profile.columnspec.iter().find(|spec| place_of(&columns, &spec.name).is_none()) {
            return Err(Error::new(format!("columnspec: there is no column {}", spec.name)));
        }
        let (partition, clustering) = primary_key(created, &columns)?;
        let is_key = |place: &usize| partition.contains(place) || clustering.contains(place);
        let regular = (0..columns.len()).filter(|place| !is_key(place)).collect();
        let keyspace = created.table.keyspace.as_ref().map(|name| name.name.clone()).unwrap_or_default();
        let name = created.table.name.name.clone();
        let table = Table { keyspace, name, columns, partition, clustering, regular };
        if table.rows_max() > ROWS_MAX {
            return Err(Error::new(format!("columnspec: partitions may have more than {ROWS_MAX} rows")));
        }
        Ok(table)
    }

    /// The place of a column.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The most rows that a partition has.
    pub fn rows_max(&self) -> u64 {
        let clusters = self.clustering.iter().map(|&place| self.columns[place].cluster.max().max(1) as u64);
        clusters.fold(1, u64::saturating_mul)
    }

    /// `keyspace.table` in CQL.
    pub fn quoted(&self) -> String {
        let quote = basalt_cql::quote::identifier;
        format!("{}.{}", quote(&self.keyspace), quote(&self.name))
    }
}

fn column_of(
    name: &str,
    kind: Kind,
    is_static: bool,
    place: usize,
    spec: Option<&ColumnSpec>,
) -> Result<Column, Error> {
    let or = |chosen: Option<&Distribution>, default: Distribution| chosen.cloned().unwrap_or(default);
    let size = or(spec.and_then(|spec| spec.size.as_ref()), SIZE);
    if size.min() < 0 || kind.bytes_max(size.max() as u64) > VALUE_BYTES_MAX {
        return Err(Error::new(format!(
            "columnspec: values of {name} may have more than {VALUE_BYTES_MAX} bytes, or fewer than none"
        )));
    }
    let default = if kind.is_counter() { Distribution::fixed(1) } else { POPULATION };
    let population = or(spec.and_then(|spec| spec.population.as_ref()), default);
    let cluster = or(spec.and_then(|spec| spec.cluster.as_ref()), CLUSTER);
    let spread = Spread { salt: mix(place as u64 + 1), population, size };
    Ok(Column { name: name.to_owned(), kind, spread, cluster, is_static, is_added_to: false })
}

fn place_of(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}

fn primary_key(created: &CreateTable, columns: &[Column]) -> Result<(Vec<usize>, Vec<usize>), Error> {
    let marked = created.columns.iter().position(|column| column.primary_key);
    let (partition, clustering) = match (&created.primary_keys[..], marked) {
        ([key], None) => (&key.partition[..], &key.clustering[..]),
        ([], Some(place)) => return Ok((vec![place], Vec::new())),
        _ => return Err(Error::new("table_definition: there must be one PRIMARY KEY")),
    };
    let place = |name: &basalt_cql::ast::Ident| {
        let place = columns.iter().position(|column| column.name == name.name);
        place.ok_or_else(|| Error::new(format!("table_definition: no column {}", name.name)))
    };
    let places = |names: &[basalt_cql::ast::Ident]| names.iter().map(place).collect::<Result<Vec<_>, _>>();
    Ok((places(partition)?, places(clustering)?))
}
