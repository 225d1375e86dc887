//! EVENT (v5 §4.2.6, `transport/Event`): what the server says unasked. SCHEMA_CHANGE results
//! (v5 §4.2.5.5) share the form of its third kind.

use std::net::SocketAddr;

use bytes::BytesMut;

use crate::primitives::{Reader, put_inet, put_string, put_string_list};
use crate::request::EventType;
use crate::{ProtocolVersion, Result, WireError};

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The ring changes.
    TopologyChange {
        /// How.
        change: TopologyChange,
        /// The node's address for clients.
        node: SocketAddr,
    },
    /// A node changes.
    StatusChange {
        /// How.
        change: StatusChange,
        /// The node's address for clients.
        node: SocketAddr,
    },
    /// The schema changes.
    SchemaChange(SchemaChange),
}

/// How the ring changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopologyChange {
    /// A node joined.
    NewNode,
    /// A node left.
    RemovedNode,
    /// A node changed its tokens; not in the specification, sent by Cassandra.
    MovedNode,
}

/// How a node changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusChange {
    /// It serves clients.
    Up,
    /// It does not.
    Down,
}

/// What was done to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaChangeKind {
    /// It is new.
    Created,
    /// It is different.
    Updated,
    /// It is gone.
    Dropped,
}

/// A change of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// What was done.
    pub kind: SchemaChangeKind,
    /// In which keyspace, or to which.
    pub keyspace: String,
    /// To what in it.
    pub target: SchemaTarget,
}

/// What a change of the schema was done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaTarget {
    /// The keyspace itself.
    Keyspace,
    /// A table or view, by name; an index counts as its table.
    Table(String),
    /// A user-defined type, by name.
    Type(String),
    /// A function.
    Function {
        /// Its name.
        name: String,
        /// The types of its arguments, as CQL text.
        argument_types: Vec<String>,
    },
    /// An aggregate.
    Aggregate {
        /// Its name.
        name: String,
        /// The types of its arguments, as CQL text.
        argument_types: Vec<String>,
    },
}

impl TopologyChange {
    fn name(self) -> &'static str {
        match self {
            TopologyChange::NewNode => "NEW_NODE",
            TopologyChange::RemovedNode => "REMOVED_NODE",
            TopologyChange::MovedNode => "MOVED_NODE",
        }
    }
}

impl StatusChange {
    fn name(self) -> &'static str {
        match self {
            StatusChange::Up => "UP",
            StatusChange::Down => "DOWN",
        }
    }
}

impl SchemaChangeKind {
    fn name(self) -> &'static str {
        match self {
            SchemaChangeKind::Created => "CREATED",
            SchemaChangeKind::Updated => "UPDATED",
            SchemaChangeKind::Dropped => "DROPPED",
        }
    }
}

/// Reads a name, in any case, out of `all`.
fn decode_name<T: Copy>(body: &mut Reader, all: &[T], name: fn(T) -> &'static str, of: &str) -> Result<T> {
    let text = body.string()?;
    let upper = text.to_uppercase();
    all.iter()
        .copied()
        .find(|item| name(*item) == upper)
        .ok_or_else(|| WireError::protocol(format!("Invalid value '{text}' for {of}")))
}

impl Event {
    /// What a client must have registered for to get this event.
    pub fn event_type(&self) -> EventType {
        match self {
            Event::TopologyChange { .. } => EventType::TopologyChange,
            Event::StatusChange { .. } => EventType::StatusChange,
            Event::SchemaChange(_) => EventType::SchemaChange,
        }
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        put_string(out, self.event_type().name());
        match self {
            Event::TopologyChange { change, node } => {
                put_string(out, change.name());
                put_inet(out, *node);
            }
            Event::StatusChange { change, node } => {
                put_string(out, change.name());
                put_inet(out, *node);
            }
            Event::SchemaChange(change) => change.append(version, out),
        }
    }

    pub(super) fn decode(body: &mut Reader) -> Result<Event> {
        use StatusChange::{Down, Up};
        use TopologyChange::{MovedNode, NewNode, RemovedNode};
        match EventType::decode(body)? {
            EventType::TopologyChange => Ok(Event::TopologyChange {
                change: decode_name(
                    body,
                    &[NewNode, RemovedNode, MovedNode],
                    TopologyChange::name,
                    "Change",
                )?,
                node: body.inet()?,
            }),
            EventType::StatusChange => Ok(Event::StatusChange {
                change: decode_name(body, &[Up, Down], StatusChange::name, "Status")?,
                node: body.inet()?,
            }),
            EventType::SchemaChange => SchemaChange::decode(body).map(Event::SchemaChange),
            EventType::TraceComplete => Err(WireError::protocol("TRACE_COMPLETE events have no form")),
        }
    }
}

impl SchemaChange {
    /// Appends `<change_type><target><options>`. Version 3 knows no functions: it is told that the
    /// keyspace was updated, with the stray empty string Cassandra sends.
    pub(crate) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let (target, name, argument_types) = match &self.target {
            SchemaTarget::Keyspace => ("KEYSPACE", None, None),
            SchemaTarget::Table(name) => ("TABLE", Some(name), None),
            SchemaTarget::Type(name) => ("TYPE", Some(name), None),
            SchemaTarget::Function { name, argument_types } => ("FUNCTION", Some(name), Some(argument_types)),
            SchemaTarget::Aggregate { name, argument_types } => {
                ("AGGREGATE", Some(name), Some(argument_types))
            }
        };
        if argument_types.is_some() && version < ProtocolVersion::V4 {
            for text in [SchemaChangeKind::Updated.name(), "KEYSPACE", &self.keyspace, ""] {
                put_string(out, text);
            }
            return;
        }
        put_string(out, self.kind.name());
        put_string(out, target);
        put_string(out, &self.keyspace);
        if let Some(name) = name {
            put_string(out, name);
        }
        if let Some(argument_types) = argument_types {
            put_string_list(out, argument_types);
        }
    }

    pub(crate) fn decode(body: &mut Reader) -> Result<SchemaChange> {
        use SchemaChangeKind::{Created, Dropped, Updated};
        let kind = decode_name(body, &[Created, Updated, Dropped], SchemaChangeKind::name, "Change")?;
        let target = body.string()?;
        let keyspace = body.string()?;
        let target = match target.to_uppercase().as_str() {
            "KEYSPACE" => SchemaTarget::Keyspace,
            "TABLE" => SchemaTarget::Table(body.string()?),
            "TYPE" => SchemaTarget::Type(body.string()?),
            "FUNCTION" => {
                SchemaTarget::Function { name: body.string()?, argument_types: body.string_list()? }
            }
            "AGGREGATE" => {
                SchemaTarget::Aggregate { name: body.string()?, argument_types: body.string_list()? }
            }
            _ => return Err(WireError::protocol(format!("Invalid value '{target}' for Target"))),
        };
        Ok(SchemaChange { kind, keyspace, target })
    }
}
