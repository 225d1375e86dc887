//! SIGTERM while writers write: exit code 0, nothing lost, nothing half done, and a quick start afterwards.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::seed;
use basalt_crash_tests::workload::{Schemer, Writer, check, create_tables};
use basalt_wire::ProtocolVersion;

/// Ending takes as long as the requests that run, and writing memtables: a moment.
const END_MAX: Duration = Duration::from_secs(10);
/// There is no log to read after a drain.
const START_MAX: Duration = Duration::from_secs(5);

#[test]
fn a_drain_loses_nothing_and_ends_well() {
    let scratch = Scratch::new("drain");
    let mut random = Random::new(seed());
    let mut writers: Vec<Writer> =
        (0..4).map(|number| Writer::new(&format!("w{number}"), random.fork())).collect();
    let mut schemer = Schemer::new(random.fork());
    let mut node = Node::start(process::run(&scratch.data()), &scratch);
    create_tables(&mut node.client(ProtocolVersion::V4));
    for _ in 0..4 {
        let (address, stop) = (node.address, AtomicBool::new(false));
        let ended_in = thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(|| writer.run(address, ProtocolVersion::V5, &stop));
            }
            scope.spawn(|| schemer.run(address, ProtocolVersion::V4, &stop));
            thread::sleep(Duration::from_millis(random.between(200, 900)));
            node.terminate()
        });
        assert!(ended_in < END_MAX, "the drain took {ended_in:?}");
        node = Node::start(process::run(&scratch.data()), &scratch);
        assert!(node.started_in < START_MAX, "the start took {:?}", node.started_in);
        let mut client = node.client(ProtocolVersion::V5);
        let checked = check(&mut client, &mut writers, &mut random);
        schemer.check(&mut client);
        assert_eq!(checked.doubtful.0, 0, "requests were applied and not answered");
        println!(
            "SIGTERM: ended in {} ms, {} rows there, {} requests cut off before they began; started in {} ms",
            ended_in.as_millis(),
            checked.rows,
            checked.doubtful.1,
            node.started_in.as_millis()
        );
    }
}

#[test]
fn idle_connections_do_not_hold_up_the_end() {
    let scratch = Scratch::new("drain-idle");
    let node = Node::start(process::run(&scratch.data()), &scratch);
    let idle: Vec<_> = (0..20).map(|_| node.client(ProtocolVersion::V4)).collect();
    let ended_in = node.terminate();
    assert!(ended_in < END_MAX, "the drain took {ended_in:?}");
    drop(idle);
}
