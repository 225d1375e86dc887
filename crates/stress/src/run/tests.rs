//! Whole runs against a null server in this process: every version and compression, errors,
//! forgotten statements, lost connections. What is asserted does not depend on how fast the machine is.
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use basalt_model::env::Env;
use basalt_model::{Consistency, CqlError};
use basalt_wire::compression::Compression;
use basalt_wire::{Request, Response};

use super::*;
use crate::client::tls_tests;
use crate::null_server::{NullServer, Reply, Script, usual};
use crate::plan::{Arrivals, Rate};
use crate::random::Random;
use crate::workload::{BatchKind, Operation, Statement};

mod ring;

const SECOND: u64 = 1_000_000_000;

/// The machine's clock and threads.
struct Machine(Instant);

impl Env for Machine {
    #[expect(clippy::disallowed_methods, reason = "a test's environment")]
    fn wall_micros(&self) -> i64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros() as i64
    }

    fn monotonic_nanos(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn random_u64(&self) -> u64 {
        4
    }

    fn spawn_thread(
        &self,
        name: &str,
        work: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's environment")]
fn env() -> SharedEnv {
    Arc::new(Machine(Instant::now()))
}

/// Reads, writes and batches in turn, with a value of many bytes.
struct Mixed {
    value: Vec<u8>,
    statements: Vec<Statement>,
    kinds: Vec<String>,
}

impl Mixed {
    fn shared(bytes: usize) -> Arc<dyn Workload> {
        let statement = |text: &str| Statement { text: text.to_owned(), is_write: true };
        Arc::new(Mixed {
            value: vec![7; bytes],
            statements: vec![
                statement("SELECT v FROM k.t WHERE k = ?"),
                statement("INSERT INTO k.t (k, v) VALUES (?, ?)"),
            ],
            kinds: ["read", "write", "batch"].map(str::to_owned).to_vec(),
        })
    }
}

impl Workload for Mixed {
    fn name(&self) -> &str {
        "mixed"
    }

    fn schema(&self) -> Vec<String> {
        Vec::new()
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn kinds(&self) -> &[String] {
        &self.kinds
    }

    fn records(&self) -> u64 {
        3_000
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        self.write(record, operation.begin(1, 1));
    }

    fn next(&self, index: u64, _: &mut Random, operation: &mut Operation) {
        match index % 3 {
            0 => operation.begin(0, 0).push(&index.to_be_bytes()),
            1 => self.write(index, operation.begin(1, 1)),
            _ => {
                operation.batch = Some(BatchKind::Unlogged);
                self.write(index, operation.begin(2, 1));
                self.write(index + 1, operation.add(1));
            }
        }
    }
}

impl Mixed {
    fn write(&self, record: u64, values: &mut crate::workload::Values) {
        values.push(&record.to_be_bytes());
        values.push(&self.value);
    }
}

/// Sees every interval.
struct Watching<F>(F);

impl<F: FnMut(&Seen<'_>)> Observer for Watching<F> {
    fn interval(&mut self, seen: &Seen<'_>) {
        (self.0)(seen);
    }
}

fn settings(server: &NullServer, env: &SharedEnv, asked: Asked) -> Settings {
    Settings {
        env: Arc::clone(env),
        targets: vec![server.address],
        only_targets: true,
        client: client::Options::default(),
        workload: Mixed::shared(700),
        asked,
        seed: 1,
        connections: 3,
        workers: 2,
        in_flight: 60_000,
        timeout_nanos: 30 * SECOND,
        drain_nanos: 30 * SECOND,
        interval_nanos: SECOND / 10,
        log: None,
        command: vec!["test".to_owned()],
        stop: Arc::default(),
    }
}

fn open(rate: u64, nanos: u64) -> Asked {
    let plan = Plan::new(&Arrivals::CONSTANT, Rate::per_second(rate), nanos, 1).unwrap();
    Asked::Open { plan, arrivals: Arrivals::CONSTANT }
}

fn scripted(env: &SharedEnv, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> NullServer {
    let script: Script = Arc::new(script);
    NullServer::with_script(env, script).unwrap()
}

fn refused(error: CqlError) -> Reply {
    Reply::Send(Box::new(Response::Error(error)))
}

#[test]
fn every_version_and_compression_carries_a_plan_to_its_end() {
    let env = env();
    let executed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&executed);
    let server = scripted(&env, move |request| {
        match request {
            Request::Execute(execute) => {
                assert_eq!(execute.id.len(), 16);
                assert_eq!(execute.params.consistency, Consistency::LocalQuorum);
                count.fetch_add(1, Ordering::Relaxed);
            }
            Request::Batch(batch) => {
                assert_eq!(batch.statements.len(), 2);
                assert!(batch.statements.iter().all(|statement| statement.values().len() == 2));
                count.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
        usual(request)
    });
    let kinds = [
        (Some(ProtocolVersion::V3), None),
        (Some(ProtocolVersion::V4), None),
        (Some(ProtocolVersion::V4), Some(Compression::Lz4)),
        (Some(ProtocolVersion::V4), Some(Compression::Snappy)),
        (Some(ProtocolVersion::V5), None),
        (None, Some(Compression::Lz4)),
    ];
    for (version, compression) in kinds {
        let before = executed.load(Ordering::Relaxed);
        let mut settings = settings(&server, &env, open(4_000, SECOND / 2));
        settings.client.version = version;
        settings.client.compression = compression;
        settings.client.consistency = Consistency::LocalQuorum;
        let outcome = run(settings, &mut ()).unwrap().outcome;
        assert_eq!(outcome.invalid, Vec::<String>::new(), "{version:?} {compression:?}");
        assert_eq!((outcome.counts.planned, outcome.counts.answered), (2_000, 2_000));
        assert_eq!(executed.load(Ordering::Relaxed) - before, 2_000);
        assert!(outcome.kinds.iter().all(|kind| kind.counts.add_up()));
        assert_eq!(outcome.response().0.len(), 2_000);
        assert_eq!(outcome.client.send_lag.0.len(), 2_000);
        let spoken = version.unwrap_or(ProtocolVersion::V5).to_string();
        assert_eq!(outcome.setting.client["protocol"], spoken);
        assert!(outcome.client.cpu_nanos > 0);
        // Intervals without gaps, and everything is in one of them.
        let begins: Vec<u64> = outcome.intervals.iter().map(|interval| interval.start_nanos).collect();
        assert_eq!(begins, (0..begins.len() as u64).map(|at| at * SECOND / 10).collect::<Vec<u64>>());
        let in_intervals: u64 =
            outcome.intervals.iter().map(|interval| interval.response.unpack().0.len()).sum();
        assert_eq!(in_intervals, 2_000);
    }
}

#[test]
fn a_server_that_does_not_speak_v5_is_spoken_to_in_v4() {
    let env = env();
    let nth = AtomicU64::new(0);
    let server = scripted(&env, move |request| match request {
        Request::Startup(_) if nth.fetch_add(1, Ordering::Relaxed) == 0 => {
            refused(CqlError::Protocol("Invalid or unsupported protocol version (5)".into()))
        }
        other => usual(other),
    });
    let mut settings = settings(&server, &env, open(100, SECOND / 10));
    settings.connections = 1;
    let outcome = run(settings, &mut ()).unwrap().outcome;
    assert_eq!(outcome.counts.answered, 10);
    assert_eq!(outcome.setting.client["protocol"], "4/v4");
}

#[test]
fn refusals_are_counted_by_what_they_say_and_apart_from_successes() {
    let env = env();
    let nth = AtomicU64::new(0);
    let server = scripted(&env, move |request| match request {
        Request::Execute(_) if nth.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => {
            refused(CqlError::Overloaded("Server is shutting down".into()))
        }
        other => usual(other),
    });
    let outcome = run(settings(&server, &env, open(3_000, SECOND / 5)), &mut ()).unwrap().outcome;
    let counts = outcome.counts;
    assert_eq!((counts.planned, counts.answered, counts.failed), (600, 400, 200));
    let errors: u64 =
        outcome.kinds.iter().filter_map(|kind| kind.errors.get("0x1001 Server is shutting down")).sum();
    assert_eq!(errors, 200);
    let failed: u64 = outcome.kinds.iter().map(|kind| kind.failed.0.len()).sum();
    assert_eq!((failed, outcome.response().0.len()), (200, 400));
    assert_eq!(outcome.intervals.iter().map(|interval| interval.failed).sum::<u64>(), 200);
}

#[test]
fn forgotten_statements_are_prepared_again_and_their_requests_sent_again() {
    let env = env();
    let (executes, prepares) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let prepared = Arc::clone(&prepares);
    let server = scripted(&env, move |request| {
        match request {
            Request::Prepare(_) => {
                prepared.fetch_add(1, Ordering::Relaxed);
            }
            Request::Execute(execute) if executes.fetch_add(1, Ordering::Relaxed) % 100 == 50 => {
                let id = <[u8; 16]>::try_from(&execute.id[..]).unwrap();
                return refused(CqlError::Unprepared(id));
            }
            _ => {}
        }
        usual(request)
    });
    let outcome = run(settings(&server, &env, open(3_000, SECOND / 5)), &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.answered, outcome.counts.failed), (600, 0));
    // Two statements on three connections to begin with, and more than that in the end.
    assert!(prepares.load(Ordering::Relaxed) > 6, "{prepares:?}");
}

#[test]
fn a_load_writes_every_record_once() {
    let env = env();
    let seen = Arc::new(parking_lot::Mutex::new(std::collections::HashSet::new()));
    let records = Arc::clone(&seen);
    let server = scripted(&env, move |request| {
        if let Request::Execute(execute) = request {
            assert!(records.lock().insert(execute.params.values.values[0].clone()), "a record came twice");
        }
        usual(request)
    });
    let outcome = run(settings(&server, &env, Asked::Load { threads: 32 }), &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.planned, outcome.counts.answered), (3_000, 3_000));
    assert_eq!(seen.lock().len(), 3_000);
    assert_eq!(outcome.invalid, Vec::<String>::new());
}

#[test]
fn requests_without_an_answer_are_given_up_or_as_old_as_they_are() {
    let env = env();
    let silent = |request: &Request| match request {
        Request::Execute(_) => Reply::Nothing,
        other => usual(other),
    };
    let server = scripted(&env, silent);
    let mut patient = settings(&server, &env, open(300, SECOND / 5));
    patient.drain_nanos = SECOND / 5;
    let outcome = run(patient, &mut ()).unwrap().outcome;
    let counts = outcome.counts;
    assert_eq!((counts.planned, counts.answered, counts.in_flight + counts.unsent), (60, 20, 40));
    // They are in the response times, as old as they were: 0.2 s at least.
    assert_eq!(outcome.response().0.len(), 60);
    let read = &outcome.kinds[0];
    assert_eq!((read.response.0.len(), read.service.0.len()), (20, 0));
    assert!(read.response.0.min() >= SECOND / 5 - SECOND / 1000);
    let mut impatient = settings(&server, &env, open(300, SECOND / 5));
    impatient.timeout_nanos = SECOND / 10;
    let outcome = run(impatient, &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.timed_out, outcome.counts.answered), (40, 20));
    assert_eq!(outcome.response().0.len(), 20);
}

#[test]
fn a_cap_that_is_reached_makes_the_run_invalid_and_is_kept() {
    let env = env();
    let server = scripted(&env, |request| match request {
        Request::Execute(_) | Request::Batch(_) => Reply::Nothing,
        other => usual(other),
    });
    let mut capped = settings(&server, &env, open(1_000, SECOND / 5));
    capped.in_flight = 10;
    capped.drain_nanos = SECOND / 10;
    let outcome = run(capped, &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.in_flight, outcome.counts.unsent), (10, 190));
    assert!(outcome.invalid.iter().any(|why| why.starts_with("in-flight cap")), "{:?}", outcome.invalid);
}

#[test]
fn streams_that_are_all_in_use_make_the_run_invalid() {
    let env = env();
    let server = scripted(&env, |request| match request {
        Request::Execute(_) | Request::Batch(_) => Reply::Nothing,
        other => usual(other),
    });
    let mut settings = settings(&server, &env, open(100_000, SECOND / 5 * 2));
    settings.workload = Mixed::shared(1);
    (settings.connections, settings.timeout_nanos) = (1, 600 * SECOND);
    let stop = Arc::clone(&settings.stop);
    let mut until_all_are_due = Watching(|seen: &Seen<'_>| {
        let is_full = seen.counts.sent == STREAMS as u64 - 1;
        stop.store(is_full && seen.interval.start_nanos >= SECOND, Ordering::Relaxed);
    });
    let outcome = run(settings, &mut until_all_are_due).unwrap().outcome;
    assert_eq!((outcome.counts.in_flight, outcome.counts.unsent), (32_767, 40_000 - 32_767));
    assert_eq!(outcome.invalid[0], lane::Bound::Streams.told(), "{:?}", outcome.invalid);
}

