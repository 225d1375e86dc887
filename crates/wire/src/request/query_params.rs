//! The `<query_parameters>` of QUERY, EXECUTE and BATCH (v5 §4.1.4, `cql3/QueryOptions`).

use basalt_model::Consistency;
use basalt_model::paging_state::PagingState;
use bytes::{BufMut, Bytes, BytesMut};

use crate::limits::MAX_SHORT_COUNT;
use crate::primitives::{self, Reader, Value};
use crate::{ProtocolVersion, Result, WireError};

pub(super) const VALUES: u32 = 0x0001;
pub(super) const SKIP_METADATA: u32 = 0x0002;
pub(super) const PAGE_SIZE: u32 = 0x0004;
const PAGING_STATE: u32 = 0x0008;
const SERIAL_CONSISTENCY: u32 = 0x0010;
const DEFAULT_TIMESTAMP: u32 = 0x0020;
const NAMES_FOR_VALUES: u32 = 0x0040;
const KEYSPACE: u32 = 0x0080;
const NOW_IN_SECONDS: u32 = 0x0100;

/// Values for bind markers: by position, or each with the name of its marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundValues {
    /// The values, in the order sent.
    pub values: Vec<Value>,
    /// The name of each value's marker; `None` when bound by position, or without values.
    pub names: Option<Vec<String>>,
}

impl BoundValues {
    /// Values bound by position.
    pub fn positional(values: Vec<Value>) -> BoundValues {
        BoundValues { values, names: None }
    }

    /// Reads `<n>[name_1]<value_1>...`.
    fn decode(version: ProtocolVersion, with_names: bool, body: &mut Reader) -> Result<BoundValues> {
        let count = usize::from(body.u16()?);
        let mut values = Vec::with_capacity(body.capacity(count, 4));
        let mut names = (with_names && count > 0).then(|| Vec::with_capacity(body.capacity(count, 6)));
        for _ in 0..count {
            if let Some(names) = &mut names {
                names.push(body.string()?);
            }
            values.push(body.value(version)?);
        }
        Ok(BoundValues { values, names })
    }

    fn append(&self, out: &mut BytesMut) -> Result<()> {
        append_value_count(self.values.len(), out)?;
        let mut names = self.names.iter().flatten();
        for value in &self.values {
            if self.names.is_some() {
                let name = names.next().ok_or(WireError::protocol("A bound value has no name"))?;
                primitives::put_string(out, name);
            }
            primitives::put_value(out, value);
        }
        Ok(())
    }
}

/// Reads the positional values of a statement in a batch.
pub(super) fn decode_values(version: ProtocolVersion, body: &mut Reader) -> Result<Vec<Value>> {
    Ok(BoundValues::decode(version, false, body)?.values)
}

pub(super) fn append_values(values: &[Value], out: &mut BytesMut) -> Result<()> {
    append_value_count(values.len(), out)?;
    for value in values {
        primitives::put_value(out, value);
    }
    Ok(())
}

fn append_value_count(count: usize, out: &mut BytesMut) -> Result<()> {
    if count > MAX_SHORT_COUNT {
        return Err(WireError::protocol(format!("{count} values exceed the allowed maximum of 65535")));
    }
    primitives::put_count(out, count);
    Ok(())
}

/// How a statement is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryParams {
    /// The consistency level.
    pub consistency: Consistency,
    /// Values for bind markers. In a BATCH each statement carries its own and these are empty.
    pub values: BoundValues,
    /// Whether the client can do without result metadata.
    pub skip_metadata: bool,
    /// Rows per page. Any value may be sent, 0 and negative ones as well: a statement with 0 is
    /// refused when it runs, a negative size means no paging, as absence does.
    pub page_size: Option<i32>,
    /// Where to go on, as an earlier page's result said. In a decoded request it is known to be a
    /// [`PagingState`].
    pub paging_state: Option<Bytes>,
    /// The level of the Paxos phase; SERIAL if absent. What was sent is not checked here, for
    /// Cassandra ignores it unless the statement is conditional.
    pub serial_consistency: Option<Consistency>,
    /// The write time to use unless the statement has its own, microseconds. Never `i64::MIN`.
    pub default_timestamp: Option<i64>,
    /// The keyspace of unqualified names, instead of the connection's (v5).
    pub keyspace: Option<String>,
    /// What time "now" is for TTLs and deletions, seconds, unsigned 32 bits (v5).
    pub now_in_seconds: Option<u32>,
}

