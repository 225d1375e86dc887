//! The program as a process: started on a directory and a free port, killed, told to end, and what it prints.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use basalt_wire::ProtocolVersion;

use crate::client::Client;

/// What a node must be able to do in: far more than it takes, so that a busy machine fails nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Cassandra's words for being ready.
const READY: &str = "Starting listening for CQL clients on /";

/// A directory of a test; it goes when the test passes and stays when it fails.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one.
    ///
    /// # Panics
    /// When it cannot.
    pub fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = target().join("tmp").join(format!("{name}-{}-{number}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a directory of our own");
        Scratch(path)
    }

    /// A path in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where the node's data goes.
    pub fn data(&self) -> PathBuf {
        self.join("data")
    }

    /// Writes a configuration file.
    ///
    /// # Panics
    /// When it cannot.
    pub fn config(&self, yaml: &str) -> PathBuf {
        let path = self.join("cassandra.yaml");
        fs::write(&path, yaml).expect("written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("left for a look: {}", self.0.display());
        } else {
            drop(fs::remove_dir_all(&self.0));
        }
    }
}

/// The folder cargo builds into, found from where this test is: `target/release/deps/NAME`.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("in a folder");
    let is_deps = folder.file_name().is_some_and(|name| name == "deps" || name == "examples");
    if is_deps { folder.parent().expect("in a folder").to_owned() } else { folder.to_owned() }
}

fn target() -> PathBuf {
    profile_folder().parent().expect("in the target folder").to_owned()
}

/// The program that is judged.
///
/// # Panics
/// When it has not been built.
pub fn program() -> PathBuf {
    let path = std::env::var_os("BASALT_BIN").map_or_else(|| profile_folder().join("basalt"), PathBuf::from);
    assert!(path.is_file(), "{} is not there: build it first, or name it in BASALT_BIN", path.display());
    path
}

/// `basalt run` on a directory, on any free port, with nothing of our environment.
pub fn run(data: &Path) -> Command {
    let mut command = Command::new(program());
    command.args(["run", "--port", "0", "--admin-port", "0", "--data-dir"]).arg(data);
    command.env_clear().stdin(Stdio::null());
    command
}

/// A running node.
pub struct Node {
    child: Child,
    /// Where clients connect.
    pub address: SocketAddr,
    /// From the start of the process to its readiness line.
    pub started_in: Duration,
    log: PathBuf,
}

impl Node {
    /// Starts a node and waits until it says that it is ready. What it prints goes to files beside the data.
    ///
    /// # Panics
    /// With the node's last words when it ends or does not become ready.
    pub fn start(command: Command, scratch: &Scratch) -> Node {
        Node::try_start(command, scratch).unwrap_or_else(|status| {
            let last_words = tail(&scratch.join("stderr"));
            panic!("the node ended with {status} instead of becoming ready: {last_words}")
        })
    }

