//! Nothing but tests: see `tests/driver.rs`.
