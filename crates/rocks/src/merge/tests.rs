//! What RocksDB makes of operands that do not merge: an error for whoever needs the value, and no
//! loss by flush or compaction.

use std::path::PathBuf;

use rocksdb::{DB, ErrorKind, IteratorMode, Options};

use super::{Fold, set_fold};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("basalt-merge-{name}-{}", std::process::id()));
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the scratch directory is ours");
    }
}

fn open(scratch: &Scratch, fold: Fold) -> DB {
    let mut options = Options::default();
    options.create_if_missing(true);
    set_fold(&mut options, fold, |_| None);
    DB::open(&options, &scratch.0).expect("it opens")
}

/// Joins operands; refuses those that begin with `!`, and panics on `?`.
fn picky(existing: Option<&[u8]>, operands: &[&[u8]]) -> Option<Vec<u8>> {
    assert!(!operands.iter().any(|operand| operand.starts_with(b"?")), "asked to panic");
    let all = existing.into_iter().chain(operands.iter().copied());
    all.map(|part| (!part.starts_with(b"!")).then_some(part))
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.concat())
}

#[test]
fn operands_fold_into_the_value() {
    let scratch = Scratch::new("fold");
    let db = open(&scratch, picky);
    db.put(b"k", b"a").expect("a put");
    db.merge(b"k", b"b").expect("a merge");
    db.merge(b"k", b"c").expect("a merge");
    db.merge(b"new", b"x").expect("a merge");
    assert_eq!(db.get(b"k").expect("a value"), Some(b"abc".to_vec()));
    assert_eq!(db.get(b"new").expect("a value"), Some(b"x".to_vec()));
    db.flush().expect("a flush");
    assert_eq!(db.get(b"k").expect("a value"), Some(b"abc".to_vec()));
}

#[test]
fn operands_that_do_not_merge_are_corruption_and_stay() {
    for bad in [b"!bad".as_slice(), b"?panic"] {
        let scratch = Scratch::new(if bad[0] == b'!' { "refuse" } else { "panic" });
        {
            let db = open(&scratch, picky);
            db.put(b"k", b"a").expect("a put");
            db.merge(b"k", bad).expect("nothing is folded yet");
            let error = db.get(b"k").expect_err("the value is not known");
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
            let error = db.iterator(IteratorMode::Start).next().expect("an item").expect_err("nor here");
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
            db.put(b"other", b"x").expect("others are not concerned");
            assert_eq!(db.get(b"other").expect("a value"), Some(b"x".to_vec()));
            // Both are entries of one memtable, so that writing it out has to fold them.
            let error = db.flush().expect_err("a flush does not drop what it cannot fold");
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        }
        // A version that can fold finds all of it: the log kept what the flush could not write.
        let db = open(&scratch, |existing, operands| {
            Some(existing.into_iter().chain(operands.iter().copied()).collect::<Vec<_>>().concat())
        });
        assert_eq!(db.get(b"k").expect("a value"), Some([b"a".as_slice(), bad].concat()));
        assert_eq!(db.get(b"other").expect("a value"), Some(b"x".to_vec()));
    }
}
