//! The thread that looks at the server once a second, and what its sources write into.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

use super::{OwnTimes, Samples, Series, Unit};

/// Series kept at most: a Prometheus page can hold thousands.
const SERIES_MAX: usize = 200;

/// Gaps told at most.
const GAPS_MAX: usize = 32;

/// Something that can be looked at.
pub trait Source: Send {
    /// What it is: `process 1234 (java)`.
    fn name(&self) -> String;

    /// Looks, and writes down what it sees.
    ///
    /// # Errors
    /// When nothing can be seen, in words for the user; it is asked again at the next tick.
    fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String>;

    /// Called once after the last sample.
    ///
    /// # Errors
    /// As [`Source::sample`].
    fn finish(&mut self, _recorder: &mut Recorder) -> Result<(), String> {
        Ok(())
    }
}

/// What sources write into.
#[derive(Default)]
pub struct Recorder {
    samples: Samples,
    now_nanos: u64,
    origin_wall_micros: i64,
    counters: std::collections::HashMap<String, (u64, f64)>,
}

impl Recorder {
    /// One whose run began at this wall clock time, microseconds since 1970.
    pub fn new(origin_wall_micros: i64) -> Recorder {
        Recorder { origin_wall_micros, ..Recorder::default() }
    }

    /// Sets the time of what follows, nanoseconds since the run's start.
    pub fn set_now(&mut self, nanos: u64) {
        self.now_nanos = nanos;
    }

    /// Wall clock of the run's start, microseconds since 1970.
    pub fn origin_wall_micros(&self) -> i64 {
        self.origin_wall_micros
    }

    /// Writes down a value as it is.
    pub fn gauge(&mut self, name: &str, unit: Unit, value: f64) {
        self.at(self.now_nanos, name, unit, value);
    }

    /// Writes down a value of another moment.
    pub fn at(&mut self, nanos: u64, name: &str, unit: Unit, value: f64) {
        let all = &mut self.samples.series;
        let place = all.iter().position(|series| series.name == name);
        if let Some(place) = place {
            all[place].push(nanos, value);
        } else if all.len() < SERIES_MAX {
            let mut series = Series { name: name.to_owned(), unit, points: Vec::new() };
            series.push(nanos, value);
            all.push(series);
        } else {
            self.gap(&format!("more than {SERIES_MAX} series; the rest is left out"));
        }
    }

    /// Writes down how fast a growing number grew since it was last seen, times `factor`. A number
    /// that fell was started anew, and gives no point.
    pub fn rate(&mut self, name: &str, unit: Unit, total: f64, factor: f64) {
        let now = self.now_nanos;
        let Some((then, before)) = self.counters.insert(name.to_owned(), (now, total)) else { return };
        if now > then && total >= before {
            self.gauge(name, unit, (total - before) * factor * 1e9 / (now - then) as f64);
        }
    }

    /// Writes down how long requests took by the server's own clock.
    pub fn own_times(&mut self, times: OwnTimes) {
        self.samples.own_times.push(times);
    }

    /// Says what could not be read; the same words once.
    pub fn gap(&mut self, text: &str) {
        let gaps = &mut self.samples.gaps;
        if gaps.len() < GAPS_MAX && !gaps.iter().any(|told| told == text) {
            gaps.push(text.to_owned());
        }
    }

    /// What was written down.
    pub fn into_samples(mut self) -> Samples {
        self.samples.series.iter_mut().for_each(|series| series.points.sort_by_key(|point| point.0));
        self.samples
    }
}

/// The thread, owned by who started it.
pub struct Sampler {
    ending: Arc<Ending>,
    thread: Option<JoinHandle<()>>,
    samples: Arc<Mutex<Option<Samples>>>,
}

