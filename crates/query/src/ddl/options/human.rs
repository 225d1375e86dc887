//! Sizes as people write them: `1GiB`, `512 MiB`, `1.5GB`, `2*2^20B`
//! (`FBUtilities.parseHumanReadable` with the unit `B`).

/// Prefixes of units; the space has no effect, each step away from it is a factor.
const PREFIXES: &str = "qryzafpnum KMGTPEZYRQ";
const NO_PREFIX: i32 = 10;

/// The number of bytes.
///
/// # Errors
/// The words of the exception's message; `null` where it has none.
pub fn human_bytes(text: &str) -> Result<f64, String> {
    let Some(body) = text.strip_suffix('B') else {
        return Err(format!("{text} does not end in unit B"));
    };
    let (mut value, has_exponent, mut rest) = number(body).ok_or_else(|| "null".to_owned())?;
    if !has_exponent && let Some((power, behind)) = binary_exponent(rest) {
        value *= 2f64.powi(power);
        rest = behind;
    }
    rest = rest.trim_start();
    if let Some((prefix, behind)) =
        rest.chars().next().and_then(|first| Some((PREFIXES.find(first)?, &rest[first.len_utf8()..])))
    {
        // As many as there are prefixes.
        let steps = i32::try_from(prefix).unwrap_or(NO_PREFIX) - NO_PREFIX;
        (value, rest) = match behind.strip_prefix('i') {
            Some(behind) => (value * 1024f64.powi(steps), behind),
            None => (value * 1000f64.powi(steps), behind),
        };
    }
    if !rest.is_empty() {
        let end = body.chars().count();
        let position = end - rest.chars().count();
        return Err(format!("Unexpected characters between pos {position} and {end} in {text}"));
    }
    Ok(value)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn sign(text: &str) -> usize {
    usize::from(text.starts_with(['+', '-']))
}

/// The number at the start, whether it has a decimal exponent, and what follows.
fn number(text: &str) -> Option<(f64, bool, &str)> {
    if let Some(rest) = text.strip_prefix("NaN") {
        return Some((f64::NAN, false, rest));
    }
    let signed = sign(text);
    if let Some(rest) = text[signed..].strip_prefix("Infinity") {
        let value = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return Some((value, false, rest));
    }
    let whole = digits(&text[signed..]);
    if whole == 0 {
        return None;
    }
    let mut end = signed + whole;
    if let Some(fraction) = text[end..].strip_prefix('.')
        && digits(fraction) > 0
    {
        end += 1 + digits(fraction);
    }
    let mut has_exponent = false;
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
        let length = sign(exponent) + digits(&exponent[sign(exponent)..]);
        if length > sign(exponent) {
            has_exponent = true;
            end += 1 + length;
        }
    }
    Some((text[..end].parse().ok()?, has_exponent, &text[end..]))
}

/// `*2^20` and what follows.
fn binary_exponent(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix("*2^")?;
    let length = sign(rest) + digits(&rest[sign(rest)..]);
    Some((rest[..length].parse().ok()?, &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("5B", 5.0),
            ("1KiB", 1024.0),
            ("1 MiB", 1_048_576.0),
            ("1.5kB", f64::NAN),
            ("2e3B", 2000.0),
            ("-1MiB", -1_048_576.0),
            ("1*2^10B", 1024.0),
            ("3KB", 3000.0),
        ] {
            match human_bytes(text) {
                Ok(value) => assert_eq!(value, bytes, "{text}"),
                Err(_) => assert!(bytes.is_nan(), "{text}"),
            }
        }
        assert_eq!(human_bytes("x"), Err("x does not end in unit B".to_owned()));
        assert_eq!(human_bytes("xB"), Err("null".to_owned()));
        assert_eq!(human_bytes("1xB"), Err("Unexpected characters between pos 1 and 2 in 1xB".to_owned()));
    }
}
