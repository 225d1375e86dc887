//! Aggregates: `count`, `min`, `max`, `sum`, `avg` (`AggregateFcts`).

use basalt_model::{CqlError, DataType};
use bytes::Bytes;
use num_bigint::BigInt;

use super::decimal::{Decimal, Rounding};
use super::factory::{Parameter, argument_types};
use super::number::Number;
use super::resolve::Request;
use super::{Function, NUMBERS};
use crate::error::CqlResult;

/// What an aggregate computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the function of the same name.
pub(crate) enum Aggregate {
    CountRows,
    Count,
    Min,
    Max,
    Sum,
    Avg,
}

impl Aggregate {
    /// The function's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Aggregate::CountRows => "count_rows",
            Aggregate::Count => "count",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::Sum => "sum",
            Aggregate::Avg => "avg",
        }
    }
}

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Vec<Function>> {
    let name = request.name;
    let numeric = |aggregate: Aggregate| -> Vec<Function> {
        let one = |t: &DataType| Function::aggregate(name, std::slice::from_ref(t), t.clone(), aggregate);
        NUMBERS.iter().map(one).collect()
    };
    Ok(match name {
        "count_rows" | "countRows" => {
            vec![Function::aggregate("count_rows", &[], DataType::BigInt, Aggregate::CountRows)]
        }
        "count" => vec![Function::aggregate(name, &[DataType::Blob], DataType::BigInt, Aggregate::Count)],
        "sum" => numeric(Aggregate::Sum),
        "avg" => numeric(Aggregate::Avg),
        "min" | "max" => {
            let types = argument_types(request, &[Parameter::Any { asked_for: true }])?;
            let aggregate = if name == "min" { Aggregate::Min } else { Aggregate::Max };
            let returns = types[0].clone();
            vec![Function::aggregate(name, &types, returns, aggregate)]
        }
        _ => Vec::new(),
    })
}

/// An aggregate being computed.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    aggregate: Aggregate,
    data_type: DataType,
    count: i64,
    best: Option<Bytes>,
    sum: Sum,
}

#[derive(Clone, Debug)]
enum Sum {
    Exact(BigInt),
    /// Kahan's compensated sum, as Cassandra sums floating numbers, and a plain sum beside it.
    Floating {
        sum: f64,
        compensation: f64,
        simple: f64,
        big: Option<Decimal>,
    },
    Decimal(Decimal),
}

impl Aggregation {
    /// Nothing counted yet.
    pub(crate) fn new(aggregate: Aggregate, returns: &DataType) -> Aggregation {
        let sum = match returns {
            DataType::Float | DataType::Double => {
                Sum::Floating { sum: 0.0, compensation: 0.0, simple: 0.0, big: None }
            }
            DataType::Decimal => Sum::Decimal(Decimal::from(0)),
            _ => Sum::Exact(BigInt::from(0)),
        };
        // Counters as such do not compare.
        let data_type = if *returns == DataType::Counter { DataType::BigInt } else { returns.clone() };
        Aggregation { aggregate, data_type, count: 0, best: None, sum }
    }

    /// The function's name.
    pub(crate) fn name(&self) -> &'static str {
        self.aggregate.name()
    }

    /// Adds a row's value.
    ///
    /// # Errors
    /// A sum of numbers too far apart to be written out, or of no number.
    pub(crate) fn add(&mut self, value: Option<&Bytes>) -> CqlResult<()> {
        if self.aggregate == Aggregate::CountRows {
            self.count += 1;
            return Ok(());
        }
        let Some(value) = value else { return Ok(()) };
        match self.aggregate {
            Aggregate::CountRows | Aggregate::Count => self.count += 1,
            Aggregate::Min => self.keep(value, |order| order.is_gt()),
            Aggregate::Max => self.keep(value, |order| order.is_lt()),
            Aggregate::Sum | Aggregate::Avg => {
                if let Some(number) = Number::read(&self.data_type, value) {
                    let failed = |name, why| CqlError::invalid(format!("Failed to compute {name}: {why}"));
                    self.add_number(&number).map_err(|why| failed(self.aggregate.name(), why))?;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, value: &Bytes, replaces: impl Fn(std::cmp::Ordering) -> bool) {
        let better = |best: &Bytes| replaces(self.data_type.compare(best, value));
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(value.clone());
        }
    }

    fn add_number(&mut self, number: &Number) -> Result<(), String> {
        self.count += 1;
        let is_average = self.aggregate == Aggregate::Avg;
        match &mut self.sum {
            Sum::Exact(sum) => *sum += number.as_big(),
            Sum::Decimal(sum) if is_average => {
                // A running mean, rounded at every step to its own scale, as Cassandra keeps it.
                let step = number.as_decimal().subtract(sum)?;
                let scale = step.scale;
                let step = step.divide_to_scale(&Decimal::from(self.count), scale, Rounding::HalfEven)?;
                *sum = sum.add(&step)?;
            }
            Sum::Decimal(sum) => *sum = sum.add(&number.as_decimal())?,
            Sum::Floating { sum, compensation, simple, big } => {
                let value = number.as_double();
                if let Some(big) = big {
                    *big = big.add(&finite(value)?)?;
                    return Ok(());
                }
                *simple += value;
                let previous = *sum;
                let corrected = value - *compensation;
                let rounded = *sum + corrected;
                *compensation = (rounded - *sum) - corrected;
                *sum = rounded;
                if is_average && sum.is_infinite() && value.is_finite() {
                    *big = Some(finite(previous)?.add(&finite(value)?)?);
                }
            }
        }
        Ok(())
    }

    /// The result so far.
    pub(crate) fn result(&self) -> Option<Bytes> {
        match self.aggregate {
            Aggregate::CountRows | Aggregate::Count => {
                Some(Bytes::copy_from_slice(&self.count.to_be_bytes()))
            }
            Aggregate::Min | Aggregate::Max => self.best.clone(),
            Aggregate::Sum => Some(self.sum().write(&self.data_type)),
            Aggregate::Avg => Some(self.average().write(&self.data_type)),
        }
    }

    fn sum(&self) -> Number {
        match &self.sum {
            Sum::Exact(sum) => Number::Big(sum.clone()),
            Sum::Decimal(sum) => Number::Decimal(sum.clone()),
            Sum::Floating { sum, compensation, simple, .. } => {
                let total = sum + compensation;
                Number::Double(if total.is_nan() && simple.is_infinite() { *simple } else { total })
            }
        }
    }

    fn average(&self) -> Number {
        match (&self.sum, self.sum()) {
            (_, sum @ Number::Decimal(_)) => sum,
            (Sum::Floating { .. }, _) if self.count == 0 => Number::Double(0.0),
            (Sum::Floating { big: Some(big), .. }, _) => {
                let count = Decimal::from(self.count);
                let average = big.divide_to_scale(&count, big.scale, Rounding::HalfEven);
                average.map_or(Number::Double(f64::NAN), Number::Decimal)
            }
            (_, Number::Double(sum)) => Number::Double(sum / self.count as f64),
            (_, Number::Big(sum)) if self.count > 0 => Number::Big(sum / self.count),
            (_, other) => other,
        }
    }
}

fn finite(value: f64) -> Result<Decimal, String> {
    match Number::Double(value) {
        number if number.is_finite() => Ok(number.as_decimal()),
        _ => Err("Infinite or NaN".to_owned()),
    }
}
