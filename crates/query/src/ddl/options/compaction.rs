//! `compaction` (`CompactionParams` and the strategies' `validateOptions`).

use std::collections::BTreeMap;

use basalt_model::CqlError;
use basalt_model::schema::CompactionOptions;
use num_bigint::BigInt;

use super::unified;
use crate::ddl::java;

const PACKAGE: &str = "org.apache.cassandra.db.compaction.";

/// Sub-options that every strategy knows.
const COMMON: [&str; 7] = [
    "tombstone_threshold",
    "tombstone_compaction_interval",
    "unchecked_tombstone_compaction",
    "log_all",
    "enabled",
    "only_purge_repaired_tombstones",
    "provide_overlapping_tombstones",
];

const SIZE_TIERED: [&str; 3] = ["min_sstable_size", "bucket_low", "bucket_high"];
const LEVELED: [&str; 3] = ["sstable_size_in_mb", "fanout_size", "single_sstable_uplevel"];
const TIME_WINDOW: [&str; 5] = [
    "compaction_window_size",
    "compaction_window_unit",
    "timestamp_resolution",
    "expired_sstable_check_frequency_seconds",
    "unsafe_aggressive_sstable_expiration",
];

/// Reads the map: the class by its full name, thresholds filled in.
///
/// # Errors
/// For a missing or unknown class.
pub fn compaction(map: BTreeMap<String, String>) -> Result<CompactionOptions, CqlError> {
    let mut options = map;
    let Some(class) = options.get("class") else {
        return Err(CqlError::config("Missing sub-option 'class' for the 'compaction' option"));
    };
    let full = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    if !is_strategy(&full) {
        return Err(CqlError::config(format!("Unable to find compaction strategy class '{full}'")));
    }
    if let Some(overlapping) = options.get("provide_overlapping_tombstones") {
        let overlapping = overlapping.to_uppercase();
        if !matches!(overlapping.as_str(), "NONE" | "ROW" | "CELL") {
            return Err(CqlError::config(format!(
                "Invalid value {overlapping} for 'provide_overlapping_tombstones' compaction sub-option - must be one of the following [NONE, ROW, CELL]."
            )));
        }
    }
    if strategy(&full) != "UnifiedCompactionStrategy" {
        options.entry("min_threshold".to_owned()).or_insert_with(|| "4".to_owned());
        options.entry("max_threshold".to_owned()).or_insert_with(|| "32".to_owned());
    }
    options.insert("class".to_owned(), full);
    Ok(CompactionOptions(options))
}

fn strategy(class: &str) -> &str {
    class.strip_prefix(PACKAGE).unwrap_or(class)
}

fn is_strategy(class: &str) -> bool {
    matches!(
        class.strip_prefix(PACKAGE),
        Some(
            "SizeTieredCompactionStrategy"
                | "LeveledCompactionStrategy"
                | "TimeWindowCompactionStrategy"
                | "UnifiedCompactionStrategy"
        )
    )
}

fn class(options: &CompactionOptions) -> &str {
    options.0.get("class").map_or("", |class| strategy(class))
}

/// The `bloom_filter_fp_chance` of a new table that names none.
pub fn default_bloom_filter_chance(options: &CompactionOptions) -> f64 {
    if class(options) == "LeveledCompactionStrategy" { 0.1 } else { 0.01 }
}

/// `CompactionParams.validate`.
///
/// # Errors
/// With Cassandra's text.
pub fn validate(options: &CompactionOptions) -> Result<(), CqlError> {
    let map = &options.0;
    check_common(map)?;
    let own: &[&str] = match class(options) {
        "LeveledCompactionStrategy" => {
            check_leveled(map)?;
            check_size_tiered(map)?;
            &LEVELED
        }
        "TimeWindowCompactionStrategy" => {
            check_time_window(map)?;
            check_size_tiered(map)?;
            &TIME_WINDOW
        }
        "UnifiedCompactionStrategy" => {
            unified::check(map)?;
            return check_unknown(options, |name| unified::KNOWN.contains(&name))
                .and_then(|()| check_thresholds(map));
        }
        _ => {
            check_size_tiered(map)?;
            &[]
        }
    };
    check_unknown(options, |name| {
        own.contains(&name)
            || SIZE_TIERED.contains(&name)
            || matches!(name, "min_threshold" | "max_threshold")
    })?;
    check_thresholds(map)
}

fn check_unknown(options: &CompactionOptions, known: impl Fn(&str) -> bool) -> Result<(), CqlError> {
    let unknown: Vec<&str> = options
        .0
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "class" && !COMMON.contains(name) && !known(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(CqlError::config(format!(
        "Properties specified {} are not understood by {}",
        java::bracketed(&java::hash_order(&unknown, options.0.len() - 1)),
        class(options)
    )))
}

type Map = BTreeMap<String, String>;

fn config<T>(text: String) -> Result<T, CqlError> {
    Err(CqlError::config(text))
}

/// A whole number, or the text that says it is none.
pub(super) fn whole<T: std::str::FromStr>(map: &Map, name: &str, kind: &str) -> Result<Option<T>, CqlError> {
    let Some(text) = map.get(name) else { return Ok(None) };
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) => config(format!("{text} is not a parsable {kind} (base10) for {name}")),
    }
}

fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn check_common(map: &Map) -> Result<(), CqlError> {
    if let Some(text) = map.get("tombstone_threshold") {
        match java::parse_double(text) {
            None => {
                return config(format!("{text} is not a parsable int (base10) for tombstone_threshold"));
            }
            Some(value) if value < 0.0 => {
                let value = value as f32;
                return config(format!("tombstone_threshold must be greater than 0, but was {value:.6}"));
            }
            Some(_) => {}
        }
    }
    if let Some(value) = whole::<i64>(map, "tombstone_compaction_interval", "int")?
        && value < 0
    {
        return config(format!("tombstone_compaction_interval must be greater than 0, but was {value}"));
    }
    if let Some(text) = map.get("unchecked_tombstone_compaction").filter(|text| !is_boolean(text)) {
        return config(format!(
            "'unchecked_tombstone_compaction' should be either 'true' or 'false', not '{text}'"
        ));
    }
    if let Some(text) = map.get("log_all").filter(|text| !is_boolean(text)) {
        return config(format!("'log_all' should either be 'true' or 'false', not {text}"));
    }
    if let Some(text) = map.get("enabled").filter(|text| !is_boolean(text)) {
        return config(format!("enabled should either be 'true' or 'false', not {text}"));
    }
    Ok(())
}

fn check_size_tiered(map: &Map) -> Result<(), CqlError> {
    if let Some(value) = whole::<i64>(map, "min_sstable_size", "int")?
        && value < 0
    {
        return config(format!("min_sstable_size must be non negative: {value}"));
    }
    let number = |name: &str, default: f64| match map.get(name) {
        None => Ok(default),
        Some(text) => java::parse_double(text)
            .ok_or_else(|| CqlError::config(format!("{text} is not a parsable float for {name}"))),
    };
    let (low, high) = (number("bucket_low", 0.5)?, number("bucket_high", 1.5)?);
    if high <= low {
        return config(format!(
            "bucket_high value ({}) is less than or equal to the bucket_low value ({})",
            java::double(high),
            java::double(low)
        ));
    }
    Ok(())
}

fn check_leveled(map: &Map) -> Result<(), CqlError> {
    let size: i32 = whole(map, "sstable_size_in_mb", "int")?.unwrap_or(1);
    if size < 1 {
        return config(format!("sstable_size_in_mb must be larger than 0, but was {size}"));
    }
    let fanout: i32 = whole(map, "fanout_size", "int")?.unwrap_or(10);
    if fanout < 1 {
        return config(format!("fanout_size must be larger than 0, but was {fanout}"));
    }
    let largest = BigInt::from(fanout).pow(8) * BigInt::from(i64::from(size) << 20);
    if largest > BigInt::from(i64::MAX) {
        return config(format!(
            "At most {} bytes may be in a compaction level; your maxSSTableSize must be absurdly high to compute {largest}",
            i64::MAX
        ));
    }
    Ok(())
}

fn check_time_window(map: &Map) -> Result<(), CqlError> {
    let one_of = |name: &str, units: &[&str]| match map.get(name) {
        Some(unit) if !units.contains(&unit.as_str()) => config(format!("{unit} is not valid for {name}")),
        _ => Ok(()),
    };
    one_of("timestamp_resolution", &["SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS"])?;
    one_of("compaction_window_unit", &["MINUTES", "HOURS", "DAYS"])?;
    if let Some(size) = whole::<i32>(map, "compaction_window_size", "int")?
        && size < 1
    {
        return config(format!("{size} must be greater than 1 for compaction_window_size"));
    }
    let frequency = "expired_sstable_check_frequency_seconds";
    if let Some(value) = whole::<i64>(map, frequency, "int")?
        && value < 0
    {
        return config(format!("{frequency} must not be negative, but was {value}"));
    }
    let aggressive = "unsafe_aggressive_sstable_expiration";
    match map.get(aggressive) {
        Some(text) if !is_boolean(text) => config(format!("{aggressive} is not 'true' or 'false' ({text})")),
        Some(text) if text.eq_ignore_ascii_case("true") => config(format!(
            "{aggressive} is requested but not allowed, restart cassandra with -Dcassandra.allow_unsafe_aggressive_sstable_expiration=true to allow it"
        )),
        _ => Ok(()),
    }
}

fn check_thresholds(map: &Map) -> Result<(), CqlError> {
    let threshold = |name: &str, default: i32| match map.get(name) {
        None => Ok(default),
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse::<i32>().map_err(|_| {
                CqlError::server(format!("java.lang.NumberFormatException: For input string: \"{text}\""))
            })
        }
        Some(text) => {
            config(format!("Invalid value {text} for '{name}' compaction sub-option - must be an integer"))
        }
    };
    let (min, max) = (threshold("min_threshold", 4)?, threshold("max_threshold", 32)?);
    if min <= 0 || max <= 0 {
        return config(
            "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option 'enabled' to false instead.".to_owned(),
        );
    }
    if min <= 1 {
        return config(format!("Min compaction threshold cannot be less than 2 (got {min})"));
    }
    if min > max {
        return config(format!(
            "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})"
        ));
    }
    Ok(())
}
