//! Native functions: one file a family. A family offers the functions of a name for the arguments
//! at hand; [`resolve`] picks the one that fits; [`scalar`] and [`aggregate`] compute.
//! User-defined functions are not known here yet.

pub(crate) mod aggregate;
pub(crate) mod arithmetic;
mod big_math;
pub(crate) mod blob;
mod calendar;
pub(crate) mod call;
pub(crate) mod cast;
pub(crate) mod collection;
mod decimal;
mod factory;
mod floor;
mod json;
mod logarithm;
pub(crate) mod mask;
pub(crate) mod math;
pub(crate) mod number;
pub(crate) mod resolve;
pub(crate) mod scalar;
pub(crate) mod temporal;
pub(crate) mod time;
pub(crate) mod token;
pub(crate) mod vector;

#[cfg(test)]
mod tests;

use basalt_model::{DataType, quote};

use crate::assign::{Fit, fit};

pub(crate) use aggregate::{Aggregate, Aggregation};
pub(crate) use resolve::{Argument, resolve};
pub(crate) use scalar::Scalar;

/// A native function with its types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    /// Its name without the keyspace, which is `system`.
    pub(crate) name: String,
    /// Types of its arguments.
    pub(crate) arguments: Vec<DataType>,
    /// Type of its result.
    pub(crate) returns: DataType,
    /// What it computes.
    pub(crate) body: Body,
}

/// What a function computes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// A value from values.
    Scalar(Scalar),
    /// A value from the values of many rows.
    Aggregate(Aggregate),
}

impl Function {
    /// A scalar function.
    pub(crate) fn scalar(name: &str, arguments: &[DataType], returns: DataType, scalar: Scalar) -> Function {
        Function::new(name, arguments, returns, Body::Scalar(scalar))
    }

    /// An aggregate function.
    pub(crate) fn aggregate(
        name: &str,
        arguments: &[DataType],
        returns: DataType,
        aggregate: Aggregate,
    ) -> Function {
        Function::new(name, arguments, returns, Body::Aggregate(aggregate))
    }

    /// A result has no order, whatever the arguments' types have.
    fn new(name: &str, arguments: &[DataType], returns: DataType, body: Body) -> Function {
        let returns = returns.unwrap_reversed().clone();
        Function { name: name.to_owned(), arguments: arguments.to_vec(), returns, body }
    }

    /// Whether it aggregates.
    pub(crate) fn is_aggregate(&self) -> bool {
        matches!(self.body, Body::Aggregate(_))
    }

    /// How its result fits a place.
    pub(crate) fn fit(&self, place: &DataType) -> Fit {
        fit(&self.returns, place)
    }

    /// `system.name`
    pub(crate) fn full_name(&self) -> String {
        format!("system.{}", self.name)
    }

    /// The name of a result column that shows it (`Function.columnName`).
    pub(crate) fn column_name(&self, arguments: &[String]) -> String {
        let special = special_column_name(&self.name, arguments);
        special.unwrap_or_else(|| format!("{}({})", self.full_name(), arguments.join(", ")))
    }

    /// Whether a larger argument never gives a smaller result, where these arguments are constant.
    pub(crate) fn is_monotonic(&self, constants: &[bool]) -> bool {
        match (&self.body, constants) {
            (Body::Scalar(Scalar::ConvertTime), _) => true,
            (_, [false, rest @ ..]) => self.name == "floor" && rest.iter().all(|constant| *constant),
            _ => false,
        }
    }

    /// `system.name : (types) -> type`, as messages list signatures.
    pub(crate) fn signature(&self) -> String {
        self.signature_with(&[])
    }

    /// The same, saying which arguments are constant.
    pub(crate) fn signature_with(&self, constants: &[bool]) -> String {
        let argument = |(index, data_type): (usize, &DataType)| {
            let constant = constants.get(index) == Some(&true);
            format!("{data_type}{}", if constant { "(constant)" } else { "" })
        };
        let arguments: Vec<String> = self.arguments.iter().enumerate().map(argument).collect();
        let name = quote::identifier(&self.name);
        format!("system.{name} : ({}) -> {}", arguments.join(", "), self.returns)
    }
}

/// What a call is shown as where that is not the function's name: operators, casts, `count(*)`.
pub(crate) fn special_column_name(name: &str, arguments: &[String]) -> Option<String> {
    if let Some(op) = arithmetic::operator_of(name) {
        return Some(arguments.join(&format!(" {} ", op.symbol())));
    }
    if let Some(target) = cast::target(name) {
        return Some(format!("cast({} as {target})", arguments.join(", ")));
    }
    match name {
        arithmetic::NEGATE => Some(format!("-{}", arguments.join(", "))),
        "count_rows" | "countRows" => Some("count".to_owned()),
        _ => None,
    }
}

/// The types that are numbers.
pub(crate) const NUMBERS: [DataType; 9] = [
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::Float,
    DataType::Double,
    DataType::Decimal,
    DataType::Varint,
    DataType::Counter,
];
