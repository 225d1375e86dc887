//! Exports and imports: what was there comes back exactly, in any table of any engine, or nothing happens at all.
//! (`purge.rs` does both in the middle of random histories.)

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use basalt_model::{Deletion, TableId};
use basalt_rocks::RocksEngine;
use basalt_storage::cells::{HeadEntry, PurgeEntry};
use basalt_storage::engine::{Engine, EngineError, Exported, Reads, WriteSet};
use common::{QUICK, SYNCED, Scratch, copy, open, table, walk};

const OWN: u128 = 1;
const SHARED: u128 = 2;
const OTHER: u128 = 3;

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

fn entries(engine: &RocksEngine, number: u128) -> Entries {
    let mut cursor = engine.cursor(table(number), walk(&[], None)).expect("a cursor");
    let mut found = Vec::new();
    let mut is_at = cursor.seek(&[]).expect("a seek");
    while is_at {
        found.push((cursor.key().to_vec(), cursor.value().to_vec()));
        is_at = cursor.next().expect("a step");
    }
    found
}

/// Rounds of writes over the same keys, one of them a deletion, with files in several levels between them.
fn write(engine: &RocksEngine, number: u128, rounds: u32) {
    for round in 0..rounds {
        let mut set = WriteSet::new();
        for key in 0_u32..200 {
            let bytes = (key * 7919 % 200).to_be_bytes();
            match (key + round) % 5 {
                0 => set.delete(table(number), &bytes),
                _ => set.put(table(number), &bytes, format!("{number}/{key}/{round}").as_bytes()),
            }
        }
        engine.write(&[&set], QUICK).expect("a write");
        match round % 3 {
            0 => engine.flush(Some(table(number))).expect("a flush"),
            1 => engine.compact(table(number)).expect("a compaction"),
            _ => {}
        }
    }
}

fn engine(scratch: &Scratch, name: &str) -> RocksEngine {
    let engine = open(&scratch.join(name));
    engine.create_table(table(OWN)).expect("a table");
    engine.create_small_tables(&[table(SHARED), table(OTHER)]).expect("tables");
    engine
}

fn export(engine: &RocksEngine, number: u128, scratch: &Scratch, name: &str) -> (PathBuf, Exported) {
    let directory = scratch.join(name);
    fs::create_dir(&directory).expect("a directory");
    let mut exported = engine.export_tables(&[(table(number), directory.clone())], true).expect("an export");
    (directory, exported.remove(0))
}

fn import(engine: &RocksEngine, into: u128, from: &(PathBuf, Exported)) -> Result<(), EngineError> {
    engine.stage_table(table(into), &from.0, &from.1)?.commit()
}

#[test]
fn a_table_comes_back_as_it_was() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    for number in [OWN, SHARED, OTHER] {
        write(&engine, number, 5);
    }
    let others = entries(&engine, OTHER);
    for number in [OWN, SHARED] {
        let before = entries(&engine, number);
        assert!(before.len() > 100);
        let snapshot = export(&engine, number, &scratch, &format!("of-{number}"));
        write(&engine, number, 4);
        assert_ne!(entries(&engine, number), before);
        let generation = |engine: &RocksEngine| {
            let tables = engine.tables().expect("tables");
            tables.iter().find(|info| info.table == table(number)).expect("there").generation
        };
        let truncations = generation(&engine);
        import(&engine, number, &snapshot).expect("an import");
        assert_eq!(entries(&engine, number), before);
        assert_eq!(generation(&engine), truncations + 1);
        // Twice: what is linked stays what it was.
        engine.truncate_table(table(number)).expect("a truncation");
        import(&engine, number, &snapshot).expect("an import");
        assert_eq!(entries(&engine, number), before);
    }
    assert_eq!(entries(&engine, OTHER), others);
    let (own, shared) = (entries(&engine, OWN), entries(&engine, SHARED));
    drop(engine);
    let engine = open(&scratch.join("data"));
    assert_eq!((entries(&engine, OWN), entries(&engine, SHARED)), (own, shared));
}

