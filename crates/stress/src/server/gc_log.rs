//! Pauses from the log that a JVM writes with `-Xlog:gc*:file=...:uptime,time` or the like: what
//! stopped Cassandra, when, for how long. Lines without a wall clock time are counted and left out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::{Recorder, Source, Unit};

/// Bytes of the log read in one look.
const READ_MAX: u64 = 4 * 1024 * 1024;

/// A log, from its present end on.
pub struct GcLog {
    path: PathBuf,
    read_to: Option<u64>,
    /// A line whose end is not written yet.
    begun: String,
    without_time: u64,
}

/// A pause in a log.
#[derive(Debug, PartialEq)]
struct Pause {
    /// Wall clock of its end, microseconds since 1970.
    end_micros: i64,
    nanos: u64,
}

/// What a line holds.
#[derive(Debug, PartialEq)]
enum Line {
    Pause(Pause),
    PauseWithoutTime,
    Other,
}

impl GcLog {
    /// The log in this file.
    pub fn new(path: PathBuf) -> GcLog {
        GcLog { path, read_to: None, begun: String::new(), without_time: 0 }
    }

    /// What was written since the last look.
    fn news(&mut self) -> std::io::Result<String> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        // The first look only finds the end: what is before it was not this run. A shorter file is a
        // new one.
        let from = self.read_to.unwrap_or(length);
        let from = if from > length { 0 } else { from };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(READ_MAX).read_to_end(&mut bytes)?;
        self.read_to = Some(from + bytes.len() as u64);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Source for GcLog {
    fn name(&self) -> String {
        format!("garbage collection log {}", self.path.display())
    }

    fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        let news = self.news().map_err(|error| error.to_string())?;
        let text = std::mem::take(&mut self.begun) + &news;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        // A line longer than a look can be is no line of a log.
        if text.len() - whole < READ_MAX as usize {
            self.begun = text[whole..].to_owned();
        }
        for line in text[..whole].lines() {
            match parse(line) {
                Line::Pause(pause) => {
                    let end = (pause.end_micros - recorder.origin_wall_micros()).max(0) as u64 * 1000;
                    let name = "garbage collection, pause";
                    recorder.at(end.saturating_sub(pause.nanos), name, Unit::Nanos, pause.nanos as f64);
                }
                Line::PauseWithoutTime => self.without_time += 1,
                Line::Other => {}
            }
        }
        Ok(())
    }

    fn finish(&mut self, _recorder: &mut Recorder) -> Result<(), String> {
        if self.without_time == 0 {
            return Ok(());
        }
        Err(format!("{} pauses without a time; log with -Xlog:gc:file=...:time", self.without_time))
    }
}