#[test]
fn a_server_that_does_not_read_makes_the_run_invalid() {
    let env = env();
    let (reading, is_reading) = sync_channel::<()>(0);
    let is_reading = parking_lot::Mutex::new(is_reading);
    let server = scripted(&env, move |request| match request {
        Request::Execute(_) => {
            // Until the test ends.
            let _ = is_reading.lock().recv();
            Reply::Nothing
        }
        other => usual(other),
    });
    let mut settings = settings(&server, &env, open(10_000, SECOND / 2));
    settings.workload = Mixed::shared(20_000);
    (settings.connections, settings.drain_nanos) = (1, SECOND);
    let outcome = run(settings, &mut ()).unwrap().outcome;
    drop(reading);
    assert!(outcome.counts.unsent > 0 && outcome.counts.answered == 0, "{:?}", outcome.counts);
    assert_eq!(outcome.invalid, [lane::Bound::Output.told()]);
}

#[test]
fn a_run_that_is_stopped_says_so_and_shows_what_it_has() {
    let env = env();
    let server = NullServer::start(&env).unwrap();
    let long = [open(1_000, 600 * SECOND), Asked::Closed { threads: 2, nanos: 600 * SECOND }];
    for asked in long {
        let settings = settings(&server, &env, asked);
        let stop = Arc::clone(&settings.stop);
        let outcome = run(settings, &mut Watching(|_: &Seen<'_>| stop.store(true, Ordering::Relaxed)));
        let outcome = outcome.unwrap().outcome;
        assert!(outcome.counts.answered > 0 && outcome.counts.add_up(), "{:?}", outcome.counts);
        let [why] = &outcome.invalid[..] else { panic!("{:?}", outcome.invalid) };
        assert!(why.starts_with("cut short after ") && why.ends_with(" of 600 s"), "{why}");
        assert_eq!(outcome.events.last().map(|event| event.text.as_str()), Some("stopped"));
        assert!(outcome.elapsed_nanos < 600 * SECOND);
    }
}

#[test]
fn a_lost_connection_fails_its_requests_and_is_made_again() {
    let env = env();
    let nth = AtomicU64::new(0);
    let server = scripted(&env, move |request| match request {
        Request::Execute(_) if nth.fetch_add(1, Ordering::Relaxed) == 100 => Reply::HangUp,
        other => usual(other),
    });
    let mut settings = settings(&server, &env, open(500, SECOND));
    settings.connections = 1;
    let outcome = run(settings, &mut ()).unwrap().outcome;
    let counts = outcome.counts;
    // What was due meanwhile waited for the new connection.
    assert_eq!((counts.planned, counts.answered + counts.failed), (500, 500), "{counts:?}");
    assert!((1..50).contains(&counts.failed), "{counts:?}");
    assert!(outcome.kinds.iter().all(|kind| kind.errors.keys().all(|text| text == "connection lost")));
    let events: Vec<&str> = outcome.events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(events, ["connection lost: the server hung up", "connected again"]);
    assert!(outcome.response().0.max() > SECOND / 4);
}

#[test]
fn a_run_goes_through_tls() {
    let env = env();
    let server = tls_tests::Server::start();
    let mut settings = settings(&NullServer::start(&env).unwrap(), &env, open(1_000, SECOND / 4));
    settings.workload = Mixed::shared(20_000);
    (settings.targets, settings.connections) = (vec![server.address], 1);
    settings.client = tls_tests::options(client::Tls::trusting_anyone().unwrap());
    let outcome = run(settings, &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.planned, outcome.counts.answered), (250, 250));
}

#[test]
fn nobody_home_is_an_error_before_the_run() {
    let env = env();
    let server = NullServer::start(&env).unwrap();
    let settings = settings(&server, &env, open(100, SECOND));
    drop(server);
    assert!(matches!(run(settings, &mut ()), Err(Error::Client(client::Error::Io(..)))));
}
