//! Keys, units and words of `cassandra.yaml`, as Cassandra 5.0.9 takes and refuses them.

use std::path::PathBuf;

use super::container::{Place, apply};
use super::disk::{CommitFailurePolicy, DiskFailurePolicy, DiskSettings};
use super::settings::{CommitlogSync, Machine, Settings};
use super::*;

const MACHINE: Machine = Machine { memory_bytes: 1 << 30, cores: 2 };

fn parse(text: &str) -> Result<Config, String> {
    Config::parse("cassandra.yaml", text).map_err(|error| error.to_string())
}

fn settings(text: &str) -> Result<Settings, String> {
    let config = parse(text)?;
    Settings::from_config(config, Place::default(), MACHINE, PathBuf::from("data"))
        .map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    settings(text).expect_err("refused")
}

#[test]
fn every_key_stands_once_and_in_order() {
    for pair in KEYS.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
    }
    for key in &KEYS {
        let Some(default) = key.default else { continue };
        let text = value_text(key.kind, &Yaml::Text(default.to_owned()));
        assert_eq!(text, Ok(Some(default.to_owned())), "{}", key.name);
    }
    for name in settings::APPLIED {
        assert!(lookup(name).is_some(), "{name} is no key");
    }
}

#[test]
fn without_a_file_it_is_a_loopback_node() {
    let settings = settings("").expect("nothing is enough");
    assert_eq!(settings.listen.to_string(), "127.0.0.1:9042");
    assert_eq!(settings.cluster_name, "Test Cluster");
    assert_eq!(settings.data_dir, PathBuf::from("data"));
    assert_eq!(settings.commitlog_sync, CommitlogSync::Batch);
    assert_eq!(settings.timeouts.read_ms, 5_000);
    assert_eq!(settings.transport.frame_max_bytes, 16 << 20);
    assert_eq!(settings.transport.connections_max, None);
    assert_eq!(settings.not_applicable(), Vec::<&str>::new());
}

#[test]
fn unknown_keys_are_refused_by_name() {
    assert_eq!(
        refused("cluster_name: a\nflux_capacitor: 1\nwarp: 9\n"),
        "Invalid yaml. Please remove properties [flux_capacitor, warp] from your cassandra.yaml"
    );
}

#[test]
fn a_key_may_not_stand_under_both_its_names() {
    let both = "Config contains both old and new keys for the same configuration parameters, migrate old -> new: \
                [read_request_timeout_in_ms -> read_request_timeout]";
    assert_eq!(refused("read_request_timeout_in_ms: 1\nread_request_timeout: 1ms\n"), both);
    assert_eq!(refused("read_request_timeout: 1ms\nread_request_timeout_in_ms: 1\n"), both);
}

#[test]
fn earlier_names_are_read_with_their_units() {
    let config = parse(
        "read_request_timeout_in_ms: 700\n\
         native_transport_max_frame_size_in_mb: 32\n\
         batch_size_warn_threshold_in_kb: 7\n\
         compaction_throughput_mb_per_sec: 16\n\
         stream_throughput_outbound_megabits_per_sec: 200\n\
         permissions_update_interval_in_ms: -1\n\
         key_cache_save_period: 14400\n\
         commitlog_sync_group_window_in_ms: 9.6\n\
         native_transport_max_concurrent_requests_in_bytes: 1000\n\
         enable_materialized_views: true\n",
    )
    .expect("5.0 takes them");
    assert_eq!(config.millis("read_request_timeout"), Some(700));
    assert_eq!(config.bytes("native_transport_max_frame_size"), Some(32 << 20));
    assert_eq!(config.bytes("batch_size_warn_threshold"), Some(7 << 10));
    assert_eq!(config.rate("compaction_throughput"), Some(16 << 20));
    assert_eq!(config.rate("stream_throughput_outbound"), Some(25_000_000));
    assert_eq!(config.text("permissions_update_interval"), None);
    assert_eq!(config.millis("key_cache_save_period"), Some(14_400_000));
    assert_eq!(config.millis("commitlog_sync_group_window"), Some(10));
    assert_eq!(config.bytes("native_transport_max_request_data_in_flight"), Some(1_000));
    assert!(config.flag("materialized_views_enabled"));
    // `key_cache_save_period` kept its name when its values got units.
    assert_eq!(config.deprecated.len(), 9);
}

