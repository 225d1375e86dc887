//! Numbers as a reader likes them. Knows nothing of what they mean.

/// Nanoseconds as milliseconds: three decimals below one, else one.
pub fn ms(nanos: u64) -> String {
    ms_of(nanos as f64 / 1e6)
}

/// Milliseconds: three decimals below one, else one.
pub fn ms_of(ms: f64) -> String {
    if ms < 1.0 { format!("{ms:.3}") } else { format!("{ms:.1}") }
}

/// A length of time with the unit in which it is short: `85 us`, `2.8 ms`, `1.31 s`.
pub fn duration(nanos: u64) -> String {
    let value = nanos as f64;
    match nanos {
        0 => "0".to_owned(),
        1..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{} us", digits(value / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", digits(value / 1e6)),
        _ => format!("{} s", digits(value / 1e9)),
    }
}

/// Three significant digits, with commas between thousands.
pub fn digits(value: f64) -> String {
    match value.abs() {
        x if !x.is_finite() => "none".to_owned(),
        0.0 => "0".to_owned(),
        x if x < 0.01 => format!("{value:.4}"),
        x if x < 0.995 => format!("{value:.2}"),
        x if x < 9.995 => trimmed(format!("{value:.2}")),
        x if x < 99.95 => trimmed(format!("{value:.1}")),
        _ => count(value.round() as u64),
    }
}

fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count short enough for an axis: `800`, `40 K`, `1.2 M`.
pub fn short(value: f64) -> String {
    match value.abs() {
        x if x >= 999_500_000.0 => format!("{} G", digits(value / 1e9)),
        x if x >= 999_500.0 => format!("{} M", digits(value / 1e6)),
        x if x >= 10_000.0 => format!("{} K", digits(value / 1e3)),
        _ => digits(value),
    }
}

/// A percentile's name: 0.999 is `p99.9`.
pub fn percentile(quantile: f64) -> String {
    format!("p{}", trimmed(format!("{:.5}", quantile * 100.0)))
}

/// How many of how many a quantile is: 0.999 is `999 of 1,000`.
pub fn share(quantile: f64) -> String {
    let mut of = 10_u64;
    while of < 1_000_000 && ((quantile * of as f64) - (quantile * of as f64).round()).abs() > 1e-6 {
        of *= 10;
    }
    format!("{} of {}", count((quantile * of as f64).round() as u64), count(of))
}

/// `1 request`, `2 requests`.
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Microseconds since 1970 as `2026-01-01 00:00:00 UTC`.
pub fn utc(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March, in eras of 400 years; the Gregorian calendar repeats after one.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) =
        (year + era * 400 + i64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{date:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    //! Each form at its edges.
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([ms(537_400_000), ms(2_000_000), ms(412_000)], ["537.4", "2.0", "0.412"]);
        assert_eq!(
            [0, 85, 85_000, 2_800_000, 1_310_000_000].map(duration),
            ["0", "85 ns", "85 us", "2.8 ms", "1.31 s"]
        );
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([800.0, 40_000.0, 1_200_000.0, 0.0].map(short), ["800", "40 K", "1.2 M", "0"]);
        assert_eq!([0.5, 0.9, 0.999, 0.9999].map(percentile), ["p50", "p90", "p99.9", "p99.99"]);
        assert_eq!([0.5, 0.99, 0.999].map(share), ["5 of 10", "99 of 100", "999 of 1,000"]);
        assert_eq!(digits(f64::NAN), "none");
        assert_eq!(utc(1_767_225_600_000_000), "2026-01-01 00:00:00 UTC");
        assert_eq!(utc(951_868_799_000_000), "2000-02-29 23:59:59 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
    }
}
