//! Table options from `WITH` properties (`TableAttributes`, `TableParams`): every option of
//! Cassandra 5.0 is read and checked with its words. What an option does is not known here.

mod caching;
mod compaction;
mod compression;
mod effect;
mod human;
mod speculative_retry;
mod unified;

use std::collections::BTreeMap;

use basalt_cql::ast::Property;
use basalt_model::CqlError;
use basalt_model::schema::TableOptions;
use uuid::Uuid;

use super::java;
use super::properties::Properties;

pub use effect::without_effect;

/// The largest TTL, seconds (`Attributes.MAX_TTL`): 20 years.
pub const TTL_MAX_S: i32 = 20 * 365 * 24 * 60 * 60;

/// The smallest false positive chance a bloom filter can have (`BloomCalculations`), exclusive.
const BLOOM_FILTER_CHANCE_MIN: f64 = 6.71e-5;

const KNOWN: [&str; 21] = [
    "allow_auto_snapshot",
    "bloom_filter_fp_chance",
    "caching",
    "comment",
    "compaction",
    "compression",
    "memtable",
    "default_time_to_live",
    "extensions",
    "gc_grace_seconds",
    "incremental_backups",
    "max_index_interval",
    "memtable_flush_period_in_ms",
    "min_index_interval",
    "speculative_retry",
    "additional_write_policy",
    "crc_check_chance",
    "cdc",
    "read_repair",
    "auto_repair",
    "id",
];

/// The options of a new table.
///
/// # Errors
/// As [`altered_options`].
pub fn new_options(properties: &[Property]) -> Result<TableOptions, CqlError> {
    let attributes = Properties(properties);
    check(attributes)?;
    build(attributes, TableOptions::default(), true)
}

/// `previous` with the properties applied.
///
/// # Errors
/// With Cassandra's code and text.
pub fn altered_options(properties: &[Property], previous: &TableOptions) -> Result<TableOptions, CqlError> {
    let attributes = Properties(properties);
    check(attributes)?;
    if table_id(properties)?.is_some() {
        return Err(CqlError::config("Cannot alter table id."));
    }
    build(attributes, previous.clone(), false)
}

/// `WITH ID = ...`.
///
/// # Errors
/// When it is not a UUID.
pub fn table_id(properties: &[Property]) -> Result<Option<Uuid>, CqlError> {
    match Properties(properties).text("id")? {
        None => Ok(None),
        Some(text) => match java::parse_uuid(text) {
            Some(id) => Ok(Some(id)),
            None => Err(CqlError::config("Invalid table id")),
        },
    }
}

/// What Cassandra checks of the statement alone: unknown names, and the options over defaults.
fn check(attributes: Properties<'_>) -> Result<(), CqlError> {
    attributes.check_known(&KNOWN)?;
    if attributes.has("auto_repair") {
        return Err(CqlError::config(
            "auto_repair option is not supported unless auto-repair is enabled with -Dcassandra.autorepair.enable=true",
        ));
    }
    validate(&build(attributes, TableOptions::default(), true)?)
}

fn build(
    attributes: Properties<'_>,
    mut options: TableOptions,
    is_new: bool,
) -> Result<TableOptions, CqlError> {
    macro_rules! set {
        ($read:ident, $field:ident) => {
            if let Some(value) = attributes.$read(stringify!($field))? {
                options.$field = value;
            }
        };
    }
    set!(boolean, allow_auto_snapshot);
    set!(double, bloom_filter_fp_chance);
    if let Some(map) = attributes.map("caching")? {
        options.caching = caching::caching(&map)?;
    }
    if let Some(text) = attributes.text("comment")? {
        options.comment = text.to_owned();
    }
    if let Some(map) = attributes.map("compaction")? {
        options.compaction = compaction::compaction(map)?;
        if is_new && !attributes.has("bloom_filter_fp_chance") {
            options.bloom_filter_fp_chance = compaction::default_bloom_filter_chance(&options.compaction);
        }
    }
    if let Some(map) = attributes.map("compression")? {
        options.compression = compression::compression(map)?;
    }
    if let Some(text) = attributes.text("memtable")? {
        options.memtable = memtable(text)?;
    }
    set!(int, default_time_to_live);
    set!(int, gc_grace_seconds);
    set!(boolean, incremental_backups);
    set!(int, max_index_interval);
    set!(int, memtable_flush_period_in_ms);
    set!(int, min_index_interval);
    if let Some(text) = attributes.text("speculative_retry")? {
        options.speculative_retry = speculative_retry::policy(text)?;
    }
    if let Some(text) = attributes.text("additional_write_policy")? {
        options.additional_write_policy = speculative_retry::policy(text)?;
    }
    set!(double, crc_check_chance);
    set!(boolean, cdc);
    if let Some(text) = attributes.text("read_repair")? {
        options.read_repair = read_repair(text)?;
    }
    Ok(options)
}

