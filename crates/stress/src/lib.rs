//! The load generator: sends requests at the moments a plan says, whatever the server does, and
//! counts each latency from the intended moment, so that no wait is omitted.
//!
//! In the order a run meets them: [`workload`] (what is asked), [`schedule`] (when), [`session`]
//! (one connection), [`run`] (sending and receiving), [`record`] (histograms), [`report`] (what is
//! printed). It knows the native protocol through `basalt-wire` and nothing of any server.

pub mod record;
pub mod report;
pub mod run;
pub mod schedule;
pub mod session;
pub mod workload;
