//! A worker: one thread with its connections, on which requests go out when they are due and answers
//! come in, all by one task. Hands in what it recorded once an interval.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::task::{Context, Poll};

use super::lane::{Bound, Lane};
use super::link::{Clock, Link};
use super::routing::Routing;
use super::timer::Timer;
use super::usage::Usage;
use crate::outcome::Counts;
use crate::record::Record;
use crate::verify::Acknowledged;

/// Requests begun before answers are looked at.
const BURST_MAX: usize = 128;

/// How often requests that take too long are looked for, nanoseconds.
const TICK_NANOS: u64 = 20_000_000;

/// Reads of one connection before the others have their turn.
const READS_MAX: usize = 16;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// When a worker stops, nanoseconds from the start.
#[derive(Clone)]
pub struct Limits {
    /// Nothing is waited for any longer.
    pub deadline: u64,
    /// A request without an answer for this long is given up.
    pub timeout: u64,
    /// The length of an interval.
    pub interval: u64,
    /// How long a worker without any connection goes on.
    pub alone: u64,
    /// Set when the run is to end at once.
    pub stop: Arc<AtomicBool>,
}

/// What a worker tells.
pub enum Message {
    /// What it recorded in an interval.
    Interval {
        /// The worker.
        worker: usize,
        /// The interval, from 0.
        number: u64,
        /// What it recorded in it.
        record: Box<Record>,
        /// Its counts so far.
        counts: Vec<Counts>,
    },
    /// A connection was lost, or made again.
    Event {
        /// When.
        at: u64,
        /// What.
        text: String,
    },
    /// It has ended.
    Ended(Box<Ended>),
}

impl Message {
    /// A worker could not even begin.
    pub fn failed(worker: usize, failure: io::Error) -> Message {
        Message::Ended(Box::new(Ended {
            worker,
            at: 0,
            reached: Vec::new(),
            is_cut_short: false,
            usage: Usage::default(),
            acknowledged: Acknowledged::default(),
            failure: Some(failure),
        }))
    }
}

/// How a worker ended.
pub struct Ended {
    /// The worker.
    pub worker: usize,
    /// When.
    pub at: u64,
    /// What kept requests from being sent.
    pub reached: Vec<Bound>,
    /// Whether it was told to stop before it was done.
    pub is_cut_short: bool,
    /// What it used of the processors while it worked.
    pub usage: Usage,
    /// What `--verify` will look for.
    pub acknowledged: Acknowledged,
    /// Why it could not go on.
    pub failure: Option<io::Error>,
}

/// What a worker reports through.
pub struct Reports {
    /// Its number.
    pub worker: usize,
    /// Where its messages go.
    pub messages: SyncSender<Message>,
    /// Records to be used again.
    pub spare: Receiver<Box<Record>>,
    /// The processor it runs on.
    pub processor: Arc<AtomicUsize>,
}

/// A worker on its way.
pub struct Worker {
    lane: Lane,
    links: Vec<Link>,
    /// Where there are several nodes.
    routing: Option<Arc<Routing>>,
    next_link: usize,
    clock: Clock,
    limits: Limits,
    reports: Reports,
    timer: Timer,
    buffer: Vec<u8>,
    /// The interval being recorded.
    interval: u64,
    next_tick: u64,
    /// When the timer wakes the task, if it is set.
    wakes_at: Option<u64>,
    /// When it last had a connection.
    connected_at: u64,
    is_cut_short: bool,
}

impl Worker {
    /// One with these connections.
    ///
    /// # Errors
    /// Without a timer. Must be called on a runtime.
    pub fn new(
        lane: Lane,
        links: Vec<Link>,
        routing: Option<Arc<Routing>>,
        clock: Clock,
        limits: Limits,
        reports: Reports,
    ) -> io::Result<Worker> {
        Ok(Worker {
            lane,
            links,
            routing,
            next_link: 0,
            clock,
            limits,
            reports,
            timer: Timer::new()?,
            buffer: vec![0; READ_BYTES],
            interval: 0,
            next_tick: TICK_NANOS,
            wakes_at: None,
            connected_at: 0,
            is_cut_short: false,
        })
    }

    /// Works until the run is over, then hands in the rest.
    pub async fn run(mut self) {
        let before = Usage::of_this_thread();
        // The runtime looks at sockets only between two turns: nothing else may hold this one up.
        let turns = poll_fn(|context| self.turn(context));
        let failure = tokio::task::unconstrained(turns).await.err();
        let now = self.clock.now();
        let usage = Usage::of_this_thread().since(before);
        self.roll(now);
        let Worker { lane, links, .. } = &mut self;
        lane.finish(now, links.iter().flat_map(|link| link.in_flight().iter()));
        self.hand_in(true);
        self.links.iter_mut().for_each(Link::join);
        let acknowledged = self.lane.take_acknowledged();
        self.tell(Message::Ended(Box::new(Ended {
            worker: self.reports.worker,
            at: now,
            reached: self.lane.reached().to_vec(),
            is_cut_short: self.is_cut_short,
            usage,
            acknowledged,
            failure,
        })));
    }

    /// All that can be done now. Ready when the run is over.
    fn turn(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.timer.watch(context)? {
            self.wakes_at = None;
        }
        let mut is_busy = self.receive(context);
        is_busy |= self.send();
        self.flush(context);
        let now = self.clock.now();
        if now >= self.next_tick {
            self.tick(now);
        }
        let is_done = self.lane.is_exhausted(now) && self.lane.in_flight() == 0;
        let is_alone = now - self.connected_at.min(now) > self.limits.alone;
        let is_over = is_done || is_alone || now >= self.limits.deadline;
        self.is_cut_short = !is_over && self.limits.stop.load(Ordering::Relaxed);
        if is_over || self.is_cut_short {
            return Poll::Ready(Ok(()));
        }
        if is_busy {
            context.waker().wake_by_ref();
        } else {
            self.sleep()?;
        }
        Poll::Pending
    }

