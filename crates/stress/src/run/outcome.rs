//! From what was collected to the document of the run. Knows nothing of how it was measured.

use std::collections::BTreeMap;

use basalt_wire::ProtocolVersion;

use super::{Asked, Collected, Settings};
use crate::host;
use crate::outcome::{Client, Counts, Event, FORMAT, KindOutcome, Latency, Load, Outcome, Setting};
use crate::record::add_counts;
use crate::report::words::duration;
use crate::verdict::{Evidence, judge};

/// The document.
pub fn build(
    settings: &Settings,
    collected: Collected,
    started_micros: i64,
    version: Option<ProtocolVersion>,
    is_routed: bool,
) -> Outcome {
    let mut counts = Counts::default();
    collected.counts.iter().for_each(|kind| add_counts(&mut counts, kind));
    let unwritten = unwritten(settings, &counts);
    counts.planned += unwritten;
    counts.unsent += unwritten;
    let mut invalid = collected.invalid.clone();
    let mut events = collected.events.clone();
    if collected.is_cut_short {
        invalid.push(cut_short(settings, collected.ended));
        events.push(Event { at_nanos: collected.ended, text: "stopped".to_owned() });
    } else {
        check_plan(settings, &counts, &mut invalid);
    }
    if !counts.add_up() {
        invalid.push("the counts do not add up: this is a defect of the load generator".to_owned());
    }
    let client = client(settings, &collected);
    let names = settings.workload.kinds().iter().cloned();
    let kinds = names
        .zip(collected.totals.kinds)
        .zip(collected.counts)
        .map(|((name, record), counts)| KindOutcome {
            name,
            counts,
            response: record.response,
            service: record.service,
            wait: record.wait,
            failed: record.failed,
            errors: record.errors,
        })
        .collect();
    Outcome {
        format: FORMAT,
        command: settings.command.clone(),
        setting: setting(settings, started_micros, version, is_routed),
        workload: settings.workload.name().to_owned(),
        seed: settings.seed,
        load: load(settings, collected.ended),
        counts,
        elapsed_nanos: collected.ended,
        kinds,
        intervals: collected.intervals,
        client,
        server: None,
        events,
        verified: None,
        invalid,
        notes: Vec::new(),
    }
}

/// Records of a load that were never begun, because it ended before its time.
fn unwritten(settings: &Settings, counts: &Counts) -> u64 {
    match settings.asked {
        Asked::Load { .. } => settings.workload.records().saturating_sub(counts.planned),
        Asked::Open { .. } | Asked::Closed { .. } => 0,
    }
}

/// That it was told to stop, and when.
fn cut_short(settings: &Settings, ended: u64) -> String {
    let asked = match &settings.asked {
        Asked::Open { plan, .. } => plan.nanos(),
        Asked::Closed { nanos, .. } => *nanos,
        Asked::Load { .. } => return format!("cut short after {}", duration(ended)),
    };
    format!("cut short after {} of {}", duration(ended), duration(asked))
}

fn check_plan(settings: &Settings, counts: &Counts, invalid: &mut Vec<String>) {
    if let Asked::Open { plan, .. } = &settings.asked {
        let planned = plan.count();
        if planned != counts.planned {
            invalid.push(format!("{planned} requests were planned and {} accounted for", counts.planned));
        }
    }
}

fn load(settings: &Settings, ended: u64) -> Load {
    match &settings.asked {
        Asked::Open { plan, arrivals } => {
            Load::Open { arrivals: arrivals.to_string(), rate: plan.mean_rate(), nanos: plan.nanos() }
        }
        Asked::Closed { threads, nanos } => Load::Closed { threads: *threads, nanos: *nanos },
        Asked::Load { threads } => Load::Closed { threads: *threads, nanos: ended },
    }
}

fn client(settings: &Settings, collected: &Collected) -> Client {
    let elapsed = collected.ended.max(1) as f64;
    let usage = &collected.usage;
    let busy = usage
        .iter()
        .map(|usage| (usage.cpu_nanos + usage.run_queue_nanos) as f64 / elapsed)
        .fold(0.0, f64::max);
    let mut response = Latency::default();
    collected.totals.kinds.iter().for_each(|kind| response.add(&kind.response));
    let evidence = Evidence {
        lag: &collected.totals.lag,
        hiccups: &collected.hiccups.0,
        response: &response,
        busy,
        is_open: matches!(settings.asked, Asked::Open { .. }),
    };
    let (verdict, reason) = judge(&evidence);
    Client {
        hiccups: collected.hiccups.0.clone(),
        control_hiccups: collected.hiccups.1.clone(),
        send_lag: collected.totals.lag.clone(),
        cpu_nanos: usage.iter().map(|usage| usage.cpu_nanos).sum(),
        run_queue_nanos: usage.iter().map(|usage| usage.run_queue_nanos).sum(),
        workers: usage.len() as u32,
        verdict,
        reason,
    }
}

fn setting(
    settings: &Settings,
    started_micros: i64,
    version: Option<ProtocolVersion>,
    is_routed: bool,
) -> Setting {
    let client = &settings.client;
    let compression = client.compression.map_or("none", |compression| compression.name());
    let facts = [
        ("protocol", version.map_or_else(|| "unknown".to_owned(), |version| version.to_string())),
        ("compression", compression.to_owned()),
        ("connections", settings.connections.to_string()),
        ("routing", if is_routed { "by token" } else { "in turn" }.to_owned()),
        ("consistency", client.consistency.to_string()),
        ("in-flight cap", settings.in_flight.to_string()),
        ("timeout ms", (settings.timeout_nanos / 1_000_000).to_string()),
    ];
    Setting {
        started_micros,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::facts(),
        targets: settings.targets.iter().map(ToString::to_string).collect(),
        server: BTreeMap::new(),
        client: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}
