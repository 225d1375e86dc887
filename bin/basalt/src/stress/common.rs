//! What all runs take, and what is done with a run that is over. Knows no command.

use std::fs::{self, File};
use std::io::LineWriter;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use basalt_model::Consistency;
use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_stress::client::{self, Compression, ProtocolVersion, Tls};
use basalt_stress::outcome::{self, Outcome, Verdict};
use basalt_stress::plan::parse_duration;
use basalt_stress::report::{self, live::Live};
use basalt_stress::run::{self, Asked, Finished, Observer, STREAMS, Seen, Settings};
use basalt_stress::schema;
use basalt_stress::search::Sla;
use basalt_stress::server::{self, Sampler, SourceWord};
use basalt_stress::workload::{self, Keys, Sizes, Workload};
use clap::Args;

use super::files;
use super::interrupt::Interrupt;

/// Requests were lost on the way.
pub const DEGRADED: u8 = 3;

/// The run does not show what was asked.
pub const INVALID: u8 = 4;

/// Whom to connect to, and how; what is asked for.
#[derive(Args, Clone)]
#[group(skip)]
pub struct Options {
    /// The workload, in words: `apm RW`, `yj 1`, `tene`, `ndbench`, `ycsb A`, `user profile=FILE.yaml ops(...)`.
    #[arg(value_name = "WORDS", required = true)]
    pub words: Vec<String>,
    /// A node to connect to; more than one may be given.
    #[arg(long, value_name = "HOST[:PORT]", default_value = "127.0.0.1:9042", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Ask the nodes named and no others. Without it the first of them is asked for the others of its data centre
    /// (system.peers_v2), and they get the requests that they own, too.
    #[arg(long)]
    pub only_targets: bool,
    /// Connections in all, dealt out to the nodes in turn.
    #[arg(long, default_value_t = 4)]
    pub connections: usize,
    /// Threads that send and receive [default: one for every four processors, at least one].
    #[arg(long)]
    pub workers: Option<usize>,
    /// A request without an answer for this long is given up, and counted as timed out.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_duration)]
    pub timeout: u64,
    /// How long after the last request was due answers are waited for; what has none by then counts at its age.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub drain: u64,
    /// The native protocol's version, 3 to 5 [default: 5, or 4 where the server does not speak that].
    #[arg(long, value_name = "VERSION")]
    pub protocol: Option<u8>,
    /// lz4, or snappy (not in version 5) [default: none].
    #[arg(long, value_name = "ALGORITHM", value_parser = parse_compression)]
    pub compression: Option<Compression>,
    /// The consistency level of every request.
    #[arg(long, value_name = "LEVEL", default_value = "LOCAL_ONE", value_parser = parse_consistency)]
    pub consistency: Consistency,
    /// Encrypt, and believe whoever answers: for certificates that nobody vouches for.
    #[arg(long, conflicts_with = "ca")]
    pub tls: bool,
    /// Encrypt; the server must show a certificate of an authority in this file (PEM), for its name or address.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The user to log in as, where the server asks.
    #[arg(long, requires = "password")]
    pub user: Option<String>,
    /// The user's password.
    #[arg(long, requires = "user")]
    pub password: Option<String>,
    /// The same seed gives the same requests.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Records of the workload: written by `load`, found by `run` [default: the workload's own].
    #[arg(long)]
    pub records: Option<u64>,
    /// Bytes of a value: 100, 2KB, 10-20KB [default: the workload's own].
    #[arg(long, value_name = "SIZE")]
    pub value: Option<Sizes>,
    /// Which records are asked for: uniform, zipfian, latest, sequential [default: the workload's own].
    #[arg(long, value_name = "DISTRIBUTION")]
    pub keys: Option<Keys>,
    /// The replication factor of keyspaces that are created [default: 1].
    #[arg(long)]
    pub replication: Option<u32>,
    /// The length of an interval of the record [default: 1s, more in long runs].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub interval: Option<u64>,
    /// Look at the server meanwhile, once a second: pid:NUMBER of this machine, prometheus:http://HOST:PORT/metrics,
    /// gc:FILE (a JVM's log with times), system_views (Cassandra's own). May be given more than once.
    #[arg(long, value_name = "SOURCE")]
    pub server: Vec<SourceWord>,
    /// A folder for all that was recorded: outcome.json, latency.hlog, report.html, tables and pictures.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn parse_compression(text: &str) -> Result<Compression, String> {
    [Compression::Lz4, Compression::Snappy]
        .into_iter()
        .find(|compression| compression.name().eq_ignore_ascii_case(text))
        .ok_or_else(|| "there are lz4 and snappy".to_owned())
}

