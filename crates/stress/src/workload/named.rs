//! From words of the command line to a workload. Says what is possible when the words are not.

use std::sync::Arc;

use super::base::Plan;
use super::{Options, Workload, apm, ndbench, tene, user, ycsb, yj};
use crate::verify::STAMP_BYTES_MIN;

/// Why there is no such workload, in a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// With this sentence.
    pub fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }
}

const POSSIBLE: &str = "a workload is one of: apm R|RW|W|RS|RSW [slice], yj 1|2|3, tene, ndbench, ycsb A|B|C|D|E|F, \
                        user profile=FILE.yaml ops(insert=1,QUERY=2)";

/// The workload that these words name.
///
/// # Errors
/// When there is none, or it cannot obey an option; the text says what is possible.
pub fn named(words: &[String], options: &Options) -> Result<Arc<dyn Workload>, Error> {
    fn shared(plan: Result<impl Plan + 'static, Error>) -> Result<Arc<dyn Workload>, Error> {
        plan.map(|plan| Arc::new(plan) as Arc<dyn Workload>)
    }
    check(options)?;
    let Some((first, rest)) = words.split_first() else { return Err(Error::new(POSSIBLE)) };
    match first.as_str() {
        "apm" => shared(apm::apm(rest, options)),
        "yj" => shared(yj::yj(rest, options)),
        "tene" => shared(tene::tene(rest, options)),
        "ndbench" => shared(ndbench::ndbench(rest, options)),
        "ycsb" => shared(ycsb::ycsb(rest, options)),
        "user" => user::user(rest, options),
        _ => Err(Error::new(format!("{first:?} is no workload; {POSSIBLE}"))),
    }
}

/// What holds for every workload.
fn check(options: &Options) -> Result<(), Error> {
    /// So that numbers that count records and operations cannot overflow.
    const RECORDS_MAX: u64 = 1 << 40;
    if options.records.is_some_and(|records| records > RECORDS_MAX) {
        return Err(Error::new(format!("--records: at most {RECORDS_MAX}")));
    }
    if options.replication == Some(0) {
        return Err(Error::new("--replication: at least 1"));
    }
    if options.verify && options.value.is_some_and(|sizes| sizes.min < STAMP_BYTES_MIN) {
        return Err(Error::new(format!(
            "--verify: values need at least {STAMP_BYTES_MIN} bytes for their stamp"
        )));
    }
    Ok(())
}
