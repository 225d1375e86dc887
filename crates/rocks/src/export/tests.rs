//! What comes between the steps of an export: other files, files that go, and what a window hands to the next one.

use std::num::NonZeroU32;

use basalt_model::Deletion;
use basalt_storage::cells::HeadEntry;
use basalt_storage::engine::{
    CursorOptions, Engine, ReadTier, Reads, StorageOptions, Sync, WriteOptions, WriteSet,
};

use super::*;
use crate::testing::{Scratch, table};

const OWN: u128 = 1;
const SHARED: u128 = 2;
const TARGET: u128 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    AfterFlush,
    BeforeCopy,
    AfterCopy,
    AtLink,
}

/// Lets something happen at a step, the first time it is reached.
struct Once<'a> {
    step: Step,
    happens: Option<&'a dyn Fn()>,
    copies: u32,
}

impl<'a> Once<'a> {
    fn at(step: Step, happens: &'a dyn Fn()) -> Once<'a> {
        Once { step, happens: Some(happens), copies: 0 }
    }

    fn reach(&mut self, step: Step) {
        if self.step == step
            && let Some(happens) = self.happens.take()
        {
            happens();
        }
    }
}

impl Hands for Once<'_> {
    fn flush(&mut self, engine: &RocksEngine, families: &[&Arc<Family>]) -> Result<(), EngineError> {
        engine.flush_families(families)?;
        self.reach(Step::AfterFlush);
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<u64> {
        self.copies += 1;
        self.reach(Step::BeforeCopy);
        let bytes = fs::copy(from, to)?;
        self.reach(Step::AfterCopy);
        Ok(bytes)
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.reach(Step::AtLink);
        fs::hard_link(from, to)
    }
}

fn write(engine: &RocksEngine, set: &WriteSet) {
    engine.write(&[set], WriteOptions { sync: Sync::None, may_block: true }).expect("a write");
}

/// Every second key anew, every fifth deleted, and the files written and merged.
fn change(engine: &RocksEngine, number: u128, round: u8) {
    let mut set = WriteSet::new();
    for key in 0_u8..100 {
        match key.wrapping_add(round) {
            by_five if by_five % 5 == 0 => set.delete(table(number), &[key]),
            by_two if by_two % 2 == 0 => set.put(table(number), &[key], &[key, round, 1]),
            _ => {}
        }
    }
    write(engine, &set);
    engine.flush(Some(table(number))).expect("a flush");
    engine.compact(table(number)).expect("a compaction");
    engine.wait_for_compactions().expect("files that are of no use have gone");
}

fn entries(engine: &RocksEngine, number: u128) -> Vec<(Vec<u8>, Vec<u8>)> {
    let walk = CursorOptions { tier: ReadTier::All, lower: &[], upper: None, fills_cache: true };
    let mut cursor = engine.cursor(table(number), walk).expect("a cursor");
    let mut found = Vec::new();
    let mut is_at = cursor.seek(&[]).expect("a seek");
    while is_at {
        found.push((cursor.key().to_vec(), cursor.value().to_vec()));
        is_at = cursor.next().expect("a step");
    }
    found
}

fn import(engine: &RocksEngine, number: u128, directory: &Path, exported: &Exported) {
    let staged = engine.stage_table(table(number), directory, exported).expect("all files are there");
    Box::new(staged).commit().expect("an import");
}

fn names(directory: &Path) -> BTreeSet<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
    fs::read_dir(directory).expect("a listing").map(|entry| name(entry).expect("a name")).collect()
}

