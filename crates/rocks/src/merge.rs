//! RocksDB's merge operator: hands operands to [`basalt_storage::merge`] and nothing else.
//!
//! An empty result says that nothing is left under the key. A merge cannot remove a key; reads do not show such
//! entries, and the filter made here lets compactions drop them.
//!
//! A full merge that fails makes RocksDB answer `Corruption` to whoever needs the value, and stops
//! a flush or compaction that meets it: damage is never dropped. A partial merge that fails leaves
//! the operands as they are, for the full merge to report or, if a purge was among them, to fold.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use basalt_storage::merge::{merge, merge_operands};
use rocksdb::compaction_filter::CompactionFilter;
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};
use rocksdb::{CompactionDecision, MergeOperands, Options};
use smallvec::SmallVec;

/// Kept in RocksDB's files: a family written under another name is refused when it is opened.
const NAME: &str = "basalt.merge.1";

/// The filter's name in RocksDB's own log.
const FILTER_NAME: &CStr = c"basalt.nothing.1";

/// Folds operands into what is there; `None` when they do not merge.
type Fold = fn(Option<&[u8]>, &[&[u8]]) -> Option<Vec<u8>>;
/// Folds some operands into one; `None` when that must wait.
type PartialFold = fn(&[&[u8]]) -> Option<Vec<u8>>;

/// Makes a family fold operands with the functions of `storage`, and drop what is left empty.
pub(crate) fn set_operator(options: &mut Options) {
    let fold: Fold = |existing, operands| merge(existing, operands).ok();
    set_fold(options, fold, |operands| merge_operands(operands).ok());
    options.set_compaction_filter_factory(DropsNothings);
}

/// Drops what is left empty. RocksDB writes a deletion in its place unless nothing older can lie below. (A factory,
/// because a filter set by itself has to outlive the family, and the binding forgets that of families made later.)
struct DropsNothings;

impl CompactionFilterFactory for DropsNothings {
    type Filter = DropsNothings;

    fn create(&mut self, _context: CompactionFilterContext) -> DropsNothings {
        DropsNothings
    }

    fn name(&self) -> &CStr {
        FILTER_NAME
    }
}

impl CompactionFilter for DropsNothings {
    fn filter(&mut self, _level: u32, _key: &[u8], value: &[u8]) -> CompactionDecision {
        if value.is_empty() { CompactionDecision::Remove } else { CompactionDecision::Keep }
    }

    fn name(&self) -> &CStr {
        FILTER_NAME
    }
}

fn set_fold(options: &mut Options, fold: Fold, partial: PartialFold) {
    options.set_merge_operator(
        NAME,
        move |_key: &[u8], existing: Option<&[u8]>, operands: &MergeOperands| {
            guarded(operands, |operands| fold(existing, operands))
        },
        move |_key: &[u8], _: Option<&[u8]>, operands: &MergeOperands| guarded(operands, partial),
    );
}

/// A panic must not cross into C++. It is a bug in merging, and the value is not known then: the same to RocksDB as
/// bytes that do not merge.
fn guarded(operands: &MergeOperands, fold: impl FnOnce(&[&[u8]]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let operands: SmallVec<[&[u8]; 8]> = operands.iter().collect();
    catch_unwind(AssertUnwindSafe(|| fold(&operands))).unwrap_or(None)
}

#[cfg(test)]
mod tests;