/// `[2026-01-02T03:04:05.678+0000][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 512M->300M(1024M) 12.345ms`
fn parse(line: &str) -> Line {
    let mut decorations = Vec::new();
    let mut rest = line;
    while let Some((decoration, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        decorations.push(decoration.trim());
        rest = after;
    }
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let is_pause = words.iter().take(2).any(|word| *word == "Pause");
    // With `gc*` the start of a pause is logged too, and the phases; only ends carry a length.
    let nanos = words.last().and_then(|word| word.strip_suffix("ms")?.parse::<f64>().ok());
    let Some(ms) = nanos.filter(|ms| is_pause && (0.0..1e9).contains(ms)) else { return Line::Other };
    match decorations.iter().find_map(|decoration| wall_micros(decoration)) {
        Some(end_micros) => Line::Pause(Pause { end_micros, nanos: (ms * 1e6) as u64 }),
        None => Line::PauseWithoutTime,
    }
}

/// `2026-01-02T03:04:05.678+0100` as microseconds since 1970.
fn wall_micros(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let zone_at = time.find(['+', '-', 'Z'])?;
    let (time, zone) = time.split_at(zone_at);
    let mut time = time.splitn(3, ':');
    let (hour, minute): (i64, i64) = (time.next()?.parse().ok()?, time.next()?.parse().ok()?);
    let seconds: f64 = time.next()?.replace(',', ".").parse().ok()?;
    let zone_minutes = match zone.split_at_checked(1)? {
        ("Z", _) => 0,
        (sign, digits) => {
            let digits: i64 = digits.replace(':', "").parse().ok()?;
            (digits / 100 * 60 + digits % 100) * if sign == "-" { -1 } else { 1 }
        }
    };
    let sane = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let sane = sane && (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..61.0).contains(&seconds);
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - zone_minutes;
    sane.then(|| minutes * 60_000_000 + (seconds * 1e6).round() as i64)
}

/// Days since 1970 of a date of the Gregorian calendar, by years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    //! Lines that the JVM of a Cassandra 5.0 wrote (JDK 17, G1, `-Xlog:gc*:file=...:time,uptime,level,tags`), some in forms
    //! that other settings give, and a log that grows while it is read.
    use std::io::Write;

    use super::*;

    const LINES: &str = "\
[2026-11-22T15:04:09.345+0000][6.290s][info][gc,start    ] GC(2) Pause Young (Concurrent Start) (Metadata GC Threshold)
[2026-11-22T15:04:09.371+0000][6.315s][info][gc,phases   ] GC(2)   Evacuate Collection Set: 24.3ms
[2026-11-22T15:04:09.371+0000][6.315s][info][gc,heap     ] GC(2) Eden regions: 4->0(55)
[2026-11-22T15:04:09.371+0000][6.315s][info][gc          ] GC(2) Pause Young (Concurrent Start) (Metadata GC Threshold) 15M->12M(1024M) 25.332ms
[2026-11-22T15:04:09.371+0000][6.315s][info][gc          ] GC(3) Concurrent Mark Cycle
[2026-11-22T15:04:09.439+0000][6.383s][info][gc,marking  ] GC(3) Concurrent Mark From Roots
[2026-11-22T15:04:09.530+0000][6.475s][info][gc          ] GC(3) Pause Remark 13M->13M(1024M) 5.372ms
[2026-11-22T15:04:09.530+0000][6.475s][info][gc,marking  ] GC(3) Concurrent Mark 91.507ms
[2026-11-22T15:20:13.952+0000][970.897s][info][gc,phases      ] GC(21) Phase 1: Mark live objects 384.659ms
[2026-11-22T15:20:14.230+0000][971.175s][info][gc             ] GC(21) Pause Full (Diagnostic Command) 153M->133M(1024M) 662.464ms
";

    /// A zone of its own, and no wall clock.
    const OTHERS: &str = "\
[2026-11-22T16:20:15.000+0100][info][gc] GC(22) Pause Remark 310M->310M(1024M) 3.000ms
[972.900s][info][gc] GC(23) Pause Full (System.gc()) 310M->100M(1024M) 250.000ms
";

    #[test]
    fn lines_of_g1_are_understood() {
        let lines = LINES.lines().chain(OTHERS.lines());
        let found: Vec<Line> = lines.map(parse).filter(|line| *line != Line::Other).collect();
        let pause = |end_micros, nanos| Line::Pause(Pause { end_micros, nanos });
        assert_eq!(
            found,
            [
                pause(1_795_359_849_371_000, 25_332_000),
                pause(1_795_359_849_530_000, 5_372_000),
                pause(1_795_360_814_230_000, 662_464_000),
                pause(1_795_360_815_000_000, 3_000_000),
                Line::PauseWithoutTime,
            ]
        );
    }

    #[test]
    fn rubbish_is_no_pause() {
        for line in [
            "",
            "[",
            "[a]",
            "[2026-13-02T03:04:05.678+0000] GC(1) Pause Young 1ms",
            "GC(1) Pause x NaNms",
            "Pause -1ms",
        ] {
            assert!(!matches!(parse(line), Line::Pause(_)), "{line}");
        }
        assert_eq!(wall_micros("2000-02-29T00:00:00.000Z"), Some(951_782_400_000_000));
        assert_eq!(wall_micros("T::+"), None);
    }

    #[test]
    fn what_is_appended_during_the_run_is_read_once() {
        let path = std::env::temp_dir().join(format!("basalt-gc-{}.log", std::process::id()));
        std::fs::write(&path, OTHERS).unwrap();
        let mut log = GcLog::new(path.clone());
        let mut recorder = Recorder::new(1_795_360_813_000_000);
        log.sample(&mut recorder).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        // The last line comes in two pieces.
        let (first, second) = LINES.split_at(LINES.len() - 20);
        for piece in [first, second, OTHERS] {
            file.write_all(piece.as_bytes()).unwrap();
            log.sample(&mut recorder).unwrap();
        }
        let told = log.finish(&mut recorder).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        let samples = recorder.into_samples();
        // What ended before the run stands at its begin.
        assert_eq!(
            samples.series[0].points,
            [(0, 25_332_000.0), (0, 5_372_000.0), (567_536_000, 662_464_000.0), (1_997_000_000, 3_000_000.0)]
        );
        assert!(told.starts_with("1 pauses without a time"), "{told}");
    }
}
