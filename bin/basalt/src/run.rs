//! `basalt run`: configuration, engine, node, until a signal ends it. Where an engine and a node meet.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;

use basalt_node::config::settings::{AdminSettings, Machine, Settings};
use basalt_node::config::{Config, ConfigError, container, sizing::human};
use basalt_node::disk::{DIE_EXIT_CODE, Verdict};
use basalt_node::env::SystemEnv;
use basalt_node::listener::Bound;
use basalt_node::node::{Node, Storage};
use basalt_node::signals::{Signals, Word};
use basalt_node::{listener, log};
use basalt_rocks::{LogRecovery, RocksConfig, RocksEngine};
use clap::Args;

use crate::machine;

/// Where data is when nobody says.
const DATA_DIR: &str = "basalt-data";

/// The variable that says what is logged, in the notation of `tracing_subscriber::EnvFilter`.
const LOG_VARIABLE: &str = "BASALT_LOG";

/// What `basalt run` takes. Options given here win over the file's and the environment's.
#[derive(Args, Default)]
pub struct Options {
    /// A cassandra.yaml: Cassandra's keys and units.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where data is [default: ./basalt-data].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The address to listen on for clients (rpc_address) [default: 127.0.0.1].
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The port to listen on for clients (native_transport_port) [default: 9042].
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The port to listen on for nodetool, -1 for none (admin_port) [default: 7199].
    #[arg(long, value_name = "PORT", allow_negative_numbers = true)]
    admin_port: Option<i32>,
    /// Memory to use, e.g. 2GiB [default: half of the container's or the machine's].
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Answer every read of a table as its first one: what is left costs what storage does not.
    #[arg(long, hide = true)]
    answer_alike: bool,
}

/// Runs a node until SIGTERM or SIGINT.
///
/// # Errors
/// One line: why it did not start, or could not end properly.
pub fn run(options: Options) -> Result<(), String> {
    // The only place that reads the environment.
    let variables: Vec<(String, String)> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    start_log(&variables);
    let machine = machine::this();
    let answers_alike = options.answer_alike;
    let settings = settings(options, &variables, machine).map_err(|error| error.to_string())?;
    report_keys(&settings);
    let mut signals = Signals::catch().map_err(|error| format!("signals cannot be caught: {error}"))?;
    let bound = if settings.start_native_transport {
        let bind = listener::bind(settings.listen, settings.transport.keepalive);
        Some(bind.map_err(|error| {
            format!("Failed to bind port {} on {}: {error}", settings.listen.port(), settings.listen.ip())
        })?)
    } else {
        None
    };
    let admin = bind_admin(&settings)?;
    let engine = RocksEngine::open(&RocksConfig {
        path: settings.data_dir.clone(),
        memory_bytes: settings.sizing.engine_bytes,
        cores: machine.cores,
        log_recovery: LogRecovery::RefuseDamage,
    })
    .map_err(|error| error.to_string())?;
    if let Some(cut) = engine.cut_short() {
        log::warn(&cut.to_string());
    }
    let env = Arc::new(SystemEnv::new());
    let storage =
        Storage::open(&settings, env.clone(), Arc::new(engine)).map_err(|error| error.to_string())?;
    let storage = if answers_alike {
        log::warn(
            "tables are read once and then not any more: this node is for measuring what the rest costs",
        );
        storage.answering_alike()
    } else {
        storage
    };
    let mut verdict = storage.disk.verdict();
    let mut node = Node::start(&settings, env.clone(), storage, bound).map_err(|error| error.to_string())?;
    if let Some((admin, bound)) = admin
        && let Some(address) = or_without(admin, node.start_admin(env, bound))?
    {
        log::info(&format!("Listening for nodetool on {address}"));
    }
    announce(&settings, &node);
    loop {
        match signals.wait(&mut verdict) {
            Word::End(signal) => {
                log::info(&format!("{signal}: draining"));
                break;
            }
            Word::Disk(Verdict::GoOn) => {}
            Word::Disk(Verdict::StopTransports) => node.stop_transports(),
            // Nothing is brought in order first: the disk is what cannot be trusted.
            Word::Disk(Verdict::Die) => process::exit(DIE_EXIT_CODE.into()),
        }
    }
    node.drain().map_err(|error| format!("not everything could be brought to disk: {error}"))
}

