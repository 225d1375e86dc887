//! What a table's options become in RocksDB: which are set when its family is made or opened, and which later too. What users are told
//! of it stands in `docs/operations/table-options.md`.

use basalt_storage::engine::StorageOptions;
use basalt_storage::engine::options::{Codec, Shape};
use rocksdb::{BlockBasedOptions, BlockBasedTablePinningTier, DBCompactionStyle, Options};

use crate::pace::{ROCKSDB_SLOWS_AFTER, ROCKSDB_STOPS_AFTER};

/// Blocks that shrink by less than an eighth are kept as they are, if `min_compress_ratio` does not say more: RocksDB's own.
const KEPT_PER_KIB: u32 = 896;

/// RocksDB's word for the codec's own level.
const LEVEL_DEFAULT: i32 = 32_767;

/// As many runs, or files of the first level, start a merge in a leveled family: RocksDB's own.
pub(crate) const LEVELED_TRIGGER: u32 = 4;

/// Beyond this a `min_threshold` would let reads look into too many runs.
const TRIGGER_MAX: u32 = 32;

/// A key that is written again and again before its memtable is flushed has at most so many versions there: the next write
/// puts what they come to in their place, so that no read folds more. Also when that has to be looked up on disk, which
/// happens once for a key and memtable: else each further write would look in vain, and see all versions each time.
const FOLDED: &str = "max_successive_merges=64;strict_max_successive_merges=true";

/// RocksDB takes blocks up to 4 GiB; beyond this a point read has no business.
const BLOCK_MAX: u32 = 4 << 20;

/// Bits for a key of a Bloom filter with this chance of a false positive: `ln(1/p) / ln(2)^2`, and what RocksDB's filter, which keeps a
/// key's bits in one cache line, needs more than an ideal one, the more the longer it is. `None` for no filter.
fn bloom_bits(chance: f64) -> Option<f64> {
    if chance >= 1.0 {
        return None;
    }
    let ideal = -chance.ln() / std::f64::consts::LN_2.powi(2);
    let overhead = 1.0 + 0.005 * ideal;
    // RocksDB refuses less than one and more than a hundred.
    Some((ideal * overhead).clamp(1.0, 100.0))
}

/// So many runs, or files of the first level, start a merge.
pub(crate) fn trigger(options: &StorageOptions) -> u32 {
    match options.shape {
        Shape::Leveled { .. } => LEVELED_TRIGGER,
        Shape::Tiered { min_runs, .. } => min_runs.clamp(2, TRIGGER_MAX),
    }
}

/// Options that RocksDB changes while a family is open, as it names them.
pub(crate) fn changeable(options: &StorageOptions) -> Vec<(&'static str, String)> {
    let (codec, level) = match options.codec {
        Codec::None => ("kNoCompression", LEVEL_DEFAULT),
        Codec::Lz4 => ("kLZ4Compression", LEVEL_DEFAULT),
        Codec::Lz4High(level) => ("kLZ4HCCompression", level),
        Codec::Zstd(level) => ("kZSTD", level),
    };
    let kept = match options.min_compress_ratio {
        ratio if ratio >= 1.0 => (1024.0 / ratio) as u32,
        _ => KEPT_PER_KIB,
    };
    let mut all = vec![
        ("compression", codec.to_owned()),
        ("compression_opts", format!("{{level={level};max_compressed_bytes_per_kb={kept}}}")),
        ("disable_auto_compactions", (!options.is_compacting).to_string()),
    ];
    match options.shape {
        Shape::Leveled { file_bytes, fanout } => {
            let base = file_bytes.saturating_mul(u64::from(fanout)).min(1 << 50);
            all.push(("target_file_size_base", file_bytes.min(1 << 50).to_string()));
            all.push(("max_bytes_for_level_base", base.to_string()));
            all.push(("max_bytes_for_level_multiplier", fanout.to_string()));
        }
        Shape::Tiered { min_runs, max_runs } => {
            let min_runs = min_runs.clamp(2, TRIGGER_MAX);
            let widths = format!("{{min_merge_width={min_runs};max_merge_width={}}}", max_runs.max(min_runs));
            all.push(("compaction_options_universal", widths));
        }
    }
    let trigger = trigger(options);
    all.push(("level0_file_num_compaction_trigger", trigger.to_string()));
    // Writers wait for merges by our own pace, long before RocksDB slows or stops them.
    all.push(("level0_slowdown_writes_trigger", (u64::from(trigger) + ROCKSDB_SLOWS_AFTER).to_string()));
    all.push(("level0_stop_writes_trigger", (u64::from(trigger) + ROCKSDB_STOPS_AFTER).to_string()));
    // The same of bytes; and without a limit RocksDB merges as much at a time as it has threads for.
    all.push(("soft_pending_compaction_bytes_limit", "0".to_owned()));
    all.push(("hard_pending_compaction_bytes_limit", "0".to_owned()));
    all
}

