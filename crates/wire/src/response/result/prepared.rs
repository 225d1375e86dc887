//! The Prepared result (v5 §4.2.5.4): what a client needs to bind and run a statement.

use bytes::{BufMut, Bytes, BytesMut};

use super::metadata::{self, ColumnSpec, EncodedColumns, RowsMetadata};
use crate::primitives::{Reader, put_count, put_short_bytes};
use crate::{ProtocolVersion, Result};

/// A prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The statement's id; see [`basalt_model::ids::statement_id`].
    pub id: Bytes,
    /// The id of the result metadata (v5); see [`basalt_model::ids::result_metadata_id`].
    pub result_metadata_id: Option<Bytes>,
    /// The bind markers.
    pub metadata: PreparedMetadata,
    /// What running it returns; [`RowsMetadata::empty`] unless it is a SELECT.
    pub result_metadata: RowsMetadata,
}

/// The bind markers of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedMetadata {
    /// Name and type of each marker, in order.
    pub columns: Vec<ColumnSpec>,
    /// For each partition key column the index of its marker; empty if one has none (v4 and later).
    pub partition_key_indexes: Vec<u16>,
}

impl Prepared {
    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        put_short_bytes(out, &self.id);
        if version >= ProtocolVersion::V5 {
            put_short_bytes(out, self.result_metadata_id.as_deref().unwrap_or_default());
        }
        self.metadata.append(version, out);
        self.result_metadata.append(version, out);
    }

    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<Prepared> {
        let id = body.short_bytes()?;
        let result_metadata_id =
            if version >= ProtocolVersion::V5 { Some(body.short_bytes()?) } else { None };
        let metadata = PreparedMetadata::decode(version, body)?;
        let result_metadata = RowsMetadata::decode(version, body)?;
        Ok(Prepared { id, result_metadata_id, metadata, result_metadata })
    }
}

impl PreparedMetadata {
    /// Appends `<flags><columns_count><pk_count>[<pk_index_i>...]<columns>`. Markers of several
    /// tables make no partition key, so the indexes are left out then.
    fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let encoded = EncodedColumns::new(&self.columns, version);
        out.put_u32(encoded.flags());
        out.put_i32(encoded.count());
        if version >= ProtocolVersion::V4 {
            let indexes = if encoded.is_global() { self.partition_key_indexes.as_slice() } else { &[] };
            out.put_i32(i32::try_from(indexes.len()).unwrap_or(i32::MAX));
            for index in indexes {
                put_count(out, usize::from(*index));
            }
        }
        out.put_slice(encoded.bytes());
    }

    fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<PreparedMetadata> {
        let flags = body.u32()?;
        let column_count = body.i32()?;
        let mut partition_key_indexes = Vec::new();
        if version >= ProtocolVersion::V4 {
            for _ in 0..body.i32()?.max(0) {
                partition_key_indexes.push(body.u16()?);
            }
        }
        let is_global = flags & metadata::GLOBAL_TABLES_SPEC != 0;
        let columns = metadata::decode_columns(is_global, column_count, body)?;
        Ok(PreparedMetadata { columns, partition_key_indexes })
    }
}
