//! The replication map of CREATE and ALTER KEYSPACE (`ReplicationParams`, `SimpleStrategy`,
//! `NetworkTopologyStrategy`): read, filled in, checked.

use std::collections::BTreeMap;

use basalt_model::CqlError;
use basalt_model::schema::KeyspaceKind;

use super::java;
use crate::system_tables::kind_of;

const PACKAGE: &str = "org.apache.cassandra.locator.";
const FACTOR: &str = "replication_factor";

/// `default_keyspace_rf`.
const FACTOR_DEFAULT: &str = "1";

/// A replication map: `class` (full name) and options, as stored.
pub type Replication = BTreeMap<String, String>;

/// The strategy of a map without its package.
pub fn strategy(replication: &Replication) -> &str {
    let class = replication.get("class").map_or("", String::as_str);
    class.strip_prefix(PACKAGE).unwrap_or(class)
}

/// Reads `given`; options left out are taken from `previous` as Cassandra takes them.
///
/// # Errors
/// For a missing or unknown class and for factors that are no numbers.
pub fn read(
    given: &Replication,
    previous: Option<&Replication>,
    datacenters: &[(String, usize)],
) -> Result<Replication, CqlError> {
    let Some(class) = given.get("class") else {
        return Err(CqlError::config("Missing replication strategy class"));
    };
    let full = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    let mut options = given.clone();
    options.remove("class");
    let previous = previous.cloned().unwrap_or_default();
    match full.strip_prefix(PACKAGE) {
        Some("SimpleStrategy") => {
            let factor = previous.get(FACTOR).cloned().unwrap_or_else(|| FACTOR_DEFAULT.to_owned());
            options.entry(FACTOR.to_owned()).or_insert(factor);
        }
        Some("NetworkTopologyStrategy") => expand(&mut options, &previous, datacenters),
        Some("LocalStrategy") => {}
        Some("OldNetworkTopologyStrategy") => {
            return Err(CqlError::config(
                "The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. The keyspace strategy should be switch to NetworkTopologyStrategy",
            ));
        }
        _ => return Err(CqlError::config(format!("Unable to find replication strategy class '{full}'"))),
    }
    options.insert("class".to_owned(), full);
    Ok(options)
}

/// `NetworkTopologyStrategy.prepareOptions`: `replication_factor` stands for every datacenter.
fn expand(options: &mut Replication, previous: &Replication, datacenters: &[(String, usize)]) {
    if options.is_empty() {
        let factor = previous.get(FACTOR).cloned().unwrap_or_else(|| FACTOR_DEFAULT.to_owned());
        options.insert(FACTOR.to_owned(), factor);
    }
    let factor = options.remove(FACTOR);
    if let Some(factor) = &factor {
        for (datacenter, replicas) in previous {
            if datacenter != FACTOR && datacenter != "class" {
                options.entry(datacenter.clone()).or_insert_with(|| replicas.clone());
            }
        }
        // A factor that cannot be read ends the preparation in Cassandra: datacenters stay as given.
        let Ok((all, _)) = parse_factor(factor) else { return };
        for (datacenter, _) in datacenters {
            options.entry(datacenter.clone()).or_insert_with(|| all.to_string());
        }
    }
    options.retain(|_, replicas| replicas != "0");
}

/// `ReplicationFactor.fromString`: all replicas, and how many of them transient.
fn parse_factor(text: &str) -> Result<(i32, i32), CqlError> {
    let number = |part: &str| {
        part.parse::<i32>().map_err(|_| CqlError::config(format!("For input string: \"{part}\"")))
    };
    let (all, transient) = match text.split_once('/') {
        None => (number(text)?, 0),
        Some((_, rest)) if rest.contains('/') => {
            return Err(CqlError::config(
                "Replication factor format is <replicas> or <replicas>/<transient>",
            ));
        }
        Some((all, transient)) => (number(all)?, number(transient)?),
    };
    if transient != 0 {
        return Err(CqlError::config("Transient replication is not enabled on this node"));
    }
    if all < 0 {
        return Err(CqlError::config(format!("Replication factor must be non-negative, found {all}")));
    }
    Ok((all, transient))
}

/// Full replicas in all datacenters together; 0 where the map cannot be read.
pub fn replicas_in_all(replication: &Replication) -> i32 {
    replication
        .iter()
        .filter(|(key, _)| *key != "class")
        .filter_map(|(_, factor)| parse_factor(factor).ok())
        .map(|(all, _)| all)
        .sum()
}

/// `AbstractReplicationStrategy.validateReplicationStrategy`; returns warnings.
///
/// # Errors
/// With Cassandra's texts.
pub fn validate(
    keyspace: &str,
    replication: &Replication,
    datacenters: &[(String, usize)],
) -> Result<Vec<String>, CqlError> {
    let class = strategy(replication);
    let names: Vec<&str> = replication.keys().map(String::as_str).filter(|key| *key != "class").collect();
    let ordered = java::hash_order(&names, replication.len());
    // The strategy is made before its options are checked: unreadable factors fail first.
    for name in &ordered {
        if class == "NetworkTopologyStrategy" && name.eq_ignore_ascii_case(FACTOR) {
            return Err(CqlError::config(
                "replication_factor should not appear as an option at construction time for NetworkTopologyStrategy",
            ));
        }
        if class == "NetworkTopologyStrategy" || *name == FACTOR {
            parse_factor(replication.get(*name).map_or("", String::as_str))?;
        }
    }
    if class == "NetworkTopologyStrategy" && names.is_empty() {
        return Err(CqlError::config("Configuration for at least one datacenter must be present"));
    }
    let known = |name: &str| match class {
        "NetworkTopologyStrategy" => datacenters.iter().any(|(datacenter, _)| datacenter == name),
        _ => name == FACTOR,
    };
    if let Some(name) = ordered.iter().find(|name| !known(name)) {
        return Err(CqlError::config(format!(
            "Unrecognized strategy option {{{name}}} passed to {class} for keyspace {keyspace}"
        )));
    }
    if class == "NetworkTopologyStrategy" && keyspace.eq_ignore_ascii_case("system_auth") {
        let missing: Vec<&str> = datacenters
            .iter()
            .map(|(datacenter, _)| datacenter.as_str())
            .filter(|datacenter| !names.contains(datacenter))
            .collect();
        if !missing.is_empty() {
            return Err(CqlError::config(format!(
                "Following datacenters have active nodes and must be present in replication options for keyspace system_auth: {}",
                java::bracketed(&missing)
            )));
        }
    }
    Ok(warnings(keyspace, replication, &ordered, datacenters))
}

/// More replicas than nodes is allowed and said.
fn warnings(
    keyspace: &str,
    replication: &Replication,
    ordered: &[&str],
    datacenters: &[(String, usize)],
) -> Vec<String> {
    if kind_of(keyspace) != KeyspaceKind::User {
        return Vec::new();
    }
    let too_many = |name: &&str| {
        let (factor, _) = parse_factor(replication.get(*name)?).ok()?;
        let (nodes, place) = if *name == FACTOR {
            (datacenters.iter().map(|(_, nodes)| nodes).sum::<usize>(), String::new())
        } else {
            let (_, nodes) = datacenters.iter().find(|(datacenter, _)| datacenter == name)?;
            (*nodes, format!(" for datacenter {name}"))
        };
        (nodes > 0 && usize::try_from(factor).is_ok_and(|factor| factor > nodes)).then(|| {
            format!(
                "Your replication factor {factor} for keyspace {keyspace} is higher than the number of nodes {nodes}{place}"
            )
        })
    };
    ordered.iter().filter_map(too_many).collect()
}
