//! Each future is woken by itself; slots are used again.

use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::oneshot;

use super::*;

#[derive(Default)]
struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_ready_ends_at_once() {
    let mut set = InFlight::default();
    assert_eq!(set.begin(ready(1)), Some(1));
    assert!(set.is_empty());
}

#[test]
fn waiting_futures_end_in_the_order_they_are_woken() {
    let wakes = Arc::new(CountingWaker::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = Context::from_waker(&waker);
    let mut set = InFlight::default();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel::<i32>()).unzip();
    for receiver in receivers {
        assert_eq!(set.begin(receiver), None);
    }
    assert!(set.poll_ended(&mut context).is_pending());
    let mut senders = senders.into_iter();
    let mut send = |value| senders.next().expect("three").send(value).expect("awaited");
    send(10);
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
    assert_eq!(set.poll_ended(&mut context), Poll::Ready(Ok(10)));
    assert!(set.poll_ended(&mut context).is_pending());
    assert_eq!(set.len(), 2);
    send(11);
    send(12);
    assert_eq!(wakes.0.load(Ordering::SeqCst), 2, "one wake-up for both");
    let mut rest = Vec::new();
    while let Poll::Ready(ended) = set.poll_ended(&mut context) {
        rest.push(ended.expect("sent"));
    }
    rest.sort_unstable();
    assert_eq!(rest, [11, 12]);
    assert!(set.is_empty());
    let (sender, receiver) = oneshot::channel();
    assert_eq!(set.begin(receiver), None);
    assert_eq!(set.slots.len(), 3, "a slot is used again");
    drop(sender);
    assert!(matches!(set.poll_ended(&mut context), Poll::Ready(Err(_))));
}

#[test]
fn what_nobody_wakes_is_polled_when_asked_to_look_again() {
    let waker = Waker::from(Arc::new(CountingWaker::default()));
    let mut context = Context::from_waker(&waker);
    let is_over = std::cell::Cell::new(false);
    let until = |mark: i32| {
        let is_over = &is_over;
        std::future::poll_fn(move |_| if is_over.get() { Poll::Ready(mark) } else { Poll::Pending })
    };
    let mut set = InFlight::default();
    assert_eq!(set.begin(until(1)), None);
    assert_eq!(set.begin(until(2)), None);
    is_over.set(true);
    assert!(set.poll_ended(&mut context).is_pending(), "nobody woke them");
    set.look_again();
    let ended = [set.poll_ended(&mut context), set.poll_ended(&mut context)];
    assert!(ended.contains(&Poll::Ready(1)) && ended.contains(&Poll::Ready(2)), "{ended:?}");
    assert!(set.is_empty());
    set.look_again();
    assert!(set.poll_ended(&mut context).is_pending(), "free slots are passed over");
}
