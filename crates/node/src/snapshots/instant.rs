//! Moments as Java prints and reads them (`Instant`): `2026-11-22T03:19:55.668Z`.

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Milliseconds since 1970 as text; without a fraction when there is none.
pub fn format(millis: i64) -> String {
    let (year, month, day) = date(millis.div_euclid(MILLIS_PER_DAY));
    let of_day = millis.rem_euclid(MILLIS_PER_DAY);
    let (seconds, fraction) = (of_day / 1_000, of_day % 1_000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:03}") };
    format!("{year:04}-{month:02}-{day:02}T{time}{fraction}Z")
}

/// Reads what [`format`] prints, with any number of digits behind the point; `None` for anything else.
pub fn parse(text: &str) -> Option<i64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, separator| -> Option<[i64; 3]> {
        let mut parts = text.split(separator).map(|part| {
            let is_number = (2..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<i64>().ok()).flatten()
        });
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(numbers)
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let ([year, month, day], [hour, minute, second]) = (numbers(day, '-')?, numbers(time, ':')?);
    let days = days(year, month, day);
    let is_digits = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if date(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 || !is_digits {
        return None;
    }
    let millis = format!("{fraction:0<9}").get(..3)?.parse::<i64>().ok()?;
    Some(days * MILLIS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1_000 + millis)
}

/// Year, month and day of a day since 1970, in the Gregorian calendar: years begin in March, eras have 400 years.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The other way.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    //! Texts as Java's `Instant` prints them.
    use super::*;

    #[test]
    fn moments_are_printed_and_read() {
        let known = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_670_062_530_000, "2022-12-03T10:15:30Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_102_444_800_010, "2100-01-01T00:00:00.010Z"),
        ];
        for (millis, text) in known {
            assert_eq!((format(millis).as_str(), parse(text)), (text, Some(millis)));
        }
        assert_eq!(parse("2022-12-03T10:15:30.5Z"), Some(1_670_062_530_500));
        for wrong in ["", "2022-12-03", "2022-02-30T00:00:00Z", "2022-12-03T24:00:00Z", "2022-12-03T10:15:30"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
