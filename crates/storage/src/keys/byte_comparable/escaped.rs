//! Bytes of any length that are ordered as they are: `text`, `ascii`, `blob`, `inet`, partition
//! keys (`ByteSource.AbstractEscaper`).
//!
//! A run of `n` zeros becomes `00`, `n - 1` times `FE`, then `FF`; the end is `00`, or `FE` when
//! the last byte was a zero. So the end sorts before any continuation.

use super::{Input, KeyError, MAX_SEPARATOR, MIN_SEPARATOR};

/// Begins what is not the value itself: escaped zeros, or the end.
pub const ESCAPE: u8 = 0x00;
const ZERO_CONTINUES: u8 = 0xFE;
const ZEROS_DONE: u8 = 0xFF;

/// Appends the escaped form.
pub fn encode_escaped(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len() + 2);
    let mut rest = value;
    while let Some(zero) = rest.iter().position(|&byte| byte == 0) {
        let (plain, from_zero) = rest.split_at(zero);
        out.extend_from_slice(plain);
        let zeros = from_zero.iter().position(|&byte| byte != 0).unwrap_or(from_zero.len());
        out.push(ESCAPE);
        out.resize(out.len() + zeros - 1, ZERO_CONTINUES);
        rest = &from_zero[zeros..];
        if rest.is_empty() {
            out.push(ZERO_CONTINUES);
            return;
        }
        out.push(ZEROS_DONE);
    }
    out.extend_from_slice(rest);
    out.push(ESCAPE);
}

/// Takes an escaped value and appends it as it was.
///
/// # Errors
/// When the escapes are not those of [`encode_escaped`].
pub fn decode_escaped(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut is_escaped = false;
    loop {
        if !is_escaped {
            input.copy_until(ESCAPE, out)?;
            is_escaped = true;
        }
        // Behind an escape: zeros go on, end, or were none at all and the value ends.
        match input.peek() {
            None => return Ok(()),
            Some(ZEROS_DONE) => {
                input.take_byte()?;
                out.push(0);
                is_escaped = false;
                // A run of zeros is followed by something else: a zero would have continued it.
                if matches!(input.peek(), None | Some(ESCAPE)) {
                    return Err(KeyError::Malformed("an escaped zero ends wrongly"));
                }
            }
            Some(ZERO_CONTINUES) => {
                input.take_byte()?;
                out.push(0);
            }
            Some(separator) if (MIN_SEPARATOR..=MAX_SEPARATOR).contains(&separator) => return Ok(()),
            Some(_) => return Err(KeyError::Malformed("no separator behind an escape")),
        }
    }
}

/// The length of the escaped form at the start of `bytes`, which a separator follows; `None` when
/// it does not end.
pub fn escaped_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == ESCAPE)? + 1;
        loop {
            match *bytes.get(at)? {
                ZERO_CONTINUES => at += 1,
                ZEROS_DONE => {
                    at += 1;
                    break;
                }
                MIN_SEPARATOR..=MAX_SEPARATOR => return Some(at),
                _ => return None,
            }
        }
    }
}
