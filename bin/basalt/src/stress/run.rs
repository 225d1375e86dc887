//! `basalt stress run`: one run by a plan, or in a closed loop.

use std::process::ExitCode;

use basalt_stress::outcome::Event;
use basalt_stress::plan::{Arrivals, Plan, Rate, parse_duration};
use basalt_stress::read_back::read_back;
use basalt_stress::run::Asked;
use basalt_stress::schema;
use basalt_stress::search::Sla;
use clap::Args;

use super::common::{self, Prepared};
use super::interrupt::Interrupt;

/// What `basalt stress run` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    common: common::Options,
    /// Requests a second, at the highest: 5000, 12.5, 40k.
    #[arg(long, default_value = "1000")]
    rate: Rate,
    /// How long requests are sent: 20s, 5m, 1h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    duration: u64,
    /// How requests follow each other: constant; poisson (as independent users come); step:N (N stairs up to --rate);
    /// ramp:FROM; sine:LOW/PERIOD; burst:LOW/PERIOD/LENGTH; poisson+ramp:FROM and so on.
    #[arg(long, default_value = "constant")]
    arrivals: Arrivals,
    /// Instead of a rate: so many users, each of whom waits for an answer before asking again. Service time only: how
    /// long others would have waited is not seen this way.
    #[arg(long, conflicts_with_all = ["rate", "arrivals", "in_flight"], value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Most requests in flight at once; a run that reaches it is invalid [default: 32767 for each connection].
    #[arg(long, value_name = "REQUESTS")]
    in_flight: Option<usize>,
    /// Create the workload's keyspace and tables first (`load` does so, too).
    #[arg(long)]
    create: bool,
    /// Read every acknowledged write back after the run: lost, stale, wrong.
    #[arg(long)]
    verify: bool,
    /// Say whether an agreement on response times was kept: p99<5ms,p99.9<10ms,max<1s.
    #[arg(long, value_parser = Sla::parse)]
    sla: Option<Sla>,
    /// A mark on the time line: `10s=kill -STOP`. May be given more than once.
    #[arg(long, value_name = "TIME=TEXT", value_parser = parse_mark)]
    mark: Vec<(u64, String)>,
}

fn parse_mark(text: &str) -> Result<(u64, String), String> {
    let (at, text) = text.split_once('=').ok_or("a mark is TIME=TEXT, such as 10s=freeze")?;
    Ok((parse_duration(at).map_err(|error| error.to_string())?, text.to_owned()))
}

/// Runs it.
///
/// # Errors
/// One line: why there was no run.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let common = &options.common;
    let prepared = common.prepare(options.verify, interrupt)?;
    if options.create {
        let address = prepared.targets.first().ok_or("no node is named")?;
        schema::create(*address, &prepared.client, &*prepared.workload).map_err(|error| error.to_string())?;
    }
    let asked = match options.threads {
        Some(threads) => Asked::Closed { threads, nanos: options.duration },
        None => {
            let plan = Plan::new(&options.arrivals, options.rate, options.duration, common.seed)
                .map_err(|error| error.to_string())?;
            Asked::Open { plan, arrivals: options.arrivals.clone() }
        }
    };
    let settings = common.settings(&prepared, asked, options.duration, options.in_flight)?;
    let mut finished =
        common::go(settings, &prepared, options.duration).map_err(|error| hint(&error, common))?;
    let marks = options.mark.iter();
    finished.outcome.events.extend(marks.map(|(at, text)| Event { at_nanos: *at, text: text.clone() }));
    finished.outcome.events.sort_by_key(|event| event.at_nanos);
    if options.verify {
        verify(&prepared, &mut finished)?;
    }
    common.conclude(&finished.outcome, options.sla.as_ref())
}

fn verify(prepared: &Prepared, finished: &mut basalt_stress::run::Finished) -> Result<(), String> {
    let address = prepared.targets.first().ok_or("no node is named")?;
    let acknowledged = std::mem::take(&mut finished.acknowledged);
    let verified = read_back(*address, &prepared.client, &*prepared.workload, acknowledged)
        .map_err(|error| format!("reading back: {error}"))?;
    finished.outcome.verified = Some(verified.ok_or("--verify: this workload's values cannot be checked")?);
    Ok(())
}

/// The usual reason is that nothing has been loaded.
fn hint(error: &str, common: &common::Options) -> String {
    if error.contains("does not exist") || error.contains("unconfigured table") {
        return format!("{error}\nLoad the workload first: basalt stress load {}", common.words.join(" "));
    }
    error.to_owned()
}