#[test]
fn files_become_any_table_of_any_engine() {
    let scratch = Scratch::new();
    let from = engine(&scratch, "from");
    write(&from, OWN, 5);
    write(&from, SHARED, 5);
    write(&from, OTHER, 2);
    let own = export(&from, OWN, &scratch, "own");
    let shared = export(&from, SHARED, &scratch, "shared");
    let expected = (entries(&from, OWN), entries(&from, SHARED));
    drop(from);
    let to = engine(&scratch, "to");
    assert!(!to.may_have_heads(table(SHARED)));
    import(&to, SHARED, &own).expect("an import");
    import(&to, OWN, &shared).expect("an import");
    assert!(
        to.may_have_heads(table(SHARED)) && to.may_have_heads(table(OWN)),
        "what is brought may have some"
    );
    assert_eq!((entries(&to, SHARED), entries(&to, OWN)), expected);
    assert_eq!(entries(&to, OTHER), []);
    // An empty table is one as well.
    let empty = export(&to, OTHER, &scratch, "empty");
    import(&to, OWN, &empty).expect("an import");
    assert_eq!(entries(&to, OWN), []);
}

/// What a purge left nothing of is in the files, as an empty value, until a compaction; the empty key is one like others.
#[test]
fn nothing_is_not_brought_back() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    engine.create_table(table(OTHER + 1)).expect("a table");
    let (mut head, mut purge) = (Vec::new(), Vec::new());
    let deletion = Deletion { timestamp: 1, local_time_s: 1 };
    HeadEntry { deletion, has_range_tombstones: false }.encode(&mut head);
    PurgeEntry { deletion, ..PurgeEntry::new(9, 9) }.encode(&mut purge);
    for number in [OWN, SHARED] {
        let merge = |keys: &[&[u8]], value: &[u8]| {
            let mut set = WriteSet::new();
            keys.iter().for_each(|key| set.merge(table(number), key, value));
            engine.write(&[&set], QUICK).expect("a write");
        };
        for (left, gone) in
            [([b"".as_slice(), b"b"].as_slice(), [b"a".as_slice(), b"c"].as_slice()), (&[], &[b"", b"a"])]
        {
            engine.truncate_table(table(number)).expect("a truncation");
            merge(left, &head);
            merge(gone, &head);
            engine.flush(Some(table(number))).expect("a flush");
            merge(gone, &purge);
            let files = export(&engine, number, &scratch, &format!("{number}-{}", left.len()));
            for into in [OTHER + 1, OTHER] {
                let shared_files = engine.files_by_level(table(OTHER)).expect("levels");
                import(&engine, into, &files).expect("an import");
                let keys: Vec<Vec<u8>> = entries(&engine, into).into_iter().map(|(key, _)| key).collect();
                assert_eq!(keys, left);
                if into != OTHER {
                    assert_eq!(engine.stats(table(into)).expect("numbers").keys, left.len() as u64, "stored");
                } else if left.is_empty() {
                    assert_eq!(engine.files_by_level(table(into)).expect("levels"), shared_files, "no file");
                }
            }
        }
    }
}

/// A file of the table's rows: the catalogue's come first.
fn first_file(snapshot: &(PathBuf, Exported)) -> PathBuf {
    let (name, _) = snapshot
        .1
        .files
        .iter()
        .filter(|(name, _)| name.ends_with("sst"))
        .max_by_key(|(_, bytes)| bytes)
        .expect("files");
    snapshot.0.join(name)
}

type Damage = fn(&mut Vec<u8>);

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("read");
    change(&mut bytes);
    // A new file: the old one is linked from the engine.
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
}

