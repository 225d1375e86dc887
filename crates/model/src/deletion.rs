//! When a row was written and when things were deleted: [`Liveness`] and [`Deletion`].
//!
//! Timestamps are write times in microseconds since 1970 as the client or coordinator gave them;
//! local times are seconds since 1970 on this node's clock, in 64 bits.

use std::cmp::Reverse;

/// The write time that is older than every real one (`LivenessInfo.NO_TIMESTAMP`).
pub const NO_TIMESTAMP: i64 = i64::MIN;

/// The TTL of a liveness that was dead when it was written (`LivenessInfo.EXPIRED_LIVENESS_TTL`).
const EXPIRED_LIVENESS_TTL: i32 = i32::MAX;

/// The TTL of what does not expire (`Cell.NO_TTL`).
pub const NO_TTL: i32 = 0;

/// The local deletion time of what is not deleted and does not expire (`Cell.NO_DELETION_TIME`).
pub const NO_DELETION_TIME: i64 = i64::MAX;

/// A deletion of a partition, range, row or multi-cell column (`db/DeletionTime`).
///
/// It shadows everything beneath it whose timestamp is not larger than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deletion {
    /// Write time of the deletion, microseconds.
    pub timestamp: i64,
    /// When this node learnt of it, seconds: gc_grace counts from here.
    pub local_time_s: i64,
}

impl Deletion {
    /// No deletion (`DeletionTime.LIVE`).
    pub const LIVE: Deletion = Deletion { timestamp: NO_TIMESTAMP, local_time_s: NO_DELETION_TIME };

    /// Nothing is deleted.
    pub fn is_live(self) -> bool {
        self == Deletion::LIVE
    }

    /// Whether this deletion shadows something written at `timestamp`.
    pub fn deletes(self, timestamp: i64) -> bool {
        timestamp <= self.timestamp
    }

    /// Whether this deletion wins over `other`: larger timestamp, then larger local time
    /// (`DeletionTime.supersedes`). Symmetric merging is [`Deletion::merge`].
    pub fn supersedes(self, other: Deletion) -> bool {
        (self.timestamp, self.local_time_s) > (other.timestamp, other.local_time_s)
    }

    /// The winner of two deletions.
    pub fn merge(self, other: Deletion) -> Deletion {
        // LIVE has the largest local time but the smallest timestamp, so it never wins over a real one.
        if other.supersedes(self) { other } else { self }
    }
}

/// Whether a row exists by itself, beside its cells (`db/LivenessInfo`): an INSERT writes it, an
/// UPDATE does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Liveness {
    /// Write time, microseconds; [`NO_TIMESTAMP`] when there is no liveness.
    pub timestamp: i64,
    /// Seconds to live as the client said; [`NO_TTL`] for ever.
    pub ttl_s: i32,
    /// When it expires, seconds since 1970; [`NO_DELETION_TIME`] for never.
    pub expires_at_s: i64,
}

impl Liveness {
    /// No liveness (`LivenessInfo.EMPTY`).
    pub const NONE: Liveness =
        Liveness { timestamp: NO_TIMESTAMP, ttl_s: NO_TTL, expires_at_s: NO_DELETION_TIME };

    /// Liveness that never expires.
    pub fn at(timestamp: i64) -> Liveness {
        Liveness { timestamp, ..Liveness::NONE }
    }

    /// There is none.
    pub fn is_none(self) -> bool {
        self.timestamp == NO_TIMESTAMP
    }

    /// Whether it will expire (or has).
    pub fn is_expiring(self) -> bool {
        self.ttl_s != NO_TTL
    }

    /// Whether it wins over `other` (`LivenessInfo.supersedes`): the later time; at equal ones what was dead when it was
    /// written, what expires, the later expiry, the lower TTL.
    pub fn supersedes(self, other: Liveness) -> bool {
        let rank = |liveness: Liveness| {
            (
                liveness.timestamp,
                liveness.ttl_s == EXPIRED_LIVENESS_TTL,
                liveness.is_expiring(),
                liveness.expires_at_s,
                Reverse(liveness.ttl_s),
            )
        };
        rank(self) > rank(other)
    }

    /// Whether it makes its row live at `now_s`.
    pub fn is_live(self, now_s: i64) -> bool {
        !self.is_none() && (!self.is_expiring() || now_s < self.expires_at_s)
    }
}
