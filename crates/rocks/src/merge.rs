//! RocksDB's merge operator: hands operands to [`basalt_storage::merge::merge`] and nothing else.
//!
//! A full merge that fails makes RocksDB answer `Corruption` to whoever needs the value, and stops
//! a flush or compaction that meets it: damage is never dropped. A partial merge that fails leaves
//! the operands as they are, for the full merge to report.

use std::panic::{AssertUnwindSafe, catch_unwind};

use basalt_storage::merge::merge;
use rocksdb::{MergeOperands, Options};
use smallvec::SmallVec;

/// Kept in RocksDB's files: a family written under another name is refused when it is opened.
const NAME: &str = "basalt.merge.1";

/// Folds operands into what is there; `None` when they do not merge.
type Fold = fn(Option<&[u8]>, &[&[u8]]) -> Option<Vec<u8>>;

/// Makes a family fold operands with the function of `storage`.
pub(crate) fn set_operator(options: &mut Options) {
    set_fold(options, |existing, operands| merge(existing, operands).ok());
}

fn set_fold(options: &mut Options, fold: Fold) {
    let call = move |existing: Option<&[u8]>, operands: &MergeOperands| {
        let operands: SmallVec<[&[u8]; 8]> = operands.iter().collect();
        // A panic must not cross into C++. It is a bug in merging, and the value is not known then:
        // the same to RocksDB as bytes that do not merge.
        catch_unwind(AssertUnwindSafe(|| fold(existing, &operands))).unwrap_or(None)
    };
    options.set_merge_operator(
        NAME,
        move |_key: &[u8], existing: Option<&[u8]>, operands: &MergeOperands| call(existing, operands),
        move |_key: &[u8], _: Option<&[u8]>, operands: &MergeOperands| call(None, operands),
    );
}

#[cfg(test)]
mod tests;
