//! A page of metrics in Prometheus' text format, and the few of them that explain latencies. The
//! rest is left where it is.

use super::http::{Url, get};
use super::{Recorder, Source, Unit};

/// Lines of a page looked at.
const LINES_MAX: usize = 200_000;

/// Metrics taken, by the part of their name; all their labels are added up.
const TAKEN: [(&str, Taken); 8] = [
    // ScyllaDB's.
    ("scylla_reactor_utilization", Taken::Gauge(Unit::Percent)),
    ("scylla_reactor_stalls_count", Taken::Rate(Unit::PerSecond)),
    ("scylla_compaction_manager_pending_compactions", Taken::Gauge(Unit::Count)),
    ("scylla_cache_row_hits", Taken::Rate(Unit::PerSecond)),
    ("scylla_cache_row_misses", Taken::Rate(Unit::PerSecond)),
    ("scylla_transport_requests_served", Taken::Rate(Unit::PerSecond)),
    // Any process that follows the conventions.
    ("process_cpu_seconds_total", Taken::Rate(Unit::Cores)),
    ("process_resident_memory_bytes", Taken::Gauge(Unit::Bytes)),
];

#[derive(Clone, Copy)]
enum Taken {
    Gauge(Unit),
    Rate(Unit),
}

/// A page of metrics.
pub struct Prometheus {
    url: Url,
    /// Names taken besides ours, whole.
    wanted: Vec<String>,
}

impl Prometheus {
    /// The page at `url`, with metrics `wanted` besides those known to explain latencies.
    pub fn new(url: Url, wanted: Vec<String>) -> Prometheus {
        Prometheus { url, wanted }
    }
}

impl Source for Prometheus {
    fn name(&self) -> String {
        format!("metrics {}", self.url)
    }

    fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        let page = get(&self.url)?;
        let mut any = false;
        for (name, taken) in TAKEN {
            if let Some(value) = sum(&page, name) {
                any = true;
                match taken {
                    Taken::Gauge(unit) => recorder.gauge(name, unit, value),
                    Taken::Rate(unit) => recorder.rate(name, unit, value, 1.0),
                }
            }
        }
        for name in &self.wanted {
            match sum(&page, name) {
                Some(value) if name.ends_with("_total") => recorder.rate(name, Unit::PerSecond, value, 1.0),
                Some(value) => recorder.gauge(name, Unit::Count, value),
                None => return Err(format!("it has no {name}")),
            }
            any = true;
        }
        if any { Ok(()) } else { Err("it has none of the metrics that explain latencies".to_owned()) }
    }
}

/// The sum of a metric over its labels; `None` when it is not there.
fn sum(page: &str, name: &str) -> Option<f64> {
    page.lines().take(LINES_MAX).filter_map(|line| sample(line, name)).reduce(|sum, value| sum + value)
}

/// The value of a line, when it is of this metric: `name{label="x y"} 12.5 1700000000`.
fn sample(line: &str, name: &str) -> Option<f64> {
    let rest = line.strip_prefix(name)?;
    let values = match rest.strip_prefix('{') {
        Some(labels) => &labels[end_of_labels(labels)?..],
        None if rest.starts_with([' ', '\t']) => rest,
        None => return None,
    };
    let value = values.split_ascii_whitespace().next()?.parse::<f64>().ok()?;
    value.is_finite().then_some(value)
}

/// Where the labels end: behind the first closing brace outside of quotes.
fn end_of_labels(labels: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in labels.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    //! A page in the form of ScyllaDB's, and labels made to confuse.
    use super::*;

    const PAGE: &str = "\
# HELP scylla_reactor_utilization CPU utilization
# TYPE scylla_reactor_utilization gauge
scylla_reactor_utilization{shard=\"0\"} 12.500000
scylla_reactor_utilization{shard=\"1\"} 37.500000 1700000000000
scylla_transport_requests_served{shard=\"0\"} 100
scylla_transport_requests_served_total 7
process_resident_memory_bytes 1.5e+09
odd{a=\"} 99 \\\" {\",b=\"x y\"} 5
odd_nan NaN
";

    #[test]
    fn a_metric_is_added_up_over_its_labels() {
        assert_eq!(sum(PAGE, "scylla_reactor_utilization"), Some(50.0));
        assert_eq!(sum(PAGE, "scylla_transport_requests_served"), Some(100.0));
        assert_eq!(sum(PAGE, "process_resident_memory_bytes"), Some(1.5e9));
        assert_eq!(sum(PAGE, "odd"), Some(5.0));
        assert_eq!(sum(PAGE, "odd_nan"), None);
        assert_eq!(sum(PAGE, "missing"), None);
        for broken in ["odd{", "odd{a=\"", "odd}", "odd{} ", "odd{} x"] {
            assert_eq!(sample(broken, "odd"), None, "{broken}");
        }
    }

    #[test]
    fn a_page_over_http_becomes_series() {
        let url = super::super::http::tests::serve_once(PAGE);
        let mut source = Prometheus::new(url, vec!["odd".into()]);
        let mut recorder = Recorder::default();
        source.sample(&mut recorder).unwrap();
        let samples = recorder.into_samples();
        let named = |name: &str| {
            samples.series.iter().find(|series| series.name == name).map(|series| series.points[0].1)
        };
        assert_eq!((named("scylla_reactor_utilization"), named("odd")), (Some(50.0), Some(5.0)));
        assert!(source.sample(&mut Recorder::default()).is_err(), "nobody listens any more");
    }
}
