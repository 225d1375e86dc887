//! The digest over recorded rows is in `schema/tests.rs`; here, its pieces.

use super::name_uuid;

#[test]
fn names_become_version_3_uuids() {
    // SchemaConstants.emptyVersion, of the MD5 of nothing.
    let digest_of_nothing =
        [0xd4, 0x1d, 0x8c, 0xd9, 0x8f, 0x00, 0xb2, 0x04, 0xe9, 0x80, 0x09, 0x98, 0xec, 0xf8, 0x42, 0x7e];
    assert_eq!(name_uuid(&digest_of_nothing).to_string(), "59adb24e-f3cd-3e02-97f0-5b395827453f");
    assert_eq!(name_uuid(b"systemlocal").to_string(), "7ad54392-bcdd-35a6-8417-4e047860b377");
}
