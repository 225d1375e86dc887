//! Opening: what is refused and how it is said, and what is there again after a crash.

mod common;

use std::fs;

use basalt_rocks::{Health, LogRecovery, OpenError, RocksEngine};
use basalt_storage::engine::{Engine, EngineError, ReadTier, Reads, WriteSet};
use common::{QUICK, SYNCED, Scratch, config, copy, open, refused, table};

fn put(engine: &RocksEngine, number: u128, key: &[u8], value: &[u8]) {
    let mut set = WriteSet::new();
    set.put(table(number), key, value);
    engine.write(&[&set], QUICK).expect("a write");
}

fn get(engine: &RocksEngine, number: u128, key: &[u8]) -> Option<Vec<u8>> {
    engine.get(table(number), key, ReadTier::All).expect("a read").map(|value| value.to_vec())
}

/// An engine with a table of its own (1) and one that shares (2), each with one row.
fn with_data(scratch: &Scratch) -> RocksEngine {
    let engine = open(&scratch.join("data"));
    engine.create_table(table(1)).expect("a table");
    engine.create_small_tables(&[table(2)]).expect("a table");
    put(&engine, 1, b"a", b"1");
    put(&engine, 2, b"b", b"2");
    engine
}

#[test]
fn a_directory_is_made_and_found_again() {
    let scratch = Scratch::new();
    let engine = open(&scratch.join("new/deep"));
    assert_eq!(engine.tables().expect("tables"), []);
    drop(engine);
    open(&scratch.join("new/deep"));
}

#[test]
fn a_file_in_the_way_is_said() {
    let scratch = Scratch::new();
    fs::write(scratch.join("data"), "a file").expect("a write");
    for path in ["data", "data/below"] {
        let error = refused(&scratch.join(path));
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
    }
}

#[test]
fn what_a_kill_leaves_has_every_write() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    for round in 0..5_u8 {
        put(&engine, 1, b"round", &[round]);
        let killed = scratch.join(&format!("killed-{round}"));
        copy(&scratch.join("data"), &killed);
        let found = open(&killed);
        assert_eq!(get(&found, 1, b"round"), Some(vec![round]));
        assert_eq!(get(&found, 1, b"a"), Some(b"1".to_vec()));
        assert_eq!(get(&found, 2, b"b"), Some(b"2".to_vec()));
    }
}

#[test]
fn dropped_and_truncated_tables_stay_so_after_a_kill() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    engine.truncate_table(table(1)).expect("a truncation");
    engine.truncate_table(table(2)).expect("a truncation");
    engine.create_table(table(3)).expect("a table");
    engine.drop_table(table(3)).expect("a drop");
    copy(&scratch.join("data"), &scratch.join("killed"));
    let found = open(&scratch.join("killed"));
    assert_eq!((get(&found, 1, b"a"), get(&found, 2, b"b")), (None, None));
    let tables = found.tables().expect("tables");
    assert_eq!(
        tables.iter().map(|info| (info.table, info.generation)).collect::<Vec<_>>(),
        [(table(1), 1), (table(2), 1)]
    );
    put(&found, 1, b"a", b"again");
    assert_eq!(get(&found, 1, b"a"), Some(b"again".to_vec()));
}

#[test]
fn a_closed_engine_answers_so_and_its_directory_opens() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    assert_eq!(engine.health(), Health::Good);
    let condition = engine.condition().expect("it is told");
    assert!(condition.is_writing && condition.failures.is_empty(), "{condition:?}");
    assert!(condition.reserve_bytes > 0 && condition.available_bytes > 0, "{condition:?}");
    assert!(
        condition.used_bytes >= condition.memtable_bytes && condition.memtable_bytes > 0,
        "{condition:?}"
    );
    engine.resume().expect("there is nothing to do");
    engine.close().expect("it closes");
    engine.close().expect("a second time");
    assert_eq!(engine.health(), Health::Closed);
    assert_eq!(engine.get(table(1), b"a", ReadTier::All), Err(EngineError::Closed));
    assert_eq!(engine.sync_log(), Err(EngineError::Closed));
    drop(engine);
    let engine = open(&scratch.join("data"));
    assert_eq!(get(&engine, 1, b"a"), Some(b"1".to_vec()));
    assert_eq!(engine.metrics().tables, 2);
    assert_eq!(engine.metrics().own_families, 1);
    assert!(engine.metrics().disk_bytes > 0, "closing wrote memtables to files");
}

