//! The program judged from outside: it is started, killed, told to end, fed with rubbish, and asked what it still
//! knows. This library starts the process, speaks to it and keeps the model of what it must know; the tests are in
//! `tests/`.
//!
//! It knows nothing of the program but its command line, its directory and the protocol.
//!
//! Variables that say how much is done:
//!
//! | variable | means | without it |
//! |---|---|---|
//! | `BASALT_BIN` | the program | `basalt` beside the test |
//! | `BASALT_CRASH_ROUNDS` | kills per sync mode | 5 |
//! | `BASALT_FULL_DISK_ROUNDS` | how often a disk is filled | 2 |
//! | `BASALT_CRASH_SEED` | where random numbers begin | a fixed number |
//! | `BASALT_STORM_FRAMES` | frames thrown at a node | 50,000 |
//! | `BASALT_STRICT` | `1`: start time and idle memory are judged, not only printed | printed |
#![allow(
    clippy::disallowed_methods,
    reason = "what is judged from outside has the real clock and environment"
)]

pub mod client;
pub mod process;
pub mod random;
pub mod storm;
pub mod workload;

/// A number from the environment.
///
/// # Panics
/// When the variable is there and not a number.
pub fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => {
            text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number"))
        }
        _ => default,
    }
}

/// Where random numbers of a run begin.
pub fn seed() -> u64 {
    setting("BASALT_CRASH_SEED", 20_260_101)
}
