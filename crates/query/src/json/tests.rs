//! The parser's limits, and texts that no recorded case has.

use basalt_model::DataType;
use bytes::Bytes;

use super::{parse, print, written};

#[test]
fn half_a_surrogate_pair_becomes_a_question_mark() {
    let text = |json: &str| parse(json).unwrap().as_str().unwrap().to_owned();
    assert_eq!(text(r#""\ud83d\ude00""#), "\u{1f600}");
    assert_eq!(text(r#""\uD83D""#), "?");
    assert_eq!(text(r#""\ude00\ud83d""#), "??");
    assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "?\u{1f600}");
    assert_eq!(text(r#""\\ud83d""#), r"\ud83d");
    assert_eq!(text(r#""\ud83d\n\u0041\"\\ä""#), "?\nA\"\\ä");
    assert!(parse(r#""\ud8"#).is_err());
    assert!(parse(r#""\ud83d\"#).is_err());
}

#[test]
fn what_follows_the_first_value_is_left_alone_unless_it_touches_a_number() {
    assert_eq!(parse("{} x").unwrap(), serde_json::json!({}));
    assert_eq!(parse("1 x").unwrap(), serde_json::json!(1));
    assert_eq!(parse(" null-").unwrap(), serde_json::json!(null));
    assert_eq!(parse("true\u{a0}x").unwrap(), serde_json::json!(true));
    assert!(parse("nullx").is_err());
    assert!(parse("false_").is_err());
    assert!(parse("true0").is_err());
    assert!(parse("1,").is_err());
    assert!(parse("1x").is_err());
    assert!(parse("").is_err());
}

#[test]
fn depth_numbers_and_names_are_bounded() {
    assert!(parse(&format!("{}{}", "[".repeat(100), "]".repeat(100))).is_ok());
    assert!(parse(&format!("{}{}", "[".repeat(200), "]".repeat(200))).is_err());
    assert!(parse(&"[".repeat(1_000_000)).is_err());
    assert!(parse(&"1".repeat(1000)).is_ok());
    assert!(parse(&"1".repeat(1001)).is_err());
    assert!(parse(&format!("[{}.5]", "1".repeat(1000))).is_err());
    assert!(parse(&format!("{{\"{}\": 1}}", "ä".repeat(50_000))).is_ok());
    assert!(parse(&format!("{{\"{}\": 1}}", "a".repeat(50_001))).is_err());
}

#[test]
fn a_row_comes_to_no_more_than_a_client_can_be_sent() {
    let most = 64 << 20;
    assert_eq!(written(|out| out.push_str(&"a".repeat(most))).unwrap().len(), most);
    let too_much = "a".repeat(most + 1);
    let error = written(|out| {
        out.push_str(&too_much);
        print(&DataType::Text, &Bytes::from("more"), out);
        assert_eq!(out.len(), too_much.len());
    });
    assert_eq!(error.unwrap_err().to_string(), "More than 67108864 bytes of JSON");
}
