//! After a run with `--verify`: asks for every record of which a write was acknowledged, some at a
//! time, and lets [`Verification`] judge the answers.

use std::net::SocketAddr;

use basalt_wire::request::EncodedValues;

use crate::client::{Error, Options, PreparedId, Session};
use crate::outcome::Verified;
use crate::verify::{Acknowledged, Verification};
use crate::workload::{Operation, Workload};

/// Records asked for at once.
const AT_ONCE: usize = 128;

/// Reads back; `None` for a workload whose values cannot be checked.
///
/// # Errors
/// When the node cannot be reached. A record that cannot be read is counted.
pub fn read_back(
    address: SocketAddr,
    options: &Options,
    workload: &dyn Workload,
    acknowledged: Acknowledged,
) -> Result<Option<Verified>, Error> {
    let Some(mut verification) = Verification::new(workload, acknowledged) else { return Ok(None) };
    let mut session = Session::connect(address, options)?;
    let ids: Result<Vec<PreparedId>, Error> =
        workload.statements().iter().map(|statement| session.prepare(&statement.text)).collect();
    let ids = ids?;
    let mut operations: Vec<Operation> = vec![Operation::default(); AT_ONCE];
    loop {
        let mut records = Vec::with_capacity(AT_ONCE);
        while let Some(operation) = operations.get_mut(records.len())
            && let Some(record) = verification.next(workload, operation)
        {
            records.push(record);
        }
        if records.is_empty() {
            return Ok(Some(verification.finish()));
        }
        let executes = operations.iter().take(records.len()).filter_map(|operation| {
            let part = operation.parts().first()?;
            let values = EncodedValues { count: part.values.count(), bytes: part.values.bytes() };
            Some((&ids[part.statement], values))
        });
        session.execute_all(executes, |at, rows| match (records.get(at), rows) {
            (Some(record), Some(rows)) => {
                let cells: Vec<_> = rows.cells().filter_map(Result::ok).collect();
                verification.answer(*record, cells.iter().map(|cell| cell.as_deref()));
            }
            _ => verification.unanswered(),
        })?;
    }
}
