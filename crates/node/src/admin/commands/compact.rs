//! `nodetool compact`: a table's files rewritten (`StorageService.forceKeyspaceCompaction`).

use super::Selection;
use crate::admin::{Admin, Command, Failure};

/// The command.
pub struct Compact;

impl Command for Compact {
    const NAME: &'static str = "compact";
    type Request = Selection;
    type Answer = ();

    fn run(admin: &Admin, request: Selection) -> Result<(), Failure> {
        for table in request.find(&admin.schema.current())? {
            admin.engine.flush(Some(table.id))?;
            admin.engine.compact(table.id)?;
        }
        Ok(())
    }
}
