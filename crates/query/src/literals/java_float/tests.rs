//! Texts of floats and doubles against what Java printed.

use super::{java_double, java_float};
use crate::testing::golden;

#[test]
fn texts_are_javas() {
    let recorded = golden("float_texts.txt");
    let mut lines = 0;
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let ours = match fields[..] {
            ["double", bits, _] => java_double(f64::from_bits(u64::from_str_radix(bits, 16).unwrap())),
            [_, bits, _] => java_float(f32::from_bits(u32::from_str_radix(bits, 16).unwrap())),
            _ => panic!("not a recorded line: {line}"),
        };
        assert_eq!(ours, fields[2], "{line}");
        lines += 1;
    }
    assert!(lines > 1_500, "only {lines} lines");
}
