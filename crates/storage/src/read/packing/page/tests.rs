//! A page is what `pack` makes of the same values.

use basalt_model::packed::pack;

use super::*;

#[test]
fn values_of_every_length_at_every_place() {
    let source: Vec<u8> = (0..=255).collect();
    let (mut page, mut expected) = (PageBuffer::default(), Vec::new());
    for length in 0..48usize {
        for start in [0, 1, 200, source.len() - length] {
            page.put(&source, Part { start, length: i32::try_from(length).unwrap() });
            pack(Some(&source[start..start + length]), &mut expected);
        }
        page.put(&source, Part::ABSENT);
        pack(None, &mut expected);
        if length == 7 {
            page.reserve(1000);
        }
        assert_eq!(page.len(), expected.len());
    }
    page.put(&source, Part::all(&source));
    pack(Some(&source), &mut expected);
    assert_eq!(page.into_bytes(), expected);
}

#[test]
fn a_long_value_finds_room() {
    let source = vec![9; 100_000];
    let mut page = PageBuffer::default();
    page.put(&source, Part::all(&source));
    page.put(&[], Part::all(&[]));
    let mut expected = Vec::new();
    pack(Some(&source), &mut expected);
    pack(Some(&[]), &mut expected);
    assert_eq!(page.into_bytes(), expected);
}