#[test]
fn damaged_files_change_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    for number in [OWN, SHARED] {
        write(&engine, number, 5);
        let before = entries(&engine, number);
        let damages: [(&str, Damage); 4] = [
            ("shorter", |bytes| bytes.truncate(bytes.len() - 1)),
            ("turned", |bytes| bytes[40] ^= 1),
            ("turned at its end", |bytes| *bytes.iter_mut().rev().nth(60).expect("long") ^= 1),
            ("not ours", |bytes| bytes.fill(0)),
        ];
        for (name, damage) in damages {
            let snapshot = export(&engine, number, &scratch, &format!("{name}-{number}"));
            change(&first_file(&snapshot), damage);
            let error = import(&engine, number, &snapshot).expect_err(name);
            assert!(matches!(error, EngineError::Corruption { .. }), "{name}: {error}");
            assert_eq!(entries(&engine, number), before, "{name}");
        }
        // Without its manifest's end the files would look like an older table.
        let short = export(&engine, number, &scratch, &format!("short-{number}"));
        let manifest = short.1.files.iter().find(|(name, _)| name.starts_with("MANIFEST")).expect("one");
        change(&short.0.join(&manifest.0), |bytes| bytes.truncate(bytes.len() - 40));
        assert!(matches!(import(&engine, number, &short), Err(EngineError::Corruption { .. })));
        let mut missing = export(&engine, number, &scratch, &format!("missing-{number}"));
        fs::remove_file(first_file(&missing)).expect("removed");
        assert!(matches!(import(&engine, number, &missing), Err(EngineError::Io { .. })));
        for elsewhere in ["../data/db/CURRENT", "../none.sst", "/none.sst"] {
            missing.1.files[0].0 = elsewhere.to_owned();
            assert!(matches!(import(&engine, number, &missing), Err(EngineError::Corruption { .. })));
        }
        // Not even an empty table has no files.
        missing.1.files.clear();
        assert!(matches!(import(&engine, number, &missing), Err(EngineError::Corruption { .. })));
        assert_eq!(entries(&engine, number), before);
    }
    assert!(fs::read_dir(scratch.join("data/importing")).expect("a directory").next().is_none());
}

#[test]
fn what_is_staged_and_not_committed_leaves_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    for number in [OWN, SHARED] {
        write(&engine, number, 5);
    }
    let expected = (entries(&engine, OWN), entries(&engine, SHARED));
    let snapshots = [OWN, SHARED].map(|number| export(&engine, number, &scratch, &number.to_string()));
    let [own, shared] = &snapshots;
    let staged = [
        engine.stage_table(table(OWN), &own.0, &own.1).expect("staged"),
        engine.stage_table(table(SHARED), &shared.0, &shared.1).expect("staged"),
    ];
    engine.sync_log().expect("synced");
    fs::create_dir_all(scratch.join("data/importing/9/source")).expect("as a crash leaves it");
    copy(&scratch.join("data"), &scratch.join("crashed"));
    drop(staged);
    drop(engine);
    for name in ["data", "crashed"] {
        let engine = open(&scratch.join(name));
        assert!(!scratch.join(name).join("importing").exists());
        assert_eq!((entries(&engine, OWN), entries(&engine, SHARED)), expected);
        // Numbers that were given once are not given again: new tables are empty.
        for number in 10..14 {
            engine.create_small_tables(&[table(number)]).expect("a table");
            assert_eq!(entries(&engine, number), []);
        }
        engine.compact(table(SHARED)).expect("a compaction");
        assert_eq!(entries(&engine, SHARED), expected.1);
        assert_eq!(engine.metrics().own_families, 1);
    }
}

