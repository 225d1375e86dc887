//! A worker's one timer: wakes within microseconds of a moment, where the runtime's own wakes within
//! a millisecond. Knows nothing of what is due.

use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// Linux's timer as a file.
pub struct Timer {
    file: AsyncFd<OwnedFd>,
}

impl Timer {
    /// One that is not set.
    ///
    /// # Errors
    /// As the operating system says. Must be called on a runtime.
    pub fn new() -> std::io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let file = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // It would be wrong for a file that somebody else may close; this one is owned.
        #[expect(deprecated, reason = "its successor is unsafe, which this crate does without")]
        let file = AsyncFd::new(file)?;
        Ok(Timer { file })
    }

    /// Wakes whoever polls in `nanos`, at least one.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn set(&self, nanos: u64) -> std::io::Result<()> {
        let nanos = nanos.max(1);
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000).cast_signed(),
            tv_nsec: (nanos % 1_000_000_000).cast_signed(),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(self.file.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Has the task woken when the time comes; whether it has come. Setting it again empties the file: it
    /// need not be read.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn watch(&self, context: &mut Context<'_>) -> std::io::Result<bool> {
        let mut has_come = false;
        while let Poll::Ready(ready) = self.file.poll_read_ready(context) {
            ready?.clear_ready();
            has_come = true;
        }
        Ok(has_come)
    }
}