#[test]
fn units_are_checked_in_cassandras_words() {
    for (line, expected) in [
        (
            "read_request_timeout: 5000",
            "read_request_timeout: Invalid duration: 5000 Accepted units:[MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS] where case matters and only non-negative values.",
        ),
        (
            "read_request_timeout: 5us",
            "read_request_timeout: Invalid duration: 5us Accepted units:[MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS]",
        ),
        (
            "permissions_validity: 2147483647ms",
            "permissions_validity: Invalid duration: 2147483647ms. It shouldn't be more than 2147483646 in milliseconds",
        ),
        (
            "native_transport_max_frame_size: 16mb",
            "native_transport_max_frame_size: Invalid data storage: 16mb Accepted units:[MEBIBYTES, GIBIBYTES] where case matters and only non-negative values are accepted",
        ),
        (
            "native_transport_max_frame_size: 16KiB",
            "native_transport_max_frame_size: Invalid data storage: 16KiB Accepted units:[MEBIBYTES, GIBIBYTES]",
        ),
        (
            "compaction_throughput: 64MB/s",
            "compaction_throughput: Invalid data rate: 64MB/s Accepted units: MiB/s, KiB/s, B/s where case matters and only non-negative values are valid",
        ),
    ] {
        assert_eq!(refused(line), format!("Invalid yaml: cassandra.yaml: {expected}"));
    }
}

