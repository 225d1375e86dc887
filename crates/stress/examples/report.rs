//! Writes the reports of pretend runs into a folder: one run with a stall, a family of rates, a
//! closed loop. For looking at the page and for its test in a browser.

use std::path::Path;

use basalt_stress::outcome::Outcome;
use basalt_stress::report::{charts, html, text_with};
use basalt_stress::search::Sla;
use basalt_stress::server::{OwnTimes, Samples, Series, Unit};
use basalt_stress::simulation::{self, Pace, Simulated};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let sla = Sla::parse("p99<5ms,p99.9<10ms").expect("the agreement is written as agreements are");
    let mut stall = simulation::stall();
    stall.server = Some(server());
    write(folder, "stall", &[stall.clone()], Some(&sla), &[])?;
    print!("{}", text_with(&stall, Some(&sla)));
    let family: Vec<Outcome> = [500.0, 1000.0, 2000.0, 4000.0, 6000.0, 8000.0, 8800.0]
        .iter()
        .map(|rate| at(Pace::Poisson(*rate)))
        .collect();
    let answer = "6,000/s keeps p99 < 5 ms and p99.9 < 10 ms; at 8,000/s p99.9 breaks".to_owned();
    write(folder, "family", &family, Some(&sla), &[answer])?;
    let users: Vec<Outcome> = [1, 2, 4, 8, 16, 32].iter().map(|users| at(Pace::Users(*users))).collect();
    write(folder, "users", &users, None, &[])?;
    write(folder, "closed", &users[3..4], None, &[])
}

fn at(load: Pace) -> Outcome {
    Simulated { load, ..Simulated::healthy(7, 1.0, 12) }.run()
}

fn write(
    folder: &Path,
    name: &str,
    outcomes: &[Outcome],
    sla: Option<&Sla>,
    answer: &[String],
) -> std::io::Result<()> {
    std::fs::write(folder.join(format!("{name}.html")), html::html(outcomes, sla, answer))?;
    for chart in charts::all(outcomes, sla) {
        let picture = basalt_stress::report::chart::png(&chart).map_err(std::io::Error::other)?;
        std::fs::write(folder.join(format!("{name}-{}.png", chart.name)), picture)?;
    }
    Ok(())
}

/// A server that is busy until it stands still.
fn server() -> Samples {
    let series = |name: &str, unit, high: f64| Series {
        name: name.to_owned(),
        unit,
        points: (1..20_u64)
            .map(|second| {
                let wave = 1.0 + 0.12 * (second as f64 * 1.7).sin();
                (second * 1_000_000_000, if (8..11).contains(&second) { 0.0 } else { high * wave })
            })
            .collect(),
    };
    Samples {
        sources: vec!["process 4711 (pretend)".to_owned()],
        series: vec![
            series("processor, user", Unit::Cores, 0.8),
            series("processor, system", Unit::Cores, 0.2),
            series("context switches, voluntary", Unit::PerSecond, 14_000.0),
            series("resident memory", Unit::Bytes, 1.4e9),
            series("disk, written", Unit::BytesPerSecond, 3.1e7),
            series("garbage collection, pause", Unit::Nanos, 1.2e7),
        ],
        gaps: Vec::new(),
        own_times: vec![OwnTimes {
            clock: "response".to_owned(),
            requests: 100_000,
            quantiles: vec![(0.5, 300_000), (0.9, 450_000), (0.99, 1_200_000), (0.999, 3_000_000)],
        }],
    }
}