/// What [`changeable`] has no part in, but RocksDB changes in an open family too.
pub(crate) fn changeable_blocks(options: &StorageOptions) -> (&'static str, String) {
    let filter = match bloom_bits(options.bloom_filter_fp_chance) {
        Some(bits) => format!("bloomfilter:{bits:.3}:false"),
        None => "nullptr".to_owned(),
    };
    let block = block_bytes(options);
    ("block_based_table_factory", format!("{{block_size={block};filter_policy={filter}}}"))
}

fn block_bytes(options: &StorageOptions) -> u32 {
    options.chunk_bytes.clamp(1 << 10, BLOCK_MAX)
}

/// Sets the blocks of a family that is made or opened.
pub(crate) fn set_blocks(blocks: &mut BlockBasedOptions, options: &StorageOptions) {
    if let Some(bits) = bloom_bits(options.bloom_filter_fp_chance) {
        blocks.set_bloom_filter(bits, false);
    }
    blocks.set_block_size(block_bytes(options) as usize);
    // Indexes and filters count against the one memory number. Those of fresh files stay, so that an absent key is
    // answered without the disk.
    if options.keeps_keys {
        blocks.set_top_level_index_pinning_tier(BlockBasedTablePinningTier::All);
        blocks.set_unpartitioned_pinning_tier(BlockBasedTablePinningTier::FlushAndSimilar);
    } else {
        blocks.set_top_level_index_pinning_tier(BlockBasedTablePinningTier::None);
        blocks.set_unpartitioned_pinning_tier(BlockBasedTablePinningTier::None);
    }
}

/// `base` with a table's options, for a family that is made or opened.
pub(crate) fn with(mut base: Options, options: &StorageOptions) -> Result<Options, rocksdb::Error> {
    base.set_compaction_style(match options.shape {
        Shape::Leveled { .. } => DBCompactionStyle::Level,
        Shape::Tiered { .. } => DBCompactionStyle::Universal,
    });
    let text: Vec<String> =
        changeable(options).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    base.get_options_from_string(format!("{};{FOLDED}", text.join(";")))
}

/// Whether a family with the one has to be opened anew to have the other.
pub(crate) fn needs_opening(now: &StorageOptions, next: &StorageOptions) -> bool {
    let is_tiered = |options: &StorageOptions| matches!(options.shape, Shape::Tiered { .. });
    is_tiered(now) != is_tiered(next) || now.keeps_keys != next.keeps_keys
}

#[cfg(test)]
mod tests {
    //! Numbers as RocksDB wants them.
    use super::*;

    #[test]
    fn filters_get_bits_for_their_chance() {
        let bits = |chance| bloom_bits(chance).map(|bits| (bits * 10.0).round() / 10.0);
        assert_eq!(bits(1.0), None);
        assert_eq!(bits(0.1), Some(4.9));
        assert_eq!(bits(0.01), Some(10.0));
        assert_eq!(bits(0.000_1), Some(21.0));
    }

    #[test]
    fn thresholds_are_bounded() {
        let options = StorageOptions {
            shape: Shape::Tiered { min_runs: 1_000, max_runs: 4 },
            min_compress_ratio: 2.0,
            ..StorageOptions::default()
        };
        let all = changeable(&options);
        let value =
            |name: &str| all.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str());
        assert_eq!(value("level0_file_num_compaction_trigger"), Some("32"));
        assert_eq!(value("compaction_options_universal"), Some("{min_merge_width=32;max_merge_width=32}"));
        assert_eq!(value("compression_opts"), Some("{level=32767;max_compressed_bytes_per_kb=512}"));
    }
}
