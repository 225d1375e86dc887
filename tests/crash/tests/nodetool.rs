//! `basalt nodetool` as an operator types it: what it prints, how it ends, and what it did.

use basalt_crash_tests::process::{Node, Scratch, run};

fn ended(output: &(i32, String, String)) -> (i32, &str, &str) {
    (output.0, output.1.as_str(), output.2.as_str())
}

#[test]
fn flush_compact_and_garbagecollect_do_what_they_say() {
    let scratch = Scratch::new("nodetool");
    let node = Node::start(run(&scratch.data()), &scratch);
    let mut client = node.client(basalt_wire::ProtocolVersion::V5);
    let mut cql = |text: &str| client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    cql("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    cql("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
    for c in 0..20 {
        cql(&format!("INSERT INTO k.t (p, c, v) VALUES (1, {c}, 'x')"));
    }
    cql("DELETE FROM k.t WHERE p = 1 AND c < 15");
    for command in
        [&["flush"][..], &["flush", "k"], &["flush", "k", "t"], &["compact", "k", "t"], &["compact"]]
    {
        assert_eq!(ended(&node.nodetool(command)), (0, "", ""), "{command:?}");
    }
    // The deletion stays for gc_grace_seconds; what it covers does not.
    let (code, printed, _) = node.nodetool(&["garbagecollect", "-v", "-g", "CELL", "k", "t"]);
    assert_eq!(code, 0);
    assert!(printed.starts_with("k.t: took something out of 15 entries, read 20 rows"), "{printed}");
    assert_eq!(ended(&node.nodetool(&["garbagecollect", "k"])), (0, "", ""));
    assert_eq!(cql("SELECT c FROM k.t WHERE p = 1").len(), 5);
    node.terminate();
}

#[test]
fn a_command_that_makes_no_sense_says_so_in_nodetools_words() {
    let scratch = Scratch::new("nodetool-refuses");
    let node = Node::start(run(&scratch.data()), &scratch);
    let help = "See 'nodetool help' or 'nodetool help <command>'.\n";
    for command in ["flush", "compact", "garbagecollect"] {
        let expected = format!("nodetool: Keyspace [nope] does not exist.\n{help}");
        assert_eq!(ended(&node.nodetool(&[command, "nope"])), (1, expected.as_str(), ""));
        let virtual_one = format!("nodetool: Keyspace [system_views] does not exist.\n{help}");
        assert_eq!(ended(&node.nodetool(&[command, "system_views"])), (1, virtual_one.as_str(), ""));
        let unknown = (2, "", "error: Unknown keyspace/cf pair (system.nope)\n");
        assert_eq!(ended(&node.nodetool(&[command, "system", "nope"])), unknown);
    }
    let mixed = (2, "", "error: Invalid option combination: Can not use split-output here\n");
    assert_eq!(ended(&node.nodetool(&["compact", "-s", "-st", "-5"])), mixed);
    node.terminate();
}
