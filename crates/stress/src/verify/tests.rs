//! A scripted server that lies: it keeps rows as Cassandra would, the highest timestamp wins, and
//! then forgets, goes back, breaks or mixes what it said was written.

use std::collections::HashMap;

use super::*;
use crate::random::Random;
use crate::workload::{Options, Values, Written, named};

type Cells = Vec<Option<Vec<u8>>>;

/// A value of an operation.
fn values(values: &Values) -> Vec<Vec<u8>> {
    let mut rest = values.bytes();
    let mut split = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_at(4);
        let length = i32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
        split.push(behind[..length].to_vec());
        rest = &behind[length..];
    }
    split
}

/// Rows of `yj`: by key, with timestamp; `None` is a tombstone.
#[derive(Default)]
struct Server {
    rows: HashMap<Vec<u8>, (u64, Option<Vec<u8>>)>,
}

impl Server {
    fn write(&mut self, operation: &Operation) {
        let part = &operation.parts()[0];
        let given = values(&part.values);
        // INSERT key, uuid, value, time; UPDATE time, value, key, uuid; DELETE time, key, uuid.
        let (key, value, time) = match part.statement {
            1 => (&given[0], Some(given[2].clone()), &given[3]),
            2 => (&given[2], Some(given[1].clone()), &given[0]),
            _ => (&given[1], None, &given[0]),
        };
        let time = u64::from_be_bytes(time[..].try_into().expect("eight bytes"));
        let row = self.rows.entry(key.clone()).or_default();
        if time > row.0 {
            *row = (time, value);
        }
    }

    fn read(&self, operation: &Operation) -> Cells {
        let key = &values(&operation.parts()[0].values)[0];
        self.rows
            .get(key)
            .and_then(|(_, value)| value.clone())
            .map(|value| vec![Some(value)])
            .unwrap_or_default()
    }
}

fn yj2() -> std::sync::Arc<dyn Workload> {
    let options =
        Options { records: Some(50), verify: true, now_micros: 1_700_000_000_000_000, ..Options::default() };
    named(&["yj".to_owned(), "2".to_owned()], &options).expect("yj 2")
}

/// Runs 7,000 operations; `each` sees every write and says whether the server carries it out and whether
/// it acknowledges it.
fn run(
    workload: &dyn Workload,
    mut each: impl FnMut(Written, &Operation) -> (bool, bool),
) -> (Server, Acknowledged) {
    let (mut server, mut acknowledged) = (Server::default(), Acknowledged::default());
    let mut operation = Operation::default();
    let mut written = Vec::new();
    for record in 0..workload.records() {
        operation.clear();
        workload.load(record, &mut operation);
        written.push(operation.clone());
    }
    for index in 0..7000 {
        operation.clear();
        workload.next(index, &mut Random::at(3, index), &mut operation);
        written.push(operation.clone());
    }
    for operation in &written {
        let Some(write) = operation.written else { continue };
        let (is_done, is_acknowledged) = each(write, operation);
        if is_done {
            server.write(operation);
        }
        if is_acknowledged { acknowledged.acknowledged(write) } else { acknowledged.uncertain(write) }
    }
    (server, acknowledged)
}

fn judge(
    workload: &dyn Workload,
    acknowledged: Acknowledged,
    mut read: impl FnMut(u64, &Operation) -> Cells,
) -> Verified {
    let mut verification = Verification::new(workload, acknowledged).expect("values carry stamps");
    let mut operation = Operation::default();
    while let Some(record) = verification.next(workload, &mut operation) {
        let cells = read(record, &operation);
        verification.answer(record, cells.iter().map(|cell| cell.as_deref()));
    }
    verification.finish()
}

fn expected(read: u64) -> Verified {
    Verified { read, one_in: 1, ..Verified::default() }
}

#[test]
fn an_honest_server_has_nothing_lost_stale_or_wrong() {
    let workload = yj2();
    let (server, acknowledged) = run(&*workload, |_, _| (true, true));
    let verified = judge(&*workload, acknowledged, |_, operation| server.read(operation));
    assert_eq!(verified, expected(1050));
}

#[test]
fn what_was_not_acknowledged_may_be_there_or_not() {
    let workload = yj2();
    for carries_out in [true, false] {
        let mut count = 0;
        let (server, acknowledged) = run(&*workload, |_, _| {
            count += 1;
            (count % 3 > 0 || carries_out, count % 3 > 0)
        });
        let verified = judge(&*workload, acknowledged, |_, operation| server.read(operation));
        assert_eq!((verified.lost, verified.stale, verified.wrong), (0, 0, 0), "{carries_out}");
    }
}

#[test]
fn a_lost_write_is_found() {
    let workload = yj2();
    // An insert of a run is the first write of its record; drop some that stay the only one.
    let mut last = HashMap::new();
    run(&*workload, |write, operation| {
        last.entry(write.record).or_insert_with(Vec::new).push(operation.kind);
        (true, true)
    });
    let alone = |record: u64| last[&record].len() == 1;
    let dropped = (0..1050).filter(|&record| alone(record) && record % 5 == 0).count() as u64;
    assert!(dropped > 3);
    let (server, acknowledged) =
        run(&*workload, |write, _| (!(alone(write.record) && write.record % 5 == 0), true));
    let verified = judge(&*workload, acknowledged, |_, operation| server.read(operation));
    assert_eq!(verified, Verified { lost: dropped, ..expected(1050) });
}

