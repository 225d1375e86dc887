//! Lines in the node's log by those who have no logger of their own.

/// A line of interest.
pub fn info(text: &str) {
    tracing::info!("{text}");
}

/// A line someone should read.
pub fn warn(text: &str) {
    tracing::warn!("{text}");
}
