//! Ctrl-C, and SIGTERM: during a run the first cuts it short, so that what was measured is reported; at any other time,
//! and the second time, the program ends at once. Knows no run.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_model::env::SharedEnv;
use basalt_node::signals::Signals;

/// What a signal is to do.
#[derive(Clone, Default)]
pub struct Interrupt {
    /// Ends the run.
    stop: Arc<AtomicBool>,
    /// Whether there is a run to end.
    is_running: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on signals do as this value says.
    ///
    /// # Errors
    /// One line: the operating system gives no thread, or no word of signals.
    pub fn watch(env: &SharedEnv) -> Result<Interrupt, String> {
        let failed = |error| format!("signals cannot be caught: {error}");
        let mut signals = Signals::catch().map_err(failed)?;
        let interrupt = Interrupt::default();
        let Interrupt { stop, is_running } = interrupt.clone();
        // The thread ends with the process.
        let watch = move || loop {
            let signal = signals.wait_for_end();
            if !is_running.load(Ordering::SeqCst) || stop.swap(true, Ordering::SeqCst) {
                process::exit(exit_code(signal));
            }
        };
        env.spawn_thread("stress-signals", Box::new(watch)).map_err(failed)?;
        Ok(interrupt)
    }

    /// What a run looks at.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether a run was cut short.
    pub fn has_come(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Lets signals cut `run` short while it lasts.
    pub fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        self.is_running.store(true, Ordering::SeqCst);
        let ended = run();
        self.is_running.store(false, Ordering::SeqCst);
        ended
    }
}

/// As a shell tells that a signal ended a program: 128 and its number.
fn exit_code(signal: &str) -> i32 {
    128 + if signal == "SIGTERM" { 15 } else { 2 }
}
