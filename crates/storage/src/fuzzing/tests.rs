//! A short fuzzing run without a fuzzer.

use proptest::prelude::*;

use super::fuzz_one;

/// Bytes that keys and entries are made of come up more often than others.
fn byte() -> impl Strategy<Value = u8> {
    let special = proptest::sample::select(vec![
        0x00u8, 0x01, 0x02, 0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x38, 0x3E, 0x3F, 0x40, 0x41, 0x60, 0x7F,
        0x80, 0xC0, 0xFE, 0xFF,
    ]);
    prop_oneof![3 => special, 1 => any::<u8>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_bytes_are_understood_or_refused(bytes in proptest::collection::vec(byte(), 0..40)) {
        fuzz_one(&bytes);
    }
}
