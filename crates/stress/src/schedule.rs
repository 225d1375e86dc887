//! When each request is meant to start: exact arithmetic, computed from the plan and never from
//! completions.

/// A constant rate for a number of requests.
#[derive(Clone, Copy, Debug)]
pub struct ConstantRate {
    /// Requests a second, at least 1.
    pub per_second: u64,
    /// Requests in all.
    pub count: u64,
}

impl ConstantRate {
    /// `seconds` at `per_second`; a rate of 0 counts as 1.
    pub fn lasting(per_second: u64, seconds: u64) -> ConstantRate {
        let per_second = per_second.max(1);
        ConstantRate { per_second, count: per_second * seconds }
    }

    /// Nanoseconds after the start at which request `index` is due. Each is computed by itself, so
    /// rounding never adds up.
    pub fn due_nanos(self, index: u64) -> u64 {
        let nanos = u128::from(index) * 1_000_000_000 / u128::from(self.per_second);
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::ConstantRate;

    #[test]
    fn rounding_never_adds_up() {
        let plan = ConstantRate::lasting(7, 1_000_000);
        assert_eq!(plan.count, 7_000_000);
        assert_eq!(plan.due_nanos(0), 0);
        assert_eq!(plan.due_nanos(1), 142_857_142);
        assert_eq!(plan.due_nanos(7), 1_000_000_000);
        assert_eq!(plan.due_nanos(7_000_000), 1_000_000_000_000_000);
    }
}
