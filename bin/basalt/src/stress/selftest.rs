//! `basalt stress selftest`: the client against a server that does nothing.

use std::process::ExitCode;
use std::sync::Arc;

use basalt_node::env::SystemEnv;
use basalt_stress::client;
use basalt_stress::outcome::Latency;
use basalt_stress::selftest::{Setup, Trial, selftest};
use basalt_stress::workload;
use clap::Args;

/// What `basalt stress selftest` takes.
#[derive(Args)]
pub struct Options {
    /// The workload whose requests are sent.
    #[arg(value_name = "WORDS", default_values = ["apm", "RW"])]
    words: Vec<String>,
    /// Connections in all.
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// Threads that send and receive.
    #[arg(long, default_value_t = 1)]
    workers: usize,
}

/// Runs it.
///
/// # Errors
/// One line: why there was no test.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let workload = workload::named(&options.words, &workload::Options::default());
    let setup = Setup {
        env: Arc::new(SystemEnv::new()),
        client: client::Options::default(),
        workload: workload.map_err(|error| error.to_string())?,
        connections: options.connections.max(1),
        workers: options.workers.max(1),
    };
    println!("A server that does nothing, in this process; response times are the client's floor.\n");
    println!(
        "{:>9}  {:>8} {:>8} {:>8} {:>8}  {:>12}  {:>11}  verdict",
        "rate", "p50 ms", "p99", "p99.9", "max", "lag p99 ms", "CPU us/req"
    );
    let top = selftest(&setup, print).map_err(|error| error.to_string())?;
    println!(
        "\nThe highest rate at which this client sends as planned here: {top}/s with {} worker(s).",
        setup.workers
    );
    Ok(ExitCode::SUCCESS)
}

fn print(trial: &Trial) {
    let ms = |latency: &Latency, quantile| latency.0.value_at_quantile(quantile) as f64 / 1e6;
    let response = trial.outcome.response();
    println!(
        "{:>9}  {:>8.3} {:>8.3} {:>8.3} {:>8.3}  {:>12.3}  {:>11.2}  {}",
        trial.rate,
        ms(&response, 0.5),
        ms(&response, 0.99),
        ms(&response, 0.999),
        ms(&response, 1.0),
        ms(&trial.outcome.client.send_lag, 0.99),
        trial.cpu_per_request() as f64 / 1e3,
        if trial.is_honest() { "as planned" } else { "late" }
    );
}
