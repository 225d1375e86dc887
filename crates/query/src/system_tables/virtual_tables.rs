//! The tables that are computed when read.
