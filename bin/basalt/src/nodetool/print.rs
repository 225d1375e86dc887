//! How nodetool prints sizes and tables, and reads durations.

use std::fmt::Write;

/// A size in binary units with at most two digits behind the point, rounded to even (`FileUtils.stringifyFileSize`).
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return format!("{bytes} bytes");
    };
    // Exact: a size divided by a power of two, and Rust rounds halves to even as Java's DecimalFormat does.
    let text = format!("{:.2}", bytes as f64 / unit as f64);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Rows in columns as wide as their widest cell, a space between them (`TableBuilder`).
pub fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count().max(1)).max().unwrap_or(1)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, width) in widths.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            let space = if column + 1 < columns { " " } else { "" };
            // A String never refuses what is written to it.
            let _ = write!(text, "{cell:width$}{space}");
        }
        text.push('\n');
    }
    text
}

/// A duration with its unit, such as `90m`, in seconds (`DurationSpec`).
///
/// # Errors
/// In Cassandra's words.
pub fn seconds(text: &str) -> Result<i64, String> {
    const UNITS: [(&str, i64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let known = UNITS.into_iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(unit)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        number.parse::<i64>().ok().filter(|_| is_number)?.checked_mul(seconds)
    });
    known.ok_or_else(|| {
        format!("Invalid duration: {text} Accepted units:[SECONDS, MINUTES, HOURS, DAYS] where case matters and only non-negative values.")
    })
}

#[cfg(test)]
mod tests {
    //! As Cassandra prints them.
    use super::*;

    #[test]
    fn sizes_have_two_digits_at_most() {
        let known = [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1 KiB"),
            (5_171, "5.05 KiB"),
            (1_536, "1.5 KiB"),
        ];
        for (bytes, text) in known {
            assert_eq!(size(bytes), text);
        }
        assert_eq!((size(3 << 30), size(1 << 40)), ("3 GiB".to_owned(), "1 TiB".to_owned()));
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".to_owned(), String::new()], vec!["bcd".to_owned(), "e".to_owned()]];
        assert_eq!(table(&rows), "a    \nbcd e\n");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!((seconds("90m"), seconds("2d"), seconds("0s")), (Ok(5_400), Ok(172_800), Ok(0)));
        for wrong in ["", "5", "-5s", "5x", "99999999999999999999s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
