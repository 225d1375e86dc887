//! Unsigned vints (v5 §3, `utils/vint/VIntCoding`): as many leading ones in the first byte as
//! bytes follow.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Appends the shortest form of `value`.
pub(super) fn put(out: &mut BytesMut, value: u64) {
    let bits = 64 - (value | 1).leading_zeros();
    let extra = (bits - 1) / 7;
    if extra >= 8 {
        out.put_u8(0xff);
        out.put_u64(value);
        return;
    }
    // The ones take `extra` bits, a zero one more; the value has the rest.
    let ones = !(0xff_u64 >> extra) & 0xff;
    let first = ones << (8 * extra);
    out.put_uint(value | first, extra as usize + 1);
}

/// Takes one off the front of `bytes`; longer forms than needed are read, too.
pub(super) fn take(bytes: &mut Bytes) -> Option<u64> {
    let first = bytes.try_get_u8().ok()?;
    let extra = first.leading_ones();
    let mut value = if extra >= 8 { 0 } else { u64::from(first) & (0xff >> extra) };
    for _ in 0..extra {
        value = value << 8 | u64::from(bytes.try_get_u8().ok()?);
    }
    Some(value)
}
