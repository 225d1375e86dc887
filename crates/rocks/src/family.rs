//! RocksDB's column families as values that own what they need.

use std::sync::Arc;

use rocksdb::{AsColumnFamilyRef, BoundColumnFamily, DB};
use self_cell::self_cell;

/// The family with the catalogue. RocksDB insists on its name.
pub(crate) const CATALOGUE: &str = rocksdb::DEFAULT_COLUMN_FAMILY_NAME;
/// The family that small tables share.
pub(crate) const SHARED: &str = "shared";
const OWN: &str = "own-";

type Handle<'db> = Arc<BoundColumnFamily<'db>>;

self_cell!(
    /// A handle and the database it points into: the handle is dropped first.
    struct Held {
        owner: Arc<DB>,
        #[covariant]
        dependent: Handle,
    }
);

/// A family of an open database. It keeps the database open while it lives.
pub(crate) struct Family(Held);

impl Family {
    /// The family of this name, if there is one.
    pub(crate) fn find(db: &Arc<DB>, name: &str) -> Option<Family> {
        Held::try_new(Arc::clone(db), |db| db.cf_handle(name).ok_or(())).ok().map(Family)
    }

    /// What RocksDB's calls take.
    pub(crate) fn handle(&self) -> &impl AsColumnFamilyRef {
        self.0.borrow_dependent()
    }
}

/// The name of the family of its own with this number.
pub(crate) fn own_name(number: u32) -> String {
    format!("{OWN}{number}")
}

/// The number of a family of its own; `None` for other names.
pub(crate) fn own_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix(OWN)?.parse().ok()?;
    (own_name(number) == name).then_some(number)
}