/// Takes the port for nodetool.
fn bind_admin(settings: &Settings) -> Result<Option<(&AdminSettings, Bound)>, String> {
    let Some(admin) = &settings.admin else { return Ok(None) };
    if !admin.listen.ip().is_loopback() {
        log::warn(&format!(
            "anyone who reaches {} may do everything to this node: nobody is asked for a password",
            admin.listen
        ));
    }
    Ok(or_without(admin, listener::bind(admin.listen, false))?.map(|bound| (admin, bound)))
}

/// When nobody asked for nodetool's port and it is taken, by another node of this machine say, the node does without.
fn or_without<T>(admin: &AdminSettings, taken: io::Result<T>) -> Result<Option<T>, String> {
    match taken {
        Ok(taken) => Ok(Some(taken)),
        Err(error) if admin.is_given => {
            Err(format!("Failed to bind port {} on {}: {error}", admin.listen.port(), admin.listen.ip()))
        }
        Err(error) => {
            log::warn(&format!(
                "nodetool will not reach this node: {} cannot be listened on: {error}",
                admin.listen
            ));
            Ok(None)
        }
    }
}

fn start_log(variables: &[(String, String)]) {
    let filter =
        variables.iter().find(|(name, _)| name == LOG_VARIABLE).map_or("info", |(_, value)| value.as_str());
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
}

fn settings(
    options: Options,
    variables: &[(String, String)],
    machine: Machine,
) -> Result<Settings, ConfigError> {
    let mut config = match &options.config {
        None => Config::default(),
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|error| ConfigError(format!("Cannot read {}: {error}", path.display())))?;
            Config::parse(&path.display().to_string(), &text)?
        }
    };
    let place = container::apply(&mut config, variables, &machine::own_address())?;
    let given = [
        ("rpc_address", options.listen),
        ("native_transport_port", options.port.map(|port| port.to_string())),
        ("memory", options.memory),
        ("admin_port", options.admin_port.map(|port| port.to_string())),
        ("data_file_directories", options.data_dir.map(|path| path.display().to_string())),
    ];
    for (key, value) in given {
        if let Some(value) = value {
            config.set_text(key, &value)?;
        }
    }
    Settings::from_config(config, place, machine, PathBuf::from(DATA_DIR))
}

/// One warning for all keys that change nothing here, one for those with newer names.
fn report_keys(settings: &Settings) {
    let ignored = settings.not_applicable();
    if !ignored.is_empty() {
        log::warn(&format!("known to Cassandra, without effect here: {}", ignored.join(", ")));
    }
    if !settings.config.deprecated.is_empty() {
        log::warn(&format!(
            "[{}] parameters have been deprecated. They have new names and/or value format",
            settings.config.deprecated.join(", ")
        ));
    }
    if settings.start_native_transport && !settings.listen.ip().is_loopback() {
        log::warn(&format!(
            "anyone who reaches {} may read and write everything: nobody is asked for a password",
            settings.listen
        ));
    }
}

/// The line that scripts wait for, word for word Cassandra's, and one that says what was sized.
fn announce(settings: &Settings, node: &Node) {
    println!(
        "Basalt {}: memory {} (engine {}), {} reactors, commitlog_sync {}, data in {}",
        env!("CARGO_PKG_VERSION"),
        human(settings.sizing.memory_bytes),
        human(settings.sizing.engine_bytes),
        settings.reactors,
        settings.commitlog_sync.describe(),
        settings.data_dir.display(),
    );
    if let Some(server) = &node.server {
        println!("Starting listening for CQL clients on {} (unencrypted)...", place(server.address));
    }
}

/// An address as Java prints it.
fn place(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(v4) => format!("/{v4}"),
        SocketAddr::V6(v6) => {
            let mut text = String::from("/[");
            for (index, segment) in v6.ip().segments().iter().enumerate() {
                let separator = if index == 0 { "" } else { ":" };
                // Writing to a String cannot fail.
                let _ = write!(text, "{separator}{segment:x}");
            }
            format!("{text}]:{}", v6.port())
        }
    }
}
