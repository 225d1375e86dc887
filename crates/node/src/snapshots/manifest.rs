//! A table's `manifest.json` in a snapshot, as drawn in `docs/formats/snapshot.md`.

use basalt_model::schema::ColumnKind;
use basalt_model::{Column, ColumnId, Table};
use basalt_query::describe::kind_name;
use basalt_query::schema::KnownColumn;
use basalt_storage::engine::Exported;
use serde::{Deserialize, Serialize};

/// The version written, and the newest that is read.
pub const VERSION: u32 = 1;

/// What a snapshot of a table says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub basalt_snapshot: u32,
    /// The table's keyspace.
    pub keyspace: String,
    /// Its name.
    pub table: String,
    /// Its id.
    pub table_id: String,
    /// When it was taken.
    pub created_at: String,
    /// When it goes by itself.
    pub expires_at: Option<String>,
    /// Whether it goes with the next start: Cassandra's repairs make such. None of ours do.
    pub ephemeral: bool,
    /// Where in the files the table is: the engine's word.
    pub place: String,
    /// The files.
    pub files: Vec<File>,
    /// How stored cells name the columns, dropped ones too.
    pub columns: Vec<ColumnEntry>,
    /// Makes the keyspace again.
    pub keyspace_cql: String,
}

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnEntry {
    /// Its name.
    pub name: String,
    /// As in `system_schema.columns`.
    pub kind: String,
    /// How stored cells name it.
    pub id: u32,
    /// Its type, in CQL.
    #[serde(rename = "type")]
    pub data_type: String,
}

/// What is read before anything else is believed.
#[derive(Deserialize)]
struct Version {
    basalt_snapshot: u32,
}

impl Manifest {
    /// Reads one.
    ///
    /// # Errors
    /// It is no manifest, or one of a newer version.
    pub fn parse(json: &[u8]) -> Result<Manifest, String> {
        let version: Version = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if version.basalt_snapshot > VERSION {
            return Err(format!(
                "it has format {}, written by a newer version; this one reads up to {VERSION}",
                version.basalt_snapshot
            ));
        }
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }

    /// The files, in the engine's words.
    pub fn exported(&self) -> Exported {
        let files = self.files.iter().map(|file| (file.name.clone(), file.bytes)).collect();
        Exported { place: self.place.clone(), files }
    }

    /// The columns that this version knows the kind of: all, unless somebody has changed the text.
    pub fn known_columns(&self) -> Vec<KnownColumn> {
        let known = |column: &ColumnEntry| {
            let kind = KINDS.into_iter().find(|kind| kind_name(*kind) == column.kind)?;
            Some((kind, column.name.clone(), ColumnId(column.id)))
        };
        self.columns.iter().filter_map(known).collect()
    }
}

const KINDS: [ColumnKind; 4] =
    [ColumnKind::PartitionKey, ColumnKind::Clustering, ColumnKind::Static, ColumnKind::Regular];

/// A table's columns, those that were dropped too, as a manifest has them.
pub fn columns_of(table: &Table) -> Vec<ColumnEntry> {
    let dropped = table.dropped_columns.values().map(|dropped| &dropped.column);
    // One that is there again is named once.
    let gone = dropped.filter(|column| table.column(&column.name).is_none());
    let entry = |column: &Column| ColumnEntry {
        name: column.name.to_string(),
        kind: kind_name(column.kind).to_owned(),
        id: column.id.0,
        data_type: column.data_type.to_string(),
    };
    table.columns.iter().chain(gone).map(entry).collect()
}