fn parse_consistency(text: &str) -> Result<Consistency, String> {
    Consistency::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<&str> = Consistency::ALL.iter().map(|level| level.name()).collect();
        format!("the levels are {}", names.join(", "))
    })
}

/// A run about to be made.
pub struct Prepared {
    /// Clocks and threads.
    pub env: SharedEnv,
    /// The nodes.
    pub targets: Vec<SocketAddr>,
    /// How to connect.
    pub client: client::Options,
    /// What is asked.
    pub workload: Arc<dyn Workload>,
    /// What is looked at meanwhile.
    pub server: Vec<SourceWord>,
    /// What signals do to a run.
    pub interrupt: Interrupt,
}

/// Records at most this many intervals unless told otherwise.
const INTERVALS_USUAL: u64 = 600;

const SECOND: u64 = 1_000_000_000;

impl Options {
    /// Resolves names, finds the workload.
    ///
    /// # Errors
    /// One line: what is not understood.
    pub fn prepare(&self, verify: bool, interrupt: &Interrupt) -> Result<Prepared, String> {
        let env: SharedEnv = Arc::new(SystemEnv::new());
        let options = workload::Options {
            records: self.records,
            value: self.value,
            keys: self.keys,
            replication: self.replication,
            seed: self.seed,
            verify,
            now_micros: env.wall_micros(),
        };
        let workload = workload::named(&self.words, &options).map_err(|error| error.to_string())?;
        let targets: Result<Vec<SocketAddr>, String> =
            self.target.iter().map(|target| resolve(target)).collect();
        let targets = targets?;
        let mut client = self.client()?;
        if let Some(tls) = &mut client.tls {
            for (text, address) in self.target.iter().zip(&targets) {
                let name = text.rsplit_once(':').map_or(text.as_str(), |(name, _)| name);
                tls.name(*address, name);
            }
        }
        Ok(Prepared {
            targets,
            client,
            workload,
            server: self.server.clone(),
            interrupt: interrupt.clone(),
            env,
        })
    }

    /// How to connect.
    ///
    /// # Errors
    /// A version that is not spoken, or not with this compression; a file of certificates that is none.
    pub fn client(&self) -> Result<client::Options, String> {
        let version = match self.protocol {
            None => None,
            Some(number @ 3..=5) => ProtocolVersion::from_number(number),
            Some(other) => return Err(format!("--protocol {other}: versions 3, 4 and 5 are spoken")),
        };
        let is_framed = version.is_none_or(ProtocolVersion::is_framed);
        if self.compression == Some(Compression::Snappy) && is_framed {
            return Err("version 5 has no snappy: add --protocol 4".to_owned());
        }
        Ok(client::Options {
            version,
            compression: self.compression,
            tls: match &self.ca {
                Some(authorities) => Some(Tls::trusting(authorities)?),
                None => self.tls.then(Tls::trusting_anyone).transpose()?,
            },
            credentials: self.user.clone().zip(self.password.clone()),
            consistency: self.consistency,
            patience: Duration::from_secs(20),
        })
    }

    /// Threads that send and receive.
    pub fn workers(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.unwrap_or_else(|| (cores / 4).max(1))
    }