#[test]
fn a_second_engine_is_refused_while_the_first_lives() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    let error = refused(&scratch.join("data"));
    assert!(matches!(error, OpenError::Locked(_)), "{error}");
    assert!(error.to_string().ends_with("is in use by another process"), "{error}");
    drop(engine);
    open(&scratch.join("data"));
}

/// Names, lengths and times of change of a directory's files.
fn listing(path: &std::path::Path) -> Vec<(std::ffi::OsString, u64, std::time::SystemTime)> {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("its metadata");
        (entry.file_name(), metadata.len(), metadata.modified().expect("a time"))
    });
    let mut all: Vec<_> = entries.collect();
    all.sort();
    all
}

#[test]
fn a_newer_format_is_refused() {
    let scratch = Scratch::new();
    drop(with_data(&scratch));
    fs::write(scratch.join("data/basalt-format"), "basalt-format 2\n").expect("a write");
    let before = listing(&scratch.join("data/db"));
    let error = refused(&scratch.join("data"));
    assert!(matches!(error, OpenError::NewerFormat { found: 2, supported: 1, .. }), "{error}");
    assert_eq!(listing(&scratch.join("data/db")), before, "it is left as it was");
    for strange in ["", "basalt-format 0\n", "basalt-format x\n", "basalt-format 1", "\u{fffd}"] {
        fs::write(scratch.join("data/basalt-format"), strange).expect("a write");
        let error = refused(&scratch.join("data"));
        assert!(matches!(error, OpenError::Damaged { .. }), "{strange:?}: {error}");
    }
}

#[test]
fn a_directory_of_someone_else_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    fs::write(scratch.join("letter.txt"), "dear").expect("a write");
    let error = refused(scratch.path());
    assert!(matches!(&error, OpenError::NotOurs { found, .. } if found == "letter.txt"), "{error}");
    assert!(!scratch.join("db").exists() && !scratch.join("basalt-format").exists());
}

#[test]
fn a_lost_file_is_never_taken_for_an_empty_database() {
    let scratch = Scratch::new();
    drop(with_data(&scratch));
    let data = scratch.join("data");
    for lost in ["db/CURRENT", "db"] {
        let copied = scratch.join(&format!("lost-{}", lost.replace('/', "-")));
        copy(&data, &copied);
        let gone = copied.join(lost);
        if gone.is_dir() { fs::remove_dir_all(&gone) } else { fs::remove_file(&gone) }.expect("a removal");
        let error = refused(&copied);
        assert!(matches!(error, OpenError::Incomplete { .. }), "{lost}: {error}");
        assert!(!gone.exists(), "{lost} was made anew");
    }
    // Every other file of the database, one at a time: refused, and with a reason.
    for entry in fs::read_dir(data.join("db")).expect("a listing") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        if ["LOCK", "LOG", "IDENTITY"].contains(&name.as_str())
            || name.starts_with("OPTIONS")
            || name.starts_with("LOG.")
        {
            continue; // not data: RocksDB makes them anew
        }
        let copied = scratch.join(&format!("without-{name}"));
        copy(&data, &copied);
        fs::remove_file(copied.join("db").join(&name)).expect("a removal");
        let error = refused(&copied);
        assert!(matches!(error, OpenError::Incomplete { .. } | OpenError::Damaged { .. }), "{name}: {error}");
    }
}

#[test]
fn an_unfinished_first_start_is_done_again() {
    let scratch = Scratch::new();
    let data = scratch.join("data");
    fs::create_dir_all(data.join("db")).expect("a directory");
    fs::write(data.join("basalt-creating"), "").expect("a write");
    fs::write(data.join("db/MANIFEST-000001"), "half").expect("a write");
    drop(open(&data));
    assert!(data.join("basalt-format").exists() && !data.join("basalt-creating").exists());
    open(&data);
}

