//! What the node takes from its configuration, typed and checked. Which keys have an effect stands here
//! and nowhere else: a key that is given and not in [`APPLIED`] is reported.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use basalt_coordinator::Timeouts;
use basalt_query::{QuerySettings, SchemaSettings, StorageCompatibilityMode};

use super::addresses::addresses;
pub use super::admin::AdminSettings;
use super::admin::admin;
use super::container::Place;
use super::disk::{DiskSettings, disk};
use super::sizing::{MEMORY_MIN_BYTES, Sizing};
pub use super::transport::TransportSettings;
use super::transport::transport;
use super::units::{Bound, DurationUnit, duration_nanos};
use super::yaml::Yaml;
use super::{Config, ConfigError};
use crate::snapshots::AutoSnapshot;

/// Keys that have an effect here (some only in that other values are refused).
pub const APPLIED: [&str; 70] = [
    "admin_address",
    "admin_allow_remote",
    "admin_port",
    "authenticator",
    "authorizer",
    "auto_snapshot",
    "auto_snapshot_ttl",
    "available_processors",
    "batch_size_fail_threshold",
    "batch_size_warn_threshold",
    "broadcast_address",
    "broadcast_rpc_address",
    "client_encryption_options",
    "cluster_name",
    "commit_failure_policy",
    "commitlog_segment_size",
    "commitlog_sync",
    "commitlog_sync_group_window",
    "commitlog_sync_period",
    "compaction_throughput",
    "concurrent_reads",
    "consecutive_message_errors_threshold",
    "counter_cache_size",
    "counter_write_request_timeout",
    "data_disk_usage_max_disk_size",
    "data_disk_usage_percentage_fail_threshold",
    "data_disk_usage_percentage_warn_threshold",
    "data_file_directories",
    "disk_failure_policy",
    "drop_compact_storage_enabled",
    "dynamic_data_masking_enabled",
    "endpoint_snitch",
    "initial_token",
    "internode_authenticator",
    "listen_address",
    "max_mutation_size",
    "memory",
    "native_transport_allow_older_protocols",
    "native_transport_idle_timeout",
    "native_transport_max_concurrent_connections",
    "native_transport_max_concurrent_connections_per_ip",
    "native_transport_max_frame_size",
    "native_transport_max_message_size",
    "native_transport_max_request_data_in_flight",
    "native_transport_max_request_data_in_flight_per_ip",
    "native_transport_max_requests_per_second",
    "native_transport_port",
    "native_transport_rate_limiting_enabled",
    "native_transport_receive_queue_capacity",
    "native_transport_throw_on_overload",
    "native_transport_timeout",
    "network_authorizer",
    "num_tokens",
    "partitioner",
    "periodic_commitlog_sync_lag_block",
    "prepared_statements_cache_size",
    "range_request_timeout",
    "read_request_timeout",
    "role_manager",
    "rpc_address",
    "rpc_keepalive",
    "slow_query_log_timeout",
    "start_native_transport",
    "storage_compatibility_mode",
    "storage_port",
    "tombstone_failure_threshold",
    "tombstone_warn_threshold",
    "truncate_request_timeout",
    "unlogged_batch_across_partitions_warn_threshold",
    "write_request_timeout",
];

/// Shorter time-outs are this long (`DatabaseDescriptor.LOWEST_ACCEPTED_TIMEOUT`).
const TIMEOUT_MIN_MS: u64 = 10;

/// `commitlog_sync`: when an acknowledged write is on stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitlogSync {
    /// Before it is acknowledged; writes that wait at the same time share a sync.
    Batch,
    /// Before it is acknowledged; a sync waits this long for more writes to share it.
    Group {
        /// `commitlog_sync_group_window`.
        window_ms: u64,
    },
    /// Later; a crash of the machine loses what was acknowledged since the last sync.
    Periodic {
        /// `commitlog_sync_period`.
        period_ms: u64,
        /// `periodic_commitlog_sync_lag_block`: writers wait when the last sync is older.
        lag_block_ms: u64,
    },
}

impl CommitlogSync {
    /// For the start line: `batch`, `group 10ms`, `periodic 10000ms`.
    pub fn describe(self) -> String {
        match self {
            CommitlogSync::Batch => "batch".to_owned(),
            CommitlogSync::Group { window_ms } => format!("group {window_ms}ms"),
            CommitlogSync::Periodic { period_ms, .. } => format!("periodic {period_ms}ms"),
        }
    }
}

