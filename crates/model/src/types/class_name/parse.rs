//! Class strings back to types (`TypeParser.parse`). Knows no schema: a UDT comes with its fields.

use std::sync::Arc;

use super::PACKAGE;
use crate::types::{DataType, UserType};

/// How deep types may nest; deeper ones are refused rather than risk the stack.
const NESTING_MAX: usize = 64;

impl DataType {
    /// The type a class string names, and whether it was wrapped in `ReversedType`. The package
    /// may be left out, as Cassandra allows. `None` when the string is not one of a known type.
    pub fn from_class_name(text: &str) -> Option<(DataType, bool)> {
        let mut parser = Parser { rest: text };
        let reversed = parser.eat_class("ReversedType");
        let data_type = parser.data_type(false, 0)?;
        let closed = !reversed || parser.eat(')');
        (closed && parser.rest.trim().is_empty()).then_some((data_type, reversed))
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, symbol: char) -> bool {
        match self.rest.trim_start().strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes `Class(` if it is next.
    fn eat_class(&mut self, class: &str) -> bool {
        let bare = self.rest.strip_prefix(PACKAGE).unwrap_or(self.rest);
        match bare.strip_prefix(class).and_then(|rest| rest.strip_prefix('(')) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A name: letters, digits and what else Java class names and hexadecimal have.
    fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '-' | '+' | '&')))
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        word
    }

    /// `frozen`: an enclosing type has frozen what is being read.
    fn data_type(&mut self, frozen: bool, depth: usize) -> Option<DataType> {
        if depth > NESTING_MAX {
            return None;
        }
        if self.eat_class("FrozenType") {
            let inner = self.data_type(true, depth + 1)?;
            return self.eat(')').then_some(inner);
        }
        let word = self.word();
        let class = word.strip_prefix(PACKAGE).unwrap_or(word);
        if let Some(scalar) = scalar(class) {
            return Some(scalar);
        }
        if !self.eat('(') {
            return None;
        }
        let data_type = match class {
            "ListType" => DataType::List { element: Arc::new(self.data_type(frozen, depth + 1)?), frozen },
            "SetType" => DataType::Set { element: Arc::new(self.data_type(frozen, depth + 1)?), frozen },
            "MapType" => {
                let key = Arc::new(self.data_type(frozen, depth + 1)?);
                self.eat(',').then_some(())?;
                DataType::Map { key, value: Arc::new(self.data_type(frozen, depth + 1)?), frozen }
            }
            "TupleType" => self.tuple(depth)?,
            "UserType" => self.user_type(frozen, depth)?,
            "VectorType" => {
                let element = Arc::new(self.data_type(frozen, depth + 1)?);
                self.eat(',').then_some(())?;
                DataType::Vector { element, dimension: self.word().parse().ok()? }
            }
            _ => return None,
        };
        self.eat(')').then_some(data_type)
    }

    /// Components of a tuple are frozen by being inside.
    fn tuple(&mut self, depth: usize) -> Option<DataType> {
        let mut types = vec![self.data_type(true, depth + 1)?];
        while self.eat(',') {
            types.push(self.data_type(true, depth + 1)?);
        }
        Some(DataType::Tuple(types.into()))
    }

    fn user_type(&mut self, frozen: bool, depth: usize) -> Option<DataType> {
        let keyspace = self.word().into();
        self.eat(',').then_some(())?;
        let name = unhex(self.word())?.into();
        let mut fields = Vec::new();
        while self.eat(',') {
            let field = unhex(self.word())?;
            self.eat(':').then_some(())?;
            fields.push((field.into(), self.data_type(frozen, depth + 1)?));
        }
        Some(DataType::Udt { definition: Arc::new(UserType { keyspace, name, fields }), frozen })
    }
}

fn unhex(text: &str) -> Option<String> {
    let digits = text.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    String::from_utf8(bytes?).ok()
}

fn scalar(class: &str) -> Option<DataType> {
    const SCALARS: [DataType; 21] = [
        DataType::Ascii,
        DataType::BigInt,
        DataType::Blob,
        DataType::Boolean,
        DataType::Counter,
        DataType::Date,
        DataType::Decimal,
        DataType::Double,
        DataType::Duration,
        DataType::Empty,
        DataType::Float,
        DataType::Inet,
        DataType::Int,
        DataType::SmallInt,
        DataType::Text,
        DataType::Time,
        DataType::Timestamp,
        DataType::TimeUuid,
        DataType::TinyInt,
        DataType::Uuid,
        DataType::Varint,
    ];
    SCALARS.into_iter().find(|scalar| scalar.scalar_class() == class)
}
