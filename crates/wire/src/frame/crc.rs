//! The two checksums of a v5 frame (`net/Crc`).

/// CRC24 starts from this value (v5 §2.1).
const CRC24_INIT: u32 = 0x0087_5060;
/// CRC24's polynomial (v5 §2.1).
const CRC24_POLYNOMIAL: u32 = 0x0197_4f0b;
/// Four bytes go into every CRC32 before the payload. The specification does not mention them.
const CRC32_SEED: [u8; 4] = [0xfa, 0x2d, 0x55, 0xca];

/// CRC24 of the low `len` bytes of `bytes`, lowest byte first (v5 §2.1).
pub fn crc24(bytes: u64, len: u32) -> u32 {
    let mut crc = CRC24_INIT;
    for byte in bytes.to_le_bytes().into_iter().take(len as usize) {
        crc ^= u32::from(byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= CRC24_POLYNOMIAL;
            }
        }
    }
    crc
}

/// CRC32 of a payload as it travels, seed bytes included.
pub fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&CRC32_SEED);
    hasher.update(payload);
    hasher.finalize()
}
