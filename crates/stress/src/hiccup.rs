//! Is it the client? Threads that do nothing but sleep a millisecond at a time, and record how much
//! later they woke: what delays them delays everything on their processor. One follows each worker,
//! one keeps to a processor without a worker, where there is one. Knows nothing of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::Mutex;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::outcome::{LONGEST_NANOS, Latency};

/// How long a meter sleeps, nanoseconds.
const SLEEP_NANOS: u64 = 1_000_000;

/// Sleeps between two looks at where the workers run.
const SLEEPS_PER_LOOK: u64 = 64;

/// Meters on their way.
pub struct Meters {
    stop: Arc<AtomicBool>,
    beside: Arc<Mutex<Latency>>,
    control: Arc<Mutex<Latency>>,
    threads: Vec<JoinHandle<()>>,
}

/// Where a meter keeps itself.
enum Place {
    /// On the processor of this worker.
    Beside(Arc<AtomicUsize>),
    /// On one without any of these.
    Apart(Vec<Arc<AtomicUsize>>),
}

impl Meters {
    /// Starts one for each worker, whose processors these are, and the one apart.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(env: &SharedEnv, processors: &[Arc<AtomicUsize>]) -> std::io::Result<Meters> {
        let mut meters = Meters {
            stop: Arc::default(),
            beside: Arc::default(),
            control: Arc::default(),
            threads: Vec::new(),
        };
        // What this process may use; a meter must find its way back to all of it.
        let allowed = sched_getaffinity(None)?;
        let places = processors.iter().map(|processor| Place::Beside(Arc::clone(processor)));
        for place in places.chain([Place::Apart(processors.to_vec())]) {
            let latency = match place {
                Place::Beside(_) => &meters.beside,
                Place::Apart(_) => &meters.control,
            };
            let (latency, stop, clock) = (Arc::clone(latency), Arc::clone(&meters.stop), Arc::clone(env));
            let work = move || measure(&clock, &place, &allowed, &latency, &stop);
            meters.threads.push(env.spawn_thread("stress-hiccup", Box::new(work))?);
        }
        Ok(meters)
    }

    /// Delays since the last call: beside the workers, and apart from them.
    pub fn take(&self) -> (Latency, Latency) {
        let take = |latency: &Mutex<Latency>| std::mem::take(&mut *latency.lock());
        (take(&self.beside), take(&self.control))
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A meter that died has measured nothing more; there is nothing to undo.
            drop(thread.join());
        }
    }
}

fn measure(env: &SharedEnv, place: &Place, allowed: &CpuSet, latency: &Mutex<Latency>, stop: &AtomicBool) {
    let mut shortest = u64::MAX;
    let mut is_placed = false;
    let mut sleeps = 0;
    while !stop.load(Ordering::Relaxed) {
        if sleeps % SLEEPS_PER_LOOK == 0 {
            is_placed = place.take(allowed);
        }
        sleeps += 1;
        let before = env.monotonic_nanos();
        std::thread::sleep(Duration::from_nanos(SLEEP_NANOS));
        let slept = env.monotonic_nanos() - before;
        // As jHiccup does: the timer's own lateness is no hiccup.
        shortest = shortest.min(slept);
        if is_placed {
            // A hiccup hides those that would have been seen during it.
            let hiccup = (slept - shortest).clamp(1, LONGEST_NANOS);
            let recorded = latency.lock().0.record_correct(hiccup, SLEEP_NANOS);
            recorded.expect("it is within the bounds");
        }
    }
}

impl Place {
    /// Goes there; `false` when there is no such processor, or the system does not say.
    fn take(&self, allowed: &CpuSet) -> bool {
        let processor = match self {
            Place::Beside(processor) => Some(processor.load(Ordering::Relaxed)),
            Place::Apart(taken) => (0..CpuSet::MAX_CPU).find(|processor| {
                allowed.is_set(*processor)
                    && taken.iter().all(|taken| taken.load(Ordering::Relaxed) != *processor)
            }),
        };
        let Some(processor) = processor.filter(|processor| *processor < CpuSet::MAX_CPU) else {
            return false;
        };
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set).is_ok()
    }
}
