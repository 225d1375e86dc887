//! What a run prints at its end: a first screen for anyone, then the details, then the layout that
//! readers of cassandra-stress know.

use std::fmt::{Result, Write};

use super::own_times;
use super::standing::{self, Standing, gap, is_known};
use super::words::{count, duration, ms, ms_of, plural, share};
use crate::outcome::{Counts, Interval, KindOutcome, Latency, Outcome};
use crate::search::Sla;

/// A wait that a user feels, nanoseconds.
const FELT_NANOS: u64 = 100_000_000;

/// Columns of the page.
const WIDTH: usize = 96;

/// The report of a run, ready to print.
pub fn text(outcome: &Outcome) -> String {
    text_with(outcome, None)
}

/// The same, with whether it met an agreement, when there is one.
pub fn text_with(outcome: &Outcome, sla: Option<&Sla>) -> String {
    let mut out = String::new();
    // A String never refuses what is written to it.
    let _ = first_screen(&mut out, outcome, sla);
    let _ = details(&mut out, outcome);
    let _ = seed_layout(&mut out, outcome);
    out
}

fn first_screen(out: &mut String, outcome: &Outcome, sla: Option<&Sla>) -> Result {
    let standing = Standing::of(outcome);
    let (response, service) = (outcome.response(), outcome.service());
    writeln!(out, "{}: {}", outcome.workload, standing::load(outcome))?;
    let server = outcome.setting.server.get("release_version");
    let server = server.map(|version| format!(" ({version})")).unwrap_or_default();
    writeln!(
        out,
        "against {}{server}, achieved {}/s\n",
        outcome.setting.targets.join(", "),
        count(outcome.rate().round() as u64)
    )?;
    paragraph(out, &format!("{}: {}", standing.word(), standing.sentence(outcome)))?;
    for line in sla.map(|sla| sla.lines(outcome)).unwrap_or_default() {
        writeln!(out, "  {line}")?;
    }
    for note in &outcome.notes {
        paragraph(out, &format!("note: {note}"))?;
    }
    writeln!(out)?;
    if outcome.is_open() {
        waits(out, &response, &service)?;
    } else {
        service_only(out, &service)?;
    }
    writeln!(out)?;
    paragraph(out, &gap(outcome))?;
    writeln!(out)?;
    counts(out, &outcome.counts)
}

/// Response and service time side by side.
fn waits(out: &mut String, response: &Latency, service: &Latency) -> Result {
    writeln!(out, "{:<24}{:>18}{:>20}", "", "users waited", "the server took")?;
    writeln!(out, "{:<24}{:>18}{:>20}", "", "(response time)", "(service time)")?;
    let mut unknown = None;
    for quantile in standing::SHOWN {
        if !is_known(response.count(), quantile) {
            unknown.get_or_insert(quantile);
            continue;
        }
        let name = if quantile == 0.5 { "half of the requests".to_owned() } else { share(quantile) };
        let (waited, took) = (response.at(quantile), service.at(quantile));
        let ratio = waited as f64 / took.max(1) as f64;
        let times =
            if ratio >= 1.5 { format!("   {} times", super::words::digits(ratio)) } else { String::new() };
        writeln!(out, "  {name:<22}{:>15} ms{:>17} ms{times}", ms(waited), ms(took))?;
    }
    writeln!(out, "  {:<22}{:>15} ms{:>17} ms", "the longest", ms(response.0.max()), ms(service.0.max()))?;
    unknown_line(out, unknown)
}

fn service_only(out: &mut String, service: &Latency) -> Result {
    writeln!(out, "{:<24}{:>18}", "SERVICE TIME ONLY", "the server took")?;
    let mut unknown = None;
    for quantile in standing::SHOWN {
        if is_known(service.count(), quantile) {
            let name = if quantile == 0.5 { "half of the requests".to_owned() } else { share(quantile) };
            writeln!(out, "  {name:<22}{:>15} ms", ms(service.at(quantile)))?;
        } else {
            unknown.get_or_insert(quantile);
        }
    }
    writeln!(out, "  {:<22}{:>15} ms", "the longest", ms(service.0.max()))?;
    unknown_line(out, unknown)
}

fn unknown_line(out: &mut String, unknown: Option<f64>) -> Result {
    match unknown {
        Some(quantile) => writeln!(
            out,
            "  ({} is not shown: that takes {} requests)",
            share(quantile),
            count(standing::samples_for(quantile))
        ),
        None => Ok(()),
    }
}

