//! Replication strategies: a keyspace's replication map to replication factors, and how many
//! replicas of a token this ring has (`locator/*Strategy`). Does not know which level needs how many.

use std::collections::BTreeMap;

/// How copies are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// `LocalStrategy`: one copy, on the node itself.
    Local,
    /// `SimpleStrategy`: so many copies, wherever.
    Simple {
        /// `replication_factor`.
        factor: u32,
    },
    /// `NetworkTopologyStrategy`: so many copies in each datacenter.
    NetworkTopology {
        /// By datacenter name.
        factors: BTreeMap<String, u32>,
    },
}

/// What a keyspace's replication means in this ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// How copies are placed.
    pub strategy: Strategy,
}

impl Replication {
    /// Reads a replication map with its `class`, short or long; transient counts (`3/1`) count as
    /// their full part. Maps come checked from the schema: what is not a number counts as zero.
    pub fn from_map(map: &BTreeMap<String, String>) -> Replication {
        let class = map.get("class").map(String::as_str).unwrap_or_default();
        let name = class.rsplit('.').next().unwrap_or_default();
        let factor = |text: &String| -> u32 {
            text.split('/').next().and_then(|full| full.trim().parse().ok()).unwrap_or(0)
        };
        let strategy = match name {
            "SimpleStrategy" => Strategy::Simple { factor: map.get("replication_factor").map_or(0, factor) },
            "NetworkTopologyStrategy" => {
                let datacenters = map.iter().filter(|(key, _)| *key != "class");
                let factors = datacenters.map(|(name, count)| (name.clone(), factor(count)));
                Strategy::NetworkTopology { factors: factors.collect() }
            }
            _ => Strategy::Local,
        };
        Replication { strategy }
    }

    /// Copies in the whole ring (`getReplicationFactor().allReplicas`).
    pub fn factor(&self) -> u32 {
        match &self.strategy {
            Strategy::Local => 1,
            Strategy::Simple { factor } => *factor,
            Strategy::NetworkTopology { factors } => factors.values().sum(),
        }
    }

    /// Copies in a datacenter; `None` where the strategy does not speak of datacenters.
    pub fn factor_in(&self, datacenter: &str) -> Option<u32> {
        match &self.strategy {
            Strategy::NetworkTopology { factors } => Some(factors.get(datacenter).copied().unwrap_or(0)),
            Strategy::Local | Strategy::Simple { .. } => None,
        }
    }

    /// How many replicas a ring of one node in `datacenter` has for any token.
    pub fn replicas_of_one_node(&self, datacenter: &str) -> u32 {
        match &self.strategy {
            Strategy::Local => 1,
            Strategy::Simple { factor } => (*factor).min(1),
            Strategy::NetworkTopology { factors } => {
                factors.get(datacenter).map_or(0, |factor| (*factor).min(1))
            }
        }
    }
}
