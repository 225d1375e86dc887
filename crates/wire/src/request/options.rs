//! OPTIONS (v5 §4.1.3): asks what STARTUP may say. The body should be empty; whatever it holds is
//! ignored, as Cassandra ignores it.

use crate::Result;
use crate::primitives::Reader;

pub(super) fn decode(_body: &mut Reader) -> Result<()> {
    Ok(())
}
