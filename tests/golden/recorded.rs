//! The lines of a family of vectors: the repository's own, or with `BASALT_GOLDEN` those of a folder that
//! `oracle/golden.sh --count` wrote. Taken into the tests of crates with `#[path]`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The lines of a family, one after the other: a folder's files are larger than memory.
#[allow(clippy::disallowed_methods, reason = "tests are told by the environment where larger vectors are")]
pub fn recorded(family: &str) -> impl Iterator<Item = String> {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
    let folder = std::env::var("BASALT_GOLDEN").unwrap_or_else(|_| kept.to_owned());
    let name = format!("{family}.txt");
    let path = Path::new(&folder).join(&name);
    let file = File::open(&path).or_else(|_| File::open(Path::new(kept).join(&name)));
    let lines = BufReader::new(file.expect("the repository has every family")).lines();
    lines.map(|line| line.expect("lines of text")).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Says how many vectors were compared, and that they were not fewer than expected.
pub fn compared(what: &str, count: usize, at_least: usize) {
    println!("compared with Cassandra: {count} {what}");
    assert!(count >= at_least, "only {count} {what}");
}
