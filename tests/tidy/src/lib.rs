//! The repository's own rules, as tests: the crate graph, the shape of files, who may name what, and that pages
//! agree with the code.
//!
//! This file only knows how to list and read the repository; each rule is a test in `tests/`. It knows no crate of
//! ours and is no part of the product.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository is where it was built")
}

/// A text file of the repository.
pub struct Text {
    /// Path from the root, with `/`.
    pub path: String,
    /// The whole file.
    pub content: String,
}

impl Text {
    /// True if the file holds only tests: an integration test, a sibling `tests.rs`, or a folder of tests.
    pub fn is_test(&self) -> bool {
        let test_folder = self.path.split('/').any(|part| part == "tests");
        test_folder || self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs")
    }

    /// The lines with their numbers (from 1), without those that are comments as a whole.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.content.lines().enumerate().map(|(index, line)| (index + 1, line));
        numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// All text files that belong to the repository (as git sees it: tracked, or new and not ignored), in order.
///
/// Files that are not UTF-8 are left out: rules are about text.
pub fn texts() -> Vec<Text> {
    let root = root();
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let mut paths: Vec<String> = String::from_utf8_lossy(&listed.stdout)
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(String::from)
        .collect();
    paths.sort();
    paths.dedup();
    let read = |path: String| {
        let content = fs::read_to_string(root.join(&path)).ok()?;
        Some(Text { path, content })
    };
    paths.into_iter().filter_map(read).collect()
}

/// The Rust sources among [`texts`].
pub fn rust_sources() -> Vec<Text> {
    texts().into_iter().filter(|text| text.path.ends_with(".rs")).collect()
}

/// One page of the repository.
///
/// # Panics
/// If it is not there: a page that a rule reads must exist.
pub fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of the first fenced block with this label in a page.
pub fn fenced<'a>(page: &'a str, label: &str) -> Vec<&'a str> {
    let fence = format!("```{label}");
    page.lines().skip_while(|line| *line != fence).skip(1).take_while(|line| *line != "```").collect()
}

/// Fails the calling test with all findings at once, so that one run shows everything there is to mend.
///
/// # Panics
/// If there is a finding.
pub fn report(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}\n  {}\n", findings.join("\n  "));
}
