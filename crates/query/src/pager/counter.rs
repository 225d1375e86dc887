//! Counts groups and rows as they pass, and says when it is enough
//! (`DataLimits.CQLGroupByLimits`). A group counts once the next one, or the end, is reached.

use basalt_model::Clustering;
use bytes::Bytes;

use crate::error::CqlResult;
use crate::selection::{GroupMaker, GroupingState, Groups};

/// How much may pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupLimits {
    /// Groups in all.
    pub(super) groups: i32,
    /// Groups of each partition.
    pub(super) groups_per_partition: i32,
    /// Rows in all, whatever groups they are in.
    pub(super) rows: i32,
    /// A partition with static content alone is a group.
    pub(super) counts_static_alone: bool,
}

/// A partition of which earlier pages returned groups.
#[derive(Clone, Debug)]
pub(super) struct Returned {
    /// Its key.
    pub(super) key: Bytes,
    /// Groups it may still show.
    pub(super) remaining: i32,
}

/// The counts.
pub(super) struct GroupCounter<'a> {
    limits: GroupLimits,
    maker: GroupMaker<'a>,
    /// The partition of the row that is continued behind, and whether that was no static row.
    continued: Option<Bytes>,
    continues_row: bool,
    returned: Option<Returned>,
    rows: i32,
    groups: i32,
    groups_in_partition: i32,
    has_unfinished_group: bool,
    has_static_alone: bool,
    has_returned_rows: bool,
}

impl<'a> GroupCounter<'a> {
    /// Counts on behind `state`.
    ///
    /// # Errors
    /// Those of the function grouped by.
    pub(super) fn new(
        groups: &'a Groups<'a>,
        limits: GroupLimits,
        state: &GroupingState,
        returned: Option<Returned>,
    ) -> CqlResult<GroupCounter<'a>> {
        let continues_row = state.clustering.is_some();
        Ok(GroupCounter {
            limits,
            maker: GroupMaker::new(groups, state.clone())?,
            continued: state.key.clone(),
            continues_row,
            returned,
            rows: 0,
            groups: 0,
            groups_in_partition: 0,
            // Whether the last group of the page before has ended is not known yet.
            has_unfinished_group: continues_row,
            has_static_alone: false,
            has_returned_rows: false,
        })
    }

    /// Rows counted.
    pub(super) fn rows(&self) -> i32 {
        self.rows
    }

    /// Groups counted.
    pub(super) fn groups(&self) -> i32 {
        self.groups
    }

    /// Groups counted in the last partition.
    pub(super) fn groups_in_partition(&self) -> i32 {
        self.groups_in_partition
    }

    /// Enough groups have passed.
    pub(super) fn is_done(&self) -> bool {
        self.groups >= self.limits.groups
    }

    /// Nothing more may pass.
    pub(super) fn is_over(&self) -> bool {
        self.is_done() || self.rows >= self.limits.rows
    }

    /// Nothing more of this partition may pass.
    pub(super) fn is_partition_over(&self) -> bool {
        self.is_over() || self.is_done_for_partition()
    }

    fn is_done_for_partition(&self) -> bool {
        self.is_done() || self.groups_in_partition >= self.limits.groups_per_partition
    }

    /// A partition begins.
    pub(super) fn begin(&mut self, key: &Bytes, has_static: bool) -> CqlResult<()> {
        if let Some(returned) = self.returned.as_ref().filter(|returned| returned.key == *key) {
            self.groups_in_partition = self.limits.groups_per_partition - returned.remaining;
            self.has_returned_rows = true;
            self.has_static_alone = false;
            self.has_unfinished_group = self.continues_row;
            return Ok(());
        }
        if self.continued.as_ref() == Some(key) {
            // Its static content was shown with the rows before.
            self.has_static_alone = false;
            self.has_returned_rows = true;
            self.has_unfinished_group = true;
        } else {
            if self.has_unfinished_group && self.maker.is_new(key, None)? {
                self.groups += 1;
                if self.is_done() {
                    self.groups_in_partition += 1;
                }
                self.has_unfinished_group = false;
            }
            self.has_returned_rows = false;
            self.has_static_alone = has_static && !self.is_done();
        }
        // Where counting ended is asked for afterwards.
        if !self.is_done() {
            self.groups_in_partition = 0;
        }
        Ok(())
    }

    /// A row comes; whether it passes. The first row of a group too many does not.
    pub(super) fn row(&mut self, key: &Bytes, clustering: &Clustering) -> CqlResult<bool> {
        if self.maker.is_new(key, Some(clustering))? {
            if self.has_unfinished_group {
                self.groups += 1;
                self.groups_in_partition += 1;
            }
            self.has_unfinished_group = false;
        }
        if self.is_done_for_partition() {
            self.has_unfinished_group = false;
            return Ok(false);
        }
        self.has_unfinished_group = true;
        self.has_returned_rows = true;
        self.rows += 1;
        Ok(true)
    }

    /// The partition ends.
    pub(super) fn end(&mut self) {
        if self.limits.counts_static_alone && self.has_static_alone && !self.has_returned_rows {
            self.rows += 1;
            self.groups += 1;
            self.groups_in_partition += 1;
            self.has_unfinished_group = false;
        }
    }

    /// Lets no more rows pass, as if no more had been wanted.
    pub(super) fn cut(&mut self) {
        self.limits.rows = self.rows;
    }

    /// No more comes; whether that is because there is no more.
    pub(super) fn finish(&mut self) -> bool {
        if self.has_unfinished_group && !self.is_over() {
            self.groups += 1;
            self.groups_in_partition += 1;
        }
        !self.is_over()
    }
}
