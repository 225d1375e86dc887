//! Consistency levels, as the native protocol numbers them (v5 §3, `[consistency]`).
//!
//! How many replicas a level needs is not known here: that takes a replication strategy
//! (see the coordinator).

use std::fmt;

/// A consistency level (`db/ConsistencyLevel`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Consistency {
    /// One replica, or a hint.
    Any = 0,
    /// One replica.
    One = 1,
    /// Two replicas.
    Two = 2,
    /// Three replicas.
    Three = 3,
    /// A majority of all replicas.
    Quorum = 4,
    /// Every replica.
    All = 5,
    /// A majority in the coordinator's datacenter.
    LocalQuorum = 6,
    /// A majority in each datacenter.
    EachQuorum = 7,
    /// Linearizable, over all datacenters.
    Serial = 8,
    /// Linearizable, within the coordinator's datacenter.
    LocalSerial = 9,
    /// One replica in the coordinator's datacenter.
    LocalOne = 10,
}

impl Consistency {
    /// Every level, in protocol order.
    pub const ALL: [Consistency; 11] = [
        Consistency::Any,
        Consistency::One,
        Consistency::Two,
        Consistency::Three,
        Consistency::Quorum,
        Consistency::All,
        Consistency::LocalQuorum,
        Consistency::EachQuorum,
        Consistency::Serial,
        Consistency::LocalSerial,
        Consistency::LocalOne,
    ];

    /// The level a protocol code names, if any.
    pub fn from_code(code: u16) -> Option<Consistency> {
        Consistency::ALL.get(usize::from(code)).copied()
    }

    /// The protocol code.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// SERIAL and LOCAL_SERIAL are for the Paxos phase of conditional statements and for reads.
    pub fn is_serial(self) -> bool {
        matches!(self, Consistency::Serial | Consistency::LocalSerial)
    }

    /// Cassandra's name of the level, e.g. `LOCAL_QUORUM`.
    pub fn name(self) -> &'static str {
        match self {
            Consistency::Any => "ANY",
            Consistency::One => "ONE",
            Consistency::Two => "TWO",
            Consistency::Three => "THREE",
            Consistency::Quorum => "QUORUM",
            Consistency::All => "ALL",
            Consistency::LocalQuorum => "LOCAL_QUORUM",
            Consistency::EachQuorum => "EACH_QUORUM",
            Consistency::Serial => "SERIAL",
            Consistency::LocalSerial => "LOCAL_SERIAL",
            Consistency::LocalOne => "LOCAL_ONE",
        }
    }
}

impl fmt::Display for Consistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The level of the Paxos phase of a conditional statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SerialConsistency {
    /// Over all datacenters.
    #[default]
    Serial,
    /// Within the coordinator's datacenter.
    LocalSerial,
}

impl From<SerialConsistency> for Consistency {
    fn from(serial: SerialConsistency) -> Consistency {
        match serial {
            SerialConsistency::Serial => Consistency::Serial,
            SerialConsistency::LocalSerial => Consistency::LocalSerial,
        }
    }
}
