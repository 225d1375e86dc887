//! Quoting of names and strings for CQL text, as Cassandra's `ColumnIdentifier.maybeQuote` and DESCRIBE do it.

use std::borrow::Cow;

/// The words that must be quoted to be names, sorted (Cassandra's `reserved_keywords.txt`).
pub const RESERVED: [&str; 57] = [
    "ADD",
    "ALLOW",
    "ALTER",
    "AND",
    "APPLY",
    "ASC",
    "AUTHORIZE",
    "BATCH",
    "BEGIN",
    "BY",
    "COLUMNFAMILY",
    "CREATE",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DROP",
    "ENTRIES",
    "EXECUTE",
    "FROM",
    "FULL",
    "GRANT",
    "IF",
    "IN",
    "INDEX",
    "INFINITY",
    "INSERT",
    "INTO",
    "IS",
    "KEYSPACE",
    "LIMIT",
    "MATERIALIZED",
    "MODIFY",
    "NAN",
    "NORECURSIVE",
    "NOT",
    "NULL",
    "OF",
    "ON",
    "OR",
    "ORDER",
    "PRIMARY",
    "RENAME",
    "REVOKE",
    "SCHEMA",
    "SELECT",
    "SET",
    "TABLE",
    "TO",
    "TOKEN",
    "TRUNCATE",
    "UNLOGGED",
    "UPDATE",
    "USE",
    "USING",
    "VIEW",
    "WHERE",
    "WITH",
];

/// Whether `word`, in any case, is reserved.
pub fn is_reserved(word: &str) -> bool {
    const LONGEST: usize = 12;
    if word.len() > LONGEST {
        return false;
    }
    RESERVED
        .binary_search_by(|reserved| {
            let folded = word.bytes().map(|b| b.to_ascii_uppercase());
            reserved.bytes().cmp(folded)
        })
        .is_ok()
}

/// Whether `name` stands for itself without quotes: `[a-z][a-z0-9_]*` and not reserved.
pub fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !is_reserved(name)
}

/// `name` as it must be written in CQL: in double quotes if it needs them.
pub fn identifier(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
    }
}

/// `text` as a string literal in single quotes.
pub fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests;
