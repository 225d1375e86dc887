//! The highest rate that keeps an agreement: doubling until one breaks it, halving the bracket until
//! it is narrow, a second look at the answer, and a soak. A rate is judged by bounds; while they do
//! not decide, it runs longer; when they never do, it counts as broken.

use super::{Asked, Judgement, Probe, Ruling, Sla, Trial, judge};
use crate::outcome::Outcome;

/// What is looked for, and how long it may take.
#[derive(Clone, Debug)]
pub struct Sustain {
    /// The agreement.
    pub sla: Sla,
    /// Part of the requests that may fail.
    pub errors_max: f64,
    /// The first rate tried, a second.
    pub first_rate: f64,
    /// No rate above this is tried.
    pub rate_max: f64,
    /// The bracket is narrow enough when its ends are this far apart: 1.02.
    pub bracket: f64,
    /// Length of a first run, nanoseconds.
    pub probe_nanos: u64,
    /// Length of all runs at a rate together, nanoseconds.
    pub probe_nanos_max: u64,
    /// Length of the soak, nanoseconds; 0 for none.
    pub soak_nanos: u64,
}

/// One rate, judged.
#[derive(Clone, Debug)]
pub struct Step {
    /// What for: `doubling`, `bisection`, `re-check`, `soak`.
    pub label: &'static str,
    /// Requests a second.
    pub rate: f64,
    /// What was found.
    pub judgement: Judgement,
    /// The runs.
    pub outcomes: Vec<Outcome>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Sustained {
    /// The highest rate that kept the agreement, a second; `None` when none did.
    pub rate: Option<f64>,
    /// The lowest rate above it that did not.
    pub broken_at: Option<f64>,
    /// What broke there, in words; or why the search ended without.
    pub binding: String,
    /// Every rate tried, in order.
    pub steps: Vec<Step>,
    /// What a reader must know: a rate that passed once and failed later.
    pub notes: Vec<String>,
}

/// Times that a rate which passed and then failed is replaced by a lower one.
const RETREATS_MAX: usize = 4;

/// Times the first rate is halved before there is no answer.
const HALVINGS_MAX: usize = 12;

struct Search<'a> {
    probe: &'a mut dyn Probe,
    settings: &'a Sustain,
    told: &'a mut dyn FnMut(&Step),
    steps: Vec<Step>,
    notes: Vec<String>,
}

/// Looks for the highest rate. `told` hears of every step.
///
/// # Errors
/// When a run cannot be made, or what it left behind is not worked off.
pub fn sustain(
    probe: &mut dyn Probe,
    settings: &Sustain,
    told: &mut dyn FnMut(&Step),
) -> Result<Sustained, String> {
    let mut search = Search { probe, settings, told, steps: Vec::new(), notes: Vec::new() };
    let (mut kept, mut broken) = search.double()?;
    let mut retreats = 0;
    let rate = loop {
        let Some(low) = kept else { break None };
        let low = search.bisect(low, &mut broken)?;
        let failed = if !search.keeps(low, "re-check", settings.probe_nanos)? {
            Some("passed once and failed when tried again")
        } else if settings.soak_nanos > 0 && !search.keeps(low, "soak", settings.soak_nanos)? {
            Some("passed a probe and failed the soak")
        } else {
            None
        };
        let Some(how) = failed else { break Some(low) };
        search.notes.push(format!("{low:.0}/s {how}"));
        retreats += 1;
        if retreats > RETREATS_MAX {
            search
                .notes
                .push("the answer moves from probe to probe; longer probes would say more".to_owned());
            break None;
        }
        // From below the failure; each retreat goes further, for the server may have changed.
        broken = Some(low);
        kept = search.first_kept_below(low, retreats)?;
    };
    Ok(search.answer(rate, broken))
}

impl Search<'_> {
    /// The highest rate that kept, and the lowest that broke, by factors of two.
    fn double(&mut self) -> Result<(Option<f64>, Option<f64>), String> {
        let settings = self.settings;
        let mut rate = settings.first_rate.min(settings.rate_max);
        if !self.keeps(rate, "doubling", settings.probe_nanos)? {
            let mut broken = rate;
            for _ in 0..HALVINGS_MAX {
                rate = broken / 2.0;
                if rate < 1.0 {
                    break;
                }
                if self.keeps(rate, "halving", settings.probe_nanos)? {
                    return Ok((Some(rate), Some(broken)));
                }
                broken = rate;
            }
            return Ok((None, Some(broken)));
        }
        while rate < settings.rate_max {
            let next = (rate * 2.0).min(settings.rate_max);
            if !self.keeps(next, "doubling", settings.probe_nanos)? {
                return Ok((Some(rate), Some(next)));
            }
            rate = next;
        }
        Ok((Some(rate), None))
    }

    /// Narrows the bracket.
    fn bisect(&mut self, mut low: f64, broken: &mut Option<f64>) -> Result<f64, String> {
        while let Some(high) = broken.filter(|high| high / low > self.settings.bracket) {
            let middle = (low * high).sqrt();
            if self.keeps(middle, "bisection", self.settings.probe_nanos)? {
                low = middle;
            } else {
                *broken = Some(middle);
            }
        }
        Ok(low)
    }

    /// A rate below a failure that keeps the agreement now.
    fn first_kept_below(&mut self, failed: f64, retreat: usize) -> Result<Option<f64>, String> {
        let mut rate = failed;
        for _ in 0..HALVINGS_MAX {
            rate *= 1.0 - 0.03 * retreat as f64;
            if self.keeps(rate, "retreat", self.settings.probe_nanos)? {
                return Ok(Some(rate));
            }
        }
        Ok(None)
    }

    /// Whether a rate keeps the agreement: runs until the bounds decide, or the time is up.
    fn keeps(&mut self, rate: f64, label: &'static str, nanos: u64) -> Result<bool, String> {
        let mut outcomes = Vec::new();
        let (mut length, mut spent) = (nanos, 0_u64);
        let judgement = loop {
            let trial = Trial { load: Asked::Rate(rate), nanos: length, label };
            outcomes.push(self.probe.run(&trial)?);
            self.probe.drain()?;
            spent += length;
            let judgement = judge(&outcomes, &self.settings.sla, self.settings.errors_max);
            if judgement.ruling != Ruling::Unsure || spent >= self.settings.probe_nanos_max.max(nanos) {
                break judgement;
            }
            length = spent.min(self.settings.probe_nanos_max.saturating_sub(spent)).max(1_000_000_000);
        };
        let kept = judgement.ruling == Ruling::Kept;
        let step = Step { label, rate, judgement, outcomes };
        (self.told)(&step);
        self.steps.push(step);
        Ok(kept)
    }

    fn answer(self, rate: Option<f64>, broken: Option<f64>) -> Sustained {
        let binding = match broken {
            None => format!("none broke: {:.0}/s is the highest rate tried", self.settings.rate_max),
            Some(broken) => self
                .steps
                .iter()
                .rev()
                .find(|step| step.rate == broken && step.judgement.ruling != Ruling::Kept)
                .map_or_else(|| "no rate above it was tried".to_owned(), bound),
        };
        Sustained { rate, broken_at: broken, binding, steps: self.steps, notes: self.notes }
    }
}

/// What broke, or that nobody knows.
fn bound(step: &Step) -> String {
    let Judgement { ruling, binding, .. } = &step.judgement;
    if *ruling == Ruling::Unsure {
        format!("{binding}: too few requests to tell, longer runs have more")
    } else {
        binding.clone()
    }
}
