//! The commands, one file each, and the table of them.

pub mod clearsnapshot;
pub mod compact;
pub mod flush;
pub mod garbagecollect;
pub mod listsnapshots;
pub mod restore;
pub mod snapshot;

use super::{Admin, Command, Failure};

pub use super::tables::Selection;

/// Runs a command on the JSON of its request; answers JSON.
pub type Handler = fn(&Admin, &[u8]) -> Result<Vec<u8>, Failure>;

/// The command of this name.
pub fn handler(name: &str) -> Option<Handler> {
    let all = [
        entry::<clearsnapshot::ClearSnapshot>(),
        entry::<compact::Compact>(),
        entry::<flush::Flush>(),
        entry::<garbagecollect::GarbageCollect>(),
        entry::<listsnapshots::ListSnapshots>(),
        entry::<restore::Restore>(),
        entry::<snapshot::Snapshot>(),
    ];
    all.into_iter().find(|(known, _)| *known == name).map(|(_, handler)| handler)
}

fn entry<C: Command>() -> (&'static str, Handler) {
    (C::NAME, handle::<C>)
}

fn handle<C: Command>(admin: &Admin, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let request = serde_json::from_slice(body).map_err(|error| Failure::BadUse(error.to_string()))?;
    let answer = C::run(admin, request)?;
    serde_json::to_vec(&answer).map_err(|error| Failure::Failed(error.to_string()))
}
