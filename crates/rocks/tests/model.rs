//! The engine does what the engine in memory does: the same random steps on both, compared by
//! every kind of read; over tables of their own and tables that share.

mod common;

use std::num::NonZeroU32;

use basalt_model::TableId;
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Engine, ReadTier, Reads, StorageOptions, WriteSet};
use common::{QUICK, Scratch, open, table, walk};

/// xorshift64: the same steps in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Few and short, with bytes at both ends of the order and the empty key.
    fn key(&mut self) -> Vec<u8> {
        const BYTES: [u8; 5] = [0, 1, b'k', 0xfe, 0xff];
        let len = self.below(4);
        (0..len).map(|_| BYTES[self.below(5) as usize]).collect()
    }
}

const TABLES: u128 = 4;

fn windows() -> StorageOptions {
    StorageOptions { window_s: NonZeroU32::new(60), ..StorageOptions::default() }
}

fn pick(random: &mut Random) -> TableId {
    table(u128::from(random.below(TABLES as u64)))
}

fn compare(real: &dyn Reads, model: &dyn Reads, random: &mut Random) {
    let table = pick(random);
    let key = random.key();
    let of = |reads: &dyn Reads| reads.get(table, &key, ReadTier::All).expect("a read");
    assert_eq!(of(real), of(model), "get {key:?}");

    let keys: Vec<Vec<u8>> = (0..4).map(|_| random.key()).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let of = |reads: &dyn Reads| reads.multi_get(table, &keys, ReadTier::All).expect("a read");
    assert_eq!(of(real), of(model), "multi_get {keys:?}");

    let (lower, upper) = (random.key(), random.key());
    let upper = (random.below(2) == 0 && lower < upper).then_some(upper.as_slice());
    let mut real = real.cursor(table, walk(&lower, upper)).expect("a cursor");
    let mut model = model.cursor(table, walk(&lower, upper)).expect("a cursor");
    let mut moves = Vec::new();
    for _ in 0..12 {
        let target = random.key();
        let step = random.below(6);
        moves.push((step, target.clone()));
        let arrived = match step {
            0 => (real.seek(&target), model.seek(&target)),
            1 => (real.seek_for_prev(&target), model.seek_for_prev(&target)),
            2 | 3 => (real.next(), model.next()),
            _ => (real.prev(), model.prev()),
        };
        assert_eq!(arrived.0, arrived.1, "{lower:?}..{upper:?} {moves:?}");
        assert_eq!(real.key(), model.key(), "{lower:?}..{upper:?} {moves:?}");
        assert_eq!(real.value(), model.value(), "{lower:?}..{upper:?} {moves:?}");
    }
}

fn change(engine: &dyn Engine, random: &mut Random) {
    match random.below(40) {
        0 => engine.truncate_table(pick(random)).expect("a truncation"),
        3 | 4 => {
            // The last table has windows; an engine in memory has none.
            engine.set_options(table(TABLES - 1), &windows()).expect("options");
            engine.begin_window(table(TABLES - 1), random.below(1 << 40) as i64).expect("a window, or none");
        }
        1 => {
            let table = pick(random);
            engine.drop_table(table).expect("a drop");
            engine.create_table(table).expect("a table");
        }
        2 => engine.flush(Some(pick(random))).expect("a flush"),
        _ => {
            let mut set = WriteSet::new();
            for _ in 0..=random.below(4) {
                let (table, key) = (pick(random), random.key());
                match random.below(3) {
                    0 => set.delete(table, &key),
                    _ => set.put(table, &key, &random.below(1000).to_be_bytes()),
                }
            }
            engine.write(&[&set], QUICK).expect("a write");
        }
    }
}

fn generations(engine: &dyn Engine) -> Vec<(TableId, u64)> {
    engine.tables().expect("tables").iter().map(|info| (info.table, info.generation)).collect()
}

#[test]
fn it_does_what_the_engine_in_memory_does() {
    for seed in 1..=6 {
        let scratch = Scratch::new();
        let model = MemEngine::new();
        let mut real = open(scratch.path());
        let tables: Vec<TableId> = (0..TABLES).map(table).collect();
        real.create_small_tables(&tables[..2]).expect("tables that share");
        for table in &tables {
            real.create_table(*table).expect("a table, or one that exists");
            model.create_table(*table).expect("a table");
        }
        let mut random = Random(seed);
        for round in 0..60 {
            let before = (real.view().expect("a view"), model.view().expect("a view"));
            for _ in 0..10 {
                let state = random.0;
                change(&real, &mut random);
                change(&model, &mut Random(state));
                compare(&real, &model, &mut random);
                compare(&*before.0, &*before.1, &mut random);
            }
            assert_eq!(generations(&real), generations(&model));
            drop(before);
            if round % 15 == 14 {
                drop(real);
                real = open(scratch.path());
                assert_eq!(generations(&real), generations(&model), "after opening anew");
            }
        }
    }
}
