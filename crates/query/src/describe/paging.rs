//! Pages of DESCRIBE: by row number, valid as long as the schema stays the same. The state is an
//! ordinary paging state whose partition key holds a version, the server's release, the schema's
//! version and the number of the next row (`DescribeStatement.getPagingState`).

use std::sync::Arc;

use basalt_model::ids::result_metadata_id;
use basalt_model::paging_state::{Form, PagingState};
use basalt_model::{CqlError, DataType};
use bytes::Bytes;
use uuid::Uuid;

use super::Value;
use crate::request::QueryOptions;
use crate::result::{ColumnSpec, ResultMetadata, ResultSet};
use crate::system_tables::facts::RELEASE_VERSION;

const VERSION: u16 = 1;

/// Which rows to show.
pub struct Page {
    /// The first.
    pub start: usize,
    /// How many at most.
    pub rows: usize,
    /// Where the next page starts.
    pub next: Option<Bytes>,
}

/// The page `options` ask for, of `total` rows.
///
/// # Errors
/// When the state is of another schema, server or statement.
pub fn page(options: &QueryOptions, schema: Uuid, total: usize) -> Result<Page, CqlError> {
    let start = match &options.paging_state {
        None => 0,
        Some(state) => offset(state, options.protocol_version, schema)?,
    };
    let size = options.page_size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0);
    let Some(size) = size else { return Ok(Page { start, rows: usize::MAX, next: None }) };
    // A page that is exactly full is said to have more, even at the end.
    let next = (total.saturating_sub(start) >= size)
        .then(|| state(schema, start.saturating_add(size), options.protocol_version));
    Ok(Page { start, rows: size, next })
}

fn invalid() -> CqlError {
    CqlError::invalid("Invalid paging state.")
}

fn state(schema: Uuid, next_row: usize, protocol_version: u8) -> Bytes {
    let release = RELEASE_VERSION.as_bytes();
    let mut key = VERSION.to_be_bytes().to_vec();
    // A release's name is a few bytes long.
    key.extend_from_slice(&(release.len() as u16).to_be_bytes());
    key.extend_from_slice(release);
    key.extend_from_slice(schema.as_bytes());
    key.extend_from_slice(&(next_row as u64).to_be_bytes());
    let state = PagingState {
        form: Form::of(protocol_version),
        partition_key: Some(key.into()),
        row_mark: None,
        remaining: i32::MAX,
        remaining_in_partition: i32::MAX,
    };
    state.encode()
}

fn offset(state: &Bytes, protocol_version: u8, schema: Uuid) -> Result<usize, CqlError> {
    let key = PagingState::decode(state, protocol_version)?.partition_key.ok_or_else(invalid)?;
    let mut key: &[u8] = &key;
    if take(&mut key, 2).ok_or_else(invalid)? != VERSION.to_be_bytes() {
        return Err(CqlError::invalid("Incompatible paging state"));
    }
    let length = take(&mut key, 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_be_bytes);
    let length = usize::from(length.ok_or_else(invalid)?);
    let release = take(&mut key, length).ok_or_else(invalid)?;
    if release != RELEASE_VERSION.as_bytes() {
        return Err(CqlError::invalid(format!(
            "The server version of the paging state {} is different from the one of the server {RELEASE_VERSION}",
            String::from_utf8_lossy(release)
        )));
    }
    if take(&mut key, 16) != Some(schema.as_bytes()) {
        return Err(CqlError::invalid(
            "The schema has changed since the previous page of the DESCRIBE statement result. Please retry the DESCRIBE statement.",
        ));
    }
    let row = take(&mut key, 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
    row.and_then(|row| usize::try_from(row).ok()).ok_or_else(invalid)
}

/// The next `length` bytes.
fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

/// A result of the table `system.describe`, which does not exist.
pub fn result<'a>(
    columns: impl Iterator<Item = (&'a str, DataType)>,
    values: Vec<Value>,
    paging_state: Option<Bytes>,
) -> ResultSet {
    let columns: Vec<ColumnSpec> = columns
        .map(|(name, data_type)| ColumnSpec {
            keyspace: "system".into(),
            table: "describe".into(),
            name: name.into(),
            data_type,
        })
        .collect();
    let row_count = values.len() / columns.len().max(1);
    let id = result_metadata_id(columns.iter().map(|column| (&*column.name, column.data_type.class_name())));
    let metadata = Arc::new(ResultMetadata { id, columns });
    ResultSet { metadata, values, packed: Vec::new(), row_count, paging_state }
}
