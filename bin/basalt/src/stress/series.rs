//! What all series of runs take, and one run of a series. Knows no search.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use basalt_stress::outcome::Outcome;
use basalt_stress::plan::{Arrivals, Plan, Rate, parse_duration};
use basalt_stress::report::{Standing, words};
use basalt_stress::run;
use basalt_stress::search::{Asked, Probe, Sla, Trial};
use basalt_stress::server::system_views::{Ask, Asker, SSTABLE_TASKS};
use clap::Args;

use super::common::{self, Prepared};
use super::files;
use super::interrupt::Interrupt;

/// How long a series waits for the server's compactions before it goes on.
const PATIENCE_SECONDS: u32 = 120;

/// What all series take.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    pub common: common::Options,
    /// How requests follow each other: as in `run`.
    #[arg(long, default_value = "poisson")]
    pub arrivals: Arrivals,
    /// The length of one run.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub duration: u64,
    /// Rest between two runs, before the server's compactions are waited for.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    pub pause: u64,
}

/// Runs of a series against one server.
pub struct Prober {
    options: Options,
    prepared: Prepared,
    runs: usize,
    /// Notes of its runs that have been told.
    told: BTreeSet<String>,
}

impl Prober {
    /// One for these options.
    ///
    /// # Errors
    /// One line: what is not understood.
    pub fn new(options: &Options, interrupt: &Interrupt) -> Result<Prober, String> {
        let prepared = options.common.prepare(false, interrupt)?;
        Ok(Prober { options: options.clone(), prepared, runs: 0, told: BTreeSet::new() })
    }

    /// Compactions under way, where the server tells of them.
    fn compactions(&self) -> Option<usize> {
        let address = self.prepared.targets.first()?;
        let mut asker = Asker::new(*address, self.prepared.client.clone());
        // A server without that table says nothing of its compactions.
        asker.rows(SSTABLE_TASKS).ok().map(|rows| rows.len())
    }
}

impl Probe for Prober {
    fn run(&mut self, trial: &Trial) -> Result<Outcome, String> {
        self.runs += 1;
        let mut common = self.options.common.clone();
        // Each run its own folder and its own draws; the series as a whole follows from its seed.
        common.out = common.out.map(|folder| folder.join(format!("{:03}-{}", self.runs, trial.label)));
        common.seed = common.seed.wrapping_add(self.runs as u64);
        let asked = match trial.load {
            Asked::Rate(rate) => {
                let rate = Rate((rate * Rate::UNIT as f64) as u64);
                let arrivals = &self.options.arrivals;
                let plan =
                    Plan::new(arrivals, rate, trial.nanos, common.seed).map_err(|error| error.to_string())?;
                run::Asked::Open { plan, arrivals: arrivals.clone() }
            }
            Asked::Threads(threads) => run::Asked::Closed { threads, nanos: trial.nanos },
        };
        let settings = common.settings(&self.prepared, asked, trial.nanos, None)?;
        let outcome = common::go(settings, &self.prepared, trial.nanos)?.outcome;
        for note in &outcome.notes {
            if self.told.insert(note.clone()) {
                eprintln!("basalt stress: {note}");
            }
        }
        if let Some(folder) = &common.out {
            common::record(&outcome, folder, None)?;
        }
        if self.prepared.interrupt.has_come() {
            println!("{}", line(&outcome));
            return Err(
                "the series was cut short; each of its runs so far is recorded where --out says".to_owned()
            );
        }
        Ok(outcome)
    }

    fn drain(&mut self) -> Result<(), String> {
        std::thread::sleep(Duration::from_nanos(self.options.pause));
        for _ in 0..PATIENCE_SECONDS {
            match self.compactions() {
                None | Some(0) => return Ok(()),
                Some(_) => std::thread::sleep(Duration::from_secs(1)),
            }
        }
        eprintln!("basalt stress: the server still compacts after {PATIENCE_SECONDS} s; going on");
        Ok(())
    }
}

/// A run in a line.
pub fn line(outcome: &Outcome) -> String {
    let clock = if outcome.is_open() { outcome.response() } else { outcome.service() };
    let service = outcome.service();
    let at = |quantile: f64| {
        format!("{:>9} ({:>9})", words::duration(clock.at(quantile)), words::duration(service.at(quantile)))
    };
    let standing = Standing::of(outcome);
    let standing = if standing == Standing::Valid { "" } else { standing.word() };
    format!(
        "{:>10}/s  {}  {}  {}  {standing}",
        words::count(outcome.rate().round() as u64),
        at(0.5),
        at(0.99),
        at(0.999)
    )
}

/// The head of such lines.
pub fn head() -> String {
    format!("{:>12}  {:>21}  {:>21}  {:>21}", "answered", "p50 response (service)", "p99", "p99.9")
}

/// Writes a series' page, table and pictures where that was asked for.
///
/// # Errors
/// One line: which file, and why.
pub fn write(
    folder: Option<&PathBuf>,
    outcomes: &[Outcome],
    sla: Option<&Sla>,
    answer: &[String],
) -> Result<(), String> {
    let Some(folder) = folder else { return Ok(()) };
    files::write_all(folder, outcomes, sla, answer)?;
    println!("\nrecorded in {}", folder.display());
    Ok(())
}
