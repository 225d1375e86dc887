//! Rules about all texts: pages point to what exists, decisions are numbered, and nothing speaks of one machine.

use std::collections::BTreeSet;

use basalt_tidy::{page, report, root, texts};

/// Words that tell where or how a file was written instead of what it is. Written in two halves, so that this file
/// does not contain them.
fn forbidden() -> Vec<String> {
    let halves = [
        ("/wo", "rk/"),
        ("/ro", "ot/"),
        ("../sha", "red"),
        ("aesthetics", ".md"),
        ("ecosystem", ".md"),
        ("reliability", ".md"),
        ("TO", "DO"),
        ("FIX", "ME"),
        ("XX", "X:"),
    ];
    halves.into_iter().map(|(first, second)| format!("{first}{second}")).collect()
}

#[test]
fn nothing_speaks_of_one_machine_or_of_unfinished_work() {
    let words = forbidden();
    let mut findings = Vec::new();
    for text in texts() {
        if text.path == "Cargo.lock" || text.path == "LICENSE" {
            continue;
        }
        for (index, line) in text.content.lines().enumerate() {
            findings.extend(words.iter().filter(|word| line.contains(word.as_str())).map(|word| {
                format!(
                    "{}:{}: {word:?} in {:?}",
                    text.path,
                    index + 1,
                    line.trim().chars().take(80).collect::<String>()
                )
            }));
        }
    }
    report("words that do not belong into the repository:", &findings);
}

/// The targets of `[text](target)` in a page, without anchors; web addresses left out.
fn links(content: &str) -> Vec<&str> {
    let targets = content.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local =
        targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
    local.filter_map(|target| target.split('#').next()).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut findings = Vec::new();
    for text in texts().into_iter().filter(|text| text.path.ends_with(".md")) {
        let folder = root().join(&text.path).parent().expect("a file has a folder").to_owned();
        let broken = links(&text.content).into_iter().filter(|target| !folder.join(target).exists());
        findings.extend(broken.map(|target| format!("{}: {target}", text.path)));
    }
    report("links to nothing:", &findings);
}

/// Paths in backticks under one heading of ARCHITECTURE.md.
fn paths_under<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let section =
        page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    let quoted = section.flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|word| word.contains('/') && !word.contains(' ')).collect()
}

#[test]
fn the_map_points_to_files_that_exist() {
    let architecture = page("ARCHITECTURE.md");
    let heading = "## Where to look";
    let paths = paths_under(&architecture, heading);
    assert!(paths.len() > 10, "{heading:?} of ARCHITECTURE.md names {} paths", paths.len());
    let missing = paths.into_iter().filter(|path| !path.contains('*') && !root().join(path).exists());
    report(
        "ARCHITECTURE.md, \"Where to look\", names files that are not there:",
        &missing.map(String::from).collect::<Vec<_>>(),
    );
}

#[test]
fn decisions_are_numbered_and_complete() {
    let mut findings = Vec::new();
    let mut numbers = BTreeSet::new();
    for text in texts() {
        let Some(name) = text.path.strip_prefix("docs/decisions/") else { continue };
        let number = name.split('-').next().unwrap_or_default();
        if number.len() != 4 || !number.chars().all(|digit| digit.is_ascii_digit()) {
            findings.push(format!("{}: the name does not begin with four digits", text.path));
        }
        if !numbers.insert(number.to_owned()) {
            findings.push(format!("{}: the number {number} is used twice", text.path));
        }
        for heading in ["## Question", "## Answer", "## What we gave up"] {
            if !text.content.lines().any(|line| line == heading) {
                findings.push(format!("{}: no {heading:?}", text.path));
            }
        }
    }
    report("decision records:", &findings);
}
