//! A worker: one thread with its connections, on which requests go out when they are due and answers
//! come in, all by one loop, which sleeps in one place: until something arrives or a request is due.
//! Hands in what it recorded once an interval.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::{sched_getcpu, set_current_timer_slack};
use smallvec::SmallVec;

use super::lane::{Bound, Lane};
use super::link::{Clock, Link};
use super::routing::Routing;
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
    buffer: Vec<u8>,
    /// Connections on which something has arrived, by place.
    ready: Vec<usize>,
    /// The interval being recorded.
    interval: u64,
    next_tick: u64,
    /// When it last had a connection.
    connected_at: u64,
    is_cut_short: bool,
}

impl Worker {
    /// One with these connections.
    pub fn new(
        lane: Lane,
        links: Vec<Link>,
        routing: Option<Arc<Routing>>,
        clock: Clock,
        limits: Limits,
        reports: Reports,
    ) -> Worker {
        Worker {
            lane,
            links,
            routing,
            next_link: 0,
            clock,
            limits,
            reports,
            buffer: vec![0; READ_BYTES],
            ready: Vec::new(),
            interval: 0,
            next_tick: TICK_NANOS,
            connected_at: 0,
            is_cut_short: false,
        }
    }

    /// Works until the run is over, then hands in the rest.
    pub fn run(mut self) {
        let before = Usage::of_this_thread();
        let failure = self.work().err();
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

    /// Until the run is over.
    fn work(&mut self) -> io::Result<()> {
        // Linux lets sleepers of a thread lie 50 us longer than they asked, unless told otherwise.
        set_current_timer_slack(NonZeroU64::new(1))?;
        loop {
            let mut is_busy = self.receive();
            is_busy |= self.send();
            self.flush();
            let now = self.clock.now();
            if now >= self.next_tick {
                self.tick(now);
            }
            if self.is_over(now) {
                return Ok(());
            }
            self.wait(if is_busy { 0 } else { self.wake_at(now).saturating_sub(now) })?;
        }
    }

    fn is_over(&mut self, now: u64) -> bool {
        let is_done = self.lane.is_exhausted(now) && self.lane.in_flight() == 0;
        let is_alone = now - self.connected_at.min(now) > self.limits.alone;
        let is_over = is_done || is_alone || now >= self.limits.deadline;
        self.is_cut_short = !is_over && self.limits.stop.load(Ordering::Relaxed);
        is_over || self.is_cut_short
    }

    /// When there is something to do even if nothing arrives.
    fn wake_at(&self, now: u64) -> u64 {
        let is_sending = self.has_room() && !self.lane.is_exhausted(now);
        let due = if is_sending { self.lane.next_due() } else { None };
        due.unwrap_or(u64::MAX).min(self.next_tick).min(self.limits.deadline)
    }

    /// Waits until something arrives, the kernel has room again, or the time is over.
    fn wait(&mut self, nanos: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (nanos / 1_000_000_000).cast_signed(),
            tv_nsec: (nanos % 1_000_000_000).cast_signed(),
        };
        let links = self.links.iter().enumerate();
        let (places, mut polled): (SmallVec<[usize; 16]>, SmallVec<[PollFd<'_>; 16]>) =
            links.filter_map(|(at, link)| Some((at, link.poll_fd()?))).unzip();
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // A socket with room for output only needs no more than the next turn.
        let has_news = |polled: &PollFd<'_>| !polled.revents().difference(PollFlags::OUT).is_empty();
        for (at, _) in places.iter().zip(&polled).filter(|(_, polled)| has_news(polled)) {
            if !self.ready.contains(at) {
                self.ready.push(*at);
            }
        }
        Ok(())
    }

    /// Whether the next request would find a place.
    fn has_room(&self) -> bool {
        self.lane.has_room() && self.links.iter().any(Link::has_room)
    }

    /// Takes answers; whether there are more.
    fn receive(&mut self) -> bool {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|at| {
            self.receive_from(*at).unwrap_or_else(|why| {
                self.lose(*at, &why);
                false
            })
        });
        self.ready = ready;
        !self.ready.is_empty()
    }

    fn receive_from(&mut self, at: usize) -> Result<bool, String> {
        for _ in 0..READS_MAX {
            let Some(is_all) = self.links[at].receive(&mut self.buffer)? else { return Ok(false) };
            let now = self.clock.now();
            self.roll(now);
            self.links[at].answer(&mut self.lane, now)?;
            if is_all {
                return Ok(false);
            }
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

    fn flush(&mut self) {
        for at in 0..self.links.len() {
            if let Err(why) = self.links[at].flush() {
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
        self.reports.processor.store(sched_getcpu(), Ordering::Relaxed);
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
