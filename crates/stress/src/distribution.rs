//! Distributions of whole numbers.

mod zipfian;

pub use zipfian::Zipfian;
