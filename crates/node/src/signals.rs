//! The operating system's word that the process is to end: SIGTERM and SIGINT; or the disk's, that something is.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::disk::Verdict;

/// What is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The process is to end, for the signal of this name.
    End(&'static str),
    /// The disk failed.
    Disk(Verdict),
}

/// SIGTERM and SIGINT, caught from the moment this is made.
pub struct Signals {
    runtime: Runtime,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on these signals do not kill the process.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn catch() -> io::Result<Signals> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        drop(entered);
        Ok(Signals { runtime, terminate, interrupt })
    }

    /// Waits for one of them, which is named, or for a new verdict on the disk.
    pub fn wait(&mut self, verdict: &mut watch::Receiver<Verdict>) -> Word {
        let ended = ended(&mut self.terminate, &mut self.interrupt);
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                signal = ended => Word::End(signal),
                Ok(()) = verdict.changed() => Word::Disk(*verdict.borrow_and_update()),
            }
        })
    }

    /// Waits for one of them, which is named.
    pub fn wait_for_end(&mut self) -> &'static str {
        self.runtime.block_on(ended(&mut self.terminate, &mut self.interrupt))
    }
}

/// The name of the signal that comes.
async fn ended(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        biased;
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
