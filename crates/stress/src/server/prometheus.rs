//! A page of metrics in Prometheus' text format, and the few of them that explain latencies. The
//! rest is left where it is.

use super::http::{Url, get};
use super::own_times::{Buckets, OwnTimes};
use super::{Recorder, Source, Unit};

/// Lines of a page looked at.
const LINES_MAX: usize = 200_000;

/// Metrics taken, by the part of their name; all their labels are added up.
const TAKEN: [(&str, Taken); 16] = [
    // Basalt's.
    ("basalt_compaction_pending_bytes", Taken::Gauge(Unit::Bytes)),
    ("basalt_memtable_bytes", Taken::Gauge(Unit::Bytes)),
    ("basalt_cache_bytes", Taken::Gauge(Unit::Bytes)),
    ("basalt_connections", Taken::Gauge(Unit::Count)),
    ("basalt_disk_tasks_total", Taken::Rate(Unit::PerSecond)),
    ("basalt_write_stalls_total", Taken::Rate(Unit::PerSecond)),
    ("basalt_writes_refused_total", Taken::Rate(Unit::PerSecond)),
    ("basalt_request_errors_total", Taken::Rate(Unit::PerSecond)),
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

/// Histograms of how long requests took, in seconds, and of which of the server's clocks.
const TIMES: [(&str, &str); 2] =
    [("basalt_request_response_seconds", "response"), ("basalt_request_service_seconds", "service")];

/// Requests that a run asks: statements, not what prepares for them.
const STATEMENTS: [&str; 3] = ["kind=\"query\"", "kind=\"execute\"", "kind=\"batch\""];

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
    /// The histograms as they were at first and as they were last.
    times: [Option<(Buckets, Buckets)>; TIMES.len()],
}

impl Prometheus {
    /// The page at `url`, with metrics `wanted` besides those known to explain latencies.
    pub fn new(url: Url, wanted: Vec<String>) -> Prometheus {
        Prometheus { url, wanted, times: Default::default() }
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
        for ((name, clock), seen) in TIMES.iter().zip(&mut self.times) {
            let Some(now) = buckets(&page, name) else { continue };
            if let Some((first, last)) = seen.take() {
                if let Some(nanos) = now.since(&last).quantile(0.99) {
                    recorder.gauge(&format!("{clock} p99 by the server's clock"), Unit::Nanos, nanos as f64);
                }
                *seen = Some((first, now));
            } else {
                *seen = Some((now.clone(), now));
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

    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        for ((_, clock), seen) in TIMES.iter().zip(&self.times) {
            let times = seen.as_ref().and_then(|(first, last)| OwnTimes::of(clock, &last.since(first)));
            if let Some(times) = times {
                recorder.own_times(times);
            }
        }
        Ok(())
    }
}

/// A histogram over all kinds of statements; `None` when it is not there.
fn buckets(page: &str, name: &str) -> Option<Buckets> {
    let mut buckets = Buckets::default();
    let ours = |line: &&str| line.starts_with(name) && STATEMENTS.iter().any(|kind| line.contains(kind));
    for line in page.lines().take(LINES_MAX).filter(ours) {
        let Some(rest) = line[name.len()..].strip_prefix("_bucket{") else { continue };
        let bound = rest.split("le=\"").nth(1).and_then(|rest| rest.split('"').next());
        let seconds = bound.and_then(|bound| bound.parse::<f64>().ok()).filter(|bound| *bound >= 0.0);
        if let Some((seconds, count)) = seconds.zip(sample(&line[name.len()..], "_bucket")) {
            buckets.add(seconds, count);
        }
    }
    (!buckets.is_empty()).then_some(buckets)
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

    /// What a node had served before the run, and what after: of one kind that counts, and one that does not.
    const BEFORE: &str = "\
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"0.001\"} 1000
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"0.1\"} 1000
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"+Inf\"} 1000
basalt_request_response_seconds_sum{kind=\"execute\"} 0.5
basalt_request_response_seconds_count{kind=\"execute\"} 1000
basalt_memtable_bytes 10
";
    const AFTER: &str = "\
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"0.001\"} 1000
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"0.1\"} 1200
basalt_request_response_seconds_bucket{kind=\"execute\",le=\"+Inf\"} 1200
basalt_request_response_seconds_bucket{kind=\"other\",le=\"0.001\"} 5000
basalt_request_response_seconds_bucket{kind=\"other\",le=\"0.1\"} 5000
basalt_request_response_seconds_bucket{kind=\"other\",le=\"+Inf\"} 5000
basalt_memtable_bytes 20
";

    #[test]
    fn the_servers_own_times_are_those_between_the_pages() {
        let serve = super::super::http::tests::serve_once;
        let mut source = Prometheus::new(serve(BEFORE), Vec::new());
        let mut recorder = Recorder::default();
        source.sample(&mut recorder).unwrap();
        source.url = serve(AFTER);
        source.sample(&mut recorder).unwrap();
        source.finish(&mut recorder).unwrap();
        let samples = recorder.into_samples();
        let [times] = &samples.own_times[..] else { panic!("one clock: {samples:?}") };
        assert_eq!((&*times.clock, times.requests, times.at(0.5)), ("response", 200, Some(50_500_000)));
        let p99 = samples.series.iter().find(|series| series.name == "response p99 by the server's clock");
        assert!(p99.is_some_and(|series| series.points[0].1 > 9e7), "{samples:?}");
    }
}
