//! Purges on RocksDB: nobody sees them, whatever is flushed, compacted, killed and opened again in between; and what
//! was purged leaves the files.

mod common;

use basalt_storage::checker;
use common::env;
use common::ground::Disk;

#[test]
fn nobody_sees_a_purge() {
    for seed in 0..40 {
        checker::run(seed, &mut Disk::new(), &env());
    }
}
