//! Directories on which a node must not start: it says why in one line, ends with an error, and changes nothing.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use basalt_crash_tests::client::Row;
use basalt_crash_tests::client::values::as_int;
use basalt_crash_tests::process::{self, Node, Scratch, copy};
use basalt_wire::ProtocolVersion;

/// A directory with a table and rows in it, which a node has left in good order, or been killed on.
fn with_data(scratch: &Scratch, is_drained: bool) {
    let node = Node::start(process::run(&scratch.data()), scratch);
    let mut client = node.client(ProtocolVersion::V4);
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (k int PRIMARY KEY, v text)",
    ] {
        client.query(text).expect("done");
    }
    for number in 0..200 {
        client.query(&format!("INSERT INTO k.t (k, v) VALUES ({number}, 'value {number}')")).expect("done");
    }
    drop(client);
    if is_drained {
        node.terminate();
    } else {
        node.kill();
    }
}

/// The one line that a refused start prints.
fn refusal(data: &Path) -> String {
    let words = Scratch::new("refused");
    let (status, stdout, stderr) = process::refused(process::run(data), &words);
    assert!(!status.success(), "{status}: {stderr}");
    assert_eq!(stdout, "", "a refused start is never ready");
    assert_eq!(stderr.lines().count(), 1, "one line: {stderr}");
    assert!(stderr.starts_with("basalt: ") && stderr.len() < 600, "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// All files that hold data, and their bytes.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            all.extend(content(&path));
        } else if !["LOCK", "basalt-lock"].contains(&name.as_str()) && !name.starts_with("LOG") {
            all.insert(path.clone(), fs::read(&path).expect("bytes"));
        }
    }
    all
}

/// The folder of the engine in a node's directory: where its format stands.
fn engine(data: &Path) -> PathBuf {
    if data.join("basalt-format").exists() {
        return data.to_owned();
    }
    let below = |entry: fs::DirEntry| entry.path().join("basalt-format").exists().then(|| entry.path());
    let mut found = fs::read_dir(data).expect("a folder").filter_map(|entry| below(entry.expect("an entry")));
    found.next().expect("an engine's directory")
}

#[test]
fn a_second_process_is_refused_and_the_first_goes_on() {
    let scratch = Scratch::new("second");
    let node = Node::start(process::run(&scratch.data()), &scratch);
    let text = refusal(&scratch.data());
    assert!(text.contains("is in use by another process"), "{text}");
    node.client(ProtocolVersion::V5).query("SELECT key FROM system.local").expect("it goes on");
    node.terminate();
}

#[test]
fn a_newer_format_is_refused() {
    let scratch = Scratch::new("newer");
    with_data(&scratch, true);
    let format = engine(&scratch.data()).join("basalt-format");
    let ours = fs::read_to_string(&format).expect("a text");
    fs::write(&format, "basalt-format 999\n").expect("written");
    let before = content(&scratch.data());
    let text = refusal(&scratch.data());
    assert!(text.contains("999"), "{text}");
    assert!(before == content(&scratch.data()), "a refused start changed something");
    fs::write(&format, ours).expect("written");
    Node::start(process::run(&scratch.data()), &scratch).terminate();
}

#[test]
fn a_directory_without_its_current_file_is_refused_and_not_begun_anew() {
    let scratch = Scratch::new("current");
    with_data(&scratch, true);
    fs::remove_file(engine(&scratch.data()).join("db/CURRENT")).expect("removed");
    let before = content(&scratch.data());
    let text = refusal(&scratch.data());
    assert!(text.contains("CURRENT"), "{text}");
    assert!(before == content(&scratch.data()), "a refused start changed something");
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    let scratch = Scratch::new("else");
    fs::create_dir_all(scratch.data()).expect("made");
    fs::write(scratch.data().join("letter.txt"), "dear").expect("written");
    refusal(&scratch.data());
    assert_eq!(content(&scratch.data()).len(), 1, "nothing was made");
}

#[test]
fn any_bit_changed_in_the_format_file_is_noticed() {
    let scratch = Scratch::new("format-bits");
    with_data(&scratch, true);
    let format = engine(&scratch.data()).join("basalt-format");
    let good = fs::read(&format).expect("bytes");
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&format, &bad).expect("written");
        let text = refusal(&scratch.data());
        assert!(text.contains("format"), "{bad:?}: {text}");
    }
}

/// Files of the engine that hold the catalogue and the rows: a bit changed in one is refused at the start, or answered
/// as an error when its block is read. It is never an answer without the rows, nor with others.
#[test]
fn a_bit_changed_in_data_is_never_a_wrong_answer() {
    let scratch = Scratch::new("bits");
    for is_drained in [true, false] {
        drop(fs::remove_dir_all(scratch.data()));
        with_data(&scratch, is_drained);
        let db = engine(&scratch.data()).join("db");
        let names: Vec<_> = fs::read_dir(&db)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .filter(|name| {
                [".sst", ".log"].iter().any(|end| name.ends_with(end)) || name.starts_with("MANIFEST")
            })
            .collect();
        let (mut refused, mut errors, mut harmless) = (0, 0, 0);
        for name in names {
            let length = fs::metadata(db.join(&name)).expect("there").len() as usize;
            for part in [1, 3, 6, 9] {
                let at = length * part / 10;
                if at >= length {
                    continue;
                }
                let copied = Scratch::new("bit");
                copy(&scratch.data(), &copied.data());
                let path = engine(&copied.data()).join("db").join(&name);
                let mut bytes = fs::read(&path).expect("bytes");
                bytes[at] ^= 0x10;
                fs::write(&path, bytes).expect("written");
                match outcome(&copied) {
                    Outcome::Refused => refused += 1,
                    Outcome::Error => errors += 1,
                    Outcome::Right => harmless += 1,
                    Outcome::Wrong(what) => panic!("{name}, byte {at} of {length}: {what}"),
                }
            }
        }
        println!(
            "one bit changed, {}: {refused} starts refused, {errors} reads answered with an error, {harmless} without \
             effect",
            if is_drained { "after a drain" } else { "after a kill" }
        );
        assert!(refused > 0, "no damage was noticed");
    }
}

enum Outcome {
    Refused,
    Error,
    Right,
    Wrong(String),
}

fn outcome(scratch: &Scratch) -> Outcome {
    let words = Scratch::new("bit-words");
    let Ok(node) = Node::try_start(process::run(&scratch.data()), &words) else {
        let stderr = fs::read_to_string(words.join("stderr")).expect("text");
        // Damage that an operation meets is logged as well.
        let last = stderr.lines().last().unwrap_or_default();
        if stderr.contains("panicked") || !last.starts_with("basalt: ") {
            return Outcome::Wrong(format!("no clear refusal: {stderr}"));
        }
        return Outcome::Refused;
    };
    let mut client = node.client(ProtocolVersion::V4);
    let read = client.query("SELECT k, v FROM k.t");
    node.no_panic();
    match read {
        Err(_) => Outcome::Error,
        Ok(rows) => {
            let is_right = |row: &Row| {
                let k = as_int(row[0].as_deref().expect("a key"));
                row[1].as_deref() == Some(format!("value {k}").as_bytes())
            };
            match rows.iter().filter(|row| is_right(row)).count() {
                200 if rows.len() == 200 => Outcome::Right,
                right => Outcome::Wrong(format!("{right} right rows, {} in all, of 200", rows.len())),
            }
        }
    }
}
