//! Types.

use std::fmt::{Display, Formatter, Result};

use super::{comma, name};
use crate::ast::{CqlType, NativeType};
use crate::quote;

impl Display for NativeType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for CqlType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            CqlType::Native(native) => native.fmt(f),
            CqlType::List(element) => write!(f, "list<{element}>"),
            CqlType::Set(element) => write!(f, "set<{element}>"),
            CqlType::Map(key, value) => write!(f, "map<{key}, {value}>"),
            CqlType::Tuple(elements) => write!(f, "tuple<{}>", comma(elements)),
            CqlType::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            CqlType::User(user) => name::user_type(f, user),
            CqlType::Frozen(inner) => write!(f, "frozen<{inner}>"),
            CqlType::Custom(class) => f.write_str(&quote::string(class)),
        }
    }
}
