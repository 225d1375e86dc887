//! The requests a connection is working on: futures polled on the connection's own task, each woken
//! by itself. No task, no timer and, once a slot was used before, no allocation per request.
//! Knows nothing of requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

/// What woke up since the last look.
#[derive(Default)]
struct Ready {
    slots: Vec<usize>,
    connection: Option<Waker>,
}

struct SlotWaker {
    slot: usize,
    ready: Arc<Mutex<Ready>>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut ready = self.ready.lock();
        ready.slots.push(self.slot);
        if let Some(connection) = ready.connection.take() {
            drop(ready);
            connection.wake();
        }
    }
}

struct Slot<F> {
    future: Pin<Box<Option<F>>>,
    waker: Waker,
}

/// Futures of one type, polled together.
pub struct InFlight<F: Future> {
    slots: Vec<Slot<F>>,
    free: Vec<usize>,
    ready: Arc<Mutex<Ready>>,
    awake: Vec<usize>,
}

impl<F: Future> Default for InFlight<F> {
    fn default() -> InFlight<F> {
        InFlight { slots: Vec::new(), free: Vec::new(), ready: Arc::default(), awake: Vec::new() }
    }
}

impl<F: Future> InFlight<F> {
    /// How many run.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a future and polls it once: most end at once.
    pub fn begin(&mut self, future: F) -> Option<F::Output> {
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index].future.set(Some(future));
                index
            }
            None => {
                let index = self.slots.len();
                let waker = Waker::from(Arc::new(SlotWaker { slot: index, ready: Arc::clone(&self.ready) }));
                self.slots.push(Slot { future: Box::pin(Some(future)), waker });
                index
            }
        };
        self.poll_slot(index)
    }

    /// The next one that ended, if any did. Otherwise `context` is woken when one may have.
    pub fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<F::Output> {
        loop {
            if self.awake.is_empty() {
                let mut ready = self.ready.lock();
                if ready.slots.is_empty() {
                    match &mut ready.connection {
                        Some(waker) => waker.clone_from(context.waker()),
                        none => *none = Some(context.waker().clone()),
                    }
                    return Poll::Pending;
                }
                std::mem::swap(&mut self.awake, &mut ready.slots);
            }
            while let Some(index) = self.awake.pop() {
                if let Some(ended) = self.poll_slot(index) {
                    return Poll::Ready(ended);
                }
            }
        }
    }

    /// Has all of them polled again: the clock may end one that nobody wakes.
    pub fn look_again(&mut self) {
        let waiting = |slot: &Slot<F>| slot.future.as_ref().as_pin_ref().is_some();
        let waiting = self.slots.iter().enumerate().filter(|(_, slot)| waiting(slot));
        self.awake.extend(waiting.map(|(index, _)| index));
    }

    fn poll_slot(&mut self, index: usize) -> Option<F::Output> {
        let slot = &mut self.slots[index];
        // A slot may be woken once more after its future ended: then there is nothing to poll.
        let future = slot.future.as_mut().as_pin_mut()?;
        let mut context = Context::from_waker(&slot.waker);
        let Poll::Ready(result) = future.poll(&mut context) else { return None };
        slot.future.set(None);
        self.free.push(index);
        Some(result)
    }
}

#[cfg(test)]
mod tests;
