//! A running node: listener, connections, reactors, configuration, limits, start and drain. The only
//! crate, besides the load generator, that opens sockets. It is handed an engine and does not know
//! which; what statements mean is `query`'s matter, what messages look like `wire`'s.

pub mod admin;
mod alike;
pub mod auth;
pub mod clients;
pub mod config;
mod connection;
mod context;
pub mod disk;
pub mod env;
mod exposition;
mod flushing;
mod handshake;
mod in_flight;
pub mod limits;
pub mod listener;
mod local_replica;
pub mod log;
pub mod metrics;
pub mod node;
pub mod pool;
mod purging;
mod push;
mod reactor;
mod requests;
mod scratch;
pub mod signals;
pub mod snapshots;
pub mod table_metrics;
mod table_storage;
mod trace;
mod turn;
mod views;
mod watching;
