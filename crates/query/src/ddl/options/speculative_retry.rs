//! `speculative_retry` and `additional_write_policy` (`SpeculativeRetryPolicy`), brought into
//! their canonical text.

use basalt_model::CqlError;
use basalt_model::schema::SpeculativeRetry;

/// What a policy waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Percentile,
    Fixed,
}

/// Reads a policy.
///
/// # Errors
/// For anything that is none; the text names `speculative_retry` for both options, as Cassandra's.
pub fn policy(text: &str) -> Result<SpeculativeRetry, CqlError> {
    let canonical = match text.to_uppercase().as_str() {
        "ALWAYS" => "ALWAYS".to_owned(),
        "NEVER" | "NONE" => "NEVER".to_owned(),
        upper => match simple(text, text)? {
            Some((_, canonical)) => canonical,
            None => hybrid(text, upper)?,
        },
    };
    Ok(SpeculativeRetry(canonical))
}

fn invalid(text: &str) -> CqlError {
    CqlError::config(format!("Invalid value {text} for option 'speculative_retry'"))
}

/// `99p`, `99percentile`, `50ms`; `None` when it is neither.
fn simple(text: &str, whole: &str) -> Result<Option<(Kind, String)>, CqlError> {
    let lower = text.to_lowercase();
    let numeric =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percentile = lower.strip_suffix("percentile").or_else(|| lower.strip_suffix('p'));
    if let Some(number) = percentile.filter(|rest| numeric(rest)) {
        let value: f64 = number.parse().map_err(|_| invalid(whole))?;
        if value <= 0.0 || value >= 100.0 {
            return Err(CqlError::config(format!(
                "Invalid value {text} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"
            )));
        }
        return Ok(Some((Kind::Percentile, format!("{}p", four_places(value)))));
    }
    if let Some(number) = lower.strip_suffix("ms").filter(|rest| numeric(rest)) {
        let value: f64 = number.parse().map_err(|_| invalid(whole))?;
        return Ok(Some((Kind::Fixed, format!("{}ms", value as i32))));
    }
    Ok(None)
}

/// `DecimalFormat("#.####")`: at most four places, half to even, no zero before the point.
fn four_places(value: f64) -> String {
    let fixed = format!("{value:.4}");
    let short = fixed.trim_end_matches('0').trim_end_matches('.');
    match short.strip_prefix("0.") {
        Some(places) => format!(".{places}"),
        None => short.to_owned(),
    }
}

/// `MIN(99p,50ms)`, `MAX(...)`.
fn hybrid(text: &str, upper: &str) -> Result<String, CqlError> {
    let parts = upper
        .strip_prefix("MIN(")
        .map(|rest| ("MIN", rest))
        .or_else(|| upper.strip_prefix("MAX(").map(|rest| ("MAX", rest)))
        .and_then(|(function, rest)| Some((function, rest.strip_suffix(')')?)))
        .and_then(|(function, rest)| Some((function, rest.split_once(',')?)));
    let Some((function, (first, second))) = parts else { return Err(invalid(text)) };
    let part = |part: &str| simple(part.trim(), text).ok().flatten().ok_or_else(|| invalid(text));
    let (first, second) = (part(first)?, part(second)?);
    match (first.0, second.0) {
        (Kind::Percentile, Kind::Fixed) => Ok(format!("{function}({},{})", first.1, second.1)),
        (Kind::Fixed, Kind::Percentile) => Ok(format!("{function}({},{})", second.1, first.1)),
        (kind, _) => {
            let kind = if kind == Kind::Fixed { "FIXED" } else { "PERCENTILE" };
            Err(CqlError::config(format!(
                "Invalid value {text} for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type {kind}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::policy;

    #[test]
    fn policies_have_one_spelling() {
        for (given, kept) in [
            ("99PERCENTILE", "99p"),
            ("99.95p", "99.95p"),
            ("0.5p", ".5p"),
            ("none", "NEVER"),
            ("always", "ALWAYS"),
            ("20.7MS", "20ms"),
            ("min(50ms, 99p)", "MIN(99p,50ms)"),
        ] {
            assert_eq!(policy(given).unwrap().0, kept);
        }
        assert_eq!(
            policy("MIN(1ms,2ms)").unwrap_err().to_string(),
            "Invalid value MIN(1ms,2ms) for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type FIXED"
        );
        assert_eq!(
            policy("foo").unwrap_err().to_string(),
            "Invalid value foo for option 'speculative_retry'"
        );
    }
}
