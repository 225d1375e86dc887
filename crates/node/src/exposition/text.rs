//! Prometheus' text format, version 0.0.4: families with their kind and words, samples with labels. Knows no number's meaning.

use std::fmt::Write;

use hdrhistogram::Histogram;

/// What a family's samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, from 0 at the start.
    Counter,
    /// Counts of values up to bounds, since the start.
    Histogram,
    /// Quantiles of recent values, and their count since the start.
    Summary,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
            Kind::Summary => "summary",
        }
    }
}

/// Bounds of histograms in a decade; a quantile read off them is known to a quarter, or better.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];

/// The first decade begins at 10 microseconds, the last ends at 10 seconds.
const DECADES: u32 = 6;

/// A label: its name and its value.
pub type Label<'a> = (&'a str, &'a str);

/// A page as it is written.
#[derive(Default)]
pub struct Page {
    text: String,
}

/// A family as it is written.
pub struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Page {
    /// Begins a family.
    pub fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> Family<'_> {
        // A String never refuses what is written to it.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {}", kind.word());
        Family { page: self, name }
    }

    /// A family of one sample that goes up and down.
    pub fn gauge(&mut self, name: &'static str, help: &str, value: f64) {
        self.family(name, Kind::Gauge, help).sample(&[], value);
    }

    /// A family of one sample that only grows.
    pub fn counter(&mut self, name: &'static str, help: &str, value: u64) {
        self.family(name, Kind::Counter, help).sample(&[], value as f64);
    }

    /// What was written.
    pub fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &[Label<'_>], last: Option<Label<'_>>, value: f64) {
        let text = &mut self.text;
        text.push_str(name);
        text.push_str(suffix);
        let mut separator = '{';
        for (label, value) in labels.iter().copied().chain(last) {
            text.push(separator);
            text.push_str(label);
            text.push_str("=\"");
            push_escaped(text, value);
            text.push('"');
            separator = ',';
        }
        if separator == ',' {
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }
}

impl Family<'_> {
    /// One sample.
    pub fn sample(&mut self, labels: &[Label<'_>], value: f64) {
        self.page.line(self.name, "", labels, None, value);
    }

    /// A quantile of a summary.
    pub fn quantile(&mut self, labels: &[Label<'_>], quantile: &str, value: f64) {
        self.page.line(self.name, "", labels, Some(("quantile", quantile)), value);
    }

    /// How many values a summary is of.
    pub fn count(&mut self, labels: &[Label<'_>], count: u64) {
        self.page.line(self.name, "_count", labels, None, count as f64);
    }

    /// A histogram of microseconds, in seconds.
    pub fn histogram(&mut self, labels: &[Label<'_>], micros: &Histogram<u64>) {
        let mut recorded = micros.iter_recorded().peekable();
        let (mut below, mut sum) = (0_u64, 0.0);
        let mut pass = |bound: Option<u64>| {
            while let Some(step) =
                recorded.next_if(|step| bound.is_none_or(|bound| step.value_iterated_to() <= bound))
            {
                below += step.count_at_value();
                sum += step.value_iterated_to() as f64 * step.count_at_value() as f64;
            }
            (below, sum)
        };
        let bounds = (0..DECADES).flat_map(|decade| STEPS.map(|step| step * 10_u64.pow(decade)));
        for bound in bounds.chain([10_u64.pow(DECADES + 1)]) {
            let (below, _) = pass(Some(bound));
            let bound = (bound as f64 / 1e6).to_string();
            self.page.line(self.name, "_bucket", labels, Some(("le", &bound)), below as f64);
        }
        let (all, sum) = pass(None);
        self.page.line(self.name, "_bucket", labels, Some(("le", "+Inf")), all as f64);
        self.page.line(self.name, "_sum", labels, None, sum / 1e6);
        self.page.line(self.name, "_count", labels, None, all as f64);
    }
}

fn push_escaped(text: &mut String, value: &str) {
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    //! The text, to the byte.
    use super::*;

    #[test]
    fn families_and_labels_are_written() {
        let mut page = Page::default();
        page.gauge("a_bytes", "Words.", 1.5);
        page.counter("b_total", "More.", 3);
        let mut family = page.family("c", Kind::Summary, "Times.");
        let labels = [("table", "a\"b\\c\nd")];
        family.quantile(&labels, "0.5", 0.25);
        family.count(&labels, 7);
        assert_eq!(
            page.into_text(),
            "# HELP a_bytes Words.\n# TYPE a_bytes gauge\na_bytes 1.5\n# HELP b_total More.\n# TYPE b_total counter\nb_total 3\n\
             # HELP c Times.\n# TYPE c summary\nc{table=\"a\\\"b\\\\c\\nd\",quantile=\"0.5\"} 0.25\n\
             c_count{table=\"a\\\"b\\\\c\\nd\"} 7\n"
        );
    }

    #[test]
    fn a_histogram_counts_up_to_each_bound() {
        let mut micros = Histogram::new(3).unwrap();
        for value in [1, 10, 11, 150, 2_000_000, 90_000_000] {
            micros.record(value).unwrap();
        }
        let mut page = Page::default();
        page.family("h", Kind::Histogram, "Times.").histogram(&[("kind", "query")], &micros);
        let text = page.into_text();
        let counted = |bound: &str| {
            let start = format!("h_bucket{{kind=\"query\",le=\"{bound}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
        };
        for (bound, count) in
            [("0.00001", "2"), ("0.000015", "3"), ("0.00015", "4"), ("1.5", "4"), ("10", "5"), ("+Inf", "6")]
        {
            assert_eq!(counted(bound).as_deref(), Some(count), "{bound} in {text}");
        }
        assert!(text.contains("h_count{kind=\"query\"} 6\n"), "{text}");
        let sum = text.lines().find_map(|line| line.strip_prefix("h_sum{kind=\"query\"} ")).unwrap();
        assert!((sum.parse::<f64>().unwrap() - 92.0).abs() < 0.1, "{sum}");
        assert_eq!(text.lines().count(), 2 + 37 + 3);
    }
}
