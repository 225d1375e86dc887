//! The entry for fuzzers: what must hold for any input.

use crate::{parse, parse_type};

/// Parses `data` as a statement and as a type. Neither may panic, and what was accepted must print to a text that is
/// accepted again as an equal tree.
pub fn fuzz_one(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(parsed) = parse(text) {
        let printed = parsed.statement.to_string();
        let again =
            parse(&printed).unwrap_or_else(|error| panic!("{text:?} printed as {printed:?}: {error}"));
        // A USING clause that repeats itself loses markers when printed.
        if again.markers.len() == parsed.markers.len() {
            assert_eq!(again, parsed, "{text:?} printed as {printed:?}");
        }
    }
    if let Ok(cql_type) = parse_type(text) {
        let printed = cql_type.to_string();
        assert_eq!(parse_type(&printed).as_ref(), Ok(&cql_type), "{text:?} printed as {printed:?}");
    }
}
