//! Cells, deletions and rows as the vectors spell them.

use basalt_model::deletion::NO_DELETION_TIME;
use basalt_model::{Cell, Clustering, ColumnId, Deletion, Liveness, Row};
use bytes::Bytes;

use crate::testing::unhex;

fn time(text: &str) -> i64 {
    if text == "none" { NO_DELETION_TIME } else { text.parse().unwrap() }
}

/// `timestamp:local time`, or `live`.
pub fn deletion(text: &str) -> Deletion {
    match text.split_once(':') {
        Some((timestamp, local)) => {
            Deletion { timestamp: timestamp.parse().unwrap(), local_time_s: time(local) }
        }
        None => Deletion::LIVE,
    }
}

/// `timestamp:ttl:local deletion time:value`.
pub fn cell(column: ColumnId, path: Option<Bytes>, text: &str) -> Cell {
    let parts: Vec<&str> = text.split(':').collect();
    Cell {
        column,
        path,
        timestamp: parts[0].parse().unwrap(),
        ttl_s: parts[1].parse().unwrap(),
        local_deletion_time_s: time(parts[2]),
        value: unhex(parts[3]),
    }
}

/// Parts behind spaces, in order of columns.
pub fn row_of(clustering: Clustering, text: &str, column_named: impl Fn(&str) -> ColumnId) -> Row {
    let mut row = Row::new(clustering);
    for part in text.split(' ').filter(|part| !part.is_empty() && *part != "empty") {
        let (name, value) = part.split_once('=').unwrap();
        match name {
            "live" => {
                let parts: Vec<&str> = value.split(':').collect();
                row.liveness = Liveness {
                    timestamp: parts[0].parse().unwrap(),
                    ttl_s: parts[1].parse().unwrap(),
                    expires_at_s: time(parts[2]),
                };
            }
            "del" => row.deletion = deletion(value),
            _ => {
                if let Some(name) = name.strip_suffix('!') {
                    row.complex_deletions.push((column_named(name), deletion(value)));
                } else if let Some((name, path)) =
                    name.strip_suffix(']').and_then(|name| name.split_once('['))
                {
                    row.cells.push(cell(column_named(name), Some(unhex(path)), value));
                } else {
                    row.cells.push(cell(column_named(name), None, value));
                }
            }
        }
    }
    row.complex_deletions.sort_by_key(|(column, _)| *column);
    row.cells.sort_by_key(|cell| cell.column);
    row
}
