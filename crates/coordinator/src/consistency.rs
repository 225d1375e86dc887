//! Which consistency levels a request may have, and whether the ring has the replicas they need
//! (`db/ConsistencyLevel`, `locator/ReplicaPlans`). Knows placement; no replica is asked here.

use basalt_model::{Consistency, CqlError};
use basalt_ring::{Replication, Strategy};

/// A level's needs against a keyspace in a ring of one node.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// How the keyspace is replicated.
    pub replication: &'a Replication,
    /// The node's datacenter.
    pub datacenter: &'a str,
}

fn invalid<T>(text: impl Into<Box<str>>) -> Result<T, CqlError> {
    Err(CqlError::Invalid(text.into()))
}

fn quorum(factor: u32) -> i32 {
    i32::try_from(factor / 2 + 1).unwrap_or(i32::MAX)
}

impl Placement<'_> {
    /// Replicas of any token that exist: they live on this node, so all of them are alive.
    pub fn live(&self) -> i32 {
        i32::try_from(self.replication.replicas_of_one_node(self.datacenter)).unwrap_or(i32::MAX)
    }

    fn local_quorum(&self) -> i32 {
        quorum(self.replication.factor_in(self.datacenter).unwrap_or_else(|| self.replication.factor()))
    }

    /// Replicas that must answer (`ConsistencyLevel.blockFor`).
    pub fn block_for(&self, consistency: Consistency) -> i32 {
        match consistency {
            Consistency::Any | Consistency::One | Consistency::LocalOne => 1,
            Consistency::Two => 2,
            Consistency::Three => 3,
            Consistency::Quorum | Consistency::Serial => quorum(self.replication.factor()),
            Consistency::All => i32::try_from(self.replication.factor()).unwrap_or(i32::MAX),
            Consistency::LocalQuorum | Consistency::LocalSerial => self.local_quorum(),
            Consistency::EachQuorum => match &self.replication.strategy {
                Strategy::NetworkTopology { factors } => factors.values().map(|factor| quorum(*factor)).sum(),
                Strategy::Local | Strategy::Simple { .. } => quorum(self.replication.factor()),
            },
        }
    }

    /// Refuses a level the ring cannot reach (`assureSufficientLiveReplicas`).
    pub(crate) fn check_live(&self, consistency: Consistency) -> Result<(), CqlError> {
        let unavailable = |required: i32, alive: i32, datacenter: Option<&str>| {
            let datacenter = datacenter.map(Into::into);
            Err(CqlError::Unavailable { consistency, required, alive, datacenter })
        };
        match (consistency, &self.replication.strategy) {
            (Consistency::Any, _) => Ok(()),
            (Consistency::EachQuorum, Strategy::NetworkTopology { factors }) => {
                for (datacenter, factor) in factors {
                    let alive = if datacenter == self.datacenter { self.live() } else { 0 };
                    if alive < quorum(*factor) {
                        // Cassandra says none is alive, whatever the number.
                        return unavailable(quorum(*factor), 0, Some(datacenter));
                    }
                }
                Ok(())
            }
            _ => {
                let required = self.block_for(consistency);
                if self.live() < required { unavailable(required, self.live(), None) } else { Ok(()) }
            }
        }
    }

    /// Whether a read may have this level, and can.
    ///
    /// # Errors
    /// `Invalid` for ANY; `Unavailable`.
    pub fn check_read(&self, consistency: Consistency) -> Result<(), CqlError> {
        if consistency == Consistency::Any {
            return invalid("ANY ConsistencyLevel is only supported for writes");
        }
        self.check_live(consistency)
    }

    /// Whether a linearizable read of one partition can be done: it reads at (LOCAL_)QUORUM.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn check_serial_read(&self, consistency: Consistency) -> Result<(), CqlError> {
        self.check_live(self.read_level(consistency))
    }

    fn read_level(&self, serial: Consistency) -> Consistency {
        match serial {
            Consistency::LocalSerial => Consistency::LocalQuorum,
            _ => Consistency::Quorum,
        }
    }

    /// Whether a write may have this level, and can.
    ///
    /// # Errors
    /// `Invalid` for serial levels; `Unavailable`.
    pub fn check_write(&self, consistency: Consistency) -> Result<(), CqlError> {
        if consistency.is_serial() {
            return invalid("You must use conditional updates for serializable writes");
        }
        self.check_live(consistency)
    }

    /// Whether a conditional write may have these levels, and can be agreed upon. Whether the level of the write itself
    /// is possible is asked once it is known to be written.
    ///
    /// # Errors
    /// `Invalid` for levels that make no sense here; `Unavailable`.
    pub fn check_conditional(&self, serial: Consistency, commit: Consistency) -> Result<(), CqlError> {
        if !serial.is_serial() {
            return invalid(
                "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
            );
        }
        if commit.is_serial() {
            return invalid(format!(
                "{commit} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL reads\""
            ));
        }
        let is_network = matches!(self.replication.strategy, Strategy::NetworkTopology { .. });
        if commit == Consistency::EachQuorum && !is_network {
            let class = match self.replication.strategy {
                Strategy::Local => "LocalStrategy",
                _ => "SimpleStrategy",
            };
            return invalid(format!(
                "consistency level EACH_QUORUM not compatible with replication strategy (org.apache.cassandra.locator.{class})"
            ));
        }
        // The agreement itself counts the replicas that exist, not those the keyspace asks for.
        if self.live() < 1 {
            return Err(CqlError::Unavailable {
                consistency: serial,
                required: 1,
                alive: 0,
                datacenter: None,
            });
        }
        self.check_live(self.read_level(serial))
    }
}
