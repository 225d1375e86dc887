//! What a run is worth, in one word and one sentence. Knows nothing of how it is shown.

use crate::outcome::{Latency, Load, Outcome, Verdict, Verified};
use crate::report::words;

/// The percentiles that tables show.
pub const SHOWN: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// What a run is worth, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It shows what was asked.
    Valid,
    /// It shows it, and the server refused, lost or left waiting some requests, or lost data.
    Degraded,
    /// The client's own delays may be in the figures.
    Suspect,
    /// The client could not send as planned.
    ClientLimited,
    /// It does not show what was asked.
    Invalid,
}

impl Standing {
    /// What a run is worth.
    pub fn of(outcome: &Outcome) -> Standing {
        let counts = &outcome.counts;
        let bad = counts.failed + counts.timed_out + counts.censored();
        let wrong = outcome.verified.map_or(0, |found| found.lost + found.stale + found.wrong + found.unread);
        if !outcome.invalid.is_empty() || !counts.add_up() {
            return Standing::Invalid;
        }
        match outcome.client.verdict {
            Verdict::Limited => Standing::ClientLimited,
            Verdict::Suspect => Standing::Suspect,
            Verdict::Ok if bad + wrong > 0 => Standing::Degraded,
            Verdict::Ok => Standing::Valid,
        }
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Valid => "VALID",
            Standing::Degraded => "DEGRADED",
            Standing::Suspect => "CLIENT SUSPECT",
            Standing::ClientLimited => "CLIENT-LIMITED",
            Standing::Invalid => "INVALID",
        }
    }

    /// Why, in a sentence.
    pub fn sentence(self, outcome: &Outcome) -> String {
        match self {
            Standing::Valid => {
                "every planned request was sent and answered, and the client was not in the way".into()
            }
            Standing::Degraded => complaints(outcome),
            Standing::Suspect | Standing::ClientLimited => outcome.client.reason.clone(),
            Standing::Invalid if outcome.invalid.is_empty() => "the counts do not add up".into(),
            Standing::Invalid => outcome.invalid.join("; "),
        }
    }
}