/// Table 2 is flushed: a new log begins, and the one before stays for what table 1 has in memory.
#[test]
fn a_lost_newest_log_is_missed_though_older_ones_are_there() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    engine.flush(Some(table(2))).expect("a flush");
    put(&engine, 1, b"later", b"in the newest log");
    engine.condition().expect("the directory is noted");
    copy(&scratch.join("data"), &scratch.join("copy"));
    drop(engine);
    let mut logs: Vec<_> = fs::read_dir(scratch.join("copy/db"))
        .expect("a listing")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    assert!(logs.len() > 1, "{logs:?}");
    let newest = logs.pop().expect("a log");
    let content = fs::read(&newest).expect("a log");
    fs::remove_file(&newest).expect("a removal");
    let error = refused(&scratch.join("copy"));
    let name = newest.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(matches!(&error, OpenError::Incomplete { missing, .. } if missing.contains(&name)), "{error}");
    // Back in its place all is well, as it is when nobody has noted anything.
    fs::write(&newest, content).expect("a write");
    assert_eq!(get(&open(&scratch.join("copy")), 1, b"later"), Some(b"in the newest log".to_vec()));
    fs::remove_file(scratch.join("copy/basalt-newest-log")).expect("a removal");
    open(&scratch.join("copy"));
}

/// The log with the writes: the newest file of its kind that is not empty.
fn log_file(db: &std::path::Path) -> std::path::PathBuf {
    let mut logs: Vec<_> = fs::read_dir(db)
        .expect("a listing")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .filter(|path| path.metadata().expect("metadata").len() > 0)
        .collect();
    logs.sort();
    logs.pop().expect("a log")
}

#[test]
fn a_log_cut_short_is_a_crash_and_a_changed_one_is_damage() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    for number in 0..100_u8 {
        put(&engine, 1, &[b'n', number], &[number; 100]);
    }
    copy(&scratch.join("data"), &scratch.join("torn"));
    copy(&scratch.join("data"), &scratch.join("changed"));
    drop(engine);

    let torn = log_file(&scratch.join("torn/db"));
    let bytes = fs::read(&torn).expect("a log");
    fs::write(&torn, &bytes[..bytes.len() - 7]).expect("a write");
    let engine = open(&scratch.join("torn"));
    assert_eq!(get(&engine, 1, &[b'n', 98]), Some(vec![98; 100]));
    assert_eq!(get(&engine, 1, &[b'n', 99]), None, "the record that was being written");
    let cut = engine.cut_short().expect("it is said");
    assert_eq!(cut.log, torn);
    assert_eq!(cut.at + cut.bytes, bytes.len() as u64 - 7);
    assert!((100..200).contains(&cut.bytes), "one record: {cut}");
    drop(engine);
    assert_eq!(open(&scratch.join("torn")).cut_short(), None, "once");

    let changed = log_file(&scratch.join("changed/db"));
    let mut bytes = fs::read(&changed).expect("a log");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(&changed, &bytes).expect("a write");
    let error = refused(&scratch.join("changed"));
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");

    let asked_for = RocksEngine::open(&basalt_rocks::RocksConfig {
        log_recovery: LogRecovery::UpToDamage,
        ..config(&scratch.join("changed"))
    })
    .expect("the operator said so");
    assert_eq!(get(&asked_for, 1, b"a"), Some(b"1".to_vec()));
    assert_eq!(get(&asked_for, 1, &[b'n', 99]), None);
}

#[test]
fn a_changed_file_is_found_when_it_is_read() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    let mut set = WriteSet::new();
    for number in 0..10_000_u32 {
        set.put(table(1), &number.to_be_bytes(), &[7; 64]);
    }
    engine.write(&[&set], SYNCED).expect("a write");
    engine.close().expect("it closes");
    drop(engine);
    let largest = fs::read_dir(scratch.join("data/db"))
        .expect("a listing")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .max_by_key(|path| path.metadata().expect("metadata").len())
        .expect("a file");
    let mut bytes = fs::read(&largest).expect("a file");
    bytes[100] ^= 1;
    fs::write(&largest, &bytes).expect("a write");

    let engine = open(&scratch.join("data"));
    let error = engine.get(table(1), &0_u32.to_be_bytes(), ReadTier::All).expect_err("damage");
    assert!(
        matches!(error, EngineError::Corruption { table: Some(found), .. } if found == table(1)),
        "{error}"
    );
}

