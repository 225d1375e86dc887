//! Terms: what stands for a value. Knows the lexical kind of literals, not their type or value.

use super::{CqlType, FunctionName, Ident, NativeType, Pos};

/// How a literal was written (`Constants.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// `'...'` or `$$...$$`; also dates, times, timestamps and inets, which are written as strings.
    String,
    /// `-?[0-9]+`, of any length.
    Integer,
    /// `1.5`, `1e3`, `NaN`, `Infinity`, `-Infinity`.
    Float,
    /// `true`, `false`, in any case.
    Boolean,
    /// `8-4-4-4-12` hexadecimal digits.
    Uuid,
    /// `0x...`
    Hex,
    /// `1h30m`, `P1Y2M`, ...
    Duration,
}

/// A constant (`Constants.Literal`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// How it was written.
    pub kind: LiteralKind,
    /// The text as written, except: strings without quotes and escapes; `NaN`, `Infinity`, `-Infinity` in that
    /// spelling (`-NaN` is `NaN`). This is `Literal.getRawText()`.
    pub text: String,
    /// Where it stands.
    pub pos: Pos,
}

/// A bind marker, `?` or `:name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its place among the statement's markers, from 0, in the order of the text.
    pub index: u16,
    /// `name` of `:name`.
    pub name: Option<Ident>,
    /// Where it stands.
    pub pos: Pos,
}

/// The operators of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl ArithmeticOp {
    /// The operator's character.
    pub fn symbol(self) -> char {
        match self {
            ArithmeticOp::Add => '+',
            ArithmeticOp::Subtract => '-',
            ArithmeticOp::Multiply => '*',
            ArithmeticOp::Divide => '/',
            ArithmeticOp::Modulo => '%',
        }
    }
}

/// What stands for a value in a modification or restriction (`Term.Raw`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it begins.
    pub pos: Pos,
}

/// The forms of a [`Term`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A constant.
    Literal(Literal),
    /// `null`
    Null,
    /// `?` or `:name`
    Marker(Marker),
    /// `[a, b]`: a list or a vector.
    List(Vec<Term>),
    /// `{a, b}`; `{}` is an empty set here and an empty map where a map is asked for.
    Set(Vec<Term>),
    /// `{a: b, ...}`, at least one entry, where not all keys are plain names.
    Map(Vec<(Term, Term)>),
    /// `{field: value, ...}`, at least one entry.
    UserType(Vec<(Ident, Term)>),
    /// `(a, b)`, also `(a)`: no mere parentheses here.
    Tuple(Vec<Term>),
    /// `f(a, b)`
    Function(FunctionName, Vec<Term>),
    /// `CAST(a AS type)`
    Cast(Box<Term>, NativeType),
    /// `(type) a`
    TypeHint(CqlType, Box<Term>),
    /// `a + b`
    Arithmetic(ArithmeticOp, Box<Term>, Box<Term>),
    /// `-a`, where it is not part of a literal.
    Negation(Box<Term>),
}
