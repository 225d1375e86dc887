//! What this machine's client costs and how fast it can honestly be: runs against a server in this
//! process that does nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use basalt_model::env::SharedEnv;

use crate::client;
use crate::null_server::NullServer;
use crate::outcome::{Outcome, Verdict};
use crate::plan::{Arrivals, Plan, PlanError, Rate};
use crate::run::{self, Asked, Settings};
use crate::workload::Workload;

/// The rate at which the floor is found.
const FLOOR_RATE: u64 = 1_000;

/// Where the search for the highest rate begins.
const FIRST_RATE: u64 = 10_000;

/// How long one rate is tried, nanoseconds.
const TRIAL_NANOS: u64 = 2_000_000_000;

/// Requests that are sent later than this are not sent as planned, nanoseconds (p99).
const LAG_MAX_NANOS: u64 = 1_000_000;

/// Halvings of the range in which the highest rate is.
const HALVINGS: u32 = 4;

/// How the client is set up.
#[derive(Clone)]
pub struct Setup {
    /// Clocks and threads.
    pub env: SharedEnv,
    /// How to connect.
    pub client: client::Options,
    /// What is asked.
    pub workload: Arc<dyn Workload>,
    /// Connections in all.
    pub connections: usize,
    /// Threads that send and receive.
    pub workers: usize,
}

/// A rate that was tried.
pub struct Trial {
    /// The rate.
    pub rate: u64,
    /// What became of it.
    pub outcome: Outcome,
}

/// Why there was no self-test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run could not be made.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// There is no such plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The server could not be started.
    #[error("the null server: {0}")]
    Server(#[from] std::io::Error),
}

impl Trial {
    /// Whether the client sent as planned.
    pub fn is_honest(&self) -> bool {
        let client = &self.outcome.client;
        self.outcome.invalid.is_empty()
            && self.outcome.counts.unsent == 0
            && client.verdict != Verdict::Limited
            && client.send_lag.0.value_at_quantile(0.99) <= LAG_MAX_NANOS
    }

    /// Processor time of the client for one request, nanoseconds.
    pub fn cpu_per_request(&self) -> u64 {
        self.outcome.client.cpu_nanos / self.outcome.counts.sent.max(1)
    }
}

/// Tries a slow rate, then ever faster ones until the client cannot keep up, then between the last
/// two; each trial is shown to `seen`.
///
/// # Errors
/// When a run cannot be made.
pub fn selftest(setup: &Setup, mut seen: impl FnMut(&Trial)) -> Result<u64, Error> {
    let server = NullServer::start(&setup.env)?;
    let mut honest = |rate: u64| -> Result<bool, Error> {
        let trial = Trial { rate, outcome: trial(setup, &server, rate)? };
        seen(&trial);
        Ok(trial.is_honest())
    };
    honest(FLOOR_RATE)?;
    let (mut low, mut high) = (0, FIRST_RATE);
    while honest(high)? {
        low = high;
        high *= 2;
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2;
        if honest(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

fn trial(setup: &Setup, server: &NullServer, rate: u64) -> Result<Outcome, Error> {
    let plan = Plan::new(&Arrivals::CONSTANT, Rate::per_second(rate), TRIAL_NANOS, 1)?;
    let settings = Settings {
        env: Arc::clone(&setup.env),
        targets: vec![server.address],
        only_targets: true,
        client: setup.client.clone(),
        workload: Arc::clone(&setup.workload),
        asked: Asked::Open { plan, arrivals: Arrivals::CONSTANT },
        seed: 1,
        connections: setup.connections,
        workers: setup.workers,
        in_flight: setup.connections * run::STREAMS,
        timeout_nanos: TRIAL_NANOS,
        drain_nanos: TRIAL_NANOS,
        interval_nanos: TRIAL_NANOS / 4,
        log: None,
        command: vec!["selftest".to_owned()],
        stop: Arc::new(AtomicBool::new(false)),
    };
    Ok(run::run(settings, &mut ())?.outcome)
}