    /// The settings of a run of `asked`, which lasts about `nanos`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn settings(
        &self,
        prepared: &Prepared,
        asked: Asked,
        nanos: u64,
        in_flight: Option<usize>,
    ) -> Result<Settings, String> {
        let usual = nanos.div_ceil(INTERVALS_USUAL).div_ceil(SECOND).max(1) * SECOND;
        Ok(Settings {
            env: Arc::clone(&prepared.env),
            targets: prepared.targets.clone(),
            only_targets: self.only_targets,
            client: prepared.client.clone(),
            workload: Arc::clone(&prepared.workload),
            asked,
            seed: self.seed,
            connections: self.connections.max(1),
            workers: self.workers(),
            in_flight: in_flight.unwrap_or(self.connections.max(1) * (STREAMS - 1)),
            timeout_nanos: self.timeout,
            drain_nanos: self.drain,
            interval_nanos: self.interval.unwrap_or(usual),
            log: self.log()?,
            command: std::env::args().collect(),
            stop: prepared.interrupt.stop(),
        })
    }

    fn log(&self) -> Result<Option<Box<dyn std::io::Write + Send>>, String> {
        let Some(folder) = &self.out else { return Ok(None) };
        let path = folder.join("latency.hlog");
        let failed = |error| format!("{}: {error}", path.display());
        fs::create_dir_all(folder).map_err(failed)?;
        // A line at a time: a run that is killed leaves what it had.
        Ok(Some(Box::new(LineWriter::new(File::create(&path).map_err(failed)?))))
    }

    /// Prints what became of a run, writes it down where that was asked, and says how to end.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn conclude(&self, outcome: &Outcome, sla: Option<&Sla>) -> Result<ExitCode, String> {
        print!("{}", report::text_with(outcome, sla));
        if let Some(folder) = &self.out {
            record(outcome, folder, sla)?;
            println!("\nrecorded in {}", folder.display());
        }
        Ok(exit_code(outcome))
    }
}

/// Writes down a run and all its reports.
///
/// # Errors
/// When a file cannot be written.
pub fn record(outcome: &Outcome, folder: &Path, sla: Option<&Sla>) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    outcome::write(outcome, &folder.join(files::OUTCOME)).map_err(|error| error.to_string())?;
    files::write(&folder.join("report.txt"), report::text_with(outcome, sla))?;
    files::write_all(folder, std::slice::from_ref(outcome), sla, &[])
}

/// Runs it, with a live view, looking at the server meanwhile.
///
/// # Errors
/// One line: why there was no run.
pub fn go(settings: Settings, prepared: &Prepared, nanos: u64) -> Result<Finished, String> {
    let sampler = sampler(prepared)?;
    let began_micros = prepared.env.wall_micros();
    let mut watch = Watch(Live::start(nanos));
    let finished = prepared.interrupt.during(|| run::run(settings, &mut watch));
    watch.0.finish();
    let samples = sampler.map(Sampler::finish);
    let mut finished = finished.map_err(|error| error.to_string())?;
    if let Some(samples) = samples {
        // Connections were made before the first request was due, which is where the run's time begins.
        let before = (finished.outcome.setting.started_micros - began_micros).max(0) as u64 * 1000;
        finished.outcome.server = Some(samples.starting_at(before));
    }
    if let Some(address) = prepared.targets.first()
        && let Ok(facts) = schema::server_facts(*address, &prepared.client)
    {
        // A server that has gone meanwhile says nothing; the run stands.
        finished.outcome.setting.server = facts;
    }
    Ok(finished)
}

/// Starts looking at the server, where that was asked.
fn sampler(prepared: &Prepared) -> Result<Option<Sampler>, String> {
    let Some(node) = prepared.targets.first().filter(|_| !prepared.server.is_empty()) else {
        return Ok(None);
    };
    let sources = server::sources(&prepared.server, *node, &prepared.client);
    let origin = prepared.env.monotonic_nanos();
    Sampler::start(&prepared.env, sources, Duration::from_secs(1), origin)
        .map(Some)
        .map_err(|error| error.to_string())
}

/// How the program ends after this run.
pub fn exit_code(outcome: &Outcome) -> ExitCode {
    let counts = &outcome.counts;
    if !outcome.invalid.is_empty() || outcome.client.verdict == Verdict::Limited && outcome.is_open() {
        return ExitCode::from(INVALID);
    }
    let damage = outcome
        .verified
        .is_some_and(|verified| verified.lost + verified.stale + verified.wrong + verified.unread > 0);
    if damage || counts.failed + counts.timed_out + counts.in_flight + counts.unsent > 0 {
        return ExitCode::from(DEGRADED);
    }
    ExitCode::SUCCESS
}

fn resolve(target: &str) -> Result<SocketAddr, String> {
    let found = match target.to_socket_addrs() {
        Ok(found) => Ok(found),
        // No port: Cassandra's.
        Err(_) => (target, 9042).to_socket_addrs(),
    };
    let unknown = |why: String| format!("--target {target}: {why}");
    found
        .map_err(|error| unknown(error.to_string()))?
        .next()
        .ok_or_else(|| unknown("the name has no address".to_owned()))
}

/// The live view.
struct Watch(Live);

impl Observer for Watch {
    fn interval(&mut self, seen: &Seen<'_>) {
        self.0.interval(seen.interval);
    }
}
