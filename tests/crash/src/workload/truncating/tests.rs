//! What must be there after truncations, and what must not.

use super::*;

fn span(sent: u64, answered: impl Into<Option<u64>>) -> Span {
    Span { sent, answered: answered.into() }
}

fn fate(truncations: &[Span], row: Span) -> Fate {
    Cut::of(truncations, 100).fate(&row, 100)
}

#[test]
fn rows_before_an_acknowledged_truncation_are_gone_and_rows_after_it_are_there() {
    let truncations = [span(10, 12), span(20, 22)];
    assert!(fate(&truncations, span(17, 19)) == Fate::Gone);
    assert!(fate(&truncations, span(23, 24)) == Fate::There);
    assert!(fate(&truncations, span(19, 21)) == Fate::Unknown, "they overlap");
    assert!(fate(&truncations, span(23, None)) == Fate::Unknown);
    assert!(fate(&[], span(1, 2)) == Fate::There);
}

#[test]
fn a_truncation_in_doubt_takes_all_or_nothing() {
    let truncations = [span(10, 12), span(20, None)];
    assert!(fate(&truncations, span(3, 4)) == Fate::Gone);
    assert!(fate(&truncations, span(13, 14)) == Fate::WithTruncation);
    assert!(fate(&truncations, span(19, 21)) == Fate::Unknown);
}
