//! Was it the client? Its own delays against what was measured. Knows how nothing was measured.

use crate::outcome::{Latency, Verdict};

/// Delays of the client above this share of what was measured make it suspect.
const SHARE_MAX: f64 = 0.1;

/// A thread busy for this share of the time has none left for a plan.
const BUSY_MAX: f64 = 0.9;

/// What is judged.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// From when requests could be sent to when they were.
    pub lag: &'a Latency,
    /// Delays of idle threads on the workers' processors.
    pub hiccups: &'a Latency,
    /// Response times of the run, of all kinds.
    pub response: &'a Latency,
    /// The share of the time for which the busiest worker ran, or could have run and did not.
    pub busy: f64,
    /// Whether requests came by a plan.
    pub is_open: bool,
}

/// The verdict and why, in one line.
pub fn judge(evidence: &Evidence<'_>) -> (Verdict, String) {
    let high = |latency: &Latency| latency.0.value_at_quantile(0.999) as f64;
    let (lag, hiccup, measured) = (high(evidence.lag), high(evidence.hiccups), high(evidence.response));
    let is_late = lag > SHARE_MAX * measured;
    let is_busy = evidence.busy > BUSY_MAX;
    // A busy client that kept the plan asked what it should; users who wait for answers would have asked
    // more of a client with time to spare.
    let verdict = if is_busy && (is_late || !evidence.is_open) {
        Verdict::Limited
    } else if is_busy || is_late || hiccup > SHARE_MAX * measured {
        Verdict::Suspect
    } else {
        Verdict::Ok
    };
    let delays = format!("send lag {:.3} ms, hiccups {:.3} ms", lag / 1e6, hiccup / 1e6);
    let share = format!("a tenth of what was measured, {:.3} ms (all at p99.9)", measured / 1e6);
    let percent = evidence.busy * 100.0;
    let busy = format!("a worker ran, or waited for a processor, {percent:.0} % of the time");
    let reason = match verdict {
        Verdict::Ok => "its own delays stay below a tenth of what was measured".to_owned(),
        Verdict::Suspect if is_busy => {
            format!("{busy}: requests went out as planned, answers may have been taken late")
        }
        Verdict::Suspect => format!("its own delays ({delays}) are above {share}"),
        Verdict::Limited if evidence.is_open => format!("{busy}, and requests went out late ({delays})"),
        Verdict::Limited => busy,
    };
    (verdict, reason)
}

#[cfg(test)]
mod tests {
    //! A case a rule.
    use super::*;

    fn of(values: &[u64]) -> Latency {
        let mut latency = Latency::default();
        values.iter().for_each(|value| latency.record(*value));
        latency
    }

    fn verdict(lag: u64, hiccup: u64, response: u64, busy: f64) -> Verdict {
        let (lag, hiccups, response) = (of(&[lag]), of(&[hiccup]), of(&[response]));
        judge(&Evidence { lag: &lag, hiccups: &hiccups, response: &response, busy, is_open: true }).0
    }

    #[test]
    fn delays_of_the_client_are_held_against_what_was_measured() {
        assert_eq!(verdict(50_000, 50_000, 1_000_000, 0.3), Verdict::Ok);
        assert_eq!(verdict(150_000, 50_000, 1_000_000, 0.3), Verdict::Suspect);
        assert_eq!(verdict(50_000, 150_000, 1_000_000, 0.3), Verdict::Suspect);
        // A client that stood still for three seconds measured itself.
        assert_eq!(verdict(3_000_000_000, 3_000_000_000, 3_000_000_000, 0.1), Verdict::Suspect);
    }

    #[test]
    fn a_busy_client_is_the_limit_where_it_did_not_keep_the_plan() {
        assert_eq!(verdict(50_000, 50_000, 1_000_000, 0.95), Verdict::Suspect);
        assert_eq!(verdict(150_000, 50_000, 1_000_000, 0.95), Verdict::Limited);
        let (lag, hiccups, response) = (of(&[1]), of(&[1]), of(&[1_000_000]));
        let closed =
            Evidence { lag: &lag, hiccups: &hiccups, response: &response, busy: 0.95, is_open: false };
        assert_eq!(judge(&closed).0, Verdict::Limited);
    }
}
