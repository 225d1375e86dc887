//! A YAML document as a tree of plain values. Knows nothing of configuration keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Yaml>),
    /// A mapping, in the order of the document.
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// Reads a document. Keys that stand twice in a mapping are an error.
    ///
    /// # Errors
    /// With line and column, when the text is not YAML.
    pub fn parse(text: &str) -> Result<Yaml, String> {
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Yaml::Null);
        }
        serde_saphyr::from_str(text).map_err(|error| first_line(&error.to_string()))
    }

    /// The value of a scalar as it would be printed; `None` for null, lists and mappings.
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Yaml::Bool(value) => Some(value.to_string()),
            Yaml::Int(value) => Some(value.to_string()),
            Yaml::Float(value) => Some(format!("{value:?}")),
            Yaml::Text(value) => Some(value.clone()),
            Yaml::Null | Yaml::List(_) | Yaml::Map(_) => None,
        }
    }

    /// The value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Yaml::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Errors show on one line: the parser adds a drawing of the source behind it.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("not YAML").to_owned()
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Yaml, E> {
        i64::try_from(value).map(Yaml::Int).map_err(|_| E::custom(format!("{value} is too large")))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        Ok(Yaml::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Yaml::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Yaml, Yaml>()? {
            let name = key.scalar_text().ok_or_else(|| A::Error::custom("a key must be a scalar"))?;
            map.push((name, value));
        }
        Ok(Yaml::Map(map))
    }
}
