//! The tables every Cassandra has: their definitions, the rows that describe this node, and those
//! that are computed when read. Does not know how rows are stored.

pub mod facts;
pub mod views;

pub use facts::NodeFacts;
pub use views::{ClientView, NodeViews, SettingView, ThreadPoolView};
