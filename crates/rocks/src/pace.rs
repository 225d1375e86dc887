//! How fast writes are taken while flushes or merges are behind: a little slower the more is due, so that RocksDB never has to stop
//! them. A write waits in proportion to its bytes; what it waits is found by looking at the debt, not by a rate that somebody set.
//!
//! Debt is looked at when RocksDB says that it changed (a memtable was sealed, a flush or merge ended), and what has been written since
//! then is added: so it grows and shrinks smoothly. Knows no clock: what is due is slept, not measured.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use basalt_storage::engine::StallCause;

/// Runs, or files of the first level, beyond those that start a merge, that cost writers nothing: what is being merged is among them.
const RUNS_FREE: u64 = 8;

/// So many more, and the brake is full on.
const RUNS_BRAKING: u64 = 16;

/// The same for bytes that leveled compaction is behind.
const PENDING_FREE: u64 = 16 << 30;
const PENDING_BRAKING: u64 = 64 << 30;

/// With the brake full on a byte costs `2^10 - 1` nanoseconds, which is a megabyte a second; each tenth of the way doubles it.
const DOUBLINGS: f64 = 10.0;

/// The brake goes so far, should even a megabyte a second be too much.
const BRAKE_MAX: f64 = 1.3;

/// What is due is slept when it has come to this: the system does not sleep for less in earnest.
const SLEPT_AT_LEAST: u64 = 200_000;

/// A write waits at most so long, nanoseconds; the rest is due with the next one. A long wait is for the answers of a whole group.
const SLEPT_AT_MOST: u64 = 25_000_000;

/// What one family owes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owed {
    /// Bytes in its memtable that is written to.
    pub(crate) active_bytes: u64,
    /// Runs, or files of the first level, and how many of them start a merge; nothing when it is not merged by itself.
    pub(crate) runs: u64,
    pub(crate) trigger: u64,
    /// Bytes that leveled compaction is behind.
    pub(crate) pending_bytes: u64,
}

/// The pace of one engine.
pub(crate) struct Pace {
    /// Bytes of memtables waiting to be flushed with which the brake is full on; it is off below a half.
    capacity: u64,
    /// Memtable bytes at the last look that waited for nothing.
    active_bytes: AtomicU64,
    /// How far runs alone put the brake on, in thousandths.
    by_runs: AtomicU64,
    /// How far leveled compaction alone does.
    by_pending: AtomicU64,
    owed_nanos: AtomicU64,
    /// One more than the place among `causes` of what writes were last slowed for; 0 if they never were.
    last_cause: AtomicU64,
}

impl Pace {
    pub(crate) fn new(capacity: u64) -> Pace {
        Pace {
            capacity: capacity.max(1),
            active_bytes: AtomicU64::new(0),
            by_runs: AtomicU64::new(0),
            by_pending: AtomicU64::new(0),
            owed_nanos: AtomicU64::new(0),
            last_cause: AtomicU64::new(0),
        }
    }

    /// What the families owe now.
    pub(crate) fn look(&self, families: impl Iterator<Item = Owed>) {
        let (mut active_bytes, mut by_runs, mut by_pending) = (0, 0.0f64, 0.0f64);
        for owed in families {
            active_bytes += owed.active_bytes;
            by_runs = by_runs.max(part(owed.runs, owed.trigger + RUNS_FREE, RUNS_BRAKING));
            by_pending = by_pending.max(part(owed.pending_bytes, PENDING_FREE, PENDING_BRAKING));
        }
        self.active_bytes.store(active_bytes, Ordering::Release);
        self.by_runs.store((by_runs * 1_000.0) as u64, Ordering::Release);
        self.by_pending.store((by_pending * 1_000.0) as u64, Ordering::Release);
    }

    /// How far each cause puts the brake on, with this much in memtables.
    fn causes(&self, memtable_bytes: u64) -> [(StallCause, f64); 3] {
        let behind = memtable_bytes.saturating_sub(self.active_bytes.load(Ordering::Acquire));
        let thousandths = |part: &AtomicU64| part.load(Ordering::Acquire) as f64 / 1_000.0;
        [
            (StallCause::Memtables, behind as f64 / self.capacity as f64 * 2.0 - 1.0),
            (StallCause::Level0Files, thousandths(&self.by_runs)),
            (StallCause::PendingCompaction, thousandths(&self.by_pending)),
        ]
    }

    /// How far the brake is on, 0 to 1 and a little more.
    pub(crate) fn brake(&self, memtable_bytes: u64) -> f64 {
        self.causes(memtable_bytes)
            .into_iter()
            .fold(0.0f64, |most, (_, brake)| most.max(brake))
            .min(BRAKE_MAX)
    }

    /// What writes are slowed for, or were last; `None` if they never were.
    pub(crate) fn cause(&self) -> Option<StallCause> {
        let place = usize::try_from(self.last_cause.load(Ordering::Relaxed)).ok()?.checked_sub(1)?;
        self.causes(0).get(place).map(|(cause, _)| *cause)
    }

    fn note_cause(&self, memtable_bytes: u64) {
        let causes = self.causes(memtable_bytes);
        let most = (1..).zip(causes).max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
        self.last_cause.store(most.map_or(0, |(place, _)| place), Ordering::Relaxed);
    }