#[test]
fn an_export_is_of_one_moment_whatever_comes_between() {
    for step in [Step::BeforeCopy, Step::AfterCopy, Step::AtLink] {
        for number in [OWN, SHARED] {
            let scratch = Scratch::new();
            let engine = scratch.open();
            engine.create_table(table(OWN)).expect("a table");
            engine.create_small_tables(&[table(SHARED), table(TARGET)]).expect("tables");
            change(&engine, number, 1);
            let before = entries(&engine, number);
            let happens = || {
                assert!(engine.is_defining(), "{step:?}: no table may go");
                change(&engine, number, 2);
            };
            let mut once = Once::at(step, &happens);
            let directory = scratch.join("files");
            fs::create_dir(&directory).expect("a directory");
            let wanted = [(table(number), directory.clone())];
            let exported = engine.export_by(&mut once, &wanted, true).expect("an export").remove(0);
            assert!(once.happens.is_none(), "{step:?} was reached");
            let named: BTreeSet<String> = exported.files.iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(names(&directory), named, "{step:?}: nothing else is there");
            // What comes to the files once the manifest is copied is not of that moment.
            let (copies, expected) = match step {
                Step::AtLink => (1, before),
                _ => (2, entries(&engine, number)),
            };
            assert_eq!(once.copies, copies, "{step:?}");
            change(&engine, number, 3);
            import(&engine, TARGET, &directory, &exported);
            assert_eq!(entries(&engine, TARGET), expected, "{step:?}, table {number}");
        }
    }
}

/// Files that never stand still are said to, and leave nothing.
#[test]
fn an_export_does_not_try_for_ever() {
    struct Busy<'e>(&'e RocksEngine, u32);
    impl Hands for Busy<'_> {
        fn copy(&mut self, from: &Path, to: &Path) -> io::Result<u64> {
            self.1 += 1;
            change(self.0, OWN, self.1 as u8);
            fs::copy(from, to)
        }
    }
    let scratch = Scratch::new();
    let engine = scratch.open();
    engine.create_table(table(OWN)).expect("a table");
    let directory = scratch.join("files");
    fs::create_dir(&directory).expect("a directory");
    let mut busy = Busy(&engine, 0);
    let error =
        engine.export_by(&mut busy, &[(table(OWN), directory.clone())], false).expect_err("no moment");
    assert!(matches!(error, EngineError::Io { .. }), "{error}");
    assert_eq!(busy.1 as usize, TRIES);
    assert!(names(&directory).is_empty());
    // Files are removed again, and tables may go.
    engine.drop_table(table(OWN)).expect("dropped");
}

/// A put takes the entry out of the window that has it. Files that show only that half would have it nowhere.
#[test]
fn what_the_next_window_took_over_is_in_the_files() {
    for step in [None, Some(Step::AfterFlush), Some(Step::BeforeCopy), Some(Step::AfterCopy)] {
        let scratch = Scratch::new();
        let engine = scratch.open();
        let options = StorageOptions { window_s: NonZeroU32::new(60), ..StorageOptions::default() };
        engine.create_table_with(table(OWN), &options).expect("a table");
        let put = |timestamp| {
            let mut value = Vec::new();
            let deletion = Deletion { timestamp, local_time_s: 1 };
            HeadEntry { deletion, has_range_tombstones: false }.encode(&mut value);
            let mut set = WriteSet::new();
            set.put(table(OWN), b"k", &value);
            write(&engine, &set);
            value
        };
        put(1);
        engine.flush(Some(table(OWN))).expect("a flush");
        assert!(engine.begin_window(table(OWN), 60).expect("a window"));
        // As RocksDB does when memory is short: it picks families one by one.
        let happens = || {
            put(2);
            let tables = engine.tables_now();
            let past = &tables.home(table(OWN)).expect("there").past[0];
            engine.flush_families(&[&past.family]).expect("a flush of one family");
        };
        if step.is_none() {
            happens();
        }
        let mut once = Once::at(step.unwrap_or(Step::AtLink), &happens);
        once.happens = once.happens.filter(|_| step.is_some());
        let directory = scratch.join("files");
        fs::create_dir(&directory).expect("a directory");
        let wanted = [(table(OWN), directory.clone())];
        let exported = engine.export_by(&mut once, &wanted, false).expect("an export").remove(0);
        assert!(once.happens.is_none());
        let expected = entries(&engine, OWN);
        assert_eq!(expected.len(), 1);
        engine.truncate_table(table(OWN)).expect("a truncation");
        import(&engine, OWN, &directory, &exported);
        assert_eq!(entries(&engine, OWN), expected, "{step:?}");
    }
}