/// Everything a node is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration it was made of, for showing.
    pub config: Config,
    /// `cluster_name`.
    pub cluster_name: String,
    /// Where data is.
    pub data_dir: PathBuf,
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Whether clients are served at all.
    pub start_native_transport: bool,
    /// What clients are told to connect to.
    pub broadcast_rpc_address: IpAddr,
    /// `listen_address`.
    pub listen_address: IpAddr,
    /// `broadcast_address`.
    pub broadcast_address: IpAddr,
    /// `storage_port`.
    pub storage_port: u16,
    /// Datacenter and rack, and the snitch that says so.
    pub datacenter: String,
    /// The rack.
    pub rack: String,
    /// `endpoint_snitch`, without its package.
    pub snitch: String,
    /// Tokens a new node draws.
    pub num_tokens: u16,
    /// When writes are durable.
    pub commitlog_sync: CommitlogSync,
    /// What follows when the disk fails or fills.
    pub disk: DiskSettings,
    /// Largest mutation, bytes.
    pub max_mutation_bytes: u64,
    /// Who gets how much memory.
    pub sizing: Sizing,
    /// Reactors: threads that serve connections.
    pub reactors: usize,
    /// Threads for work that waits for the disk (`concurrent_reads`).
    pub pool_threads: usize,
    /// Limits on clients.
    pub transport: TransportSettings,
    /// What purges read in a second, bytes; 0 for no limit.
    pub purge_bytes_per_second: u64,
    /// Counts of counters that are remembered, bytes.
    pub counter_cache_bytes: usize,
    /// Limits on statements.
    pub query: QuerySettings,
    /// What statements may do to the schema.
    pub schema: SchemaSettings,
    /// Statements slower than this are logged; `None`: none are.
    pub slow_query_log_ms: Option<u64>,
    /// What `read_request_timeout` and its kin say.
    pub timeouts: Timeouts,
    /// Whether data that is about to go is kept.
    pub auto_snapshot: AutoSnapshot,
    /// Where `nodetool` reaches the node; `None`: nowhere.
    pub admin: Option<AdminSettings>,
}

/// What the machine is, for everything that is sized by it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The default of `memory`, bytes.
    pub memory_bytes: u64,
    /// Cores this process may use.
    pub cores: usize,
}

impl Settings {
    /// Checks a configuration and takes what it needs of it. `data_dir` is used when the
    /// configuration names none.
    ///
    /// # Errors
    /// One line, in Cassandra's words where it has them.
    pub fn from_config(
        mut config: Config,
        place: Place,
        machine: Machine,
        data_dir: PathBuf,
    ) -> Result<Settings, ConfigError> {
        refuse_what_would_mislead(&config)?;
        let memory_bytes = config.bytes("memory").unwrap_or(machine.memory_bytes);
        if memory_bytes < MEMORY_MIN_BYTES {
            return Err(ConfigError(format!("memory must be at least {}MiB", MEMORY_MIN_BYTES >> 20)));
        }
        let sizing = Sizing::from_memory(memory_bytes);
        config.derive("memory", format!("{memory_bytes}B"));
        let addresses = addresses(&config)?;
        let commitlog_sync = commitlog_sync(&mut config)?;
        let max_mutation_bytes = max_mutation_bytes(&mut config)?;
        let transport = transport(&mut config, sizing, max_mutation_bytes)?;
        let snitch = snitch(&mut config);
        let prepared_bytes =
            config.bytes("prepared_statements_cache_size").unwrap_or(sizing.prepared_statements_bytes);
        config.derive("prepared_statements_cache_size", format!("{}MiB", prepared_bytes >> 20));
        let counter_cache_bytes = config.bytes("counter_cache_size").unwrap_or(sizing.counter_cache_bytes);
        config.derive("counter_cache_size", format!("{}MiB", counter_cache_bytes >> 20));
        let pool_threads = usize::try_from(config.number("concurrent_reads").unwrap_or(32)).unwrap_or(0);
        if pool_threads < 2 {
            return Err(ConfigError(format!("concurrent_reads must be at least 2, but was {pool_threads}")));
        }
        let num_tokens = num_tokens(&mut config)?;
        let data_dir = data_dir_of(&mut config, data_dir)?;
        let timeout =
            |name: &str, default_ms: u64| config.millis(name).unwrap_or(default_ms).max(TIMEOUT_MIN_MS);
        let timeouts = Timeouts {
            read_ms: timeout("read_request_timeout", 5_000),
            range_ms: timeout("range_request_timeout", 10_000),
            write_ms: timeout("write_request_timeout", 2_000),
            counter_write_ms: timeout("counter_write_request_timeout", 5_000),
            truncate_ms: timeout("truncate_request_timeout", 60_000),
        };
        Ok(Settings {
            cluster_name: config.text("cluster_name").unwrap_or_default(),
            data_dir,
            listen: SocketAddr::new(addresses.rpc, port(&config, "native_transport_port")?),
            start_native_transport: config.flag("start_native_transport"),
            broadcast_rpc_address: addresses.broadcast_rpc,
            listen_address: addresses.listen,
            broadcast_address: addresses.broadcast,
            storage_port: port(&config, "storage_port")?,
            datacenter: place.datacenter.unwrap_or_else(|| "datacenter1".to_owned()),
            rack: place.rack.unwrap_or_else(|| "rack1".to_owned()),
            snitch,
            num_tokens,
            commitlog_sync,
            disk: disk(&config)?,
            max_mutation_bytes,
            sizing,
            reactors: config
                .number("available_processors")
                .and_then(|cores| usize::try_from(cores).ok())
                .unwrap_or(machine.cores)
                .max(1),
            pool_threads,
            // A purge reads what compactions write: it takes a part of what both may.
            purge_bytes_per_second: config.rate("compaction_throughput").unwrap_or(64 << 20).div_ceil(4),
            counter_cache_bytes: usize::try_from(counter_cache_bytes).unwrap_or(usize::MAX),
            transport,
            query: query_settings(&config, prepared_bytes, max_mutation_bytes),
            schema: SchemaSettings {
                drop_compact_storage_enabled: config.flag("drop_compact_storage_enabled"),
                dynamic_data_masking_enabled: config.flag("dynamic_data_masking_enabled"),
            },
            slow_query_log_ms: config.millis("slow_query_log_timeout").filter(|millis| *millis > 0),
            timeouts,
            auto_snapshot: auto_snapshot(&config)?,
            admin: admin(&config)?,
            config,
        })
    }

