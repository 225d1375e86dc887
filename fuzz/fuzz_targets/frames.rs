//! Bytes of a client or a server: frames, envelopes, messages, in every version and compression.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| basalt_wire::fuzzing::fuzz_one(data));
