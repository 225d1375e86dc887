//! The model itself: what cannot be seen is not expected, and what differs is found and named.

use super::*;

fn row() -> RowState {
    RowState { is_live: true, v: Some("x".to_owned()), ..RowState::default() }
}

fn content(ops: &[Op]) -> Content {
    let mut content = Content::default();
    ops.iter().for_each(|op| content.apply(op));
    content
}

#[test]
fn a_row_goes_with_its_last_value_unless_it_was_inserted() {
    let p = || "p".to_owned();
    let updated = content(&[Op::Add(p(), 1, "x".to_owned(), 7), Op::Take(p(), 1, "x".to_owned())]);
    assert_eq!(updated.seen().wide["p"].rows[&1].items, [7], "the list is left");
    let gone = content(&[Op::Take(p(), 1, "x".to_owned())]);
    assert!(gone.seen().is_empty() && gone.seen().wide.is_empty());
    let inserted = content(&[Op::Insert(p(), 1, row()), Op::Take(p(), 1, "x".to_owned())]);
    assert_eq!(inserted.seen().wide["p"].rows[&1], RowState::default(), "there, with nothing in it");
}

#[test]
fn deletions_take_what_they_name() {
    let insert = |c| Op::Insert("p".to_owned(), c, row());
    let all = [insert(1), insert(2), insert(3), Op::DeleteRange("p".to_owned(), 1, 3)];
    assert_eq!(content(&all).wide["p"].rows.keys().collect::<Vec<_>>(), [&3]);
    let all = [Op::Static("p".to_owned(), Some("s".to_owned())), insert(1), Op::DeleteRow("p".to_owned(), 1)];
    assert_eq!(content(&all).seen().wide["p"].s.as_deref(), Some("s"), "the static column stays");
    let all = [insert(1), Op::DeletePartition("p".to_owned())];
    assert!(content(&all).seen().wide.is_empty());
}

#[test]
fn losses_phantoms_and_halves_are_told_apart() {
    let whole = content(&[Op::Batch("b".to_owned()), Op::Narrow("n".to_owned(), vec![1])]);
    let mut half = whole.clone();
    half.batches.get_mut("b").expect("there").remove(&3);
    assert!(whole.difference(&half).starts_with("wrong: batch b"));
    let mut lost = whole.clone();
    lost.narrow.clear();
    assert!(whole.difference(&lost).starts_with("lost: narrow n"));
    assert!(lost.difference(&whole).starts_with("phantom: narrow n"));
}