#[test]
fn a_table_that_goes_while_its_files_are_read_stays_gone() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    for number in [OWN, SHARED] {
        write(&engine, number, 2);
        let snapshot = export(&engine, number, &scratch, &format!("of-{number}"));
        let staged = engine.stage_table(table(number), &snapshot.0, &snapshot.1).expect("staged");
        engine.drop_table(table(number)).expect("dropped");
        assert_eq!(staged.commit(), Err(EngineError::UnknownTable(table(number))));
        let known: Vec<TableId> = engine.tables().expect("tables").iter().map(|info| info.table).collect();
        assert!(!known.contains(&table(number)));
    }
    let unknown = engine.export_tables(&[(table(OWN), scratch.join("nowhere"))], true);
    assert_eq!(unknown, Err(EngineError::UnknownTable(table(OWN))));
}

#[test]
fn an_export_without_a_flush_holds_what_was_flushed() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    write(&engine, OWN, 1);
    let flushed = entries(&engine, OWN);
    let mut set = WriteSet::new();
    set.put(table(OWN), b"later", b"1");
    engine.write(&[&set], SYNCED).expect("a write");
    let directory = scratch.join("files");
    fs::create_dir(&directory).expect("a directory");
    let mut exported = engine.export_tables(&[(table(OWN), directory.clone())], false).expect("an export");
    import(&engine, OWN, &(directory, exported.remove(0))).expect("an import");
    assert_eq!(entries(&engine, OWN), flushed);
}

/// Of several tables at once each directory holds one, with what was only in memory.
#[test]
fn an_export_with_a_flush_holds_every_write() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    engine.create_table(table(OTHER + 1)).expect("a table");
    let numbers = [OWN, SHARED, OTHER + 1];
    for number in numbers {
        write(&engine, number, 2);
        let mut set = WriteSet::new();
        set.put(table(number), b"later", b"1");
        engine.write(&[&set], SYNCED).expect("a write");
    }
    let before = numbers.map(|number| entries(&engine, number));
    let wanted: Vec<_> = numbers.map(|number| (table(number), scratch.join(&format!("of-{number}")))).into();
    for (_, directory) in &wanted {
        fs::create_dir(directory).expect("a directory");
    }
    let exported = engine.export_tables(&wanted, true).expect("an export");
    for ((number, (_, directory)), exported) in numbers.into_iter().zip(wanted).zip(exported) {
        engine.truncate_table(table(number)).expect("a truncation");
        import(&engine, number, &(directory, exported)).expect("an import");
    }
    assert_eq!(numbers.map(|number| entries(&engine, number)), before);
}

/// Bytes of table files in an engine's directory that nobody has open.
fn closed_bytes(scratch: &Scratch) -> u64 {
    let files = fs::read_dir(scratch.join("data/db")).expect("files").map(|file| file.expect("a file"));
    let tables = files.filter(|file| file.file_name().to_string_lossy().ends_with(".sst"));
    tables.map(|file| file.metadata().expect("its size").len()).sum()
}

/// What an import replaces goes, and so does what was staged for nothing.
#[test]
fn no_space_is_kept_for_what_is_gone() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, "data");
    let mut set = WriteSet::new();
    let mut state = 1_u64;
    for key in 0..1_000_u32 {
        // Nothing that compresses.
        let byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let value: Vec<u8> = std::iter::repeat_with(byte).take(1_000).collect();
        set.put(table(OWN), &key.to_be_bytes(), &value);
    }
    engine.write(&[&set], SYNCED).expect("a write");
    let snapshot = export(&engine, OWN, &scratch, "files");
    drop(engine);
    let once = closed_bytes(&scratch);
    assert!(once > 1_000_000, "{once}");
    let engine = open(&scratch.join("data"));
    drop(engine.stage_table(table(OWN), &snapshot.0, &snapshot.1).expect("staged"));
    drop(engine);
    assert!(closed_bytes(&scratch) < once + once / 2, "given up: {} of {once}", closed_bytes(&scratch));
    let engine = open(&scratch.join("data"));
    import(&engine, OWN, &snapshot).expect("an import");
    drop(engine);
    assert!(closed_bytes(&scratch) < once + once / 2, "replaced: {} of {once}", closed_bytes(&scratch));
}
