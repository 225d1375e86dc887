//! The tables every Cassandra has: their definitions, the rows that describe this node, and those
//! that are computed when read. Does not know how rows are stored.

pub mod definitions;
pub mod facts;
pub mod local;
pub mod views;
pub mod virtual_tables;

pub use definitions::kind_of;
pub use facts::NodeFacts;
pub use views::{ClientView, NodeViews, SettingView, ThreadPoolView, ViewRow, ViewValue};
