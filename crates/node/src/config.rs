//! `cassandra.yaml`: reading it, knowing every key of Cassandra 5.0.9, refusing others, and showing what
//! is set. Knows keys and values; what the node does with them stands in [`settings`].

mod addresses;
mod admin;
mod catalogue;
pub mod container;
pub mod disk;
pub mod key;
pub mod settings;
pub mod sizing;
mod transport;
mod units;
pub mod yaml;

use std::collections::BTreeMap;

use catalogue::KEYS;
use key::{Key, Kind, convert, value_text};
use units::{duration_nanos, rate_bytes_per_second, storage_bytes};
use yaml::Yaml;

/// The keys that Cassandra does not have: how much memory the node may use, from which everything else is
/// sized, and where `nodetool` reaches it (Cassandra has that in its start script).
static OWN: [Key; 4] = [
    key::key("memory", Kind::Storage(units::StorageUnit::B, units::Bound::Long), None, &[]),
    key::key("admin_address", Kind::Text, Some("127.0.0.1"), &[]),
    key::key("admin_allow_remote", Kind::Bool, Some("false"), &[]),
    key::key("admin_port", Kind::Int, Some("7199"), &[]),
];

/// Why a configuration is refused: one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", one_line(.0))]
pub struct ConfigError(pub String);

/// A value in a message may hold line breaks; the message has none.
fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

impl ConfigError {
    fn new(text: impl Into<String>) -> ConfigError {
        ConfigError(text.into())
    }
}

/// A value as it was given: the tree, and the text Cassandra would show for it.
#[derive(Clone, Debug)]
struct Given {
    value: Yaml,
    text: Option<String>,
}

/// What was given, over what is there without it.
#[derive(Clone, Debug, Default)]
pub struct Config {
    given: BTreeMap<&'static str, Given>,
    /// Values worked out at start, for showing.
    derived: BTreeMap<&'static str, String>,
    /// Names given that have newer ones.
    pub deprecated: Vec<String>,
}

fn lookup(name: &str) -> Option<(&'static Key, Option<key::Convert>)> {
    if let Some(own) = OWN.iter().find(|key| key.name == name) {
        return Some((own, None));
    }
    // Some keys kept their name when their values got units: their conversion counts.
    let earlier = |key: &Key| key.earlier.iter().find(|(old, _)| *old == name).map(|(_, how)| *how);
    if let Some(found) = KEYS.iter().find_map(|key| Some((key, Some(earlier(key)?)))) {
        return Some(found);
    }
    KEYS.iter().find(|key| key.name == name).map(|key| (key, None))
}

/// Whether a dotted name goes into a key that holds a mapping.
fn goes_into_mapping(name: &str) -> bool {
    name.split_once('.')
        .and_then(|(root, _)| lookup(root))
        .is_some_and(|(key, _)| matches!(key.kind, Kind::Structure | Kind::Class))
}

impl Config {
    /// Reads a configuration file's text. `source` names it in errors.
    ///
    /// # Errors
    /// Not YAML, unknown keys, an old and a new name of one key together, null where a value is
    /// needed, a value that its key does not take.
    pub fn parse(source: &str, text: &str) -> Result<Config, ConfigError> {
        let invalid = |what: &str| ConfigError::new(format!("Invalid yaml: {source}: {what}"));
        let entries = match Yaml::parse(text).map_err(|error| invalid(&error))? {
            Yaml::Null => Vec::new(),
            Yaml::Map(entries) => entries,
            _ => return Err(invalid("a mapping of keys to values is expected")),
        };
        let mut config = Config::default();
        let (mut unknown, mut nulls, mut twice) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in entries {
            let Some((key, how)) = lookup(&name) else {
                if !goes_into_mapping(&name) {
                    unknown.push(name);
                }
                continue;
            };
            if key.name != name {
                config.deprecated.push(name.clone());
                if config.given.contains_key(key.name) {
                    twice.push(format!("[{name} -> {}]", key.name));
                }
            } else if config.given.contains_key(key.name) {
                twice.push(format!("[{} -> {name}]", config.deprecated.last().map_or("", String::as_str)));
            }
            if value == Yaml::Null && key.default.is_some() && how.is_none() {
                nulls.push(name.clone());
            }
            let value = how.map_or(Ok(value.clone()), |how| convert(how, &value));
            config
                .set(key, value.map_err(|error| invalid(&format!("{name}: {error}")))?)
                .map_err(|error| invalid(&format!("{name}: {error}")))?;
        }
        if !twice.is_empty() {
            return Err(ConfigError::new(format!(
                "Config contains both old and new keys for the same configuration parameters, migrate old -> new: {}",
                twice.join(", ")
            )));
        }
        if !nulls.is_empty() {
            return Err(ConfigError::new(format!(
                "Invalid yaml. Those properties {} are not valid",
                list(&nulls)
            )));
        }
        if !unknown.is_empty() {
            return Err(ConfigError::new(format!(
                "Invalid yaml. Please remove properties {} from your cassandra.yaml",
                list(&unknown)
            )));
        }
        Ok(config)
    }

