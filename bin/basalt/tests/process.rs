//! The process from outside: what it prints, when it refuses to start, how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that goes when the test does.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("process-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a directory of our own");
        Scratch(path)
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.0.join("cassandra.yaml");
        fs::write(&path, text).expect("written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn basalt(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    // Several at a time: none has nodetool's port.
    command.arg("run").arg("--data-dir").arg(data).args(["--memory", "128MiB", "--admin-port", "-1"]);
    command.env_clear().env("BASALT_LOG", "warn");
    command
}

/// A process that is ready.
struct Node {
    child: Child,
    stdout: BufReader<ChildStdout>,
    sized: String,
    port: u16,
}

impl Node {
    fn start(mut command: Command) -> Node {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("started");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (mut sized, mut ready) = (String::new(), String::new());
        stdout.read_line(&mut sized).expect("a line");
        stdout.read_line(&mut ready).expect("a line");
        let port = ready
            .trim_end()
            .strip_prefix("Starting listening for CQL clients on /127.0.0.1:")
            .and_then(|rest| rest.strip_suffix(" (unencrypted)..."))
            .unwrap_or_else(|| panic!("Cassandra's line, not {ready:?}"));
        Node { child, stdout, sized, port: port.parse().expect("a port") }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(name).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
    }

    fn end(&mut self, signal: &str) {
        self.signal(signal);
        let status = self.child.wait().expect("ends");
        assert!(status.success(), "{status} after {signal}");
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("readable");
        assert_eq!(rest, "");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn refused(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("ran");
    assert!(!status.success());
    assert_eq!(String::from_utf8_lossy(&stdout), "");
    let text = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "one line: {text}");
    text
}

/// Whether the port answers OPTIONS of protocol v4.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.write_all(&[4, 0, 0, 0, 5, 0, 0, 0, 0]).expect("sent");
    let mut header = [0; 9];
    stream.read_exact(&mut header).is_ok() && header[4] == 6
}

#[test]
fn it_says_when_it_is_ready_and_ends_when_told() {
    let scratch = Scratch::new();
    for signal in ["-TERM", "-INT"] {
        let mut command = basalt(&scratch.data());
        command.args(["--port", "0"]);
        let mut node = Node::start(command);
        let expected = "commitlog_sync batch, data in ";
        assert!(node.sized.contains("memory 128 MiB") && node.sized.contains(expected), "{}", node.sized);
        assert!(answers(node.port));
        node.end(signal);
        assert!(!answers(node.port));
    }
}

#[test]
fn a_second_process_on_the_same_directory_is_refused() {
    let scratch = Scratch::new();
    let mut command = basalt(&scratch.data());
    command.args(["--port", "0"]);
    let node = Node::start(command);
    let mut second = basalt(&scratch.data());
    second.args(["--port", "0"]);
    assert!(refused(second).ends_with("data is in use by another process\n"));
    assert!(answers(node.port));
}

#[test]
fn a_busy_port_is_refused_even_if_the_other_is_one_of_ours() {
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let mut command = basalt(&scratch.data());
    command.args(["--port", "0"]);
    let node = Node::start(command);
    let mut second = basalt(&other.data());
    second.arg("--port").arg(node.port.to_string());
    let expected = format!("basalt: Failed to bind port {} on 127.0.0.1", node.port);
    assert!(refused(second).starts_with(&expected));
    assert!(!other.data().exists(), "nothing was made");
}

#[test]
fn a_configuration_that_is_wrong_is_refused() {
    let scratch = Scratch::new();
    for (yaml, expected) in [
        ("flux: 1\n", "Invalid yaml. Please remove properties [flux] from your cassandra.yaml\n"),
        ("read_request_timeout: 5000\n", "read_request_timeout: Invalid duration: 5000 "),
        (
            "authenticator: PasswordAuthenticator\n",
            "authenticator: PasswordAuthenticator is not supported yet",
        ),
        ("rpc_address: 0.0.0.0\n", "then you must set broadcast_rpc_address to a value other than 0.0.0.0"),
        ("rpc_address: [\n", "Invalid yaml: "),
    ] {
        let mut command = basalt(&scratch.data());
        command.arg("--config").arg(scratch.file(yaml));
        let text = refused(command);
        assert!(text.contains(expected), "{text}");
    }
    let mut command = basalt(&scratch.data());
    command.args(["--config", "/nowhere/cassandra.yaml"]);
    assert!(refused(command).starts_with("basalt: Cannot read /nowhere/cassandra.yaml: "));
}

#[test]
fn a_directory_that_is_not_ours_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.data()).expect("made");
    fs::write(scratch.data().join("letters.txt"), "dear").expect("written");
    let mut command = basalt(&scratch.data());
    command.args(["--port", "0"]);
    let text = refused(command);
    assert!(text.contains("was not made by Basalt"), "{text}");
}

#[test]
fn known_keys_without_effect_are_told_once() {
    let scratch = Scratch::new();
    let config = scratch.file("phi_convict_threshold: 9\nconcurrent_writes: 64\nnative_transport_port: 0\n");
    let mut command = basalt(&scratch.data());
    command.arg("--config").arg(config).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
    drop(child.kill());
    child.wait().expect("ends");
    assert!(line.contains("without effect here: concurrent_writes, phi_convict_threshold"), "{line}");
}
