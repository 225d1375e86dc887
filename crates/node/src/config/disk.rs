//! What the configuration says about a disk that fails or fills.

use super::{Config, ConfigError};

/// `Config.DiskFailurePolicy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiskFailurePolicy {
    /// Damage fails what meets it; a disk that cannot be read or written is not used any more.
    BestEffort,
    /// Damage fails what meets it; when the disk fails clients are not served any more.
    Stop,
    /// What meets a failure fails.
    #[default]
    Ignore,
    /// Clients are not served any more, after damage too.
    StopParanoid,
    /// The process ends.
    Die,
}

impl DiskFailurePolicy {
    /// Cassandra's word.
    pub fn name(self) -> &'static str {
        match self {
            DiskFailurePolicy::BestEffort => "best_effort",
            DiskFailurePolicy::Stop => "stop",
            DiskFailurePolicy::Ignore => "ignore",
            DiskFailurePolicy::StopParanoid => "stop_paranoid",
            DiskFailurePolicy::Die => "die",
        }
    }
}

/// `Config.CommitFailurePolicy`. Whatever it is, nothing is acknowledged after the log failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitFailurePolicy {
    /// Clients are not served any more.
    #[default]
    Stop,
    /// Writes fail, reads go on.
    StopCommit,
    /// The same here.
    Ignore,
    /// The process ends.
    Die,
}

impl CommitFailurePolicy {
    /// Cassandra's word.
    pub fn name(self) -> &'static str {
        match self {
            CommitFailurePolicy::Stop => "stop",
            CommitFailurePolicy::StopCommit => "stop_commit",
            CommitFailurePolicy::Ignore => "ignore",
            CommitFailurePolicy::Die => "die",
        }
    }
}

/// All of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSettings {
    /// `disk_failure_policy`.
    pub disk_failure_policy: DiskFailurePolicy,
    /// `commit_failure_policy`.
    pub commit_failure_policy: CommitFailurePolicy,
    /// `data_disk_usage_percentage_warn_threshold`.
    pub usage_warn_percent: Option<u8>,
    /// `data_disk_usage_percentage_fail_threshold`.
    pub usage_fail_percent: Option<u8>,
    /// `data_disk_usage_max_disk_size`, bytes: what counts as the whole disk.
    pub max_disk_bytes: Option<u64>,
}

/// Reads them.
///
/// # Errors
/// A threshold that Cassandra refuses (`GuardrailsOptions`).
pub fn disk(config: &Config) -> Result<DiskSettings, ConfigError> {
    use {CommitFailurePolicy as Commit, DiskFailurePolicy as Disk};
    let disk_policies = [Disk::BestEffort, Disk::Stop, Disk::Ignore, Disk::StopParanoid, Disk::Die];
    let disk_word = config.text("disk_failure_policy").unwrap_or_default();
    let commit_policies = [Commit::Stop, Commit::StopCommit, Commit::Ignore, Commit::Die];
    let commit_word = config.text("commit_failure_policy").unwrap_or_default();
    let percentage = |end: &str| {
        let name = format!("data_disk_usage_percentage_{end}_threshold");
        match config.number(&name).unwrap_or(-1) {
            -1 => Ok(None),
            percent @ 1..=100 => Ok(u8::try_from(percent).ok()),
            other if other > 100 => {
                Err(ConfigError(format!("Invalid value {other} for {name}: maximum allowed value is 100")))
            }
            0 => Err(ConfigError(format!(
                "Invalid value for {name}: 0 is not allowed; if attempting to disable use -1"
            ))),
            other => Err(ConfigError(format!(
                "Invalid value {other} for {name}: negative values are not allowed, outside of -1 which disables the guardrail"
            ))),
        }
    };
    let (usage_warn_percent, usage_fail_percent) = (percentage("warn")?, percentage("fail")?);
    if let (Some(warn), Some(fail)) = (usage_warn_percent, usage_fail_percent)
        && fail < warn
    {
        return Err(ConfigError(format!(
            "The warn threshold {warn} for data_disk_usage_percentage_warn_threshold should be lower than the fail \
             threshold {fail}"
        )));
    }
    let max_disk_bytes = config.bytes("data_disk_usage_max_disk_size");
    if max_disk_bytes == Some(0) {
        return Err(ConfigError(
            "Invalid value for data_disk_usage_max_disk_size: 0 is not allowed; if attempting to disable use an empty value"
                .to_owned(),
        ));
    }
    Ok(DiskSettings {
        disk_failure_policy: disk_policies
            .into_iter()
            .find(|policy| policy.name() == disk_word)
            .unwrap_or_default(),
        commit_failure_policy: commit_policies
            .into_iter()
            .find(|policy| policy.name() == commit_word)
            .unwrap_or_default(),
        usage_warn_percent,
        usage_fail_percent,
        max_disk_bytes,
    })
}