    fn set(&mut self, key: &'static Key, value: Yaml) -> Result<(), String> {
        let text = value_text(key.kind, &value)?;
        self.given.insert(key.name, Given { value, text });
        Ok(())
    }

    /// Sets a key from outside the file (command line, container environment).
    ///
    /// # Errors
    /// When the key does not take the value.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        let (key, _) = lookup(name).ok_or_else(|| ConfigError::new(format!("{name}: no such key")))?;
        let value = if key.kind == Kind::Texts {
            Yaml::List(vec![Yaml::Text(text.to_owned())])
        } else {
            Yaml::Text(text.to_owned())
        };
        self.set(key, value).map_err(|error| ConfigError::new(format!("{name}: {error}")))
    }

    /// Notes a value that was worked out at start, so that it shows among the settings.
    pub fn derive(&mut self, name: &'static str, text: impl Into<String>) {
        self.derived.insert(name, text.into());
    }

    /// Whether a key was given at all.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Names of all keys that were given.
    pub fn given_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.given.keys().copied()
    }

    /// The tree given for a key.
    pub fn value(&self, name: &str) -> Option<&Yaml> {
        self.given.get(name).map(|given| &given.value)
    }

    /// A key's value as text: given, else worked out, else its default.
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(given) = self.given.get(name) {
            return given.text.clone();
        }
        let default = || lookup(name).and_then(|(key, _)| key.default).map(str::to_owned);
        self.derived.get(name).cloned().or_else(default)
    }

    /// A `true`/`false` key.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).as_deref() == Some("true")
    }

    /// A whole number; `None` when unset.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// A duration in whole milliseconds; `None` when unset.
    pub fn millis(&self, name: &str) -> Option<u64> {
        let nanos = duration_nanos(&self.text(name)?, units::DurationUnit::Nanos, units::Bound::Long).ok()?;
        u64::try_from(nanos / 1_000_000).ok()
    }

    /// A size in bytes; `None` when unset.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        storage_bytes(&self.text(name)?, units::StorageUnit::B, units::Bound::Long).ok()
    }

    /// A rate in bytes a second; `None` when unset.
    pub fn rate(&self, name: &str) -> Option<u64> {
        rate_bytes_per_second(&self.text(name)?).ok()
    }

    /// The class a key names, in both of YAML's forms; `None` when unset.
    pub fn class(&self, name: &str) -> Option<String> {
        self.value(name).and_then(key::class_name)
    }

    /// Every setting as `system_views.settings` shows it: name and value, ascending by name.
    pub fn shown(&self) -> Vec<(String, Option<String>)> {
        let mut rows = Vec::with_capacity(KEYS.len() + 64);
        for key in KEYS.iter().chain(&OWN) {
            match key.kind {
                Kind::Structure => self.show_mapping(key, &mut rows),
                Kind::Class => {
                    let class = self.class(key.name);
                    rows.push((format!("{}.class_name", key.name), class.clone()));
                    rows.push((key.name.to_owned(), class));
                }
                Kind::Texts => {
                    rows.push((
                        key.name.to_owned(),
                        Some(self.text(key.name).unwrap_or_else(|| "[]".to_owned())),
                    ));
                }
                _ => rows.push((key.name.to_owned(), self.text(key.name))),
            }
        }
        rows.sort();
        rows
    }

    fn show_mapping(&self, key: &Key, rows: &mut Vec<(String, Option<String>)>) {
        let Some(Yaml::Map(entries)) = self.value(key.name) else { return };
        for (name, value) in entries {
            let secret = ["keystore", "truststore", "password"].iter().any(|word| name.contains(word));
            let text = if secret { Some("<REDACTED>".to_owned()) } else { value.scalar_text() };
            rows.push((format!("{}.{name}", key.name), text));
        }
    }
}

/// Java's way of printing a set.
fn list(names: &[String]) -> String {
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests;
