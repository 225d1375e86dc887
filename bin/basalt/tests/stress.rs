//! `basalt stress` as a process, against a server that does nothing: what a signal makes of a run, and how the
//! program ends.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_stress::null_server::{NullServer, Reply, Request, usual};

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and word of each request that it executes.
fn server() -> (NullServer, Receiver<()>) {
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let (executed, executions) = sync_channel(1);
    let script = move |request: &Request| {
        if matches!(request, Request::Execute(_)) {
            // Nobody need listen.
            let _ = executed.try_send(());
        }
        usual(request)
    };
    (NullServer::with_script(&env, Arc::new(script)).expect("a server of our own"), executions)
}

fn stress(server: &NullServer, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_basalt"))
        .arg("stress")
        .args(words)
        .args(["--target", &server.address.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Tells it to end once it has asked for something.
fn interrupted(child: Child, executions: &Receiver<()>, signal: &str) -> Output {
    executions.recv_timeout(PATIENCE).expect("it asks");
    let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_signal_ends_a_run_with_its_report() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cut-short-{}", std::process::id()));
    let out = folder.to_str().expect("a path of ours");
    for signal in ["-INT", "-TERM"] {
        // Its own: word of the last run's requests would have the signal come before there is anyone to hear it.
        let (server, executions) = server();
        let words = ["run", "apm", "RW", "--rate", "1000", "--duration", "1h", "--out", out];
        let ended = interrupted(stress(&server, &words), &executions, signal);
        let page = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(4), "{page}");
        assert!(page.contains("INVALID: cut short after "), "{page}");
        assert!(page.contains(" of 3,600 s"), "{page}");
        let kept = std::fs::read_to_string(folder.join("report.txt")).expect("a report is kept");
        assert!(page.starts_with(&kept), "{kept}");
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}

#[test]
fn a_signal_ends_a_series_with_the_run_it_is_in() {
    let (server, executions) = server();
    let words = ["sweep", "apm", "RW", "--rates", "1000,2000,3000", "--duration", "1h"];
    let ended = interrupted(stress(&server, &words), &executions, "-INT");
    let (told, complaint) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{complaint}");
    assert_eq!(told.matches("INVALID").count(), 1, "{told}");
    assert!(complaint.contains("the series was cut short"), "{complaint}");
}

#[test]
fn the_exit_code_says_what_a_run_is_worth() {
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let drops = |request: &Request| match request {
        Request::Execute(_) => Reply::Nothing,
        other => usual(other),
    };
    let silent = NullServer::with_script(&env, Arc::new(drops)).expect("a server of our own");
    let (answering, _executions) = server();
    // By a plan a busy machine could be called the limit; users who wait cannot be late.
    let cases: [(&NullServer, &[&str], i32); 4] = [
        (&answering, &["--threads", "4"], 0),
        (&silent, &["--threads", "4", "--drain", "100ms"], 3),
        (&silent, &["--threads", "4", "--timeout", "100ms"], 3),
        (&silent, &["--rate", "1000", "--in-flight", "1", "--drain", "100ms"], 4),
    ];
    for (server, words, code) in cases {
        let words = [&["run", "apm", "W", "--duration", "300ms"], words].concat();
        let ended = stress(server, &words).wait_with_output().expect("it ends");
        let page = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(code), "{words:?}: {page}");
    }
}
