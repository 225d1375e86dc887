//! The load generator: sends requests at the moments a plan says, whatever the server does, and
//! counts each latency from the intended moment, so that no wait is omitted.
//!
//! [`workload`] is what is asked, [`outcome`] the document that a run leaves behind and that all
//! reports are made from. It knows the native protocol through `basalt-wire` and nothing of any
//! server.

pub mod client;
pub mod compare;
pub mod distribution;
pub mod hiccup;
pub mod hlog;
mod host;
pub mod null_server;
pub mod outcome;
pub mod plan;
pub mod random;
pub mod read_back;
pub mod record;
pub mod report;
pub mod run;
pub mod schema;
pub mod search;
pub mod selftest;
pub mod server;
pub mod simulation;
pub mod verdict;
pub mod verify;
pub mod workload;
