//! A run's histograms as an `.hlog`, interval by interval and tag by tag, in the form that the stock
//! HdrHistogram tools read: `read-rt` response time, `read-st` service time, `read-wt` wait,
//! `read-err-rt` failures, `hiccup` and `hiccup-ctl` the client's own delays. Nanoseconds.

use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use crate::outcome::Latency;
use crate::record::Record;

/// Where a log goes.
pub type Sink = Box<dyn Write + Send>;

/// Latencies by the end of their tag.
type Series = (&'static str, fn(&crate::record::KindRecord) -> &Latency);

const SERIES: [Series; 4] = [
    ("rt", |kind| &kind.response),
    ("st", |kind| &kind.service),
    ("wt", |kind| &kind.wait),
    ("err-rt", |kind| &kind.failed),
];

/// A log being written.
pub struct Log<'a> {
    writer: IntervalLogWriter<'a, 'a, Sink, V2DeflateSerializer>,
    kinds: &'a [String],
}

impl<'a> Log<'a> {
    /// Begins a log of a run that started at this time of the wall clock, microseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        sink: &'a mut Sink,
        serializer: &'a mut V2DeflateSerializer,
        kinds: &'a [String],
        started_micros: i64,
        command: &[String],
    ) -> std::io::Result<Log<'a>> {
        let started = UNIX_EPOCH + Duration::from_micros(started_micros.max(0).cast_unsigned());
        let writer = IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment(&format!("[Written by: {}]", command.join(" ").replace('\n', " ")))
            .add_comment("[Values: nanoseconds; the third column is the interval's maximum in milliseconds]")
            .with_start_time(started)
            .with_base_time(started)
            .with_max_value_divisor(1e6)
            .begin_log_with(sink, serializer)?;
        Ok(Log { writer, kinds })
    }

    /// Writes what there is of an interval.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn interval(
        &mut self,
        start_nanos: u64,
        nanos: u64,
        record: &Record,
        hiccups: &Latency,
        control: &Latency,
    ) -> std::io::Result<()> {
        for (name, kind) in self.kinds.iter().zip(&record.kinds) {
            for (end, series) in SERIES {
                self.series(start_nanos, nanos, &format!("{}-{end}", tag(name)), series(kind))?;
            }
        }
        self.series(start_nanos, nanos, "hiccup", hiccups)?;
        self.series(start_nanos, nanos, "hiccup-ctl", control)
    }

    fn series(&mut self, start: u64, nanos: u64, tag: &str, latency: &Latency) -> std::io::Result<()> {
        if latency.0.is_empty() {
            return Ok(());
        }
        let (start, length) = (Duration::from_nanos(start), Duration::from_nanos(nanos));
        self.writer.write_histogram(&latency.0, start, length, Tag::new(tag)).map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => std::io::Error::other(error.to_string()),
        })
    }
}

/// A kind's name as a tag: tags have no commas and no spaces.
fn tag(name: &str) -> String {
    name.replace([',', ' ', '\n', '\r'], "_")
}

#[cfg(test)]
mod tests {
    //! Read back by hdrhistogram's own reader.
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    /// A sink that can be looked at afterwards.
    #[derive(Clone, Default)]
    struct Shared(std::sync::Arc<parking_lot::Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_finds_every_series_with_its_values() {
        let shared = Shared::default();
        let mut sink: Sink = Box::new(shared.clone());
        let mut serializer = V2DeflateSerializer::new();
        let kinds = ["read".to_owned(), "short scan".to_owned()];
        let command = ["basalt".to_owned(), "stress".to_owned()];
        let mut log =
            Log::begin(&mut sink, &mut serializer, &kinds, 1_500_000_000_000_000, &command).unwrap();
        let mut record = Record::new(2);
        record.kinds[0].response.record(5_000_000);
        record.kinds[0].service.record(1_000_000);
        record.kinds[1].failed.record(3_600_000_000_000);
        let mut hiccups = Latency::default();
        hiccups.record(60_000);
        log.interval(2_000_000_000, 1_000_000_000, &record, &hiccups, &Latency::default()).unwrap();
        let text = shared.0.lock().clone();
        let head = String::from_utf8(text.clone()).unwrap();
        assert!(head.starts_with("#[Histogram log format version 1.3]\n"), "{head}");
        assert!(head.contains("#[StartTime: 1500000000.000 (seconds since epoch)]\n"), "{head}");
        let mut seen = Vec::new();
        for entry in IntervalLogIterator::new(&text) {
            let Ok(LogEntry::Interval(interval)) = entry else { continue };
            assert_eq!(interval.start_timestamp(), Duration::from_secs(2));
            assert_eq!(interval.duration(), Duration::from_secs(1));
            let bytes = base64::Engine::decode(
                &base64::engine::general_purpose::STANDARD,
                interval.encoded_histogram(),
            );
            let histogram: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.unwrap().as_slice()).unwrap();
            seen.push((interval.tag().unwrap().as_str().to_owned(), histogram.max(), histogram.len()));
        }
        let near = |value: u64| hiccups.0.highest_equivalent(value);
        assert_eq!(
            seen,
            [
                ("read-rt".to_owned(), near(5_000_000), 1),
                ("read-st".to_owned(), near(1_000_000), 1),
                ("short_scan-err-rt".to_owned(), near(3_600_000_000_000), 1),
                ("hiccup".to_owned(), near(60_000), 1),
            ]
        );
    }
}
