//! Latencies as a document carries them: HdrHistogram's compressed V2 form in base64, as in a line
//! of a `.hlog`. Decoding trusts nothing: what a text may make us reserve is bounded beforehand.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// The longest latency told apart: an hour, in nanoseconds.
pub const LONGEST_NANOS: u64 = 3_600_000_000_000;

/// Bytes of the largest compressed histogram taken: with our bounds, 34 thousand counts of at most
/// nine bytes.
const PACKED_MAX: usize = 512 * 1024;

/// HdrHistogram's mark of its compressed second form.
const COMPRESSED_COOKIE: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();

/// Bytes of the second form before its counts.
const HEADER_BYTES: usize = 40;

/// A histogram of nanoseconds, up to an hour, three digits. In JSON it is a [`Packed`].
#[derive(Clone, Debug, PartialEq)]
pub struct Latency(pub Histogram<u64>);

/// A [`Latency`] at rest: some hundred bytes instead of some hundred thousand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Packed(Vec<u8>);

/// Why bytes are no latency of ours.
#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    /// Not base64.
    #[error("a histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Longer than any of ours.
    #[error("a histogram is longer than {PACKED_MAX} bytes")]
    TooLong,
    /// Not the compressed form, or damaged.
    #[error("a histogram is damaged: {0}")]
    Damaged(String),
    /// Of another range or precision.
    #[error("a histogram has {digits} digits and {low} to {high} ns; up to 3 digits and an hour are read")]
    Bounds {
        /// Significant digits.
        digits: u32,
        /// The smallest value told apart.
        low: u64,
        /// The largest value.
        high: u64,
    },
}

impl Default for Latency {
    fn default() -> Latency {
        Latency(
            Histogram::new_with_bounds(1, LONGEST_NANOS, 3)
                .expect("the bounds are constants hdrhistogram accepts"),
        )
    }
}

impl Latency {
    /// Adds a latency; one beyond an hour counts as an hour.
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos.max(1));
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Latency) {
        self.0.add(&other.0).expect("all latencies have the same bounds");
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that a fraction `quantile` of them do not exceed; 0 when there are none.
    pub fn at(&self, quantile: f64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.value_at_quantile(quantile) }
    }

    /// How many are longer than `nanos`, as far as three digits tell.
    pub fn above(&self, nanos: u64) -> u64 {
        self.0.len() - self.0.count_between(0, nanos.min(LONGEST_NANOS))
    }
}

impl From<&Latency> for Packed {
    fn from(latency: &Latency) -> Packed {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&latency.0, &mut bytes)
            .expect("writing to a Vec never fails, and our bounds fit the form");
        Packed(bytes)
    }
}

impl Packed {
    /// The histogram. [`Packed`] holds only bytes that were looked at, so that this cannot fail.
    pub fn unpack(&self) -> Latency {
        if self.0.is_empty() { Latency::default() } else { decode(&self.0).unwrap_or_default() }
    }

    /// As in a line of a `.hlog`.
    pub fn base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

impl TryFrom<String> for Packed {
    type Error = LatencyError;

    fn try_from(text: String) -> Result<Packed, LatencyError> {
        if text.len() > PACKED_MAX * 2 {
            return Err(LatencyError::TooLong);
        }
        let bytes = STANDARD.decode(text)?;
        if !bytes.is_empty() {
            decode(&bytes)?;
        }
        Ok(Packed(bytes))
    }
}

impl From<Packed> for String {
    fn from(packed: Packed) -> String {
        packed.base64()
    }
}

impl Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Packed::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
        Ok(Packed::deserialize(deserializer)?.unpack())
    }
}

/// Inflates no more than the largest of ours and looks at the header before the library reserves
/// what the header asks for.
fn decode(bytes: &[u8]) -> Result<Latency, LatencyError> {
    let damaged = |what: &str| LatencyError::Damaged(what.to_owned());
    let body = bytes.strip_prefix(&COMPRESSED_COOKIE).ok_or_else(|| damaged("not HdrHistogram's V2"))?;
    let deflated = body.get(4..).ok_or_else(|| damaged("it ends early"))?;
    let mut plain = Vec::new();
    ZlibDecoder::new(deflated)
        .take(PACKED_MAX as u64 + 1)
        .read_to_end(&mut plain)
        .map_err(|error| LatencyError::Damaged(error.to_string()))?;
    if plain.len() > PACKED_MAX {
        return Err(LatencyError::TooLong);
    }
    let field =
        |at: usize| plain.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    let long = |at: usize| Some(u64::from(field(at)?) << 32 | u64::from(field(at + 4)?));
    let (Some(length), Some(digits), Some(low), Some(high)) = (field(4), field(12), long(16), long(24))
    else {
        return Err(damaged("it ends early"));
    };
    if length as usize != plain.len().saturating_sub(HEADER_BYTES) {
        return Err(damaged("its length is not what it says"));
    }
    if digits > 3 || low == 0 || high > LONGEST_NANOS {
        return Err(LatencyError::Bounds { digits, low, high });
    }
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut plain.as_slice())
        .map_err(|error| LatencyError::Damaged(error.to_string()))?;
    // Sums stop at the largest number instead of going round; one that is there is no sum.
    if histogram.len() == u64::MAX {
        return Err(damaged("its counts are too many"));
    }
    if (digits, low, high) == (3, 1, LONGEST_NANOS) {
        return Ok(Latency(histogram));
    }
    let mut latency = Latency::default();
    latency.0.add(&histogram).map_err(|error| LatencyError::Damaged(error.to_string()))?;
    Ok(latency)
}

#[cfg(test)]
mod tests;
