//! What every engine must do, as functions that panic when it does not. Each takes an engine that
//! is empty and open. For tests of this crate and of `rocks`.