    /// Has the task woken for the next request or tick.
    fn sleep(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let is_sending = self.has_room() && !self.lane.is_exhausted(now);
        let due = if is_sending { self.lane.next_due() } else { None };
        let wake_at = due.unwrap_or(u64::MAX).min(self.next_tick).min(self.limits.deadline);
        if self.wakes_at != Some(wake_at) {
            self.timer.set(wake_at.saturating_sub(now))?;
            self.wakes_at = Some(wake_at);
        }
        Ok(())
    }

    /// Whether the next request would find a place.
    fn has_room(&self) -> bool {
        self.lane.has_room() && self.links.iter().any(Link::has_room)
    }

    /// Takes answers; whether there may be more at once.
    fn receive(&mut self, context: &mut Context<'_>) -> bool {
        let mut is_busy = false;
        for at in 0..self.links.len() {
            match self.receive_from(at, context) {
                Ok(more) => is_busy |= more,
                Err(why) => self.lose(at, &why),
            }
        }
        is_busy
    }

    fn receive_from(&mut self, at: usize, context: &mut Context<'_>) -> Result<bool, String> {
        for _ in 0..READS_MAX {
            if !self.links[at].receive(context, &mut self.buffer)? {
                return Ok(false);
            }
            let now = self.clock.now();
            self.roll(now);
            self.links[at].answer(&mut self.lane, now)?;
        }
        Ok(true)
    }

    /// Sends what is due; whether there may be more at once.
    fn send(&mut self) -> bool {
        for _ in 0..BURST_MAX {
            let now = self.clock.now();
            if self.lane.next_due().is_none_or(|due| due > now) || self.lane.is_exhausted(now) {
                return false;
            }
            let Some(any) = self.link_with_room(None) else {
                self.hold();
                return false;
            };
            let Some(due) = self.lane.begin(now) else { return false };
            let at = self.link_of_owner().unwrap_or(any);
            self.links[at].send(&mut self.lane, due, now);
        }
        true
    }

    /// The next connection in turn, to this node if one is given, that takes a request.
    fn link_with_room(&mut self, node: Option<usize>) -> Option<usize> {
        let count = self.links.len();
        let takes = |link: &Link| node.is_none_or(|node| link.node() == node) && link.has_room();
        let at = (0..count).map(|step| (self.next_link + step) % count).find(|at| takes(&self.links[*at]))?;
        self.next_link = (at + 1) % count;
        Some(at)
    }

    /// A connection to the node that owns what the lane has begun, where that is known and there is one.
    fn link_of_owner(&mut self) -> Option<usize> {
        let node = self.routing.as_ref()?.node(self.lane.operation())?;
        self.link_with_room(Some(node))
    }

    /// What is due has to wait.
    fn hold(&mut self) {
        let mut bounds = self.links.iter().filter_map(Link::bound).peekable();
        if bounds.peek().is_none() {
            self.lane.hold(None);
        }
        bounds.for_each(|bound| self.lane.hold(Some(bound)));
    }

    fn flush(&mut self, context: &mut Context<'_>) {
        for at in 0..self.links.len() {
            if let Err(why) = self.links[at].flush(context) {
                self.lose(at, &why);
            }
        }
    }

    fn lose(&mut self, at: usize, why: &str) {
        let now = self.clock.now();
        self.links[at].lose(&mut self.lane, now);
        self.tell(Message::Event { at: now, text: format!("connection lost: {why}") });
    }

    /// What need not be done at once.
    fn tick(&mut self, now: u64) {
        self.next_tick = now + TICK_NANOS;
        self.roll(now);
        let limit = now.saturating_sub(self.limits.timeout);
        for at in 0..self.links.len() {
            self.links[at].give_up(&mut self.lane, limit, now);
            if self.links[at].reconnect(&self.clock.env, now) {
                self.tell(Message::Event { at: now, text: "connected again".to_owned() });
            }
        }
        if self.links.iter().any(Link::is_connected) {
            self.connected_at = now;
        }
        self.reports.processor.store(rustix::thread::sched_getcpu(), Ordering::Relaxed);
    }

    /// Hands in the interval when it is over.
    fn roll(&mut self, now: u64) {
        let interval = now / self.limits.interval;
        if interval > self.interval && self.hand_in(false) {
            self.interval = interval;
        }
    }

    /// Hands in what was recorded. When the collector is behind it is kept for the next interval,
    /// unless it is the last.
    fn hand_in(&mut self, is_last: bool) -> bool {
        let fresh = match self.reports.spare.try_recv() {
            Ok(fresh) => *fresh,
            Err(_) if is_last => Record::new(self.lane.counts().len()),
            Err(_) => return false,
        };
        let record = Box::new(self.lane.take_record(fresh));
        let counts = self.lane.counts().to_vec();
        self.tell(Message::Interval { worker: self.reports.worker, number: self.interval, record, counts });
        true
    }

    fn tell(&mut self, message: Message) {
        // There is room for every spare record; a flood of events waits for the collector. A collector
        // that is gone wants to know no more.
        if let Err(TrySendError::Full(message)) = self.reports.messages.try_send(message) {
            drop(self.reports.messages.send(message));
        }
    }
}
