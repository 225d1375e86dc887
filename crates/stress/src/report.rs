//! What a run leaves to read, made from its [`crate::outcome::Outcome`] alone: text, tables, charts,
//! one page. Measures nothing.

pub mod chart;
pub mod charts;
pub mod csv;
pub mod html;
pub mod live;
mod own_times;
mod standing;
mod text;
pub mod words;

pub use live::Live;
pub use standing::{Standing, is_known, samples_for};
pub use text::{text, text_with};
