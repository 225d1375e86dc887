//! Reading a page at a time: the state a client carries (`state`) and the reads that continue from
//! it (`pager`).

pub(crate) mod pager;
pub mod state;
