//! `nodetool clearsnapshot` (`StorageService.clearSnapshot`).

use serde::{Deserialize, Serialize};

use crate::admin::{Admin, Command, Failure};
use crate::snapshots::{Clearing, instant};

/// The command.
pub struct ClearSnapshot;

/// Which snapshots go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The one of this name; without, `all` must be said.
    pub tag: Option<String>,
    /// All of them.
    pub all: bool,
    /// Of these keyspaces; of all without one.
    pub keyspaces: Vec<String>,
    /// Taken at least so long ago.
    pub older_than_s: Option<i64>,
    /// Taken before this moment, in ISO format.
    pub older_than_timestamp: Option<String>,
}

impl Command for ClearSnapshot {
    const NAME: &'static str = "clearsnapshot";
    type Request = Request;
    type Answer = ();

    fn run(admin: &Admin, request: Request) -> Result<(), Failure> {
        if request.tag.is_none() && !request.all {
            return Err(Failure::BadUse("Specify snapshot name or --all".to_owned()));
        }
        let moment = |text: &String| {
            instant::parse(text).ok_or_else(|| {
                let text = "Parameter --older-than-timestamp has to be a valid instant in ISO format.";
                Failure::BadUse(text.to_owned())
            })
        };
        let ago = |seconds: i64| {
            admin.env.wall_micros().div_euclid(1_000).saturating_sub(seconds.saturating_mul(1_000))
        };
        let before_ms = match &request.older_than_timestamp {
            Some(text) => Some(moment(text)?),
            None => request.older_than_s.map(ago),
        };
        let Request { tag, keyspaces, .. } = request;
        admin.snapshots.clear(&Clearing { tag, keyspaces, before_ms })?;
        Ok(())
    }
}