#[test]
fn a_file_that_is_not_yaml_says_where() {
    let error = refused("cluster_name: [a\n");
    assert!(error.starts_with("Invalid yaml: cassandra.yaml: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(refused("- a\n- b\n").ends_with("a mapping of keys to values is expected"));
    assert!(refused("cluster_name: a\ncluster_name: b\n").starts_with("Invalid yaml: cassandra.yaml: "));
}

#[test]
fn null_is_no_value_where_there_is_a_default() {
    assert_eq!(
        refused("cluster_name:\nrpc_address:\n"),
        "Invalid yaml. Those properties [cluster_name] are not valid"
    );
}

#[test]
fn the_commit_logs_rules_are_cassandras() {
    assert_eq!(
        refused("commitlog_sync: batch\ncommitlog_sync_period: 10s\n"),
        "Batch sync specified, but commitlog_sync_period found."
    );
    assert_eq!(refused("commitlog_sync: group\n"), "Missing value for commitlog_sync_group_window.");
    assert_eq!(refused("commitlog_sync: periodic\n"), "Missing value for commitlog_sync_period.");
    let periodic = settings("commitlog_sync: periodic\ncommitlog_sync_period: 10s\n").expect("stock");
    assert_eq!(periodic.commitlog_sync, CommitlogSync::Periodic { period_ms: 10_000, lag_block_ms: 15_000 });
    assert_eq!(periodic.commitlog_sync.describe(), "periodic 10000ms");
}

#[test]
fn a_wildcard_address_needs_one_to_announce() {
    assert_eq!(
        refused("rpc_address: 0.0.0.0\n"),
        "If rpc_address is set to a wildcard address (0.0.0.0), then you must set broadcast_rpc_address to a value other than 0.0.0.0"
    );
    assert_eq!(
        refused("broadcast_rpc_address: 0.0.0.0\n"),
        "broadcast_rpc_address cannot be a wildcard address (0.0.0.0)!"
    );
    assert_eq!(
        refused("rpc_address: 127.0.0.1\nrpc_interface: eth0\n"),
        "Set rpc_address OR rpc_interface, not both"
    );
    let both = settings("rpc_address: 0.0.0.0\nbroadcast_rpc_address: 127.0.0.7\n").expect("announced");
    assert_eq!(both.broadcast_rpc_address.to_string(), "127.0.0.7");
}

#[test]
fn what_would_promise_security_that_is_not_there_is_refused() {
    for text in [
        "authenticator: PasswordAuthenticator",
        "authenticator:\n  class_name: org.apache.cassandra.auth.PasswordAuthenticator\n",
        "authorizer: CassandraAuthorizer",
        "client_encryption_options:\n  enabled: true\n",
        "partitioner: org.apache.cassandra.dht.RandomPartitioner",
    ] {
        assert!(refused(text).contains("not supported yet"), "{text}");
    }
    settings("authenticator: org.apache.cassandra.auth.AllowAllAuthenticator").expect("what there is");
}

#[test]
fn known_keys_without_effect_are_listed() {
    let settings = settings(
        "phi_convict_threshold: 8\nseed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n    \
         parameters:\n      - seeds: \"127.0.0.1:7000\"\nsai_options.segment_write_buffer_size: 1024MiB\n",
    )
    .expect("known");
    assert_eq!(settings.not_applicable(), ["phi_convict_threshold", "seed_provider"]);
}

#[test]
fn nodetool_is_listened_for_on_loopback_unless_two_words_say_otherwise() {
    let admin = |text| settings(text).expect("legal").admin;
    let default = admin("").expect("on");
    assert_eq!((default.listen.to_string().as_str(), default.is_given), ("127.0.0.1:7199", false));
    assert_eq!(admin("admin_port: 0\n").expect("on").listen.to_string(), "127.0.0.1:0");
    assert_eq!(admin("admin_port: -1\n"), None);
    let remote = "admin_address: 10.0.0.1\n";
    assert!(refused(remote).starts_with("admin_address: whoever reaches 10.0.0.1 may"));
    let allowed = admin(&format!("{remote}admin_allow_remote: true\n")).expect("on");
    assert_eq!(allowed.listen.to_string(), "10.0.0.1:7199");
}

#[test]
fn settings_show_what_was_given_and_derived() {
    let settings = settings("cluster_name: Nine\nmemory: 512MiB\n").expect("legal");
    let shown = settings.config.shown();
    let value = |name: &str| {
        let row = shown.iter().find(|(shown, _)| shown == name);
        row.unwrap_or_else(|| panic!("{name} is shown")).1.clone()
    };
    assert_eq!(value("cluster_name").as_deref(), Some("Nine"));
    assert_eq!(value("memory").as_deref(), Some("512MiB"));
    assert_eq!(value("commitlog_sync").as_deref(), Some("batch"));
    assert_eq!(value("read_request_timeout").as_deref(), Some("5000ms"));
    assert_eq!(value("native_transport_max_request_data_in_flight").as_deref(), Some("53687091B"));
    assert_eq!(value("authenticator.class_name"), None);
}

#[test]
fn memory_and_limits_come_from_one_number() {
    let small = settings("memory: 80MiB\n").expect("enough");
    assert_eq!(small.sizing.memory_bytes, 80 << 20);
    assert_eq!(small.transport.in_flight_bytes, 8 << 20);
    assert_eq!(u64::from(small.transport.message_max_bytes), 2 << 20);
    assert_eq!(refused("memory: 10MiB\n"), "memory must be at least 64MiB");
    assert_eq!(
        refused(
            "native_transport_max_message_size: 16MiB\nnative_transport_max_request_data_in_flight: 1MiB\n"
        ),
        "native_transport_max_message_size must not exceed native_transport_max_request_data_in_flight"
    );
}

#[test]
fn the_smallest_limit_around_a_process_is_its_memory() {
    let meminfo = "MemTotal:       24000000 kB\nMemFree: 1 kB\n";
    let limits = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(sizing::machine_memory(&limits(&["max\n", "1073741824\n"]), meminfo), Some(1 << 30));
    assert_eq!(sizing::machine_memory(&limits(&["max\n"]), meminfo), Some(24_000_000 << 10));
    assert_eq!(sizing::machine_memory(&[], ""), None);
    assert_eq!(sizing::human(1 << 30), "1 GiB");
    assert_eq!(sizing::human(1_610_612_736), "1.5 GiB");
    assert_eq!(sizing::human(999), "999 B");
}

#[test]
fn the_containers_variables_set_keys() {
    let variables = [
        ("CASSANDRA_CLUSTER_NAME", "Cluster"),
        ("CASSANDRA_DC", "dc1"),
        ("CASSANDRA_RPC_ADDRESS", "0.0.0.0"),
        ("CASSANDRA_LISTEN_ADDRESS", "auto"),
        ("CASSANDRA_NUM_TOKENS", ""),
        ("CASSANDRA_SEEDS", "one,two"),
        ("HOME", "/root"),
    ];
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut config = Config::default();
    let place = apply(&mut config, &variables, "127.0.0.9").expect("legal");
    assert_eq!(place, Place { datacenter: Some("dc1".to_owned()), rack: None });
    let settings = Settings::from_config(config, place, MACHINE, PathBuf::from("data")).expect("legal");
    assert_eq!(settings.cluster_name, "Cluster");
    assert_eq!(settings.datacenter, "dc1");
    assert_eq!(settings.listen.to_string(), "0.0.0.0:9042");
    assert_eq!(settings.broadcast_rpc_address.to_string(), "127.0.0.9");
    assert_eq!(settings.num_tokens, 16);
}

#[test]
fn what_follows_when_the_disk_fails_is_read() {
    let disk = |yaml: &str| {
        let config = Config::parse("x.yaml", yaml).expect("legal");
        Settings::from_config(config, Place::default(), MACHINE, PathBuf::from("data"))
            .map(|settings| settings.disk)
    };
    assert_eq!(disk(""), Ok(DiskSettings::default()));
    let given = "disk_failure_policy: stop_paranoid\ncommit_failure_policy: die\n\
                 data_disk_usage_percentage_warn_threshold: 70\ndata_disk_usage_percentage_fail_threshold: 80\n\
                 data_disk_usage_max_disk_size: 1GiB\n";
    let expected = DiskSettings {
        disk_failure_policy: DiskFailurePolicy::StopParanoid,
        commit_failure_policy: CommitFailurePolicy::Die,
        usage_warn_percent: Some(70),
        usage_fail_percent: Some(80),
        max_disk_bytes: Some(1 << 30),
    };
    assert_eq!(disk(given), Ok(expected));
    // Cassandra's words (GuardrailsOptions).
    for (yaml, words) in [
        (
            "data_disk_usage_percentage_fail_threshold: 101",
            "Invalid value 101 for data_disk_usage_percentage_fail_threshold: maximum allowed value is 100",
        ),
        (
            "data_disk_usage_percentage_warn_threshold: 0",
            "Invalid value for data_disk_usage_percentage_warn_threshold: 0 is not allowed; if attempting to disable use -1",
        ),
        (
            "data_disk_usage_percentage_warn_threshold: 80\ndata_disk_usage_percentage_fail_threshold: 70",
            "The warn threshold 80 for data_disk_usage_percentage_warn_threshold should be lower than the fail threshold 70",
        ),
        (
            "data_disk_usage_max_disk_size: 0B",
            "Invalid value for data_disk_usage_max_disk_size: 0 is not allowed; if attempting to disable use an empty value",
        ),
    ] {
        assert_eq!(disk(yaml), Err(ConfigError(words.to_owned())), "{yaml}");
    }
}

#[test]
fn an_error_is_one_line_whatever_the_value_holds() {
    let error = Config::parse("x.yaml", "read_request_timeout: \"5\\n\\nERROR forged\\r\"\n")
        .expect_err("no duration");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(error.to_string().contains("5\\n\\nERROR forged\\r"), "{error}");
}
