//! What the server's processes used while a run lasted. Knows nothing of the run.

use serde::{Deserialize, Serialize};

/// Samples of the server on the run's time line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Samples {}
