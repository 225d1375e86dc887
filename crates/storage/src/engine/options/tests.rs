//! Cassandra's maps as numbers.

use basalt_model::schema::{CachingOptions, CompactionOptions, CompressionOptions};

use super::*;

fn map(entries: &[(&str, &str)]) -> Map {
    entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn compressed(class: &str, entries: &[(&str, &str)]) -> StorageOptions {
    let mut compression = map(entries);
    compression.insert("class".to_owned(), format!("org.apache.cassandra.io.compress.{class}"));
    StorageOptions::of(&TableOptions {
        compression: CompressionOptions(compression),
        ..TableOptions::default()
    })
}

fn compacted(class: &str, entries: &[(&str, &str)]) -> StorageOptions {
    let mut compaction = map(entries);
    compaction.insert("class".to_owned(), format!("org.apache.cassandra.db.compaction.{class}"));
    StorageOptions::of(&TableOptions { compaction: CompactionOptions(compaction), ..TableOptions::default() })
}

#[test]
fn a_table_without_options_has_cassandras() {
    let options = StorageOptions::default();
    assert_eq!(options.codec, Codec::Lz4);
    assert_eq!(options.chunk_bytes, 16 << 10);
    assert_eq!(options.bloom_filter_fp_chance, 0.01);
    assert_eq!(options.shape, Shape::Tiered { min_runs: 4, max_runs: 32 });
    assert!(options.keeps_keys && options.is_compacting && options.window_s.is_none());
}

#[test]
fn compressors_are_codecs() {
    assert_eq!(compressed("LZ4Compressor", &[("lz4_high_compressor_level", "3")]).codec, Codec::Lz4);
    assert_eq!(compressed("LZ4Compressor", &[("lz4_compressor_type", "high")]).codec, Codec::Lz4High(9));
    let high = [("lz4_compressor_type", "high"), ("lz4_high_compressor_level", "17")];
    assert_eq!(compressed("LZ4Compressor", &high).codec, Codec::Lz4High(17));
    assert_eq!(compressed("SnappyCompressor", &[]).codec, Codec::Lz4);
    assert_eq!(compressed("ZstdCompressor", &[]).codec, Codec::Zstd(3));
    assert_eq!(compressed("ZstdCompressor", &[("compression_level", "-5")]).codec, Codec::Zstd(-5));
    assert_eq!(compressed("DeflateCompressor", &[]).codec, Codec::Zstd(3));
    assert_eq!(compressed("NoopCompressor", &[]).codec, Codec::None);
    let off = CompressionOptions(map(&[("enabled", "false")]));
    assert_eq!(
        StorageOptions::of(&TableOptions { compression: off, ..TableOptions::default() }).codec,
        Codec::None
    );
    let chunk = compressed("LZ4Compressor", &[("chunk_length_in_kb", "64"), ("min_compress_ratio", "1.5")]);
    assert_eq!((chunk.chunk_bytes, chunk.min_compress_ratio), (64 << 10, 1.5));
}

#[test]
fn strategies_are_shapes() {
    let leveled = compacted("LeveledCompactionStrategy", &[]);
    assert_eq!(leveled.shape, Shape::Leveled { file_bytes: 160 << 20, fanout: 10 });
    let leveled =
        compacted("LeveledCompactionStrategy", &[("sstable_size_in_mb", "8"), ("fanout_size", "5")]);
    assert_eq!(leveled.shape, Shape::Leveled { file_bytes: 8 << 20, fanout: 5 });
    let tiered = [("min_threshold", "6"), ("max_threshold", "12"), ("enabled", "false")];
    let tiered = compacted("SizeTieredCompactionStrategy", &tiered);
    assert_eq!(tiered.shape, Shape::Tiered { min_runs: 6, max_runs: 12 });
    assert!(!tiered.is_compacting);
    for (parameters, shape) in [
        ("T4", Shape::Tiered { min_runs: 4, max_runs: 32 }),
        ("T8, T4, N", Shape::Tiered { min_runs: 2, max_runs: 32 }),
        ("N, L10", Shape::Leveled { file_bytes: 256 << 20, fanout: 10 }),
        ("-8", Shape::Leveled { file_bytes: 256 << 20, fanout: 10 }),
        ("4", Shape::Tiered { min_runs: 6, max_runs: 32 }),
        ("", Shape::Tiered { min_runs: 4, max_runs: 32 }),
    ] {
        let options = compacted("UnifiedCompactionStrategy", &[("scaling_parameters", parameters)]);
        assert_eq!(options.shape, shape, "{parameters:?}");
    }
}

#[test]
fn windows_have_a_length() {
    let window = |entries: &[(&str, &str)]| {
        compacted("TimeWindowCompactionStrategy", entries).window_s.map(NonZeroU32::get)
    };
    assert_eq!(window(&[]), Some(86_400));
    assert_eq!(window(&[("compaction_window_unit", "MINUTES"), ("compaction_window_size", "5")]), Some(300));
    assert_eq!(window(&[("compaction_window_unit", "HOURS")]), Some(3_600));
    assert_eq!(compacted("SizeTieredCompactionStrategy", &[]).window_s, None);
}

#[test]
fn keys_are_kept_unless_they_shall_not() {
    let caching = CachingOptions(map(&[("keys", "NONE"), ("rows_per_partition", "NONE")]));
    assert!(!StorageOptions::of(&TableOptions { caching, ..TableOptions::default() }).keeps_keys);
}