fn complaints(outcome: &Outcome) -> String {
    let counts = &outcome.counts;
    let found = outcome.verified.unwrap_or_default();
    let parts = [
        (counts.failed, "failed"),
        (counts.timed_out, "timed out"),
        (counts.in_flight, "not answered by the end"),
        (counts.unsent, "due and never sent"),
        (found.lost, "acknowledged and lost"),
        (found.stale, "acknowledged and stale"),
        (found.wrong, "damaged"),
        (found.unread, "acknowledged and not readable"),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", words::count(*number)))
        .collect();
    format!("of {}: {}", words::plural(counts.planned, "planned request"), told.join(", "))
}

/// What reading back found, in words.
pub fn read_back(found: &Verified) -> String {
    let part = match found.one_in {
        0 | 1 => String::new(),
        one_in => format!(" (one in {} was looked at)", words::count(one_in)),
    };
    format!(
        "{}{part}: {} lost, {} stale, {} wrong, {} could not be read",
        words::plural(found.read, "record"),
        words::count(found.lost),
        words::count(found.stale),
        words::count(found.wrong),
        words::count(found.unread)
    )
}

/// Whether so many samples say anything of a quantile: ten lie beyond it.
pub fn is_known(samples: u64, quantile: f64) -> bool {
    samples >= samples_for(quantile)
}

/// How many samples a quantile needs: `10 / (1 - p)`.
pub fn samples_for(quantile: f64) -> u64 {
    (10.0 / (1.0 - quantile) - 1e-6).ceil() as u64
}

/// What lies between response and service time, for someone who never heard of it.
pub fn gap(outcome: &Outcome) -> String {
    if !outcome.is_open() {
        return "Each user waited for its answer before asking again, so a slow server was asked less: these are \
                service times only, and say nothing of how long users wait who come whether it is ready or not."
            .to_owned();
    }
    if outcome.client.verdict != Verdict::Ok {
        return "The client's own delays are in these figures, so what users would have waited for the server is less than \
                they say; how much less, they cannot tell. Send from a machine with idle processors."
            .to_owned();
    }
    let (response, service) = (outcome.response(), outcome.service());
    let worst = worst_gap(&response, &service);
    match worst {
        Some((quantile, ratio)) if ratio >= 1.5 => format!(
            "At the {} the wait is {} times what the server seemed to take: when it falls behind, requests that \
             are already due queue up, and service time, which starts only when one is sent, leaves that wait \
             out. Users do not.",
            ordinal(quantile),
            words::digits(ratio)
        ),
        Some(_) => {
            "The two agree: requests went out when they were due, so nobody waited longer than the server \
                    took."
                .to_owned()
        }
        None => "Too few requests to say whether any of them had to wait for their turn.".to_owned(),
    }
}

/// The known percentile at which response time is the largest multiple of service time.
fn worst_gap(response: &Latency, service: &Latency) -> Option<(f64, f64)> {
    SHOWN
        .iter()
        .filter(|quantile| is_known(response.count(), **quantile) && is_known(service.count(), **quantile))
        .map(|&quantile| (quantile, response.at(quantile) as f64 / service.at(quantile).max(1) as f64))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// `99th percentile`.
pub fn ordinal(quantile: f64) -> String {
    if quantile == 0.5 {
        return "median".to_owned();
    }
    format!("{}th percentile", words::percentile(quantile).trim_start_matches('p'))
}

/// The load, in words.
pub fn load(outcome: &Outcome) -> String {
    match &outcome.load {
        Load::Open { arrivals, rate, nanos } => format!(
            "{} requests a second ({arrivals} arrivals, open loop) for {}",
            words::digits(*rate),
            words::duration(*nanos)
        ),
        Load::Closed { threads, nanos } => {
            format!(
                "{} (closed loop) for {}",
                words::plural(u64::from(*threads), "user"),
                words::duration(*nanos)
            )
        }
    }
}

/// The load in a few letters, for legends: `2 K/s`, `64 users`.
pub fn short_load(outcome: &Outcome) -> String {
    match &outcome.load {
        Load::Open { rate, .. } => format!("{}/s", words::short(*rate)),
        Load::Closed { threads, .. } => words::plural(u64::from(*threads), "user"),
    }
}

#[cfg(test)]
mod tests {
    //! Outcomes of each kind, and their word.
    use super::*;
    use crate::simulation::{self, Pace, Simulated};

    #[test]
    fn a_run_is_worth_the_worst_that_is_known_of_it() {
        let mut outcome = Simulated::healthy(1, 200.0, 2).run();
        outcome.counts.answered += outcome.counts.in_flight;
        outcome.counts.in_flight = 0;
        assert_eq!(Standing::of(&outcome), Standing::Valid);
        outcome.verified = Some(Verified { read: 5, lost: 1, ..Verified::default() });
        assert_eq!(Standing::of(&outcome), Standing::Degraded);
        assert!(Standing::Degraded.sentence(&outcome).ends_with("planned requests: 1 acknowledged and lost"));
        outcome.client.verdict = Verdict::Suspect;
        assert_eq!(Standing::of(&outcome), Standing::Suspect);
        outcome.client.verdict = Verdict::Limited;
        assert_eq!(Standing::of(&outcome), Standing::ClientLimited);
        outcome.invalid.push("in-flight cap".into());
        assert_eq!(
            (Standing::of(&outcome), Standing::Invalid.sentence(&outcome)),
            (Standing::Invalid, "in-flight cap".into())
        );
        outcome.invalid.clear();
        outcome.counts.planned += 1;
        assert_eq!(Standing::Invalid.sentence(&outcome), "the counts do not add up");
    }

    #[test]
    fn what_was_read_back_is_told_with_how_much_of_it() {
        let found = Verified { read: 1_200, lost: 3, one_in: 1, ..Verified::default() };
        let told = "1,200 records: 3 lost, 0 stale, 0 wrong, 0 could not be read";
        assert_eq!(read_back(&found), told);
        let part = read_back(&Verified { one_in: 4, ..found });
        assert!(part.starts_with("1,200 records (one in 4 was looked at): 3 lost"), "{part}");
    }

    #[test]
    fn the_gap_is_told_where_there_is_one() {
        assert!(gap(&simulation::stall()).contains("times what the server seemed to take"));
        assert!(gap(&Simulated::healthy(1, 500.0, 4).run()).starts_with("The two agree"));
        assert!(gap(&Simulated::healthy(1, 2.0, 4).run()).starts_with("Too few"));
        let mut suspect = simulation::stall();
        suspect.client.verdict = Verdict::Suspect;
        assert!(gap(&suspect).starts_with("The client's own delays"));
        let closed = Simulated { load: Pace::Users(4), ..Simulated::healthy(1, 1.0, 1) }.run();
        assert!(gap(&closed).contains("service times only"));
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(samples_for), [20, 100, 1000, 10_000]);
        assert!(is_known(1000, 0.99) && !is_known(999, 0.99));
    }
}