    /// Keys that were given and have no effect here.
    pub fn not_applicable(&self) -> Vec<&'static str> {
        self.config.given_names().filter(|name| !APPLIED.contains(name)).collect()
    }
}

/// Keys whose usual value can be ignored but whose other values would promise something that is not
/// there: security, mostly.
fn refuse_what_would_mislead(config: &Config) -> Result<(), ConfigError> {
    let classes = [
        ("authenticator", "AllowAllAuthenticator"),
        ("authorizer", "AllowAllAuthorizer"),
        ("role_manager", "CassandraRoleManager"),
        ("network_authorizer", "AllowAllNetworkAuthorizer"),
        ("internode_authenticator", "AllowAllInternodeAuthenticator"),
        ("partitioner", "Murmur3Partitioner"),
    ];
    for (name, only) in classes {
        let Some(class) = config.class(name) else { continue };
        if class.rsplit('.').next() != Some(only) {
            return Err(ConfigError(format!("{name}: {class} is not supported yet, only {only}")));
        }
    }
    let tls = config.value("client_encryption_options").and_then(|options| options.get("enabled"));
    if tls.and_then(Yaml::scalar_text).is_some_and(|text| text == "true") {
        return Err(ConfigError(
            "client_encryption_options: encryption of client connections is not supported yet; \
             set enabled: false if unencrypted connections are what you want"
                .to_owned(),
        ));
    }
    if config.text("initial_token").is_some() {
        return Err(ConfigError("initial_token: choosing tokens is not supported yet".to_owned()));
    }
    Ok(())
}

/// Port 0 asks the operating system for a free one (tests do).
pub(super) fn port(config: &Config, name: &str) -> Result<u16, ConfigError> {
    let number = config.number(name).unwrap_or(0);
    u16::try_from(number).map_err(|_| ConfigError(format!("{name}: {number} is not a port")))
}

/// The class of `endpoint_snitch`, without its package.
fn snitch(config: &mut Config) -> String {
    let snitch = config.text("endpoint_snitch").unwrap_or_else(|| "SimpleSnitch".to_owned());
    let snitch = snitch.rsplit('.').next().unwrap_or("SimpleSnitch").to_owned();
    config.derive("endpoint_snitch", snitch.clone());
    snitch
}

fn auto_snapshot(config: &Config) -> Result<AutoSnapshot, ConfigError> {
    let ttl = config.text("auto_snapshot_ttl").filter(|text| !text.is_empty());
    let seconds = |text: String| {
        let nanos = duration_nanos(&text, DurationUnit::Seconds, Bound::Int)
            .map_err(|_| ConfigError(format!("Invalid value of auto_snapshot_ttl: {text}")))?;
        Ok(i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX))
    };
    Ok(AutoSnapshot { is_on: config.flag("auto_snapshot"), ttl_s: ttl.map(seconds).transpose()? })
}

