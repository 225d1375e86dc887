//! `nodetool flush`: memtables to files (`StorageService.forceKeyspaceFlush`).

use super::Selection;
use crate::admin::{Admin, Command, Failure};

/// The command.
pub struct Flush;

impl Command for Flush {
    const NAME: &'static str = "flush";
    type Request = Selection;
    type Answer = ();

    fn run(admin: &Admin, request: Selection) -> Result<(), Failure> {
        if request == Selection::default() {
            return Ok(admin.engine.flush(None)?);
        }
        for table in request.find(&admin.schema.current())? {
            admin.engine.flush(Some(table.id))?;
        }
        Ok(())
    }
}
