//! The workload of the crash tests against any node that runs, an Apache Cassandra too: what the model expects is what
//! that node must answer.
//!
//! `cargo run -p basalt-crash-tests --example against -- ADDRESS:PORT SECONDS`
#![allow(clippy::disallowed_methods, reason = "stands outside of what is judged")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use basalt_crash_tests::client::Client;
use basalt_crash_tests::random::Random;
use basalt_crash_tests::workload::{Schemer, Writer, check, create_tables};
use basalt_wire::ProtocolVersion;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, seconds] = arguments.as_slice() else { panic!("against ADDRESS:PORT SECONDS") };
    let address = address.parse().expect("an address and a port");
    let mut random = Random::new(basalt_crash_tests::seed());
    let mut client = Client::connect(address, ProtocolVersion::V5).expect("a connection");
    for keyspace in ["crash", "schemer"] {
        client.query(&format!("DROP KEYSPACE IF EXISTS {keyspace}")).expect("dropped");
    }
    create_tables(&mut client);
    let mut writers: Vec<Writer> = (0..4).map(|n| Writer::new(&format!("w{n}"), random.fork())).collect();
    let mut schemer = Schemer::new(random.fork());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in &mut writers {
            scope.spawn(|| writer.run(address, ProtocolVersion::V4, &stop));
        }
        scope.spawn(|| schemer.run(address, ProtocolVersion::V5, &stop));
        std::thread::sleep(Duration::from_secs(seconds.parse().expect("seconds")));
        stop.store(true, Ordering::Relaxed);
    });
    let checked = check(&mut client, &mut writers, &mut random);
    schemer.check(&mut client);
    let writes: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    println!("{writes} writes and {} changes of the schema: {checked:?}", schemer.acknowledged);
}