/// `TableParams.validate`.
fn validate(options: &TableOptions) -> Result<(), CqlError> {
    let fail = |text: String| Err(CqlError::config(text));
    compaction::validate(&options.compaction)?;
    let chance = options.bloom_filter_fp_chance;
    if chance <= BLOOM_FILTER_CHANCE_MIN || chance > 1.0 {
        return fail(format!(
            "bloom_filter_fp_chance must be larger than {} and less than or equal to 1.0 (got {})",
            java::double(BLOOM_FILTER_CHANCE_MIN),
            java::double(chance)
        ));
    }
    let chance = options.crc_check_chance;
    if !(0.0..=1.0).contains(&chance) && !chance.is_nan() {
        return fail(format!(
            "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {})",
            java::double(chance)
        ));
    }
    let ttl = options.default_time_to_live;
    if ttl < 0 {
        return fail(format!("default_time_to_live must be greater than or equal to 0 (got {ttl})"));
    }
    if ttl > TTL_MAX_S {
        return fail(format!("default_time_to_live must be less than or equal to {TTL_MAX_S} (got {ttl})"));
    }
    let grace = options.gc_grace_seconds;
    if grace < 0 {
        return fail(format!("gc_grace_seconds must be greater than or equal to 0 (got {grace})"));
    }
    let (min, max) = (options.min_index_interval, options.max_index_interval);
    if min < 1 {
        return fail(format!("min_index_interval must be greater than or equal to 1 (got {min})"));
    }
    if max < min {
        return fail(format!(
            "max_index_interval must be greater than or equal to min_index_interval ({min}) (got {max})"
        ));
    }
    let period = options.memtable_flush_period_in_ms;
    if period < 0 {
        return fail(format!(
            "memtable_flush_period_in_ms must be greater than or equal to 0 (got {period})"
        ));
    }
    Ok(())
}

/// The name of a memtable configuration of Cassandra's own `cassandra.yaml`. `None` stands for
/// the default, as `system_schema` stores it.
fn memtable(name: &str) -> Result<Option<String>, CqlError> {
    match name {
        "default" => Ok(None),
        "skiplist" | "trie" => Ok(Some(name.to_owned())),
        other => Err(CqlError::config(format!("Memtable configuration \"{other}\" not found."))),
    }
}

fn read_repair(text: &str) -> Result<String, CqlError> {
    match text.to_uppercase().as_str() {
        strategy @ ("NONE" | "BLOCKING") => Ok(strategy.to_owned()),
        other => Err(CqlError::server(format!(
            "java.lang.IllegalArgumentException: No enum constant org.apache.cassandra.service.reads.repair.ReadRepairStrategy.{other}"
        ))),
    }
}

/// What a stored option map must still pass when it is read back.
///
/// # Errors
/// When it does not: the rows are damaged.
pub fn stored_maps(
    caching_map: &BTreeMap<String, String>,
    compaction_map: BTreeMap<String, String>,
    compression_map: BTreeMap<String, String>,
) -> Result<
    (
        basalt_model::schema::CachingOptions,
        basalt_model::schema::CompactionOptions,
        basalt_model::schema::CompressionOptions,
    ),
    CqlError,
> {
    Ok((
        caching::caching(caching_map)?,
        compaction::compaction(compaction_map)?,
        compression::compression(compression_map)?,
    ))
}
