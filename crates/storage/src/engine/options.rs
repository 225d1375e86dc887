//! What the options of a table ask of an engine: compression, filters and how files are merged, in numbers. An engine
//! maps them to what it has; `docs/operations/table-options.md` says what becomes of each.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::str::FromStr;

use basalt_model::schema::TableOptions;

/// How blocks are compressed (`io/compress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all: `NoopCompressor`, and `enabled: false`.
    None,
    /// `LZ4Compressor`; `SnappyCompressor`, which is as quick, too.
    Lz4,
    /// `LZ4Compressor` of type `high`, with its level.
    Lz4High(i32),
    /// `ZstdCompressor` with its level; `DeflateCompressor`, which is as dense, too.
    Zstd(i32),
}

/// How files are merged (`db/compaction`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Levels, each of files that do not overlap, a level so many times as large as the one above.
    Leveled {
        /// Bytes of a file.
        file_bytes: u64,
        /// How many times.
        fanout: u32,
    },
    /// Runs of a size are merged into one, so many together.
    Tiered {
        /// At least.
        min_runs: u32,
        /// At most.
        max_runs: u32,
    },
}

/// What a table asks of its engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StorageOptions {
    /// `compression`.
    pub codec: Codec,
    /// `chunk_length_in_kb`, in bytes: what is compressed, and read from the disk, as one.
    pub chunk_bytes: u32,
    /// `min_compress_ratio`: chunks that shrink less are kept as they are; 0 leaves it to the engine.
    pub min_compress_ratio: f64,
    /// `bloom_filter_fp_chance`; 1 for no filter.
    pub bloom_filter_fp_chance: f64,
    /// `caching` with `keys: ALL`: filters and indexes of new files stay in memory.
    pub keeps_keys: bool,
    /// `compaction`.
    pub shape: Shape,
    /// False with `enabled: false` in `compaction`: files are merged when somebody asks for it only.
    pub is_compacting: bool,
    /// TimeWindowCompactionStrategy: files of different windows, of so many seconds, are not merged.
    pub window_s: Option<NonZeroU32>,
}

/// `LeveledCompactionStrategy`'s `sstable_size_in_mb` and `fanout_size`.
const LEVELED_FILE_MB: u64 = 160;
const LEVELED_FANOUT: u32 = 10;

/// `min_threshold` and `max_threshold`.
const THRESHOLDS: (u32, u32) = (4, 32);

/// `ZstdCompressor`'s level, and that of `LZ4Compressor` when it is of type `high`.
const ZSTD_LEVEL: i32 = 3;
const LZ4_HIGH_LEVEL: i32 = 9;

/// A quarter of UnifiedCompactionStrategy's `target_sstable_size`, which is 1 GiB, has its sense here: there are no shards.
const UNIFIED_FILE_BYTES: u64 = 256 << 20;

impl Default for StorageOptions {
    fn default() -> StorageOptions {
        StorageOptions::of(&TableOptions::default())
    }
}

type Map = BTreeMap<String, String>;

/// A value that was checked when the table was made; what does not read is as if it was not there.
fn number<T: FromStr>(map: &Map, name: &str) -> Option<T> {
    map.get(name)?.trim().parse().ok()
}

fn class(map: &Map) -> &str {
    map.get("class").map_or("", |class| class.rsplit('.').next().unwrap_or(class))
}

impl StorageOptions {
    /// Of a table with these options.
    pub fn of(options: &TableOptions) -> StorageOptions {
        let compression = &options.compression.0;
        let compaction = &options.compaction.0;
        let kib: u32 = number(compression, "chunk_length_in_kb").unwrap_or(16);
        StorageOptions {
            codec: codec(compression),
            chunk_bytes: kib.saturating_mul(1024),
            min_compress_ratio: number(compression, "min_compress_ratio").unwrap_or(0.0),
            bloom_filter_fp_chance: options.bloom_filter_fp_chance,
            keeps_keys: options.caching.0.get("keys").is_none_or(|keys| keys != "NONE"),
            shape: shape(compaction),
            is_compacting: !compaction.get("enabled").is_some_and(|text| text.eq_ignore_ascii_case("false")),
            window_s: window_s(compaction),
        }
    }
}

fn codec(compression: &Map) -> Codec {
    match class(compression) {
        "LZ4Compressor" if compression.get("lz4_compressor_type").is_some_and(|kind| kind == "high") => {
            Codec::Lz4High(number(compression, "lz4_high_compressor_level").unwrap_or(LZ4_HIGH_LEVEL))
        }
        "LZ4Compressor" | "SnappyCompressor" => Codec::Lz4,
        "ZstdCompressor" => Codec::Zstd(number(compression, "compression_level").unwrap_or(ZSTD_LEVEL)),
        "DeflateCompressor" => Codec::Zstd(ZSTD_LEVEL),
        _ => Codec::None,
    }
}

fn shape(compaction: &Map) -> Shape {
    match class(compaction) {
        "LeveledCompactionStrategy" => {
            let file_mb: u64 = number(compaction, "sstable_size_in_mb").unwrap_or(LEVELED_FILE_MB);
            let fanout = number(compaction, "fanout_size").unwrap_or(LEVELED_FANOUT);
            Shape::Leveled { file_bytes: file_mb.saturating_mul(1 << 20), fanout: fanout.max(2) }
        }
        "UnifiedCompactionStrategy" => {
            unified(compaction.get("scaling_parameters").map_or("T4", String::as_str))
        }
        _ => Shape::Tiered {
            min_runs: number(compaction, "min_threshold").unwrap_or(THRESHOLDS.0),
            max_runs: number(compaction, "max_threshold").unwrap_or(THRESHOLDS.1),
        },
    }
}

/// UnifiedCompactionStrategy's `scaling_parameters`, one for each level. The last one counts: it is that of the level with most of the
/// data, and of all below. `N` and `T2` are the same.
fn unified(parameters: &str) -> Shape {
    let last = parameters.trim_end_matches(',').rsplit(',').next().unwrap_or_default().trim();
    // As `UnifiedCompactionStrategy.parseScalingParameter` has it: below zero leveled, above tiered, fan factor two more.
    let fanout = |text: &str| text.parse::<i64>().unwrap_or(4);
    let scaling: i64 = match last.chars().next() {
        Some('L') => 2 - fanout(&last[1..]),
        Some('T') => fanout(&last[1..]) - 2,
        Some('N') => 0,
        _ => last.parse().unwrap_or(2),
    };
    let fan = u32::try_from(scaling.unsigned_abs().saturating_add(2)).unwrap_or(u32::MAX);
    match scaling < 0 {
        true => Shape::Leveled { file_bytes: UNIFIED_FILE_BYTES, fanout: fan },
        false => Shape::Tiered { min_runs: fan, max_runs: fan.max(THRESHOLDS.1) },
    }
}

/// TimeWindowCompactionStrategy's window.
fn window_s(compaction: &Map) -> Option<NonZeroU32> {
    if class(compaction) != "TimeWindowCompactionStrategy" {
        return None;
    }
    let unit_s = match compaction.get("compaction_window_unit").map(String::as_str) {
        Some("MINUTES") => 60,
        Some("HOURS") => 3_600,
        _ => 86_400,
    };
    let size: u32 = number(compaction, "compaction_window_size").unwrap_or(1);
    NonZeroU32::new(size.saturating_mul(unit_s))
}

#[cfg(test)]
mod tests;
