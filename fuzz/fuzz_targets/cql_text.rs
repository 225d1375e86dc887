//! CQL text: no panic, and what was parsed prints to text that parses to the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| basalt_cql::fuzzing::fuzz_one(data));