#[test]
fn a_read_from_memory_only_says_when_it_needs_the_disk() {
    let scratch = Scratch::new();
    let engine = with_data(&scratch);
    assert_eq!(
        engine.get(table(1), b"a", ReadTier::CacheOnly).expect("in the memtable").as_deref(),
        Some(b"1".as_slice())
    );
    engine.close().expect("it closes");
    drop(engine);
    let engine = open(&scratch.join("data"));
    for number in [1, 2] {
        let key: &[u8] = if number == 1 { b"a" } else { b"b" };
        assert_eq!(engine.get(table(number), key, ReadTier::CacheOnly), Err(EngineError::WouldBlock));
        assert_eq!(
            engine.multi_get(table(number), &[key], ReadTier::CacheOnly),
            Err(EngineError::WouldBlock)
        );
        assert!(get(&engine, number, key).is_some());
        assert!(engine.get(table(number), key, ReadTier::CacheOnly).expect("in the cache now").is_some());
    }
}

#[test]
fn a_write_that_may_not_wait_says_when_it_would() {
    let scratch = Scratch::new();
    let engine =
        RocksEngine::open(&basalt_rocks::RocksConfig::new(scratch.join("data"), 0, 2)).expect("it opens");
    engine.create_table(table(1)).expect("a table");
    let hurried = basalt_storage::engine::WriteOptions { may_block: false, ..QUICK };
    let value = vec![7; 1 << 20];
    // Memtables fill faster than files are written; how soon, is the machine's.
    let stalled = (0..4096_u32).find(|number| {
        let mut set = WriteSet::new();
        set.put(table(1), &number.to_be_bytes(), &value);
        match engine.write(&[&set], hurried) {
            Ok(()) => false,
            Err(EngineError::WouldStall) => true,
            Err(error) => panic!("{error}"),
        }
    });
    let stalled = stalled.expect("four gigabytes are more than memtables of eight megabytes hold");
    assert_eq!(engine.stall_cause(), Some(basalt_storage::engine::StallCause::Memtables));
    let debt = engine.debts().expect("it is open")[&table(1)];
    assert_eq!((debt.delays, debt.stops), (0, 0), "RocksDB did not come to it");
    assert_eq!(get(&engine, 1, &stalled.to_be_bytes()), None, "nothing was written");
    put(&engine, 1, &stalled.to_be_bytes(), b"waited");
    assert_eq!(get(&engine, 1, &stalled.to_be_bytes()), Some(b"waited".to_vec()));
}

#[test]
fn a_compaction_is_a_task_while_it_runs() {
    let scratch = Scratch::new();
    let engine =
        RocksEngine::open(&basalt_rocks::RocksConfig::new(scratch.join("data"), 0, 2)).expect("it opens");
    engine.create_table(table(1)).expect("a table");
    assert_eq!(engine.tasks(), Ok(Vec::new()));
    // A task may be over before anyone looks: then once more.
    let seen = (0..100_u32).find_map(|round| {
        for number in 0..2_000_u32 {
            put(&engine, 1, &(number * 100 + round).to_be_bytes(), &[7; 1_000]);
        }
        engine.flush(Some(table(1))).expect("flushed");
        std::thread::scope(|scope| {
            let compacting = scope.spawn(|| engine.compact(table(1)).expect("compacted"));
            let mut seen = None;
            while seen.is_none() && !compacting.is_finished() {
                seen =
                    engine.tasks().expect("tasks").into_iter().find(|task| task.files > 0 && task.bytes > 0);
            }
            seen
        })
    });
    assert_eq!(seen.expect("seen").table, Some(table(1)));
    engine.wait_for_compactions().expect("all done");
    assert_eq!(engine.tasks(), Ok(Vec::new()), "nothing runs any more");
}
