//! The file `basalt-options`: which options the families have, as text. RocksDB has to know them before it opens, so before the
//! catalogue can be read. Drawn in `docs/formats/engine-directory.md`.
//!
//! Losing it loses no data: families without a line have Cassandra's defaults, and a node gives every table its options again when it
//! starts. What cannot be read is refused all the same.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use basalt_storage::engine::StorageOptions;
use basalt_storage::engine::options::{Codec, Shape};

use crate::directory::replace_file;

const FILE: &str = "basalt-options";
const HEAD: &str = "basalt-options 1";

/// Options by the number of the family; those with the defaults are left out.
pub(crate) type FamilyOptions = BTreeMap<u32, StorageOptions>;

/// Why there are no options.
pub(crate) enum Unreadable {
    /// The system says.
    Io(io::Error),
    /// This line is none of ours.
    Line(String),
}

/// Reads the file in a directory; none is an empty one.
pub(crate) fn read(directory: &Path) -> Result<FamilyOptions, Unreadable> {
    let text = match fs::read(directory.join(FILE)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FamilyOptions::new()),
        Err(error) => return Err(Unreadable::Io(error)),
    };
    let strange = |line: &str| Unreadable::Line(format!("{FILE} has the line {line:?}"));
    let mut lines = text.lines();
    match lines.next() {
        Some(HEAD) => {}
        head => return Err(strange(head.unwrap_or_default())),
    }
    lines.map(|line| parse(line).ok_or_else(|| strange(line))).collect()
}

/// Replaces the file in one durable step.
pub(crate) fn write(directory: &Path, families: &FamilyOptions) -> io::Result<()> {
    let mut text = format!("{HEAD}\n");
    for (number, options) in families {
        text.push_str(&line(*number, options));
        text.push('\n');
    }
    replace_file(directory, FILE, text.as_bytes())
}

fn line(number: u32, options: &StorageOptions) -> String {
    let codec = match options.codec {
        Codec::None => "none".to_owned(),
        Codec::Lz4 => "lz4".to_owned(),
        Codec::Lz4High(level) => format!("lz4high:{level}"),
        Codec::Zstd(level) => format!("zstd:{level}"),
    };
    let shape = match options.shape {
        Shape::Leveled { file_bytes, fanout } => format!("leveled:{file_bytes}:{fanout}"),
        Shape::Tiered { min_runs, max_runs } => format!("tiered:{min_runs}:{max_runs}"),
    };
    format!(
        "own-{number} {codec} {} {} {} {} {shape} {} {}",
        options.chunk_bytes,
        options.min_compress_ratio,
        options.bloom_filter_fp_chance,
        options.keeps_keys,
        options.is_compacting,
        options.window_s.map_or(0, NonZeroU32::get),
    )
}

fn parse(line: &str) -> Option<(u32, StorageOptions)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [family, codec, chunk, ratio, chance, keeps_keys, shape, is_compacting, window] = words[..] else {
        return None;
    };
    let mut codec = codec.split(':');
    let codec = match (codec.next()?, codec.next()) {
        ("none", None) => Codec::None,
        ("lz4", None) => Codec::Lz4,
        ("lz4high", Some(level)) => Codec::Lz4High(level.parse().ok()?),
        ("zstd", Some(level)) => Codec::Zstd(level.parse().ok()?),
        _ => return None,
    };
    let shape: Vec<&str> = shape.split(':').collect();
    let shape = match shape[..] {
        ["leveled", bytes, fanout] => {
            Shape::Leveled { file_bytes: bytes.parse().ok()?, fanout: fanout.parse().ok()? }
        }
        ["tiered", min, max] => Shape::Tiered { min_runs: min.parse().ok()?, max_runs: max.parse().ok()? },
        _ => return None,
    };
    let options = StorageOptions {
        codec,
        chunk_bytes: chunk.parse().ok()?,
        min_compress_ratio: ratio.parse().ok()?,
        bloom_filter_fp_chance: chance.parse().ok()?,
        keeps_keys: keeps_keys.parse().ok()?,
        shape,
        is_compacting: is_compacting.parse().ok()?,
        window_s: NonZeroU32::new(window.parse().ok()?),
    };
    Some((crate::family::own_number(family)?, options))
}

#[cfg(test)]
mod tests {
    //! What is written is read back; anything else is refused.
    use super::*;

    #[test]
    fn lines_come_back() {
        let leveled = StorageOptions {
            codec: Codec::Zstd(-5),
            chunk_bytes: 65_536,
            min_compress_ratio: 1.5,
            bloom_filter_fp_chance: 0.1,
            keeps_keys: false,
            shape: Shape::Leveled { file_bytes: 160 << 20, fanout: 10 },
            is_compacting: false,
            window_s: NonZeroU32::new(86_400),
        };
        for options in [StorageOptions::default(), leveled] {
            let text = line(7, &options);
            assert_eq!(parse(&text), Some((7, options)), "{text}");
            assert_eq!(parse(&format!("{text} 1")), None);
            assert_eq!(parse(text.trim_end_matches(|c| c != ' ')), None);
        }
        assert_eq!(line(7, &leveled), "own-7 zstd:-5 65536 1.5 0.1 false leveled:167772160:10 false 86400");
        assert_eq!(parse("shared lz4 1 0 0.1 true tiered:4:32 true 0"), None);
    }
}
