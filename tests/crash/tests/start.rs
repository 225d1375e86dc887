//! How long a node takes from exec to its first answered query on an empty directory, and what it holds when idle.
//! Always printed; judged with BASALT_STRICT=1, because machines differ.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::thread::sleep;
use std::time::{Duration, Instant};

use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::setting;
use basalt_wire::ProtocolVersion;

const FIRST_ANSWER_MAX: Duration = Duration::from_millis(100);
const IDLE_MAX_KIB: u64 = 100 * 1024;

/// Median of so many starts: the first reads the program from disk.
const STARTS: usize = 7;

#[test]
fn from_exec_to_the_first_answer_and_idle_memory() {
    let mut times = Vec::new();
    let mut memory = (0, 0);
    for start in 0..STARTS {
        let scratch = Scratch::new("start");
        let exec = Instant::now();
        let node = Node::start(process::run(&scratch.data()), &scratch);
        let rows = node.client(ProtocolVersion::V5).query("SELECT key, release_version FROM system.local");
        times.push(exec.elapsed());
        assert_eq!(rows.expect("an answer").len(), 1);
        if start == STARTS - 1 {
            sleep(Duration::from_secs(2));
            memory = node.memory_kib();
        }
        node.terminate();
    }
    times.sort();
    let median = times[STARTS / 2];
    println!(
        "from exec to the first answered query, empty directory: median {:.1} ms, {:.1} to {:.1} ms; idle: {:.1} MiB \
         resident",
        median.as_secs_f64() * 1e3,
        times[0].as_secs_f64() * 1e3,
        times[STARTS - 1].as_secs_f64() * 1e3,
        memory.0 as f64 / 1024.0
    );
    if setting("BASALT_STRICT", 0) == 1 {
        assert!(median < FIRST_ANSWER_MAX, "the first answer took {median:?}");
        assert!(memory.0 < IDLE_MAX_KIB, "idle with {} KiB", memory.0);
    }
}
