//! Which table options are kept and shown but do nothing here: their users are told.

use std::collections::BTreeMap;

use basalt_cql::ast::Property;
use basalt_model::schema::TableOptions;

/// The options named in `properties` that have no effect with the value they got; of `compaction` and `caching` the
/// sub-options, as `compaction.log_all`. Values that are Cassandra's defaults ask for nothing, so that a replayed
/// DESCRIBE is silent.
pub fn without_effect(properties: &[Property], options: &TableOptions) -> Vec<String> {
    let mut names: Vec<String> = properties.iter().flat_map(|property| idle(property, options)).collect();
    names.sort();
    names
}

fn idle(property: &Property, options: &TableOptions) -> Vec<String> {
    let defaults = TableOptions::default();
    let name = property.name.as_str();
    let is_idle = match name {
        "additional_write_policy" => options.additional_write_policy != defaults.additional_write_policy,
        "caching" => return idle_caching(&options.caching.0),
        "cdc" => options.cdc,
        "compaction" => return idle_compaction(&options.compaction.0),
        "crc_check_chance" => options.crc_check_chance != defaults.crc_check_chance,
        "extensions" => property.value.as_map().is_some_and(|mut entries| entries.next().is_some()),
        "incremental_backups" => options.incremental_backups != defaults.incremental_backups,
        "max_index_interval" => options.max_index_interval != defaults.max_index_interval,
        "memtable" => options.memtable.is_some(),
        "min_index_interval" => options.min_index_interval != defaults.min_index_interval,
        "read_repair" => options.read_repair != defaults.read_repair,
        "speculative_retry" => options.speculative_retry != defaults.speculative_retry,
        _ => false,
    };
    if is_idle { vec![property.name.name.clone()] } else { Vec::new() }
}

/// There is no row cache, as in Cassandra by default.
fn idle_caching(caching: &BTreeMap<String, String>) -> Vec<String> {
    let has_rows = caching.get("rows_per_partition").is_some_and(|rows| rows != "NONE");
    if has_rows { vec!["caching.rows_per_partition".to_owned()] } else { Vec::new() }
}

/// Sub-options that do what they say, by strategy; `class` and `enabled` do in all.
const EFFECTIVE: [(&str, &[&str]); 4] = [
    ("SizeTieredCompactionStrategy", &["min_threshold", "max_threshold"]),
    ("LeveledCompactionStrategy", &["sstable_size_in_mb", "fanout_size"]),
    (
        "TimeWindowCompactionStrategy",
        &["min_threshold", "max_threshold", "compaction_window_size", "compaction_window_unit"],
    ),
    ("UnifiedCompactionStrategy", &["scaling_parameters"]),
];

/// What the others are without being said.
const DEFAULTS: [(&str, &str); 19] = [
    ("base_shard_count", "4"),
    ("bucket_high", "1.5"),
    ("bucket_low", "0.5"),
    ("expired_sstable_check_frequency_seconds", "600"),
    ("log_all", "false"),
    ("max_threshold", "32"),
    ("min_sstable_size", "52428800"),
    ("min_threshold", "4"),
    ("only_purge_repaired_tombstones", "false"),
    ("overlap_inclusion_method", "TRANSITIVE"),
    ("provide_overlapping_tombstones", "NONE"),
    ("single_sstable_uplevel", "false"),
    ("sstable_growth", "0.333"),
    ("target_sstable_size", "1GiB"),
    ("timestamp_resolution", "MICROSECONDS"),
    ("tombstone_compaction_interval", "86400"),
    ("tombstone_threshold", "0.2"),
    ("unchecked_tombstone_compaction", "false"),
    ("unsafe_aggressive_sstable_expiration", "false"),
];

fn idle_compaction(compaction: &BTreeMap<String, String>) -> Vec<String> {
    let class = compaction.get("class").and_then(|class| class.rsplit('.').next()).unwrap_or_default();
    let effective =
        EFFECTIVE.iter().find(|(strategy, _)| *strategy == class).map_or(&[][..], |(_, names)| names);
    let is_default = |name: &str, value: &str| {
        DEFAULTS.iter().any(|(other, default)| *other == name && value.eq_ignore_ascii_case(default))
    };
    compaction
        .iter()
        .filter(|(name, value)| {
            let name = name.as_str();
            !matches!(name, "class" | "enabled") && !effective.contains(&name) && !is_default(name, value)
        })
        .map(|(name, _)| format!("compaction.{name}"))
        .collect()
}
