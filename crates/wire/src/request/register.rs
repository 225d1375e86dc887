//! REGISTER (v5 §4.1.8): which events the client wants.

use bytes::BytesMut;

use crate::limits::MAX_SHORT_COUNT;
use crate::primitives::{self, Reader};
use crate::{Result, WireError};

/// A kind of event (v5 §4.2.6, `transport/Event.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Nodes join and leave.
    TopologyChange,
    /// Nodes come up and go down.
    StatusChange,
    /// The schema changes.
    SchemaChange,
    /// A trace is complete: not in the specification and never sent by Cassandra either, but
    /// REGISTER accepts its name.
    TraceComplete,
}

impl EventType {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            EventType::TopologyChange => "TOPOLOGY_CHANGE",
            EventType::StatusChange => "STATUS_CHANGE",
            EventType::SchemaChange => "SCHEMA_CHANGE",
            EventType::TraceComplete => "TRACE_COMPLETE",
        }
    }

    /// Reads a name, in any case.
    pub(crate) fn decode(body: &mut Reader) -> Result<EventType> {
        let name = body.string()?;
        match name.to_uppercase().as_str() {
            "TOPOLOGY_CHANGE" => Ok(EventType::TopologyChange),
            "STATUS_CHANGE" => Ok(EventType::StatusChange),
            "SCHEMA_CHANGE" => Ok(EventType::SchemaChange),
            "TRACE_COMPLETE" => Ok(EventType::TraceComplete),
            _ => Err(WireError::protocol(format!("Invalid value '{name}' for Type"))),
        }
    }
}

/// The events a connection asks for, added to those it asked for before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Which events; duplicates are possible.
    pub events: Vec<EventType>,
}

impl Register {
    pub(super) fn decode(body: &mut Reader) -> Result<Register> {
        let count = usize::from(body.u16()?);
        let mut events = Vec::with_capacity(body.capacity(count, 2));
        for _ in 0..count {
            events.push(EventType::decode(body)?);
        }
        Ok(Register { events })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        primitives::put_count(out, self.events.len());
        for event in self.events.iter().take(MAX_SHORT_COUNT) {
            primitives::put_string(out, event.name());
        }
    }
}
