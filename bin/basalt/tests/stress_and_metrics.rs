//! The load generator looks at a real node's page of metrics, and its report has both clocks.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A node that ends with the test.
struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn basalt() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.env_clear().env("BASALT_LOG", "warn");
    command
}

/// A node and its port for clients.
fn start(data: &Path, admin_port: u16) -> (Node, String) {
    let mut command = basalt();
    command.arg("run").arg("--data-dir").arg(data).args([
        "--memory",
        "128MiB",
        "--port",
        "0",
        "--admin-port",
    ]);
    let mut child = command.arg(admin_port.to_string()).stdout(Stdio::piped()).spawn().expect("started");
    let mut lines =
        BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("a line"));
    let ready = lines.find(|line| line.starts_with("Starting listening")).expect("it is ready");
    let port =
        ready.split(':').next_back().and_then(|rest| rest.split(' ').next()).expect("a port").to_owned();
    (Node(child), port)
}

#[test]
fn both_clocks_stand_in_the_report() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stress-and-metrics-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder of our own");
    let admin_port = {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        free.local_addr().expect("bound").port()
    };
    let (node, port) = start(&folder.join("data"), admin_port);
    let out = folder.join("run");
    let ran = basalt()
        .args([
            "stress",
            "run",
            "apm",
            "W",
            "--create",
            "--records",
            "0",
            "--rate",
            "500",
            "--duration",
            "3s",
            "--target",
        ])
        .arg(format!("127.0.0.1:{port}"))
        .args(["--server", &format!("prometheus:http://127.0.0.1:{admin_port}/metrics"), "--out"])
        .arg(&out)
        .output()
        .expect("ran");
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.stderr.is_empty() || !printed.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    drop(node);
    let outcome = fs::read_to_string(out.join("outcome.json")).expect("recorded");
    let outcome: Value = serde_json::from_str(&outcome).expect("JSON");
    let server = &outcome["server"];
    assert_eq!(server["gaps"], Value::Array(Vec::new()), "{printed}");
    let names: Vec<&str> = server["series"]
        .as_array()
        .expect("series")
        .iter()
        .filter_map(|series| series["name"].as_str())
        .collect();
    for name in
        ["basalt_memtable_bytes", "basalt_cache_bytes", "basalt_connections", "process_cpu_seconds_total"]
    {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let times = server["own_times"].as_array().expect("the server's own times");
    assert_eq!(times.iter().map(|times| &times["clock"]).collect::<Vec<_>>(), ["response", "service"]);
    // Every statement since the first page is one of the run, or made its tables.
    let answered = outcome["counts"]["answered"].as_u64().expect("a count");
    for times in times {
        let requests = times["requests"].as_u64().expect("a count");
        assert!((answered / 2..=answered + 10).contains(&requests), "{requests} of {answered} by {times}");
        let quantiles = times["quantiles"].as_array().expect("percentiles");
        assert!(quantiles.iter().all(|pair| pair[1].as_u64().is_some_and(|nanos| nanos > 0)), "{times}");
    }
    assert!(printed.contains("server, from arrived to answered"), "{printed}");
    fs::remove_dir_all(&folder).expect("removed");
}
