//! Which table options are kept and shown but do nothing here: their users are told.

use basalt_cql::ast::Property;
use basalt_model::schema::TableOptions;

/// The options named in `properties` that have no effect with the value they got. Values that
/// are Cassandra's defaults ask for nothing, so that a replayed DESCRIBE is silent.
pub fn without_effect(properties: &[Property], options: &TableOptions) -> Vec<String> {
    let defaults = TableOptions::default();
    let differs = |name: &str| match name {
        "additional_write_policy" => options.additional_write_policy != defaults.additional_write_policy,
        "allow_auto_snapshot" => options.allow_auto_snapshot != defaults.allow_auto_snapshot,
        "bloom_filter_fp_chance" => options.bloom_filter_fp_chance != defaults.bloom_filter_fp_chance,
        "caching" => options.caching != defaults.caching,
        "cdc" => options.cdc,
        "compaction" => options.compaction != defaults.compaction,
        "compression" => options.compression != defaults.compression,
        "crc_check_chance" => options.crc_check_chance != defaults.crc_check_chance,
        "incremental_backups" => options.incremental_backups != defaults.incremental_backups,
        "max_index_interval" => options.max_index_interval != defaults.max_index_interval,
        "memtable" => options.memtable.is_some(),
        "memtable_flush_period_in_ms" => {
            options.memtable_flush_period_in_ms != defaults.memtable_flush_period_in_ms
        }
        "min_index_interval" => options.min_index_interval != defaults.min_index_interval,
        "read_repair" => options.read_repair != defaults.read_repair,
        "speculative_retry" => options.speculative_retry != defaults.speculative_retry,
        _ => false,
    };
    let mut names: Vec<String> = properties
        .iter()
        .filter(|property| {
            differs(property.name.as_str())
                || (property.name.as_str() == "extensions"
                    && property.value.as_map().is_some_and(|mut entries| entries.next().is_some()))
        })
        .map(|property| property.name.name.clone())
        .collect();
    names.sort();
    names
}
