//! RocksDB's log files as files: which is the newest, and whether it ends in a record that was cut short. RocksDB
//! says neither: it passes over what is cut short, and does not miss a newest log that is gone when older ones are there.
//!
//! Knows how records are framed (blocks of 32 KiB; a record lies in one block or is cut at the ends of blocks), nothing
//! of what is in them. What is damaged is found by RocksDB, which checks every record.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const BLOCK: u64 = 32 << 10;
/// Checksum, length and kind of a piece of a record.
const HEADER: u64 = 7;
/// The same of a log file that is used again, with the log's number. Ours are not, but the kinds exist.
const RECYCLABLE_HEADER: u64 = 11;

/// What a crash left at the end of a log: a record that was being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutShort {
    /// The log.
    pub log: PathBuf,
    /// Where the record begins.
    pub at: u64,
    /// So many bytes of it are there.
    pub bytes: u64,
}

impl std::fmt::Display for CutShort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CutShort { log, at, bytes } = self;
        write!(
            f,
            "{} ends, from byte {at}, in {bytes} bytes of a record that was cut short: that write is dropped. It was not \
             acknowledged, unless commitlog_sync is periodic and the machine went down",
            log.display()
        )
    }
}

/// The number of a log file.
fn log_number(path: &Path) -> Option<u64> {
    if path.extension()? != "log" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

/// The logs of a database and their numbers, oldest first.
pub(crate) fn logs(database: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(database)? {
        let path = entry?.path();
        if let Some(number) = log_number(&path) {
            logs.push((number, path));
        }
    }
    logs.sort_unstable();
    Ok(logs)
}

/// What is cut short at the end of a database's newest log with something in it, before RocksDB opens it.
pub(crate) fn cut_short(database: &Path) -> io::Result<Option<CutShort>> {
    for (_, path) in logs(database)?.into_iter().rev() {
        let length = fs::metadata(&path)?.len();
        if length > 0 {
            let found = end_of(&mut File::open(&path)?, length)?;
            return Ok(found.map(|(at, bytes)| CutShort { log: path, at, bytes }));
        }
    }
    Ok(None)
}

/// How the pieces in a block end.
#[derive(Clone, Copy)]
enum End {
    /// There are none.
    Nothing,
    /// All records are whole.
    Whole,
    /// A record begins here and goes on in the next block, or is cut short.
    Begun(u64),
    /// Only pieces from the middle of a record that began in an earlier block; or the first is cut short, and so may be
    /// one of those.
    Middle,
}

/// Where the record begins that is cut short at the end of a log, and how long it is.
fn end_of(file: &mut (impl Read + Seek), length: u64) -> io::Result<Option<(u64, u64)>> {
    let mut bytes = Vec::new();
    // Where the pieces begin that belong to a record of an earlier block.
    let mut middle = None;
    for block in (0..=(length - 1) / BLOCK).rev() {
        let start = block * BLOCK;
        bytes.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(BLOCK).read_to_end(&mut bytes)?;
        match end_of_block(&bytes) {
            End::Nothing => {}
            End::Whole => break,
            End::Begun(at) => return Ok(Some((start + at, length - start - at))),
            End::Middle => middle = Some(start),
        }
    }
    Ok(middle.map(|at| (at, length - at)))
}

fn end_of_block(bytes: &[u8]) -> End {
    const FIRST: [u8; 2] = [2, 6];
    const MIDDLE: [u8; 2] = [3, 7];
    let length = bytes.len() as u64;
    let (mut at, mut end) = (0, End::Nothing);
    loop {
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        if is_padding(rest, at) {
            return end;
        }
        let [_, _, _, _, low, high, kind, ..] = rest else { return cut(end, at) };
        let header = if (5..=8).contains(kind) { RECYCLABLE_HEADER } else { HEADER };
        let next = at + header + u64::from(u16::from_le_bytes([*low, *high]));
        if next > length {
            return cut(end, at);
        }
        end = match (kind, end) {
            (kind, _) if FIRST.contains(kind) => End::Begun(at),
            (kind, End::Begun(first)) if MIDDLE.contains(kind) => End::Begun(first),
            (kind, _) if MIDDLE.contains(kind) => End::Middle,
            _ => End::Whole,
        };
        at = next;
    }
}

/// How a block ends whose piece at `at` is cut short, behind others that end with `end`.
fn cut(end: End, at: u64) -> End {
    match end {
        End::Begun(first) => End::Begun(first),
        End::Nothing | End::Middle => End::Middle,
        End::Whole => End::Begun(at),
    }
}

/// Nothing, the rest of a block that holds no header, or zeros to the end of what is there.
fn is_padding(rest: &[u8], at: u64) -> bool {
    BLOCK - at < HEADER || rest.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests;
