//! `caching` (`CachingParams`).

use std::collections::BTreeMap;

use basalt_model::CqlError;
use basalt_model::schema::CachingOptions;

use crate::ddl::java;

/// Reads the map; both sub-options are always kept.
///
/// # Errors
/// For unknown sub-options and values.
pub fn caching(map: &BTreeMap<String, String>) -> Result<CachingOptions, CqlError> {
    let keys = match map.get("keys").map(|value| (value, value.to_uppercase())) {
        None => "NONE".to_owned(),
        Some((_, keys)) if keys == "ALL" || keys == "NONE" => keys,
        Some((value, _)) => {
            return Err(CqlError::config(format!(
                "Invalid value '{value}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed"
            )));
        }
    };
    let rows = match map.get("rows_per_partition") {
        None => "NONE".to_owned(),
        Some(value) => rows_per_partition(value)?,
    };
    let unknown: Vec<&str> =
        map.keys().map(String::as_str).filter(|key| !matches!(*key, "keys" | "rows_per_partition")).collect();
    if !unknown.is_empty() {
        return Err(CqlError::config(format!(
            "Invalid caching sub-options {}: only 'keys' and 'rows_per_partition' are allowed",
            java::bracketed(&java::hash_order(&unknown, map.len()))
        )));
    }
    Ok(CachingOptions(BTreeMap::from([("keys".to_owned(), keys), ("rows_per_partition".to_owned(), rows)])))
}

fn rows_per_partition(value: &str) -> Result<String, CqlError> {
    if value.eq_ignore_ascii_case("ALL") || value.eq_ignore_ascii_case("NONE") {
        return Ok(value.to_uppercase());
    }
    let numeric = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse::<i32>() {
        Ok(0) if numeric => Ok("NONE".to_owned()),
        Ok(i32::MAX) if numeric => Ok("ALL".to_owned()),
        Ok(rows) if numeric => Ok(rows.to_string()),
        _ if numeric => {
            Err(CqlError::server(format!("java.lang.NumberFormatException: For input string: \"{value}\"")))
        }
        _ => Err(CqlError::config(format!(
            "Invalid value '{value}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed"
        ))),
    }
}