/// The sums, as sums.
fn counts(out: &mut String, counts: &Counts) -> Result {
    let Counts { planned, sent, unsent, answered, failed, timed_out, in_flight } = *counts;
    writeln!(out, "  {} planned = {} sent + {} never sent", count(planned), count(sent), count(unsent))?;
    writeln!(
        out,
        "  {} sent = {} answered + {} failed + {} timed out + {} unanswered at the end",
        count(sent),
        count(answered),
        count(failed),
        count(timed_out),
        count(in_flight)
    )?;
    if !counts.add_up() {
        writeln!(out, "  THESE DO NOT ADD UP")?;
    }
    if counts.censored() > 0 {
        let noun = plural(counts.censored(), "request");
        writeln!(
            out,
            "  {noun} never sent or unanswered stand in the response times with the age they had at the end"
        )?;
    }
    Ok(())
}

fn details(out: &mut String, outcome: &Outcome) -> Result {
    if asked(&outcome.kinds).count() > 1 {
        writeln!(out)?;
        kinds(out, &outcome.kinds, outcome.is_open())?;
    }
    own_times::text(out, outcome)?;
    for kind in &outcome.kinds {
        for (error, number) in &kind.errors {
            writeln!(out, "  {} {}: {error}", count(*number), kind.name)?;
        }
    }
    if let Some(found) = outcome.verified {
        writeln!(out, "\nread back      {}", standing::read_back(&found))?;
    }
    let client = &outcome.client;
    writeln!(out, "\nclient         {}; {} of processor time", client.reason, duration(client.cpu_nanos))?;
    smoothness(out, outcome)?;
    for event in &outcome.events {
        writeln!(out, "at {:>10}  {}", duration(event.at_nanos), event.text)?;
    }
    for series in outcome.server.iter().flat_map(|server| &server.series) {
        if let Some((mean, max)) = series.mean_and_max() {
            let unit = series.unit;
            writeln!(
                out,
                "server         {}: mean {}, max {}",
                series.name,
                unit.words(mean),
                unit.words(max)
            )?;
        }
    }
    for gap in outcome.server.iter().flat_map(|server| &server.gaps) {
        writeln!(out, "server         {gap}")?;
    }
    writeln!(out)
}

/// How even the run was: the longest wait of each interval, and how many had one that a user feels.
fn smoothness(out: &mut String, outcome: &Outcome) -> Result {
    let longest = |interval: &Interval| {
        let clock = if outcome.is_open() { &interval.response } else { &interval.service };
        clock.unpack().0.max()
    };
    let mut all: Vec<(u64, u64)> =
        outcome.intervals.iter().map(|interval| (longest(interval), interval.start_nanos)).collect();
    let felt = all.iter().filter(|(longest, _)| *longest > FELT_NANOS).count() as u64;
    let Some(&(worst, at)) = all.iter().max() else { return Ok(()) };
    all.sort_unstable();
    let median = all[all.len() / 2].0;
    writeln!(
        out,
        "smoothness     longest of each of {}: half below {}, {} over {}, worst {} at {}",
        plural(all.len() as u64, "interval"),
        duration(median),
        count(felt),
        duration(FELT_NANOS),
        duration(worst),
        duration(at)
    )
}

/// The kinds that were asked for: a workload may have some that its words leave out.
fn asked(kinds: &[KindOutcome]) -> impl Iterator<Item = &KindOutcome> {
    kinds.iter().filter(|kind| kind.counts.planned > 0)
}

