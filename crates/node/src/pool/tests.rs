//! Work is done once, the queue is bounded, a panic ends one piece only.

use std::sync::mpsc::sync_channel;

use super::*;
use crate::env::SystemEnv;

fn pool(threads: usize) -> Pool {
    Pool::new("test", Arc::new(SystemEnv::new()), threads)
}

#[test]
fn work_is_done_and_counted() {
    let pool = pool(3);
    let (sender, receiver) = sync_channel(100);
    for number in 0..100 {
        let sender = sender.clone();
        pool.run(move || sender.send(number).expect("room")).expect("taken");
    }
    let mut done: Vec<i32> = (0..100).map(|_| receiver.recv().expect("done")).collect();
    done.sort_unstable();
    assert_eq!(done, (0..100).collect::<Vec<_>>());
    pool.close();
    assert_eq!(pool.stats().completed, 100);
    assert_eq!(pool.run(|| ()), Err(PoolError::Closed));
}

#[test]
fn a_full_queue_says_so() {
    let pool = pool(1);
    let (go, wait) = sync_channel::<()>(0);
    let (started, running) = sync_channel(1);
    pool.run(move || {
        started.send(()).expect("heard");
        wait.recv().expect("told to go on");
    })
    .expect("taken");
    running.recv().expect("the thread is busy");
    for _ in 0..QUEUED_PER_THREAD {
        pool.run(|| ()).expect("queued");
    }
    assert_eq!(pool.run(|| ()), Err(PoolError::Full));
    assert_eq!(pool.stats().refused, 1);
    go.send(()).expect("waiting");
    pool.close();
    assert_eq!(pool.stats().completed, 1 + QUEUED_PER_THREAD as u64);
}

#[test]
fn a_panic_does_not_end_the_thread() {
    let pool = pool(1);
    pool.run(|| panic!("on purpose")).expect("taken");
    let (sender, receiver) = sync_channel(1);
    pool.run(move || sender.send(7).expect("room")).expect("taken");
    assert_eq!(receiver.recv(), Ok(7));
}
