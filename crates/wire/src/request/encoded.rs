//! EXECUTE and BATCH of prepared statements, appended from values that are encoded already: what a
//! client that sends very many uses instead of building a [`Request`](super::Request).

use basalt_model::Consistency;
use bytes::{BufMut, BytesMut};

use super::BatchKind;
use super::query_params::{PAGE_SIZE, SKIP_METADATA, VALUES};
use crate::ProtocolVersion;
use crate::primitives::{put_consistency, put_count, put_short_bytes};

/// Values for a statement's markers, by position, each as a `[value]` (v5 §3).
#[derive(Clone, Copy, Debug)]
pub struct EncodedValues<'a> {
    /// How many.
    pub count: u16,
    /// One after the other.
    pub bytes: &'a [u8],
}

/// An EXECUTE (v5 §4.1.6) that does without result metadata.
#[derive(Clone, Copy, Debug)]
pub struct EncodedExecute<'a> {
    /// The statement's id.
    pub id: &'a [u8],
    /// The id of the result metadata that PREPARE answered (v5; not sent before).
    pub result_metadata_id: &'a [u8],
    /// The consistency level.
    pub consistency: Consistency,
    /// Rows of a page; `None` lets all come at once.
    pub page_size: Option<i32>,
    /// The values.
    pub values: EncodedValues<'a>,
}

/// A BATCH (v5 §4.1.7) of prepared statements.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBatch {
    /// Which guarantee is asked for.
    pub kind: BatchKind,
    /// The consistency level.
    pub consistency: Consistency,
}

impl EncodedValues<'_> {
    fn append(&self, out: &mut BytesMut) {
        out.put_u16(self.count);
        out.put_slice(self.bytes);
    }
}

fn put_flags(version: ProtocolVersion, flags: u32, out: &mut BytesMut) {
    if version >= ProtocolVersion::V5 {
        out.put_u32(flags);
    } else {
        out.put_u8(flags as u8);
    }
}

impl EncodedExecute<'_> {
    /// Appends the message to a body.
    pub fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        put_short_bytes(out, self.id);
        if version >= ProtocolVersion::V5 {
            put_short_bytes(out, self.result_metadata_id);
        }
        put_consistency(out, self.consistency);
        let values = if self.values.count > 0 { VALUES } else { 0 };
        let page = if self.page_size.is_some() { PAGE_SIZE } else { 0 };
        put_flags(version, SKIP_METADATA | values | page, out);
        if self.values.count > 0 {
            self.values.append(out);
        }
        if let Some(page_size) = self.page_size {
            out.put_i32(page_size);
        }
    }
}

impl EncodedBatch {
    /// Appends the message to a body: `statements` are ids with their values, at most 65,535.
    pub fn append<'a>(
        &self,
        version: ProtocolVersion,
        statements: impl ExactSizeIterator<Item = (&'a [u8], EncodedValues<'a>)>,
        out: &mut BytesMut,
    ) {
        out.put_u8(self.kind.code());
        put_count(out, statements.len());
        for (id, values) in statements {
            out.put_u8(1);
            put_short_bytes(out, id);
            values.append(out);
        }
        put_consistency(out, self.consistency);
        put_flags(version, 0, out);
    }
}

#[cfg(test)]
mod tests {
    //! The bytes are those of the messages built the other way.
    use bytes::Bytes;

    use super::*;
    use crate::primitives::put_value;
    use crate::request::{Batch, BatchStatement, BoundValues, Execute, QueryParams};
    use crate::{Request, Value};

    const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5];

    fn values() -> (Vec<Value>, BytesMut) {
        let values = vec![Value::Bytes(Bytes::from_static(b"key")), Value::Null, Value::Bytes(Bytes::new())];
        let mut bytes = BytesMut::new();
        values.iter().for_each(|value| put_value(&mut bytes, value));
        (values, bytes)
    }

    fn body(request: &Request, version: ProtocolVersion) -> BytesMut {
        let mut out = BytesMut::new();
        request.append(version, &mut out).unwrap();
        out
    }

    #[test]
    fn an_execute_is_the_message_s() {
        for version in VERSIONS {
            for (bound, page_size) in [(true, None), (true, Some(50)), (false, None), (false, Some(1))] {
                let (values, bytes) = values();
                let mut params = QueryParams::new(Consistency::LocalQuorum);
                params.skip_metadata = true;
                params.page_size = page_size;
                if bound {
                    params.values = BoundValues::positional(values);
                }
                let message = Request::Execute(Execute {
                    id: Bytes::from_static(b"0123456789abcdef"),
                    result_metadata_id: Some(Bytes::from_static(b"metadata")),
                    params,
                });
                let encoded = EncodedExecute {
                    id: b"0123456789abcdef",
                    result_metadata_id: b"metadata",
                    consistency: Consistency::LocalQuorum,
                    page_size,
                    values: EncodedValues { count: if bound { 3 } else { 0 }, bytes: &bytes },
                };
                let mut out = BytesMut::new();
                encoded.append(version, &mut out);
                assert_eq!(out, body(&message, version), "{version} {bound} {page_size:?}");
            }
        }
    }

    #[test]
    fn a_batch_is_the_message_s() {
        for version in VERSIONS {
            for kind in [BatchKind::Logged, BatchKind::Unlogged, BatchKind::Counter] {
                let (values, bytes) = values();
                let statement = |id: &'static [u8], values| BatchStatement::Prepared {
                    id: Bytes::from_static(id),
                    values,
                };
                let message = Request::Batch(Batch {
                    kind,
                    statements: vec![statement(b"first", values), statement(b"second", Vec::new())],
                    params: QueryParams::new(Consistency::One),
                });
                let parts: [(&[u8], _); 2] = [
                    (b"first", EncodedValues { count: 3, bytes: &bytes }),
                    (b"second", EncodedValues { count: 0, bytes: &[] }),
                ];
                let mut out = BytesMut::new();
                EncodedBatch { kind, consistency: Consistency::One }.append(
                    version,
                    parts.into_iter(),
                    &mut out,
                );
                assert_eq!(out, body(&message, version), "{version} {kind:?}");
            }
        }
    }
}
