//! Orders and formats of Java's library that show in Cassandra's answers: the iteration order of
//! a `HashMap` of strings, `Double.toString`.

/// `String.hashCode`.
fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `ByteBuffer.hashCode`.
fn bytes_hash(text: &str) -> i32 {
    text.bytes().rev().fold(1i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)))
}

/// The order in which a Java `HashMap` that got `keys` in this order iterates. `expected` is the
/// number of entries it was made for (`new HashMap<>(otherMap)`), 0 for one that grew.
pub fn hash_order<'a>(keys: &[&'a str], expected: usize) -> Vec<&'a str> {
    by_bucket(keys, expected, string_hash)
}

/// The same for a map keyed by the texts' bytes, read from rows: filled once as it grew, then
/// copied.
pub fn bytes_hash_order<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    by_bucket(&by_bucket(keys, 0, bytes_hash), keys.len(), bytes_hash)
}

/// Buckets keep the order of insertion; that holds as long as no bucket has become a tree, which
/// needs 64 buckets and eight keys in one of them.
fn by_bucket<'a>(keys: &[&'a str], expected: usize, hash: fn(&str) -> i32) -> Vec<&'a str> {
    let mut buckets = 16usize;
    if expected > 0 {
        // tableSizeFor(expected / 0.75 + 1)
        buckets = (expected * 4 / 3 + 1).next_power_of_two();
    }
    while keys.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    let bucket = |key: &str| {
        let hash = hash(key) as u32;
        (hash ^ (hash >> 16)) as usize & (buckets - 1)
    };
    let mut ordered = keys.to_vec();
    ordered.sort_by_key(|key| bucket(key));
    ordered
}

/// `{a=b}` sets print as `[a, b]` (`AbstractCollection.toString`).
pub fn bracketed(keys: &[&str]) -> String {
    format!("[{}]", keys.join(", "))
}

/// `Double.toString`: at least one digit behind the point, `E` outside of 10^-3 to 10^7.
pub fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let magnitude = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&magnitude) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_java_does() {
        for (value, text) in [
            (0.01, "0.01"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (1e-5, "1.0E-5"),
            (1.5e10, "1.5E10"),
            (123456.7, "123456.7"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn maps_iterate_by_bucket() {
        // "dc1".hashCode() is 0x18392, which falls into bucket 3; "dc2" into 2. "Aa" and "BB" collide.
        assert_eq!(hash_order(&["dc1", "dc2"], 0), ["dc2", "dc1"]);
        assert_eq!(hash_order(&["BB", "Aa"], 0), ["BB", "Aa"]);
    }
}
