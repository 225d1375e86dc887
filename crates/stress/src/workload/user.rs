//! `user profile=x.yaml ops(...)`: profiles of cassandra-stress.

use std::sync::Arc;

use super::{Error, Options, Workload};

/// `words` follow `user`.
pub fn user(_words: &[String], _options: &Options) -> Result<Arc<dyn Workload>, Error> {
    Err(Error::new("user profiles: not there yet"))
}
