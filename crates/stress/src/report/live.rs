//! The view of a run while it lasts: how far it is, and what its last second looked like to users
//! and to the server. It is told, once an interval; it measures nothing.

use indicatif::{ProgressBar, ProgressStyle};

use super::words::{count, duration};
use crate::outcome::Interval;

/// A progress bar with the last interval beside it; silent where nobody watches a terminal.
pub struct Live {
    bar: ProgressBar,
}

impl Live {
    /// Starts the view of a run of `nanos`.
    pub fn start(nanos: u64) -> Live {
        let bar = ProgressBar::new(nanos / 1_000_000);
        let style = ProgressStyle::with_template("{elapsed_precise} [{bar:24}] {percent:>3} %  {msg}")
            .expect("the template is a constant indicatif accepts");
        bar.set_style(style.progress_chars("=> "));
        Live { bar }
    }

    /// Shows an interval that has ended.
    pub fn interval(&self, interval: &Interval) {
        self.bar.set_position(interval.start_nanos.saturating_add(interval.nanos) / 1_000_000);
        self.bar.set_message(line(interval));
    }

    /// Shows a word of what is going on: `loading`, `waiting for the last answers`.
    pub fn say(&self, word: &str) {
        self.bar.set_message(word.to_owned());
    }

    /// Ends the view; the screen is as before.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// An interval in a line: users' wait first, the server's time beside it.
fn line(interval: &Interval) -> String {
    let (response, service) = (interval.response.unpack(), interval.service.unpack());
    if service.count() == 0 {
        return format!("NO ANSWER in the last {}", duration(interval.nanos));
    }
    let rate = service.count() as f64 * 1e9 / interval.nanos.max(1) as f64;
    let failed =
        if interval.failed > 0 { format!("  {} failed", count(interval.failed)) } else { String::new() };
    format!(
        "{:>7}/s  waited p50 {} p99 {} max {}  server took {} {} {}{failed}",
        count(rate.round() as u64),
        duration(response.at(0.5)),
        duration(response.at(0.99)),
        duration(response.0.max()),
        duration(service.at(0.5)),
        duration(service.at(0.99)),
        duration(service.0.max()),
    )
}

#[cfg(test)]
mod tests {
    //! The line of a second that went well, and of one without answers.
    use super::*;
    use crate::simulation;

    #[test]
    fn both_clocks_are_in_the_line() {
        let outcome = simulation::stall();
        let text = line(&outcome.intervals[0]);
        assert!(text.contains("500/s  waited p50 ") && text.contains("  server took "), "{text}");
        assert_eq!(line(&outcome.intervals[9]), "NO ANSWER in the last 1 s");
        let live = Live::start(20_000_000_000);
        outcome.intervals.iter().for_each(|interval| live.interval(interval));
        assert_eq!(live.bar.position(), 20_000);
        live.finish();
    }
}
