//! Texts and answering versions against `transport/ProtocolVersion`.

use super::*;

#[test]
fn python_probe_is_refused_with_the_text_it_looks_for() {
    let refusal = ProtocolVersion::negotiate(66, true).unwrap_err();
    assert_eq!(
        refusal.error.to_string(),
        "Invalid or unsupported protocol version (66); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"
    );
    assert_eq!(refusal.answer_version, None);
    assert!(refusal.is_expected);
}

#[test]
fn versions_one_and_two_are_answered_in_kind() {
    assert_eq!(ProtocolVersion::negotiate(2, true).unwrap_err().answer_version, Some(2));
    assert_eq!(ProtocolVersion::negotiate(1, true).unwrap_err().answer_version, Some(1));
    assert_eq!(ProtocolVersion::negotiate(0, true).unwrap_err().answer_version, None);
    assert!(!ProtocolVersion::negotiate(7, true).unwrap_err().is_expected);
}

#[test]
fn older_versions_can_be_turned_off() {
    let refusal = ProtocolVersion::negotiate(4, false).unwrap_err();
    assert_eq!(refusal.error.to_string(), "Rejecting Protocol Version 4/v4 < 5/v5.");
    assert_eq!(ProtocolVersion::negotiate(5, false), Ok(ProtocolVersion::V5));
}

#[test]
fn beta_needs_its_flag() {
    assert!(ProtocolVersion::V6.check_beta(true).is_ok());
    assert_eq!(
        ProtocolVersion::V6.check_beta(false).unwrap_err().to_string(),
        "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"
    );
}