/// `DatabaseDescriptor.applySimpleConfig` on the commit log. Without any word: `batch`.
fn commitlog_sync(config: &mut Config) -> Result<CommitlogSync, ConfigError> {
    let period_ms = config.millis("commitlog_sync_period").unwrap_or(0);
    let window_ms = config.millis("commitlog_sync_group_window").unwrap_or(0);
    let error = |text: &str| Err(ConfigError(text.to_owned()));
    let mode = config.text("commitlog_sync").unwrap_or_else(|| "batch".to_owned());
    config.derive("commitlog_sync", mode.clone());
    match mode.as_str() {
        "batch" if period_ms != 0 => error("Batch sync specified, but commitlog_sync_period found."),
        "batch" => Ok(CommitlogSync::Batch),
        "group" if window_ms == 0 => error("Missing value for commitlog_sync_group_window."),
        "group" if period_ms != 0 => error(
            "Group sync specified, but commitlog_sync_period found. Only specify commitlog_sync_group_window when using group sync",
        ),
        "group" => Ok(CommitlogSync::Group { window_ms }),
        _ if period_ms == 0 => error("Missing value for commitlog_sync_period."),
        _ => {
            let lag_block_ms =
                config.millis("periodic_commitlog_sync_lag_block").unwrap_or(period_ms * 3 / 2);
            Ok(CommitlogSync::Periodic { period_ms, lag_block_ms })
        }
    }
}

fn max_mutation_bytes(config: &mut Config) -> Result<u64, ConfigError> {
    let segment = config.bytes("commitlog_segment_size").unwrap_or(32 << 20);
    let max = config.bytes("max_mutation_size").unwrap_or(segment / 2);
    if segment < 2 * max {
        return Err(ConfigError(
            "commitlog_segment_size must be at least twice the size of max_mutation_size / 1024".to_owned(),
        ));
    }
    config.derive("max_mutation_size", format!("{}KiB", max >> 10));
    Ok(max)
}

fn num_tokens(config: &mut Config) -> Result<u16, ConfigError> {
    let tokens = config.number("num_tokens").unwrap_or(16);
    config.derive("num_tokens", tokens.to_string());
    match u16::try_from(tokens) {
        Ok(tokens @ 1..=1_536) => Ok(tokens),
        _ => Err(ConfigError("A maximum number of 1536 tokens per node is supported".to_owned())),
    }
}

fn data_dir_of(config: &mut Config, default: PathBuf) -> Result<PathBuf, ConfigError> {
    let given = match config.value("data_file_directories") {
        None | Some(Yaml::Null) => return Ok(default),
        Some(Yaml::List(items)) => items.iter().filter_map(Yaml::scalar_text).collect::<Vec<_>>(),
        Some(other) => other.scalar_text().into_iter().collect(),
    };
    match given.as_slice() {
        [one] if one.is_empty() => {
            Err(ConfigError("data_file_directories must not contain empty entry".to_owned()))
        }
        [one] => Ok(PathBuf::from(one)),
        [] => Ok(default),
        _ => {
            Err(ConfigError("data_file_directories: more than one directory is not supported yet".to_owned()))
        }
    }
}

fn query_settings(config: &Config, prepared_bytes: u64, max_mutation_bytes: u64) -> QuerySettings {
    let size = |name: &str, default: usize| {
        config.bytes(name).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(default)
    };
    // -1 switches a threshold off.
    let count =
        |name: &str| config.number(name).and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
    let defaults = QuerySettings::default();
    QuerySettings {
        prepared_statements_cache_bytes: usize::try_from(prepared_bytes).unwrap_or(usize::MAX),
        batch_size_warn_threshold_bytes: size(
            "batch_size_warn_threshold",
            defaults.batch_size_warn_threshold_bytes,
        ),
        batch_size_fail_threshold_bytes: size(
            "batch_size_fail_threshold",
            defaults.batch_size_fail_threshold_bytes,
        ),
        unlogged_batch_across_partitions_warn_threshold: usize::try_from(count(
            "unlogged_batch_across_partitions_warn_threshold",
        ))
        .unwrap_or(usize::MAX),
        tombstone_warn_threshold: count("tombstone_warn_threshold"),
        tombstone_failure_threshold: count("tombstone_failure_threshold"),
        max_mutation_bytes: usize::try_from(max_mutation_bytes).unwrap_or(usize::MAX),
        storage_compatibility_mode: config
            .text("storage_compatibility_mode")
            .and_then(|mode| StorageCompatibilityMode::of(&mode))
            .unwrap_or_default(),
        ..defaults
    }
}
