//! Selectables: what a SELECT can compute. Knows form only, not which columns and functions exist.

use super::{ArithmeticOp, CqlType, FunctionName, Ident, Literal, Marker, NativeType, Pos, Term};

/// An expression over columns (`Selectable.Raw`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selectable {
    /// What it is.
    pub kind: SelectableKind,
    /// Where it begins.
    pub pos: Pos,
}

/// Which attribute of a cell is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellAttribute {
    /// `writetime(c)`
    WriteTime,
    /// `maxwritetime(c)`
    MaxWriteTime,
    /// `ttl(c)`
    Ttl,
}

impl CellAttribute {
    /// The function's name in CQL.
    pub fn name(self) -> &'static str {
        match self {
            CellAttribute::WriteTime => "writetime",
            CellAttribute::MaxWriteTime => "maxwritetime",
            CellAttribute::Ttl => "ttl",
        }
    }
}

/// The forms of a [`Selectable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectableKind {
    /// A column, or a field name inside `{field: value}`.
    Column(Ident),
    /// A constant.
    Literal(Literal),
    /// `null`
    Null,
    /// `?` or `:name`
    Marker(Marker),
    /// `count(*)`; `count(1)` is a [`SelectableKind::Function`].
    CountRows,
    /// `writetime(c)`, `maxwritetime(c)`, `ttl(c)`; the operand is a column, element, slice or field.
    CellAttribute(CellAttribute, Box<Selectable>),
    /// `f(a, b)`
    Function(FunctionName, Vec<Selectable>),
    /// `CAST(a AS type)`
    Cast(Box<Selectable>, NativeType),
    /// `(type) a`
    TypeHint(CqlType, Box<Selectable>),
    /// `a.field`
    Field(Box<Selectable>, Ident),
    /// `a[key]`
    Element(Box<Selectable>, Term),
    /// `a[from..to]`; at least one end is given.
    Slice(Box<Selectable>, Option<Term>, Option<Term>),
    /// `(a)`, mere parentheses or a tuple of one; `(a, b)`, a tuple.
    ParenthesesOrTuple(Vec<Selectable>),
    /// `[a, b]`: a list or a vector.
    List(Vec<Selectable>),
    /// `{a, b}`; `{}` may stand for an empty map too.
    Set(Vec<Selectable>),
    /// `{a: b, ...}`: a map or a user type, at least one entry.
    MapOrUserType(Vec<(Selectable, Selectable)>),
    /// `a + b`
    Arithmetic(ArithmeticOp, Box<Selectable>, Box<Selectable>),
    /// `-a`, where it is not part of a literal.
    Negation(Box<Selectable>),
}