    /// Starts a node that may refuse to.
    ///
    /// # Errors
    /// How it ended when it did; what it said is in the file `stderr`.
    ///
    /// # Panics
    /// When it neither becomes ready nor ends.
    pub fn try_start(mut command: Command, scratch: &Scratch) -> Result<Node, ExitStatus> {
        let (out, log) = (scratch.join("stdout"), scratch.join("stderr"));
        let (mut child, start) = spawn(&mut command, scratch);
        loop {
            let printed = fs::read_to_string(&out).unwrap_or_default();
            let ready = printed.lines().find_map(|line| line.strip_prefix(READY));
            if let Some(address) = ready.and_then(|line| line.split(' ').next()?.parse().ok()) {
                return Ok(Node { child, address, started_in: start.elapsed(), log });
            }
            if let Some(status) = child.try_wait().expect("can be asked") {
                return Err(status);
            }
            if start.elapsed() > PATIENCE {
                child.kill().expect("killed");
                panic!("the node is not ready after {PATIENCE:?}: {}", tail(&log));
            }
            sleep(Duration::from_micros(300));
        }
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A connection to it.
    ///
    /// # Panics
    /// When it refuses.
    pub fn client(&self, version: ProtocolVersion) -> Client {
        Client::connect(self.address, version).unwrap_or_else(|error| panic!("no connection: {error:?}"))
    }

    /// Runs `basalt nodetool` on it: exit code, standard output, standard error.
    ///
    /// # Panics
    /// When the node does not listen for it.
    pub fn nodetool(&self, arguments: &[&str]) -> (i32, String, String) {
        nodetool(&self.admin_port(), arguments)
    }

    /// Where it listens for nodetool.
    ///
    /// # Panics
    /// When it does not.
    pub fn admin_port(&self) -> String {
        let log = fs::read_to_string(&self.log).expect("a log");
        let port = log.lines().find_map(|line| line.split_once("Listening for nodetool on 127.0.0.1:"));
        let (_, port) = port.expect("it listens for nodetool");
        port.trim().to_owned()
    }

    /// Waits for the process to end by itself: its exit code.
    ///
    /// # Panics
    /// When it runs on.
    pub fn ends(mut self) -> i32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("can be asked") {
                return status.code().expect("an exit code");
            }
            assert!(start.elapsed() < PATIENCE, "it runs on: {}", tail(&self.log));
            sleep(Duration::from_millis(1));
        }
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("can be asked").is_none()
    }

    /// SIGKILL, whatever it is doing.
    ///
    /// # Panics
    /// When it had ended by itself, or logged a panic.
    pub fn kill(mut self) {
        assert!(self.is_running(), "it ended by itself: {}", tail(&self.log));
        self.child.kill().expect("killed");
        self.child.wait().expect("waited for");
        self.no_panic();
    }

    /// SIGTERM: it must end well, and soon. Answers how long it took.
    ///
    /// # Panics
    /// When it does not.
    pub fn terminate(mut self) -> Duration {
        let start = Instant::now();
        self.signal("-TERM");
        loop {
            if let Some(status) = self.child.try_wait().expect("can be asked") {
                assert!(status.success(), "{status} after SIGTERM: {}", tail(&self.log));
                self.no_panic();
                return start.elapsed();
            }
            assert!(start.elapsed() < PATIENCE, "it runs on after SIGTERM: {}", tail(&self.log));
            sleep(Duration::from_millis(1));
        }
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(name).arg(self.pid().to_string()).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Resident memory now and at its highest, KiB.
    ///
    /// # Panics
    /// When the system does not tell.
    pub fn memory_kib(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a field");
            line.split_whitespace().next().expect("a number").parse().expect("a number")
        };
        (field("VmRSS:"), field("VmHWM:"))
    }

    /// Asserts that nothing was caught that must not happen.
    ///
    /// # Panics
    /// When the log tells of a panic.
    pub fn no_panic(&self) {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let bad = log.lines().find(|line| line.contains("panicked at"));
        assert!(bad.is_none(), "{}: {}", self.log.display(), bad.unwrap_or_default());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(command: &mut Command, scratch: &Scratch) -> (Child, Instant) {
    let file = |name: &str| File::create(scratch.join(name)).expect("a file");
    command.stdout(file("stdout")).stderr(file("stderr"));
    let start = Instant::now();
    (command.spawn().expect("started"), start)
}

/// Starts a node and kills it after a moment, in whatever state its start is.
///
/// # Panics
/// When it cannot be started.
pub fn start_and_kill(mut command: Command, scratch: &Scratch, after: Duration) {
    let (mut child, _) = spawn(&mut command, scratch);
    sleep(after);
    child.kill().expect("killed");
    child.wait().expect("waited for");
}

/// A start that must fail: how it ended, and what it printed on the standard streams.
///
/// # Panics
/// When it runs on.
pub fn refused(mut command: Command, scratch: &Scratch) -> (ExitStatus, String, String) {
    let (mut child, start) = spawn(&mut command, scratch);
    loop {
        if let Some(status) = child.try_wait().expect("can be asked") {
            let read = |name: &str| fs::read_to_string(scratch.join(name)).expect("text");
            return (status, read("stdout"), read("stderr"));
        }
        if start.elapsed() > Duration::from_secs(10) {
            child.kill().expect("killed");
            panic!("it runs although it must refuse");
        }
        sleep(Duration::from_millis(2));
    }
}

/// Runs `basalt nodetool` on a node: exit code, standard output, standard error.
///
/// # Panics
/// When it does not run.
pub fn nodetool(port: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(program());
    let output = command.args(["nodetool", "-p", port]).args(arguments).env_clear().output();
    let output = output.expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

/// Copies a folder with all that is in it.
///
/// # Panics
/// When it cannot.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}
