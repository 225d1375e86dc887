//! Rubbish thrown at a node over many connections: frames that are random, mutated, cut short, or whole and absurd.
//!
//! It judges what a node may do on such a connection: answer, with bytes of the protocol, or close. It never hangs.

mod assailant;
mod corpus;
mod frames;

pub use assailant::{Assailant, Tally};
pub use corpus::{Corpus, create_tables};