/// A line a kind, response (service).
fn kinds(out: &mut String, kinds: &[KindOutcome], is_open: bool) -> Result {
    let title = if is_open { "ms: response (service)" } else { "ms: service" };
    write!(out, "{title:<24}{:>10}", "answered")?;
    for quantile in [0.5, 0.99, 0.999] {
        write!(out, "{:>19}", super::words::percentile(quantile))?;
    }
    writeln!(out, "{:>21}", "max")?;
    for kind in asked(kinds) {
        write!(out, "  {:<22}{:>10}", kind.name, count(kind.counts.answered))?;
        for quantile in [Some(0.5), Some(0.99), Some(0.999), None] {
            let of = |latency: &Latency| quantile.map_or(latency.0.max(), |quantile| latency.at(quantile));
            let service = ms(of(&kind.service));
            let cell = if is_open { format!("{} ({service})", ms(of(&kind.response))) } else { service };
            let known = quantile.is_none_or(|quantile| is_known(kind.service.count(), quantile));
            let cell = if known { cell } else { "too few".to_owned() };
            write!(out, "{cell:>width$}", width = if quantile.is_some() { 19 } else { 21 })?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// As cassandra-stress with both clocks prints it: response time, service time in brackets.
fn seed_layout(out: &mut String, outcome: &Outcome) -> Result {
    let (response, service) = (outcome.response(), outcome.service());
    writeln!(out, "op rate : {}", outcome.rate().round())?;
    let mut line = |name: &str, response: f64, service: f64| {
        if outcome.is_open() {
            writeln!(out, "latency {name} : {} ({})", ms_of(response / 1e6), ms_of(service / 1e6))
        } else {
            writeln!(out, "latency {name} : {}", ms_of(service / 1e6))
        }
    };
    line("mean", response.0.mean(), service.0.mean())?;
    for quantile in [0.5, 0.95, 0.99, 0.999] {
        line(&standing::ordinal(quantile), response.at(quantile) as f64, service.at(quantile) as f64)?;
    }
    line("max", response.0.max() as f64, service.0.max() as f64)
}

/// Words, broken to the page.
fn paragraph(out: &mut String, text: &str) -> Result {
    let mut column = 0;
    for word in text.split_whitespace() {
        if column > 0 && column + 1 + word.chars().count() > WIDTH {
            writeln!(out)?;
            column = 0;
        }
        if column > 0 {
            write!(out, " ")?;
            column += 1;
        }
        write!(out, "{word}")?;
        column += word.chars().count();
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    //! The page of a stall, of a closed loop, and of a run that went badly.
    use expect_test::expect;

    use super::*;
    use crate::simulation::{self, Pace, Simulated};

    #[test]
    fn a_stall_is_understood_at_once() {
        let sla = Sla::parse("p99<100ms").unwrap();
        expect![[r#"
            simulated: 500 requests a second (constant arrivals, open loop) for 20 s
            against simulated (simulated), achieved 500/s

            VALID: every planned request was sent and answered, and the client was not in the way
              agreed p99 < 100 ms: MISSED, it is 2.81 s

                                          users waited     the server took
                                       (response time)      (service time)
              half of the requests            0.453 ms            0.403 ms
              9 of 10                        1114.6 ms            0.755 ms   1,476 times
              95 of 100                      2058.4 ms            0.906 ms   2,271 times
              99 of 100                      2812.3 ms              1.2 ms   2,266 times
              999 of 1,000                   2982.2 ms              1.8 ms   1,638 times
              the longest                    3001.0 ms           3001.0 ms
              (9,999 of 10,000 is not shown: that takes 100,000 requests)

            At the 95th percentile the wait is 2,271 times what the server seemed to take: when it falls
            behind, requests that are already due queue up, and service time, which starts only when one is
            sent, leaves that wait out. Users do not.

              10,000 planned = 10,000 sent + 0 never sent
              10,000 sent = 10,000 answered + 0 failed + 0 timed out + 0 unanswered at the end

            ms: response (service)    answered                p50                p99              p99.9                  max
              read                       5,019      0.455 (0.407)       2816.5 (1.2)            too few      3001.0 (3001.0)
              insert                     4,981      0.449 (0.398)       2812.3 (1.2)            too few         2992.6 (2.3)

            client         its own delays stay below a tenth of what was measured; 3 s of processor time
            smoothness     longest of each of 20 intervals: half below 1.64 ms, 1 over 100 ms, worst 3 s at 11 s
            at        8 s  the server stood still for 3.0 s

            op rate : 500
            latency mean : 239.2 (1.7)
            latency median : 0.453 (0.403)
            latency 95th percentile : 2058.4 (0.906)
            latency 99th percentile : 2812.3 (1.2)
            latency 99.9th percentile : 2982.2 (1.8)
            latency max : 3001.0 (3001.0)
        "#]].assert_eq(&text_with(&simulation::stall(), Some(&sla)));
    }

    #[test]
    fn a_closed_loop_says_that_it_shows_service_times_only() {
        let server = Simulated { load: Pace::Users(4), ..Simulated::healthy(1, 1.0, 2) };
        let page = text(&server.run());
        assert!(page.contains("SERVICE TIME ONLY"), "{page}");
        assert!(!page.contains("users waited"), "{page}");
    }

    #[test]
    fn failures_and_censored_requests_are_told() {
        let mut outcome =
            Simulated { freezes: vec![(1_500_000_000, 9_000_000_000)], ..Simulated::healthy(1, 500.0, 2) }
                .run();
        outcome.kinds[1].errors.insert("OVERLOADED: too many".into(), 3);
        outcome.invalid.push("in-flight cap".into());
        let page = text(&outcome);
        for told in [
            "INVALID: in-flight cap",
            "3 insert: OVERLOADED: too many",
            "stand in the response times with the age",
        ] {
            assert!(page.contains(told), "{told} in {page}");
        }
    }
}