impl QueryParams {
    /// Nothing but a consistency level.
    pub fn new(consistency: Consistency) -> QueryParams {
        QueryParams {
            consistency,
            values: BoundValues::default(),
            skip_metadata: false,
            page_size: None,
            paging_state: None,
            serial_consistency: None,
            default_timestamp: None,
            keyspace: None,
            now_in_seconds: None,
        }
    }

    /// Reads `<consistency><flags>...`. Flags are an `[int]` in v5, a `[byte]` before; bits that
    /// mean nothing are ignored. Cassandra honours the keyspace bit in v3 and v4, too.
    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<QueryParams> {
        let mut params = QueryParams::new(body.consistency()?);
        let flags = if version >= ProtocolVersion::V5 { body.u32()? } else { u32::from(body.u8()?) };
        let has = |flag: u32| flags & flag != 0;
        params.skip_metadata = has(SKIP_METADATA);
        if has(VALUES) {
            params.values = BoundValues::decode(version, has(NAMES_FOR_VALUES), body)?;
        }
        if has(PAGE_SIZE) {
            params.page_size = Some(body.i32()?);
        }
        if has(PAGING_STATE) {
            params.paging_state = body.bytes()?;
            if let Some(state) = &params.paging_state {
                PagingState::decode(state, version.number())
                    .map_err(|error| WireError::protocol(error.to_string()))?;
            }
        }
        if has(SERIAL_CONSISTENCY) {
            params.serial_consistency = Some(body.consistency()?);
        }
        if has(DEFAULT_TIMESTAMP) {
            params.default_timestamp = Some(decode_timestamp(body)?);
        }
        if has(KEYSPACE) {
            params.keyspace = Some(body.string()?);
        }
        if has(NOW_IN_SECONDS) {
            params.now_in_seconds = Some(body.u32()?);
        }
        Ok(params)
    }

    fn flags(&self, version: ProtocolVersion) -> u32 {
        let is_v5 = version >= ProtocolVersion::V5;
        let bits = [
            (VALUES, !self.values.values.is_empty()),
            (SKIP_METADATA, self.skip_metadata),
            (PAGE_SIZE, self.page_size.is_some()),
            (PAGING_STATE, self.paging_state.is_some()),
            (SERIAL_CONSISTENCY, self.serial_consistency.is_some()),
            (DEFAULT_TIMESTAMP, self.default_timestamp.is_some()),
            (NAMES_FOR_VALUES, self.values.names.is_some() && !self.values.values.is_empty()),
            (KEYSPACE, is_v5 && self.keyspace.is_some()),
            (NOW_IN_SECONDS, is_v5 && self.now_in_seconds.is_some()),
        ];
        bits.iter().filter(|(_, is_set)| *is_set).map(|(bit, _)| bit).sum()
    }

    /// Appends `<consistency><flags>...`; what this version cannot say is left out.
    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Result<()> {
        primitives::put_consistency(out, self.consistency);
        let flags = self.flags(version);
        if version >= ProtocolVersion::V5 {
            out.put_u32(flags);
        } else {
            out.put_u8(flags as u8);
        }
        if flags & VALUES != 0 {
            self.values.append(out)?;
        }
        if let Some(page_size) = self.page_size {
            out.put_i32(page_size);
        }
        if let Some(state) = &self.paging_state {
            primitives::put_bytes(out, Some(state));
        }
        if let Some(serial) = self.serial_consistency {
            primitives::put_consistency(out, serial);
        }
        if let Some(timestamp) = self.default_timestamp {
            out.put_i64(timestamp);
        }
        if let (Some(keyspace), true) = (&self.keyspace, flags & KEYSPACE != 0) {
            primitives::put_string(out, keyspace);
        }
        if let (Some(now), true) = (self.now_in_seconds, flags & NOW_IN_SECONDS != 0) {
            out.put_u32(now);
        }
        Ok(())
    }
}

fn decode_timestamp(body: &mut Reader) -> Result<i64> {
    let timestamp = body.i64()?;
    if timestamp == i64::MIN {
        return Err(WireError::protocol(format!(
            "Out of bound timestamp, must be in [{}, {}] (got {timestamp})",
            i64::MIN + 1,
            i64::MAX
        )));
    }
    Ok(timestamp)
}
