//! The sub-options of UnifiedCompactionStrategy (`unified/Controller.validateOptions`).

use std::collections::BTreeMap;

use basalt_model::CqlError;

use super::compaction::whole;
use super::human::human_bytes;
use crate::ddl::java;

/// What the strategy knows beside the common sub-options.
pub const KNOWN: [&str; 10] = [
    "scaling_parameters",
    "base_shard_count",
    "target_sstable_size",
    "flush_size_override",
    "max_sstables_to_compact",
    "expired_sstable_check_frequency_seconds",
    "unsafe_aggressive_sstable_expiration",
    "overlap_inclusion_method",
    "min_sstable_size",
    "sstable_growth",
];

const TARGET_DEFAULT_BYTES: f64 = (1u64 << 30) as f64;
const TARGET_MIN_BYTES: f64 = (1u64 << 20) as f64;

fn config<T>(text: String) -> Result<T, CqlError> {
    Err(CqlError::config(text))
}

/// # Errors
/// With Cassandra's text.
pub fn check(map: &BTreeMap<String, String>) -> Result<(), CqlError> {
    if let Some(text) = map.get("scaling_parameters") {
        // Java leaves out what is empty at the end.
        let parts = text.trim_end_matches(',');
        if !parts.is_empty() || text.is_empty() {
            parts.split(',').try_for_each(|part| scaling_parameter(part.trim()))?;
        }
    }
    if let Some(count) = whole::<i32>(map, "base_shard_count", "int")?
        && count <= 0
    {
        return config(format!("Invalid configuration, base_shard_count should be positive: {count}"));
    }
    let target = check_sizes(map)?;
    whole::<i32>(map, "max_sstables_to_compact", "int")?;
    let frequency = "expired_sstable_check_frequency_seconds";
    if let Some(value) = whole::<i64>(map, frequency, "long")?
        && value <= 0
    {
        return config(format!("Invalid configuration, {frequency} should be positive: {value}"));
    }
    if let Some(text) = map.get("unsafe_aggressive_sstable_expiration")
        && !text.eq_ignore_ascii_case("true")
        && !text.eq_ignore_ascii_case("false")
    {
        return config(format!(
            "unsafe_aggressive_sstable_expiration should either be 'true' or 'false', not {text}"
        ));
    }
    if let Some(text) = map.get("overlap_inclusion_method")
        && !matches!(text.to_uppercase().as_str(), "NONE" | "SINGLE" | "TRANSITIVE")
    {
        return config(format!(
            "Invalid overlap inclusion method {text}. The valid options are [NONE, SINGLE, TRANSITIVE]."
        ));
    }
    check_min_size(map, target)?;
    check_growth(map)
}

fn check_sizes(map: &BTreeMap<String, String>) -> Result<f64, CqlError> {
    let mut target = TARGET_DEFAULT_BYTES;
    let small = |name: &str, text: &str| {
        config(format!("{name} {text} is not acceptable, size must be at least {}", memory(TARGET_MIN_BYTES)))
    };
    for name in ["target_sstable_size", "flush_size_override"] {
        let Some(text) = map.get(name) else { continue };
        match human_bytes(text) {
            Err(why) => return config(format!("{name} {text} is not a valid size in bytes: {why}")),
            Ok(size) if size < TARGET_MIN_BYTES => return small(name, text),
            Ok(size) if name == "target_sstable_size" => {
                if size >= i64::MAX as f64 {
                    return config(format!("{name} {text} is out of range of Long."));
                }
                target = size.ceil();
            }
            Ok(_) => {}
        }
    }
    Ok(target)
}

fn check_min_size(map: &BTreeMap<String, String>, target: f64) -> Result<(), CqlError> {
    let Some(text) = map.get("min_sstable_size") else { return Ok(()) };
    match human_bytes(text) {
        Err(_) => config(format!("{text} is not a valid size in bytes for min_sstable_size")),
        Ok(size) if size < 0.0 => config(
            "Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)".to_owned(),
        ),
        Ok(size) if size.trunc() >= (target * 0.5f64.sqrt()).ceil() => config(format!(
            "Invalid configuration, min_sstable_size ({}) should be less than 70% of the targetSSTableSize ({})",
            memory(size.trunc()),
            memory(target)
        )),
        Ok(_) => Ok(()),
    }
}

fn check_growth(map: &BTreeMap<String, String>) -> Result<(), CqlError> {
    let Some(text) = map.get("sstable_growth") else { return Ok(()) };
    let trimmed = text.trim();
    let parsed = match trimmed.strip_suffix('%') {
        Some(percent) => java::parse_double(percent).map(|value| value / 100.0),
        None => java::parse_double(trimmed),
    };
    match parsed {
        None => config(format!(
            "sstable_growth is not a valid number between 0 and 1: For input string: \"{}\"",
            trimmed.trim_end_matches('%').trim()
        )),
        Some(value) if !(0.0..=1.0).contains(&value) && !value.is_nan() => {
            config(format!("sstable_growth {text} must be between 0 and 1"))
        }
        Some(_) => Ok(()),
    }
}

/// `N`, `L4`, `T8`, `-3`.
fn scaling_parameter(text: &str) -> Result<(), CqlError> {
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let number = |digits: &str| match digits.parse::<i32>() {
        Ok(value) => Ok(value),
        Err(_) => config(format!(
            "org.apache.cassandra.db.compaction.UnifiedCompactionStrategy.validateOptions() threw an error: java.lang.NumberFormatException For input string: \"{digits}\""
        )),
    };
    if text == "N" {
        return Ok(());
    }
    if digits(text.strip_prefix(['+', '-']).unwrap_or(text)) {
        return number(text).map(|_| ());
    }
    match text.strip_prefix(['L', 'T']) {
        Some(fanout) if digits(fanout) => match number(fanout)? {
            value if value < 2 => config(format!("Fan factor cannot be lower than 2 in {text}")),
            _ => Ok(()),
        },
        _ => config(format!("Scaling parameter {text} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+")),
    }
}

/// `FBUtilities.prettyPrintMemory`.
fn memory(bytes: f64) -> String {
    let (mut value, mut prefix) = (bytes, 0usize);
    while value.abs() >= 1024.0 && prefix < 8 {
        value /= 1024.0;
        prefix += 1;
    }
    match "KMGTPEZY".chars().nth(prefix.wrapping_sub(1)) {
        Some(unit) if prefix > 0 => format!("{value:.3}{unit}iB"),
        _ => format!("{bytes:.0}B"),
    }
}
