//! Rules about Rust sources: how a module opens, how long it is, and which names stay behind which wall.

use basalt_tidy::{Text, report, rust_sources};

/// No file is longer; the aim is 400. Files that open with `//! Generated` are data and exempt.
const LINES_MAX: usize = 700;

/// A name, and the folders that may use it besides tests.
struct Wall {
    names: &'static [&'static str],
    allowed: &'static [&'static str],
    why: &'static str,
}

const WALLS: [Wall; 4] = [
    Wall {
        names: &["rocksdb::", "use rocksdb", "librocksdb_sys"],
        allowed: &["crates/rocks/"],
        why: "only crates/rocks names RocksDB",
    },
    Wall {
        names: &[
            "tokio::net",
            "TcpListener",
            "TcpStream",
            "TcpSocket",
            "UdpSocket",
            "UnixStream",
            "UnixListener",
        ],
        allowed: &["crates/node/", "crates/stress/"],
        why: "only crates/node and crates/stress open sockets",
    },
    Wall {
        names: &["std::process::exit", "process::exit("],
        allowed: &["bin/"],
        why: "only the program decides to end",
    },
    Wall {
        names: &["println!(", "eprintln!("],
        allowed: &["bin/", "crates/stress/", "/examples/", "/benches/", "build.rs"],
        why: "libraries log, they do not print",
    },
];

fn is_generated(source: &Text) -> bool {
    source.content.starts_with("//! Generated")
}

#[test]
fn modules_say_what_they_are() {
    let silent = |source: &Text| !source.content.starts_with("//! ");
    let findings: Vec<String> = rust_sources().into_iter().filter(silent).map(|source| source.path).collect();
    report(
        "these modules do not begin with `//! `, what the module does and what it does not know:",
        &findings,
    );
}

#[test]
fn files_stay_readable() {
    let long = |source: Text| {
        let lines = source.content.lines().count();
        (lines > LINES_MAX && !is_generated(&source)).then(|| format!("{}: {lines} lines", source.path))
    };
    let findings: Vec<String> = rust_sources().into_iter().filter_map(long).collect();
    report(&format!("these files have more than {LINES_MAX} lines (aim under 400):"), &findings);
}

#[test]
fn walls_hold() {
    let mut findings = Vec::new();
    for source in rust_sources() {
        if source.is_test() {
            continue;
        }
        for wall in &WALLS {
            if wall.allowed.iter().any(|folder| source.path.contains(folder)) {
                continue;
            }
            for (number, line) in source.code_lines() {
                if wall.names.iter().any(|name| line.contains(name)) {
                    findings.push(format!("{}:{number}: {} ({})", source.path, line.trim(), wall.why));
                }
            }
        }
    }
    report("names on the wrong side of a wall:", &findings);
}

#[test]
fn tests_are_never_switched_off() {
    let ignore = concat!("#[", "ignore");
    let mut findings = Vec::new();
    for source in rust_sources() {
        for (number, line) in source.code_lines() {
            if line.trim_start().starts_with(ignore) {
                findings.push(format!("{}:{number}", source.path));
            }
        }
    }
    report("an ignored test says nothing; assert what is true today:", &findings);
}

#[test]
fn unsafe_code_is_allowed_in_few_named_places() {
    let lifts = concat!("allow(", "unsafe_code");
    let allowed = ["crates/rocks/", "bin/basalt/"];
    let lifted = |source: &Text| {
        source.content.contains(lifts) && !allowed.iter().any(|folder| source.path.starts_with(folder))
    };
    let findings: Vec<String> = rust_sources().into_iter().filter(lifted).map(|source| source.path).collect();
    report("unsafe code outside the crates that may need it:", &findings);
}
