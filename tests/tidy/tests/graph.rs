//! The crate graph that cargo sees is the one ARCHITECTURE.md draws, and dependencies are listed and explained.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use basalt_tidy::{fenced, page, report, root};
use serde_json::Value;

/// Packages that serve development only and stand outside the drawn graph; no drawn crate may need one.
const OUTSIDE: [&str; 2] = ["basalt-tidy", "basalt-crash-tests"];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

fn packages(metadata: &Value) -> Vec<&Value> {
    metadata["packages"].as_array().expect("packages").iter().collect()
}

fn dependencies(package: &Value) -> Vec<&Value> {
    package["dependencies"].as_array().expect("dependencies").iter().collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `basalt-wire` -> `wire`; the program keeps its name.
fn short(name: &str) -> String {
    name.strip_prefix("basalt-").unwrap_or(name).to_owned()
}

type Graph = BTreeMap<String, BTreeSet<String>>;

/// What crates need to be built; what only their tests need does not count.
fn real_graph() -> Graph {
    let metadata = metadata();
    let mut graph = Graph::new();
    for package in packages(&metadata) {
        if OUTSIDE.contains(&text(&package["name"])) {
            continue;
        }
        let ours = dependencies(package).into_iter().filter(|dependency| {
            text(&dependency["kind"]) != "dev" && text(&dependency["name"]).starts_with("basalt")
        });
        let needs = ours.map(|dependency| short(text(&dependency["name"]))).collect();
        graph.insert(short(text(&package["name"])), needs);
    }
    graph
}

/// Lines `node -> wire, query` of the block labelled `crates`; `cql ->` needs nothing.
fn drawn_graph() -> Graph {
    let architecture = page("ARCHITECTURE.md");
    let lines = fenced(&architecture, "crates");
    assert!(!lines.is_empty(), "ARCHITECTURE.md has no block ```crates");
    let edge = |line: &str| {
        let (from, to) = line.split_once("->").unwrap_or_else(|| panic!("no arrow in {line:?}"));
        let to = to.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        (from.trim().to_owned(), to)
    };
    lines.into_iter().filter(|line| !line.trim().is_empty()).map(edge).collect()
}

#[test]
fn the_crate_graph_is_the_one_drawn() {
    let (real, drawn) = (real_graph(), drawn_graph());
    let names: BTreeSet<&String> = real.keys().chain(drawn.keys()).collect();
    let nothing = BTreeSet::new();
    let mut findings = Vec::new();
    for name in names {
        match (real.get(name), drawn.get(name)) {
            (Some(_), None) => findings.push(format!("{name} is not drawn")),
            (None, Some(_)) => findings.push(format!("{name} is drawn but does not exist")),
            (real, drawn) => {
                let (real, drawn) = (real.unwrap_or(&nothing), drawn.unwrap_or(&nothing));
                findings.extend(real.difference(drawn).map(|to| format!("{name} -> {to} is not drawn")));
                findings
                    .extend(drawn.difference(real).map(|to| format!("{name} -> {to} is drawn, not there")));
            }
        }
    }
    report("the crate graph differs from the block ```crates of ARCHITECTURE.md:", &findings);
}

#[test]
fn every_crate_of_the_graph_has_its_invariant() {
    let architecture = page("ARCHITECTURE.md");
    let mut findings = Vec::new();
    for name in real_graph().into_keys() {
        let heading = format!("### `{name}`");
        let section: String = architecture
            .lines()
            .skip_while(|line| *line != heading)
            .skip(1)
            .take_while(|line| !line.starts_with('#'))
            .collect();
        if !section.contains("**Invariant") {
            findings.push(format!("no section {heading:?} with an **Invariant**"));
        }
    }
    report("ARCHITECTURE.md:", &findings);
}

#[test]
fn only_the_crates_that_may_need_rocksdb_and_sockets_do() {
    let metadata = metadata();
    let mut findings = Vec::new();
    for package in packages(&metadata) {
        let name = text(&package["name"]);
        let needs =
            |wanted: &str| dependencies(package).into_iter().any(|needed| text(&needed["name"]) == wanted);
        if name != "basalt-rocks" && (needs("rocksdb") || needs("librocksdb-sys")) {
            findings.push(format!("{name} depends on RocksDB; only basalt-rocks may"));
        }
        if ["basalt-model", "basalt-wire", "basalt-cql", "basalt-ring", "basalt-storage"].contains(&name)
            && dependencies(package)
                .into_iter()
                .any(|d| text(&d["name"]) == "tokio" && text(&d["kind"]) != "dev")
        {
            findings.push(format!("{name} depends on tokio; it does no I/O"));
        }
    }
    report("dependencies that break a wall:", &findings);
}

#[test]
fn dependencies_are_listed_and_explained() {
    let manifest = page("Cargo.toml");
    let listed: BTreeSet<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.trim()))
        .filter(|name| !name.starts_with("basalt") && !name.starts_with('#'))
        .collect();
    let explanations = page("docs/dependencies.md");
    let explained: BTreeSet<&str> =
        explanations.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut findings: Vec<String> = listed
        .difference(&explained)
        .map(|name| format!("{name} has no line in docs/dependencies.md"))
        .collect();
    findings.extend(explained.difference(&listed).map(|name| format!("{name} is explained, but not used")));

    let metadata = metadata();
    for package in packages(&metadata) {
        for dependency in dependencies(package) {
            let name = text(&dependency["name"]);
            if !name.starts_with("basalt") && !listed.contains(name) {
                findings.push(format!(
                    "{} needs {name}, which the root Cargo.toml does not list",
                    text(&package["name"])
                ));
            }
        }
    }
    report("dependencies:", &findings);
}

#[test]
fn every_member_takes_the_workspace_lints() {
    let metadata = metadata();
    let mut findings = Vec::new();
    for package in packages(&metadata) {
        let manifest = std::fs::read_to_string(text(&package["manifest_path"])).expect("a manifest");
        if !manifest.contains("[lints]\nworkspace = true") {
            findings.push(format!("{} does not say [lints] workspace = true", text(&package["name"])));
        }
    }
    report("lints:", &findings);
}