#[test]
fn an_older_write_and_a_deleted_row_that_is_back_are_stale() {
    let workload = yj2();
    let mut last: HashMap<u64, Written> = HashMap::new();
    let mut writes: HashMap<u64, Vec<bool>> = HashMap::new();
    run(&*workload, |write, _| {
        last.insert(write.record, write);
        writes.entry(write.record).or_default().push(write.is_delete);
        (true, true)
    });
    // The last write of a record is dropped where the one before it is no deletion.
    let shows_older = |record: u64| {
        let writes = &writes[&record];
        writes.len() > 1 && !writes[writes.len() - 2]
    };
    let stale = (0..1050).filter(|&record| shows_older(record)).count() as u64;
    assert!(stale > 20 && last.values().any(|write| write.is_delete && shows_older(write.record)));
    let (server, acknowledged) = run(&*workload, |write, _| {
        (write.sequence != last[&write.record].sequence || !shows_older(write.record), true)
    });
    let verified = judge(&*workload, acknowledged, |_, operation| server.read(operation));
    assert_eq!(verified, Verified { stale, ..expected(1050) });
}

#[test]
fn a_broken_shortened_or_foreign_value_is_wrong() {
    let workload = yj2();
    let (server, acknowledged) = run(&*workload, |_, _| (true, true));
    let mut number = 0;
    let mut lies = 0;
    let mut before: Cells = Vec::new();
    let verified = judge(&*workload, acknowledged, |_, operation| {
        let honest = server.read(operation);
        let Some(Some(value)) = honest.first().cloned() else { return honest };
        number += 1;
        let foreign = std::mem::replace(&mut before, honest.clone());
        lies += u64::from(number % 6 < 5 && number > 1);
        match (number > 1).then_some(number % 6) {
            Some(0) => vec![Some([&value[..value.len() - 1], b"~"].concat())],
            Some(1) => vec![Some(value[..value.len() - 1].to_vec())],
            Some(2) => foreign,
            Some(3) => vec![None],
            Some(4) => vec![Some(value.clone()), Some(value)],
            _ => honest,
        }
    });
    assert!(lies > 400);
    assert_eq!(verified, Verified { wrong: lies, ..expected(1050) });
}

#[test]
fn rows_of_a_partition_must_be_of_one_write() {
    let stamps = Stamps { cells: 3, sizes: crate::workload::Sizes::fixed(20) };
    let cell = |column, sequence| {
        let mut out = bytes::BytesMut::new();
        stamps.put(7, column, sequence, &mut out);
        assert_eq!(out.len(), 20);
        out.to_vec()
    };
    let observe = |cells: &[Vec<u8>]| stamps.observe(7, cells.iter().map(|cell| Some(&cell[..])));
    assert_eq!(observe(&[cell(0, 9), cell(1, 9), cell(2, 9)]), Observed::Sequence(9));
    assert_eq!(observe(&[cell(0, 9), cell(1, 8), cell(2, 9)]), Observed::Wrong, "torn");
    assert_eq!(observe(&[cell(0, 9), cell(2, 9), cell(1, 9)]), Observed::Wrong, "exchanged");
    assert_eq!(observe(&[cell(0, 9), cell(1, 9)]), Observed::Wrong, "a row is missing");
    assert_eq!(observe(&[b"no stamp".to_vec()]), Observed::Wrong);
    assert_eq!(observe(&[]), Observed::Nothing);
}

#[test]
fn memory_is_bounded_and_the_sample_is_the_same_on_all_workers() {
    let write = |record| Written { record, sequence: record + 1, is_delete: false };
    let mut workers = [Acknowledged::of(1000), Acknowledged::of(1000)];
    for record in 0..20_000 {
        workers[(record % 2) as usize].acknowledged(write(record));
    }
    let [mut merged, other] = workers;
    merged.merge(other);
    let mut alone = Acknowledged::of(1000);
    (0..20_000).for_each(|record| alone.acknowledged(write(record)));
    let (merged, alone) = (merged.into_expected(), alone.into_expected());
    let records = |expected: &(Vec<(u64, Entry)>, u64)| {
        expected.0.iter().map(|(record, _)| *record).collect::<Vec<_>>()
    };
    assert_eq!((records(&merged), merged.1), (records(&alone), alone.1));
    assert_eq!(merged.1, 32);
    assert!((500..=1000).contains(&merged.0.len()), "{}", merged.0.len());
}

#[test]
fn what_is_not_answered_is_unread() {
    let workload = yj2();
    let (_, acknowledged) = run(&*workload, |_, _| (true, true));
    let mut verification = Verification::new(&*workload, acknowledged).expect("values carry stamps");
    let mut operation = Operation::default();
    verification.next(&*workload, &mut operation).expect("a record");
    verification.unanswered();
    assert_eq!(verification.count(), 1050);
    assert_eq!(verification.finish(), Verified { unread: 1050, one_in: 1, ..Verified::default() });
    let options = Options::default();
    let plain = named(&["tene".to_owned()], &options).expect("tene");
    assert!(Verification::new(&*plain, Acknowledged::default()).is_none());
}
