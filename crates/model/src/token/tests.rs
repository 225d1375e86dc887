//! Tokens against those recorded from Cassandra.

use bytes::Bytes;

use super::Token;
use crate::DecoratedKey;
use crate::recorded::{compared, recorded};

fn unhex(text: &str) -> Bytes {
    if text == "-" {
        return Bytes::new();
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn tokens_are_cassandras() {
    let mut keys = 0;
    for line in recorded("tokens") {
        let fields: Vec<&str> = line.split(" | ").collect();
        let (key, token) = match fields[..] {
            ["key", key, token] => (unhex(key), token),
            ["composite", values, key, token] => {
                let values: Vec<Bytes> = values.split(',').map(unhex).collect();
                let joined = DecoratedKey::join(&values);
                assert_eq!(joined, unhex(key), "{line}");
                assert_eq!(
                    DecoratedKey::new(joined.clone()).components(values.len()),
                    Some(values),
                    "{line}"
                );
                (joined, token)
            }
            _ => panic!("not a recorded line: {line}"),
        };
        assert_eq!(Token::of(&key), Token(token.parse().unwrap()), "{line}");
        keys += 1;
    }
    compared("tokens", keys, 800);
}

#[test]
fn malformed_composites_have_no_components() {
    for bytes in [&b"\0"[..], b"\0\x05ab\0", b"\0\x01a"] {
        assert_eq!(DecoratedKey::new(Bytes::from_static(bytes)).components(2), None, "{bytes:?}");
    }
}
