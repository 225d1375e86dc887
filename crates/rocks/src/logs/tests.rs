//! A log is written as RocksDB frames it, and cut at every byte.

use std::io::Cursor;

use super::*;

/// Records of these lengths; where each is.
fn log(lengths: &[usize]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for &length in lengths {
        let (mut left, mut is_first, mut start) = (length, true, 0);
        loop {
            let room = BLOCK as usize - bytes.len() % BLOCK as usize;
            if room < HEADER as usize {
                bytes.extend(std::iter::repeat_n(0, room));
                continue;
            }
            if is_first {
                start = bytes.len();
            }
            let piece = left.min(room - HEADER as usize);
            let kind = match (is_first, piece == left) {
                (true, true) => 1,
                (true, false) => 2,
                (false, false) => 3,
                (false, true) => 4,
            };
            bytes.extend([9, 9, 9, 9]);
            bytes.extend((piece as u16).to_le_bytes());
            bytes.push(kind);
            bytes.extend(std::iter::repeat_n(7, piece));
            left -= piece;
            is_first = false;
            if left == 0 {
                break;
            }
        }
        places.push((start, bytes.len()));
    }
    (bytes, places)
}

#[test]
fn a_cut_is_found_wherever_it_is() {
    let block = BLOCK as usize;
    let cases: [&[usize]; 4] =
        [&[100, 200, 300], &[block - 7, 10], &[block - 7 - 3, 10, block], &[10, 3 * block, 50]];
    for lengths in cases {
        let (whole, places) = log(lengths);
        for cut in 1..=whole.len() {
            // Records in the middle of a block have nothing new.
            let is_interesting = cut % block < 600 || cut % block > block - 600 || cut > whole.len() - 600;
            if !is_interesting {
                continue;
            }
            let found = end_of(&mut Cursor::new(&whole[..cut]), cut as u64).expect("in memory");
            let record = places.iter().find(|(start, end)| *start < cut && cut < *end);
            let expected = record.map(|(start, _)| (*start as u64, (cut - start) as u64));
            assert_eq!(found, expected, "{lengths:?} cut at {cut} of {}", whole.len());
        }
    }
}

#[test]
fn what_was_reserved_behind_the_last_record_is_no_record() {
    let (mut bytes, _) = log(&[100, 200]);
    bytes.extend(vec![0; 3 * BLOCK as usize]);
    let length = bytes.len() as u64;
    assert_eq!(end_of(&mut Cursor::new(&bytes), length).expect("in memory"), None);
}