    /// Lets a write of so many bytes in, after what it has to wait. False: it would have to, and may not.
    pub(crate) fn admit(&self, bytes: u64, memtable_bytes: u64, may_wait: bool) -> bool {
        let brake = self.brake(memtable_bytes);
        if brake == 0.0 {
            if self.owed_nanos.load(Ordering::Relaxed) > 0 {
                self.owed_nanos.store(0, Ordering::Relaxed);
            }
            return true;
        }
        self.note_cause(memtable_bytes);
        if !may_wait {
            return false;
        }
        let cost = (bytes as f64 * nanos_per_byte(brake)) as u64;
        let owed = self.owed_nanos.fetch_add(cost, Ordering::Relaxed).saturating_add(cost);
        if owed >= SLEPT_AT_LEAST {
            let slept = owed.min(SLEPT_AT_MOST);
            // What is beyond two waits is forgotten: the brake will be further on if it was needed.
            self.owed_nanos.store((owed - slept).min(SLEPT_AT_MOST), Ordering::Relaxed);
            thread::sleep(Duration::from_nanos(slept));
        }
        true
    }
}

/// How far something is beyond what is free.
fn part(is: u64, free: u64, braking: u64) -> f64 {
    is.saturating_sub(free) as f64 / braking as f64
}

fn nanos_per_byte(brake: f64) -> f64 {
    (DOUBLINGS * brake).exp2() - 1.0
}

/// With so many runs more than start a merge RocksDB itself would slow writes down, and stop them.
pub(crate) const ROCKSDB_SLOWS_AFTER: u64 = RUNS_FREE + 2 * RUNS_BRAKING;
pub(crate) const ROCKSDB_STOPS_AFTER: u64 = RUNS_FREE + 3 * RUNS_BRAKING;

#[cfg(test)]
mod tests {
    //! The brake by numbers; who may not wait is told.
    use super::*;

    const MIB: u64 = 1 << 20;

    fn runs(runs: u64) -> Owed {
        Owed { runs, trigger: 4, ..Owed::default() }
    }

    #[test]
    fn the_brake_follows_what_is_behind() {
        let pace = Pace::new(100 * MIB);
        pace.look(std::iter::once(Owed { active_bytes: 80 * MIB, ..runs(12) }));
        assert_eq!(pace.brake(80 * MIB), 0.0, "what waits for nothing costs nothing");
        assert_eq!(pace.brake(130 * MIB), 0.0, "half of the room is free");
        assert!((pace.brake(155 * MIB) - 0.5).abs() < 1e-9);
        assert!((pace.brake(180 * MIB) - 1.0).abs() < 1e-9);
        assert_eq!(pace.brake(u64::MAX), BRAKE_MAX);
        pace.look([runs(4), runs(20), runs(0)].into_iter());
        assert_eq!(pace.brake(0), 0.5, "the worst family counts");
        pace.look(std::iter::once(Owed { pending_bytes: PENDING_FREE + PENDING_BRAKING / 4, ..runs(4) }));
        assert_eq!(pace.brake(0), 0.25);
    }

    #[test]
    fn the_cause_is_what_weighs_most() {
        let pace = Pace::new(100 * MIB);
        let cause_after = |owed: Owed, memtable_bytes| {
            pace.look(std::iter::once(owed));
            pace.admit(1, memtable_bytes, false);
            pace.cause()
        };
        assert_eq!(cause_after(runs(4), 50 * MIB), None);
        assert_eq!(cause_after(runs(4), 60 * MIB), Some(StallCause::Memtables));
        assert_eq!(cause_after(runs(20), 60 * MIB), Some(StallCause::Level0Files));
        let pending = Owed { pending_bytes: 1 << 40, ..runs(20) };
        assert_eq!(cause_after(pending, 60 * MIB), Some(StallCause::PendingCompaction));
        assert_eq!(cause_after(runs(4), 0), Some(StallCause::PendingCompaction), "it was the last");
    }

    #[test]
    fn a_full_brake_is_a_megabyte_a_second_and_a_slight_one_next_to_nothing() {
        assert_eq!(nanos_per_byte(0.0), 0.0);
        assert_eq!(nanos_per_byte(1.0), 1_023.0);
        assert!(nanos_per_byte(0.1) <= 1.0);
    }

    #[test]
    fn who_may_not_wait_is_not_let_in_while_the_brake_is_on() {
        let pace = Pace::new(MIB);
        assert!(pace.admit(1_000, MIB / 2, false));
        assert!(!pace.admit(1_000, MIB, false));
        assert_eq!(pace.owed_nanos.load(Ordering::Relaxed), 0, "what is not written costs nothing");
        assert!(pace.admit(100, MIB, true));
        assert_eq!(
            pace.owed_nanos.load(Ordering::Relaxed),
            102_300,
            "too little to sleep for, and not forgotten"
        );
        assert!(pace.admit(u64::MAX / 4_096, MIB, true));
        assert_eq!(pace.owed_nanos.load(Ordering::Relaxed), SLEPT_AT_MOST);
        assert!(pace.admit(1, 0, true));
        assert_eq!(pace.owed_nanos.load(Ordering::Relaxed), 0, "with the debt goes what was owed");
    }
}
