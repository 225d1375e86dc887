//! `WITH name = value AND ...` as Cassandra reads it (`PropertyDefinitions`). Knows no property by
//! name.

use std::collections::BTreeMap;

use basalt_cql::ast::Property;
use basalt_model::CqlError;

use super::java::{hash_order, parse_double};

/// The properties of one statement.
#[derive(Clone, Copy)]
pub struct Properties<'a>(pub &'a [Property]);

impl<'a> Properties<'a> {
    /// Whether the property is there.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&'a Property> {
        self.0.iter().find(|property| property.name.name == name)
    }

    /// Refuses properties that are not among `known`.
    ///
    /// # Errors
    /// For the first unknown one, in the order in which a Java `HashMap` would meet them.
    pub fn check_known(&self, known: &[&str]) -> Result<(), CqlError> {
        let names: Vec<&str> = self.0.iter().map(|property| property.name.as_str()).collect();
        match hash_order(&names, 0).into_iter().find(|name| !known.contains(name)) {
            Some(unknown) => Err(CqlError::syntax(format!("Unknown property '{unknown}'"))),
            None => Ok(()),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// When it is a map.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, CqlError> {
        let Some(property) = self.find(name) else { return Ok(None) };
        match property.value.as_text() {
            Some(text) => Ok(Some(text)),
            None => {
                Err(CqlError::syntax(format!("Invalid value for property '{name}'. It should be a string")))
            }
        }
    }

    /// A map of texts.
    ///
    /// # Errors
    /// When it is not a map.
    pub fn map(&self, name: &str) -> Result<Option<BTreeMap<String, String>>, CqlError> {
        let Some(property) = self.find(name) else { return Ok(None) };
        match property.value.as_map() {
            Some(entries) => {
                Ok(Some(entries.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()))
            }
            None => {
                Err(CqlError::syntax(format!("Invalid value for property '{name}'. It should be a map.")))
            }
        }
    }

    /// A boolean: `true`, `yes`, `1`, `false`, `no`, `0`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, CqlError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.to_lowercase().as_str() {
            "1" | "true" | "yes" => Ok(Some(true)),
            "0" | "false" | "no" => Ok(Some(false)),
            _ => Err(CqlError::syntax(format!(
                "Invalid boolean value {text} for '{name}'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'."
            ))),
        }
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// When it is not one.
    pub fn int(&self, name: &str) -> Result<Option<i32>, CqlError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(CqlError::syntax(format!("Invalid integer value {text} for '{name}'"))),
        }
    }

    /// A double.
    ///
    /// # Errors
    /// When it is not one.
    pub fn double(&self, name: &str) -> Result<Option<f64>, CqlError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match parse_double(text) {
            Some(value) => Ok(Some(value)),
            None => Err(CqlError::syntax(format!("Invalid double value {text} for '{name}'"))),
        }
    }
}
