//! Times of several reactors add up.

use super::*;

#[test]
fn reactors_add_up() {
    let both = recorders(2);
    let (one, other) = (&both[0], &both[1]);
    one.served(RequestKind::Query, 5_000_000, false);
    one.answered([(RequestKind::Query, 1_000_000)].into_iter(), 9_000_000);
    other.served(RequestKind::Query, 3_000_000, true);
    other.served(RequestKind::Batch, 1_000, false);
    let sums = summarize(&both);
    let query = &sums[RequestKind::Query as usize];
    assert_eq!(query.service_us.len(), 2);
    assert_eq!(query.errors, 1);
    assert!((8_000..8_010).contains(&query.response_us.max()));
    assert_eq!(sums[RequestKind::Batch as usize].service_us.max(), 1);
    assert_eq!(sums[RequestKind::Execute as usize].service_us.len(), 0);
}
