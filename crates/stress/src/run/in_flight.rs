//! Requests of one connection that wait for their answers, by stream. Knows no socket.

use crate::client::CONTROL_STREAM;
use crate::workload::Written;

/// Streams of a connection (v5 §2.4.1.3: a stream id is 16 bits, negative ones are the server's).
pub const STREAMS: usize = 1 << 15;

/// A request that has been sent. Moments are nanoseconds from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its place in the plan.
    pub index: u64,
    /// Its kind of operation.
    pub kind: usize,
    /// When it was meant to start.
    pub due: u64,
    /// When it was handed to the socket.
    pub sent: u64,
    /// What it writes, for `--verify`.
    pub written: Option<Written>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Free,
    Waiting(Sent),
    /// Given up, not answered yet: its stream must not be used for another.
    GivenUp,
}

/// Requests by stream.
#[derive(Debug)]
pub struct InFlight {
    /// As many as were ever in use at once.
    slots: Vec<Slot>,
    free: Vec<i16>,
    waiting: usize,
}

impl Default for InFlight {
    fn default() -> InFlight {
        // The control stream's slot is never free.
        InFlight { slots: vec![Slot::GivenUp], free: Vec::new(), waiting: 0 }
    }
}

impl InFlight {
    /// A stream for a request; `None` when all are in use.
    pub fn enter(&mut self, sent: Sent) -> Option<i16> {
        let stream = match self.free.pop() {
            Some(stream) => stream,
            None if self.slots.len() < STREAMS => {
                self.slots.push(Slot::Free);
                (self.slots.len() - 1) as i16
            }
            None => return None,
        };
        *self.slot(stream)? = Slot::Waiting(sent);
        self.waiting += 1;
        Some(stream)
    }

    /// Whether a stream is free.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty() || self.slots.len() < STREAMS
    }

    /// The request that waits on this stream.
    pub fn get(&self, stream: i16) -> Option<&Sent> {
        match self.slots.get(usize::try_from(stream).ok()?)? {
            Slot::Waiting(sent) => Some(sent),
            Slot::Free | Slot::GivenUp => None,
        }
    }

    /// The request that an answer on this stream ends; `None` when it was given up before, or when
    /// there is none.
    pub fn end(&mut self, stream: i16) -> Option<Sent> {
        if stream == CONTROL_STREAM {
            return None;
        }
        let slot = self.slot(stream)?;
        let ended = match std::mem::replace(slot, Slot::Free) {
            Slot::Free => return None,
            Slot::Waiting(sent) => Some(sent),
            Slot::GivenUp => None,
        };
        self.free.push(stream);
        self.waiting -= usize::from(ended.is_some());
        ended
    }

    /// Gives up requests sent before `limit`.
    pub fn give_up(&mut self, limit: u64, mut each: impl FnMut(&Sent)) {
        for slot in &mut self.slots {
            if let Slot::Waiting(sent) = slot
                && sent.sent < limit
            {
                each(sent);
                *slot = Slot::GivenUp;
                self.waiting -= 1;
            }
        }
    }

    /// Forgets all: the connection is over.
    pub fn clear(&mut self, mut each: impl FnMut(&Sent)) {
        self.iter().for_each(&mut each);
        *self = InFlight::default();
    }

    /// Requests that wait.
    pub fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Waiting(sent) => Some(sent),
            Slot::Free | Slot::GivenUp => None,
        })
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    fn slot(&mut self, stream: i16) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(stream).ok()?)
    }
}
