//! `basalt demo`: a node of this very program on an empty directory, loaded and then asked at a fixed
//! rate over the real protocol, with the latencies printed.

use std::io::{BufRead, BufReader, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_stress::client;
use basalt_stress::outcome::Outcome;
use basalt_stress::plan::{Arrivals, Plan, Rate};
use basalt_stress::run::{self, Asked, STREAMS, Settings};
use basalt_stress::workload::{self, Workload, apm};
use basalt_stress::{report, schema};
use clap::Args;

/// Makes the runs reproducible: the same requests each time.
const SEED: u64 = 2012;

/// Writers of the load.
const WRITERS: u32 = 256;

const SECOND: u64 = 1_000_000_000;

/// What `basalt demo` takes.
#[derive(Args)]
pub struct Options {
    /// Records loaded before the run.
    #[arg(long, default_value_t = 200_000)]
    records: u64,
    /// Seconds the run lasts.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Requests a second.
    #[arg(long, default_value_t = 10_000)]
    rate: u64,
    /// Connections to the node.
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// The port of the node [default: one that is free].
    #[arg(long)]
    port: Option<u16>,
}

/// The node as a process of its own, ended with this value.
struct Node {
    process: Child,
    address: SocketAddr,
    /// Held so that whatever the node still prints has somewhere to go.
    _output: BufReader<ChildStdout>,
}

/// Runs the demonstration.
///
/// # Errors
/// One line: what went wrong.
pub fn run(options: &Options) -> Result<(), String> {
    let directory = data_directory()?;
    let mut node = Node::start(&directory, options.port)?;
    let outcome = measure(options, node.address);
    if outcome.is_ok() {
        println!("\nLook at the data while the node runs:");
        println!(
            "  cqlsh {} {} -e 'SELECT * FROM apm.measurements LIMIT 10'",
            node.address.ip(),
            node.address.port()
        );
        wait_for_user();
    }
    node.stop()?;
    if outcome.is_ok() {
        println!("The node has ended; its data is in {}. To start it again:", directory.display());
        println!("  basalt run --data-dir {} --port {}", directory.display(), node.address.port());
    }
    outcome
}

fn data_directory() -> Result<PathBuf, String> {
    let directory = std::env::temp_dir().join(format!("basalt-demo-{}", std::process::id()));
    std::fs::create_dir(&directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    Ok(directory)
}

/// Keeps the node up until Enter, where there is somebody to press it.
fn wait_for_user() {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        println!("Press Enter to end the node.");
        // The end of the input ends the node as well.
        let _ = std::io::stdin().lock().read_line(&mut String::new());
    }
}

fn measure(options: &Options, address: SocketAddr) -> Result<(), String> {
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let words = ["apm".to_owned(), "RW".to_owned()];
    let sizes =
        workload::Options { records: Some(options.records), seed: SEED, ..workload::Options::default() };
    let workload = workload::named(&words, &sizes).map_err(|error| error.to_string())?;
    schema::create(address, &client::Options::default(), &*workload).map_err(|error| error.to_string())?;
    println!(
        "\nAPM records: key {:?} for metric {}, five values of {} bytes",
        apm::key(0),
        apm::metric_name(0),
        apm::VALUE_BYTES
    );
    let ask = |asked| {
        let settings = settings(options, address, &env, &workload, asked);
        let outcome = run::run(settings, &mut ()).map_err(|error| error.to_string())?.outcome;
        check(&outcome).map(|()| outcome)
    };
    let loaded = ask(Asked::Load { threads: WRITERS })?;
    let seconds = loaded.elapsed_nanos as f64 / 1e9;
    println!(
        "loaded {} records in {seconds:.1} s, {:.0}/s",
        options.records,
        options.records as f64 / seconds
    );
    let rate = Rate::per_second(options.rate);
    let plan = Plan::new(&Arrivals::CONSTANT, rate, options.seconds.saturating_mul(SECOND), SEED)
        .map_err(|error| error.to_string())?;
    println!("\nAPM RW: 50 % reads, 50 % inserts, open loop, latencies from when each request was due");
    println!("{} requests a second for {} s ...\n", options.rate, options.seconds);
    let outcome = ask(Asked::Open { plan, arrivals: Arrivals::CONSTANT })?;
    print!("{}", report::text(&outcome));
    Ok(())
}

fn settings(
    options: &Options,
    address: SocketAddr,
    env: &SharedEnv,
    workload: &Arc<dyn Workload>,
    asked: Asked,
) -> Settings {
    Settings {
        env: Arc::clone(env),
        targets: vec![address],
        only_targets: true,
        client: client::Options::default(),
        workload: Arc::clone(workload),
        asked,
        seed: SEED,
        connections: options.connections.max(1),
        workers: 1,
        in_flight: options.connections.max(1) * (STREAMS - 1),
        timeout_nanos: 10 * SECOND,
        drain_nanos: 10 * SECOND,
        interval_nanos: SECOND,
        log: None,
        command: std::env::args().collect(),
        stop: Arc::default(),
    }
}

/// A demonstration in which requests fail is not one.
fn check(outcome: &Outcome) -> Result<(), String> {
    let counts = &outcome.counts;
    if counts.answered < counts.planned {
        print!("{}", report::text(outcome));
        return Err(format!(
            "{} requests failed, {} timed out, {} were not sent, {} not answered",
            counts.failed, counts.timed_out, counts.unsent, counts.in_flight
        ));
    }
    Ok(())
}

impl Node {
    /// Starts it and waits until it listens.
    fn start(directory: &Path, port: Option<u16>) -> Result<Node, String> {
        // The system chooses a free one for 0; the node says which.
        let port = port.unwrap_or(0).to_string();
        let program = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
        let mut process = Command::new(program)
            .args(["run", "--listen", "127.0.0.1", "--port", &port, "--data-dir"])
            .arg(directory)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("the node cannot be started: {error}"))?;
        let output = process.stdout.take().ok_or("the node's output cannot be read")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|length| length > 0) {
            print!("{line}");
            if let Some(address) = listening_on(&line) {
                return Ok(Node { process, address, _output: output });
            }
            line.clear();
        }
        // It has said why on the standard error, which is ours as well.
        Err("the node ended before it listened".to_owned())
    }

    /// Drains it as an operator would: SIGTERM, then wait.
    fn stop(&mut self) -> Result<(), String> {
        let ended = Command::new("kill")
            .arg(self.process.id().to_string())
            .status()
            .and_then(|_| self.process.wait())
            .map_err(|error| format!("the node cannot be ended: {error}"))?;
        if ended.success() { Ok(()) } else { Err(format!("the node ended with {ended}")) }
    }
}

/// The address in the node's readiness line; `None` for any other line.
fn listening_on(line: &str) -> Option<SocketAddr> {
    let (address, _) =
        line.strip_prefix("Starting listening for CQL clients on /")?.split_once(" (unencrypted)")?;
    address.parse().ok()
}

#[cfg(test)]
mod tests {
    //! The line as `basalt run` prints it.
    use super::*;

    #[test]
    fn the_readiness_line_names_the_address() {
        let line = "Starting listening for CQL clients on /127.0.0.1:40123 (unencrypted)...\n";
        assert_eq!(listening_on(line), Some(SocketAddr::from(([127, 0, 0, 1], 40123))));
        assert_eq!(listening_on("Basalt 0.1.0: memory 1.0 GiB\n"), None);
    }
}
