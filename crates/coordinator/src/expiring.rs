//! Answers that are not waited for longer than their deadline. Sets no timer: whoever polls a request
//! polls it again now and then while it waits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use basalt_model::Deadline;
use basalt_model::env::Env;

use crate::{ReplicaError, Reply};

/// How long replicas are waited for, milliseconds: `cassandra.yaml`'s settings of these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// `read_request_timeout`.
    pub read_ms: u64,
    /// `range_request_timeout`.
    pub range_ms: u64,
    /// `write_request_timeout`.
    pub write_ms: u64,
    /// `counter_write_request_timeout`.
    pub counter_write_ms: u64,
    /// `truncate_request_timeout`.
    pub truncate_ms: u64,
}

/// A reply, or [`ReplicaError::TimedOut`] at the first poll behind the deadline. The late answer finds
/// nobody and is dropped.
pub(crate) struct Expiring<'a, T> {
    pub(crate) reply: Reply<T>,
    pub(crate) deadline: Deadline,
    /// `None`: it is waited for without end.
    pub(crate) env: Option<&'a dyn Env>,
    pub(crate) has_waited: bool,
}

impl<T> Future for Expiring<'_, T> {
    type Output = Result<T, ReplicaError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(answer) = Pin::new(&mut this.reply).poll(context) {
            return Poll::Ready(answer);
        }
        // The first poll follows the question at once: the clock need not be asked.
        let has_waited = std::mem::replace(&mut this.has_waited, true);
        match this.env {
            Some(env) if has_waited && this.deadline.has_passed(env) => {
                Poll::Ready(Err(ReplicaError::TimedOut))
            }
            _ => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests;
