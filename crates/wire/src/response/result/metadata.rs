//! The `<metadata>` of rows and of prepared statements (v5 §4.2.5.2, `cql3/ResultSet`).

use std::sync::Arc;

use basalt_model::DataType;
use bytes::{BufMut, Bytes, BytesMut};

use crate::primitives::{Reader, put_bytes, put_short_bytes, put_string};
use crate::types::{put_type, read_type};
use crate::{ProtocolVersion, Result, WireError};

pub(super) const GLOBAL_TABLES_SPEC: u32 = 0x0001;
pub(super) const HAS_MORE_PAGES: u32 = 0x0002;
pub(super) const NO_METADATA: u32 = 0x0004;
pub(super) const METADATA_CHANGED: u32 = 0x0008;

/// Name and type of a column of a result, or of a bind marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The keyspace of the table it belongs to.
    pub keyspace: Arc<str>,
    /// The table it belongs to.
    pub table: Arc<str>,
    /// Its name, alias, or the text of what was selected.
    pub name: Arc<str>,
    /// Its type.
    pub data_type: DataType,
}

/// Column specifications, encoded once for a version and copied into each answer
/// (`[<global_table_spec>]<col_spec_1>...<col_spec_n>`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedColumns {
    bytes: Bytes,
    count: i32,
    /// All columns are of one table, and it is named once.
    is_global: bool,
}

impl EncodedColumns {
    /// Encodes `columns` for `version`. The table is named once if all columns share it.
    pub fn new(columns: &[ColumnSpec], version: ProtocolVersion) -> EncodedColumns {
        let first = columns.first();
        let global = first.filter(|first| {
            columns.iter().all(|other| other.keyspace == first.keyspace && other.table == first.table)
        });
        let mut out = BytesMut::with_capacity(32 * columns.len());
        if let Some(global) = global {
            put_string(&mut out, &global.keyspace);
            put_string(&mut out, &global.table);
        }
        for column in columns {
            if global.is_none() {
                put_string(&mut out, &column.keyspace);
                put_string(&mut out, &column.table);
            }
            put_string(&mut out, &column.name);
            put_type(&mut out, &column.data_type, version);
        }
        let count = i32::try_from(columns.len()).unwrap_or(i32::MAX);
        EncodedColumns { bytes: out.freeze(), count, is_global: global.is_some() }
    }

    /// Number of columns.
    pub fn count(&self) -> i32 {
        self.count
    }

    pub(super) fn is_global(&self) -> bool {
        self.is_global
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The flags that follow from the columns alone.
    pub(super) fn flags(&self) -> u32 {
        if self.is_global { GLOBAL_TABLES_SPEC } else { 0 }
    }
}

/// Metadata as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsMetadata {
    /// Values in a row.
    pub column_count: i32,
    /// The columns; `None` if the server left them out (flag `No_metadata`).
    pub columns: Option<Vec<ColumnSpec>>,
    /// Where the next page begins, if there is one.
    pub paging_state: Option<Bytes>,
    /// The id of this metadata, if the client's is out of date (v5).
    pub new_metadata_id: Option<Bytes>,
}

impl RowsMetadata {
    /// What a statement that returns no rows is prepared with (`ResultMetadata.EMPTY`).
    pub fn empty() -> RowsMetadata {
        RowsMetadata { column_count: 0, columns: None, paging_state: None, new_metadata_id: None }
    }

    /// All of these columns, and nothing else.
    pub fn of(columns: Vec<ColumnSpec>) -> RowsMetadata {
        let column_count = i32::try_from(columns.len()).unwrap_or(i32::MAX);
        RowsMetadata { column_count, columns: Some(columns), paging_state: None, new_metadata_id: None }
    }

    /// Appends `<flags><columns_count>[<paging_state>][<new_metadata_id>][<columns>]`.
    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let encoded = self.columns.as_deref().map(|columns| EncodedColumns::new(columns, version));
        let new_id = self.new_metadata_id.as_ref().filter(|_| version >= ProtocolVersion::V5);
        let mut flags = encoded.as_ref().map_or(NO_METADATA, EncodedColumns::flags);
        if self.paging_state.is_some() {
            flags |= HAS_MORE_PAGES;
        }
        if new_id.is_some() {
            flags |= METADATA_CHANGED;
        }
        out.put_u32(flags);
        out.put_i32(self.column_count);
        if let Some(state) = &self.paging_state {
            put_bytes(out, Some(state));
        }
        if let Some(id) = new_id {
            put_short_bytes(out, id);
        }
        if let Some(encoded) = &encoded {
            out.put_slice(encoded.bytes());
        }
    }

    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<RowsMetadata> {
        let flags = body.u32()?;
        let column_count = body.i32()?;
        let has = |flag: u32| flags & flag != 0;
        let paging_state = if has(HAS_MORE_PAGES) { body.bytes()? } else { None };
        let new_metadata_id = if has(METADATA_CHANGED) && version >= ProtocolVersion::V5 {
            Some(body.short_bytes()?)
        } else {
            None
        };
        let columns = if has(NO_METADATA) {
            None
        } else {
            Some(decode_columns(has(GLOBAL_TABLES_SPEC), column_count, body)?)
        };
        Ok(RowsMetadata { column_count, columns, paging_state, new_metadata_id })
    }
}

/// Reads `[<global_table_spec>]<col_spec_1>...<col_spec_n>`.
pub(super) fn decode_columns(is_global: bool, count: i32, body: &mut Reader) -> Result<Vec<ColumnSpec>> {
    let count = usize::try_from(count)
        .map_err(|_| WireError::protocol(format!("Invalid number of columns {count}")))?;
    let global: Option<(Arc<str>, Arc<str>)> =
        if is_global { Some((body.string()?.into(), body.string()?.into())) } else { None };
    let mut columns = Vec::with_capacity(body.capacity(count, 4));
    for _ in 0..count {
        let (keyspace, table) = match &global {
            Some(names) => names.clone(),
            None => (body.string()?.into(), body.string()?.into()),
        };
        columns.push(ColumnSpec {
            keyspace,
            table,
            name: body.string()?.into(),
            data_type: read_type(body)?,
        });
    }
    Ok(columns)
}