#[derive(Default)]
struct Ending {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Sampler {
    /// Starts looking at `sources`, `every` so often, on the time line that begins at
    /// `origin_nanos` of the environment's monotonic clock.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(
        env: &SharedEnv,
        mut sources: Vec<Box<dyn Source>>,
        every: Duration,
        origin_nanos: u64,
    ) -> std::io::Result<Sampler> {
        let (ending, samples) = (Arc::new(Ending::default()), Arc::new(Mutex::new(None)));
        let (its_ending, its_samples, its_env) = (ending.clone(), samples.clone(), env.clone());
        let work = move || {
            let since = |env: &SharedEnv| env.monotonic_nanos().saturating_sub(origin_nanos);
            let origin_wall = its_env.wall_micros() - (since(&its_env) / 1000) as i64;
            let mut recorder = Recorder::new(origin_wall);
            recorder.samples.sources = sources.iter().map(|source| source.name()).collect();
            loop {
                recorder.set_now(since(&its_env));
                look(&mut sources, &mut recorder, |source, recorder| source.sample(recorder));
                let mut is_over = its_ending.is_over.lock();
                if !*is_over {
                    its_ending.changed.wait_for(&mut is_over, every);
                }
                if *is_over {
                    break;
                }
            }
            recorder.set_now(since(&its_env));
            look(&mut sources, &mut recorder, |source, recorder| source.sample(recorder));
            look(&mut sources, &mut recorder, |source, recorder| source.finish(recorder));
            *its_samples.lock() = Some(recorder.into_samples());
        };
        let thread = Some(env.spawn_thread("server-sampler", Box::new(work))?);
        Ok(Sampler { ending, thread, samples })
    }

    /// Looks a last time and gives what was seen.
    pub fn finish(mut self) -> Samples {
        self.stop();
        self.samples.lock().take().unwrap_or_else(|| Samples {
            gaps: vec!["the thread that samples the server ended early".to_owned()],
            ..Samples::default()
        })
    }

    fn stop(&mut self) {
        *self.ending.is_over.lock() = true;
        self.ending.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed by its thread; the samples are then missing.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Has every source do something, and writes down the refusals.
fn look(
    sources: &mut [Box<dyn Source>],
    recorder: &mut Recorder,
    mut what: impl FnMut(&mut dyn Source, &mut Recorder) -> Result<(), String>,
) {
    for source in sources {
        if let Err(error) = what(source.as_mut(), recorder) {
            let name = source.name();
            recorder.gap(&format!("{name}: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    //! A source that counts, one that refuses, and the thread over both.
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Clock(AtomicU64);

    impl basalt_model::env::Env for Clock {
        fn wall_micros(&self) -> i64 {
            1_000_000
        }
        fn monotonic_nanos(&self) -> u64 {
            self.0.fetch_add(1_000_000_000, Ordering::Relaxed)
        }
        fn random_u64(&self) -> u64 {
            0
        }
        fn spawn_thread(
            &self,
            name: &str,
            work: Box<dyn FnOnce() + Send>,
        ) -> std::io::Result<JoinHandle<()>> {
            std::thread::Builder::new().name(name.to_owned()).spawn(work)
        }
    }

    struct Counter(f64);

    impl Source for Counter {
        fn name(&self) -> String {
            "a counter".into()
        }
        fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String> {
            self.0 += 10.0;
            recorder.rate("things", Unit::PerSecond, self.0, 1.0);
            recorder.gauge("value", Unit::Count, self.0);
            if self.0 > 10.0 { Err("no more".into()) } else { Ok(()) }
        }
    }

    #[test]
    fn what_sources_see_stands_on_the_time_line() {
        let env: SharedEnv = Arc::new(Clock(AtomicU64::new(0)));
        let sampler =
            Sampler::start(&env, vec![Box::new(Counter(0.0))], Duration::from_secs(3600), 0).unwrap();
        let samples = sampler.finish();
        assert_eq!(samples.sources, ["a counter"]);
        assert_eq!(samples.gaps, ["a counter: no more"]);
        let named = |name: &str| {
            samples.series.iter().find(|series| series.name == name).map(|series| &series.points)
        };
        assert_eq!(named("value").map(Vec::len), Some(2));
        assert!(named("things").is_some_and(|points| points[0].1 > 0.0), "{samples:?}");
    }

    #[test]
    fn counters_started_anew_give_no_point_and_series_are_bounded() {
        let mut recorder = Recorder::default();
        for (second, total) in [(1, 10.0), (2, 30.0), (3, 5.0), (4, 6.0)] {
            recorder.set_now(second * 1_000_000_000);
            recorder.rate("x", Unit::PerSecond, total, 1.0);
        }
        (0..SERIES_MAX * 2).for_each(|place| recorder.gauge(&place.to_string(), Unit::Count, 1.0));
        let samples = recorder.into_samples();
        assert_eq!(samples.series[0].points, [(2_000_000_000, 20.0), (4_000_000_000, 1.0)]);
        assert_eq!((samples.series.len(), samples.gaps.len()), (SERIES_MAX, 1));
    }
}
