//! A log that cannot be written: the write is refused, later ones too, and what was acknowledged
//! is there after opening anew.
//!
//! The failure is real: a child process runs with a limit on the size of its files, as a full
//! device would limit it, and with the signal for it ignored.

mod common;

use std::fs;
use std::process::Command;

use basalt_rocks::Health;
use basalt_storage::engine::{Engine, EngineError, ReadTier, Reads, WriteSet};
use common::{QUICK, SYNCED, Scratch, open, table};

const CHILD: &str = "in_the_child_the_log_fails";

/// Where the child finds its directory: it runs there.
const DATA: &str = "data";

fn has_a_file_size_limit() -> bool {
    let limits = fs::read_to_string("/proc/self/limits").expect("the kernel tells limits");
    let line = limits.lines().find(|line| line.starts_with("Max file size")).expect("a line");
    !line.contains("unlimited")
}

/// Does something only when [`a_failed_log_is_not_written_again`] runs it with a limit.
#[test]
fn in_the_child_the_log_fails() {
    if !has_a_file_size_limit() {
        return;
    }
    let engine = open(DATA.as_ref());
    engine.create_table(table(1)).expect("a table");
    let mut acknowledged = 0_u32;
    let failed = loop {
        let mut set = WriteSet::new();
        set.put(table(1), &acknowledged.to_be_bytes(), &[7; 10_000]);
        match engine.write(&[&set], QUICK) {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 10_000, "the limit was never met");
    };
    assert!(matches!(failed, EngineError::Io { .. } | EngineError::OutOfSpace { .. }), "{failed}");
    assert!(acknowledged > 10, "it worked before");

    let mut set = WriteSet::new();
    set.put(table(1), b"after", b"");
    for options in [QUICK, SYNCED] {
        let error = engine.write(&[&set], options).expect_err("the log failed");
        assert!(matches!(error, EngineError::LogFailed { .. }), "{error}");
    }
    assert!(matches!(engine.sync_log(), Err(EngineError::LogFailed { .. })));
    assert!(matches!(engine.create_table(table(2)), Err(EngineError::LogFailed { .. })));
    assert!(matches!(engine.health(), Health::LogFailed(_)));
    // Reads go on.
    assert_eq!(engine.get(table(1), b"after", ReadTier::All), Ok(None));
    let last = (acknowledged - 1).to_be_bytes();
    assert!(engine.get(table(1), &last, ReadTier::All).expect("a read").is_some());
    assert!(matches!(engine.close(), Err(EngineError::LogFailed { .. })));
    fs::write("acknowledged", acknowledged.to_be_bytes()).expect("a small file");
}

#[test]
fn a_failed_log_is_not_written_again() {
    let scratch = Scratch::new();
    let this = std::env::current_exe().expect("this program");
    let output = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" --exact \"$1\" --test-threads 1"])
        .arg(this)
        .arg(CHILD)
        .current_dir(scratch.path())
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));

    let acknowledged = fs::read(scratch.join("acknowledged")).expect("the child got to its end");
    let acknowledged = u32::from_be_bytes(acknowledged.try_into().expect("four bytes"));
    let engine = open(&scratch.join(DATA));
    for number in 0..acknowledged {
        let found = engine.get(table(1), &number.to_be_bytes(), ReadTier::All).expect("a read");
        assert!(found.is_some(), "write {number} of {acknowledged} was acknowledged");
    }
    assert_eq!(engine.get(table(1), b"after", ReadTier::All), Ok(None));
    assert_eq!(engine.health(), Health::Good);
}
