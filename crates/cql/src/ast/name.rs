//! Names and the places they stand at. Knows Cassandra's case folding of names, not what a name refers to.

/// A place in the statement's text, as error messages give it: `line 1:7`.
///
/// All places compare equal, so that two trees are equal when they say the same thing, wherever it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pos {
    /// Line, from 1. 0 for a node that was built, not parsed.
    pub line: u32,
    /// UTF-16 code units before the node in its line, from 0 (what Cassandra's lexer counts).
    pub column: u32,
}

impl PartialEq for Pos {
    fn eq(&self, _: &Pos) -> bool {
        true
    }
}

impl Eq for Pos {}

/// A name as the schema knows it: unquoted names are folded to lower case, quoted ones are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The folded, unescaped name.
    pub name: String,
    /// Where it stands.
    pub pos: Pos,
}

impl Ident {
    /// A name that does not come from a text. `name` is the internal name: nothing is folded.
    pub fn new(name: impl Into<String>) -> Ident {
        Ident { name: name.into(), pos: Pos::default() }
    }

    /// The internal name.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// `[keyspace.]name`: a table, view, index or user type (`QualifiedName`, `UTName`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifiedName {
    /// The keyspace, if it is written.
    pub keyspace: Option<Ident>,
    /// The name inside the keyspace.
    pub name: Ident,
}

/// `[keyspace.]name` of a function or aggregate.
///
/// Differs from [`QualifiedName`] in folding only: a keyword used as a function name keeps its case, as in Cassandra.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// The keyspace, if it is written; native functions are also found without one.
    pub keyspace: Option<Ident>,
    /// The function's name.
    pub name: Ident,
}
