//! Months added to a moment as `java.util.GregorianCalendar` adds them: days up to 4 October 1582
//! are of the Julian calendar, the next one is 15 October of the Gregorian, and the years before
//! year 1 count backwards. Does not know what the moments are for.

use crate::literals::calendar::{date_from_days, days_from_date, month_length};

/// Milliseconds of a day.
pub(super) const MS_PER_DAY: i64 = 86_400_000;
/// 15 October 1582, the first Gregorian day, in days since 1970.
const FIRST_GREGORIAN_DAY: i64 = -141_427;
const FIRST_GREGORIAN_YEAR: i64 = 1582;
/// Days from 1 March of the Julian year 0 to 1970-01-01.
const JULIAN_DAYS_TO_1970: i64 = 719_470;
const DAYS_PER_FOUR_YEARS: i64 = 1461;

/// Year, month and day; year 0 is the one before year 1.
fn date_of(days: i64) -> (i64, i64, i64) {
    if days >= FIRST_GREGORIAN_DAY {
        return date_from_days(days);
    }
    let shifted = days + JULIAN_DAYS_TO_1970;
    let cycle = shifted.div_euclid(DAYS_PER_FOUR_YEARS);
    let day_of_cycle = shifted.rem_euclid(DAYS_PER_FOUR_YEARS);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1460) / 365;
    let day_of_year = day_of_cycle - 365 * year_of_cycle;
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (cycle * 4 + year_of_cycle + i64::from(month <= 2), month, day)
}

/// Days since 1970 of a date. Days that the reform left out are read as Julian ones.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let gregorian = days_from_date(year, month, day);
    if gregorian >= FIRST_GREGORIAN_DAY {
        return gregorian;
    }
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    shifted_year * 365 + shifted_year.div_euclid(4) + day_of_year - JULIAN_DAYS_TO_1970
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if year < FIRST_GREGORIAN_YEAR => 28 + i64::from(year.rem_euclid(4) == 0),
        _ => month_length(year, month),
    }
}

/// The moment some months later, on the same day or the last one of a shorter month. In the year of
/// the reform a day that the month does not have is one of the next month.
pub(super) fn add_months(unix_ms: i64, months: i32) -> i64 {
    let (year, month, day) = date_of(unix_ms.div_euclid(MS_PER_DAY));
    // Java adds in 32 bits.
    let month = i64::from(i32::try_from(month - 1).unwrap_or_default().wrapping_add(months));
    let (year, month) = (year + month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = if year == FIRST_GREGORIAN_YEAR { day } else { day.min(length(year, month)) };
    let days = days_of(year, month, day);
    days.wrapping_mul(MS_PER_DAY).wrapping_add(unix_ms.rem_euclid(MS_PER_DAY))
}

/// The year as it is written, before year 1 as after it, and the month from 0.
pub(super) fn year_and_month(unix_ms: i64) -> (i64, i64) {
    let (year, month, _) = date_of(unix_ms.div_euclid(MS_PER_DAY));
    (if year > 0 { year } else { 1 - year }, month - 1)
}

#[cfg(test)]
mod tests {
    use super::{FIRST_GREGORIAN_DAY, date_of, days_of};

    #[test]
    fn the_reform_left_out_ten_days() {
        assert_eq!(date_of(FIRST_GREGORIAN_DAY), (1582, 10, 15));
        assert_eq!(date_of(FIRST_GREGORIAN_DAY - 1), (1582, 10, 4));
        assert_eq!(days_of(1582, 10, 10), days_of(1582, 10, 20));
    }

    #[test]
    fn dates_and_days_are_inverse() {
        for days in (-1_500_000..400_000).step_by(61) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month, day), days, "{year}-{month}-{day}");
        }
    }
}
