//! Decimals and their exponentials against what Cassandra computed.

use basalt_cql::ast::ArithmeticOp;
use num_bigint::BigInt;

use super::Decimal;
use crate::functions::arithmetic::decimal;
use crate::functions::math::{Operation, exponential, whole_exponential};
use crate::functions::number::Number;
use crate::testing::golden;

fn parse(text: &str) -> Decimal {
    let (unscaled, exponent) = text.split_once('e').unwrap();
    Decimal::new(unscaled.parse().unwrap(), -exponent.parse::<i64>().unwrap())
}

fn show(result: Result<Decimal, String>) -> String {
    match result {
        Ok(value) => format!("{}e{}", value.unscaled, -value.scale),
        Err(why) => format!("!{why}"),
    }
}

fn operator(symbol: &str) -> ArithmeticOp {
    use ArithmeticOp as Op;
    let all = [Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo];
    all.into_iter().find(|op| op.symbol().to_string() == symbol).unwrap()
}

fn operation(name: &str) -> Operation {
    match name {
        "exp" => Operation::Exp,
        "log" => Operation::Log,
        _ => Operation::Log10,
    }
}

fn computed(fields: &[&str]) -> String {
    match fields {
        ["decimal", symbol, left, right, _] => show(decimal(operator(symbol), &parse(left), &parse(right))),
        ["function", name, x, _] => show(exponential(operation(name), &parse(x))),
        ["varint", name, x, _] => {
            let x = Decimal::new(x.parse::<BigInt>().unwrap(), 0);
            match whole_exponential(operation(name), x) {
                Ok(Number::Big(value)) => value.to_string(),
                Ok(other) => format!("{other:?}"),
                Err(why) => format!("!{why}"),
            }
        }
        _ => String::new(),
    }
}

#[test]
fn results_have_cassandras_digits() {
    let recorded = golden("decimal_math.txt");
    let lines: Vec<&str> = recorded.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 2_000, "only {} lines", lines.len());
    let differences: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(" | ").collect();
            let ours = computed(&fields);
            (fields.last() != Some(&ours.as_str())).then(|| format!("{line}\n    {ours}"))
        })
        .collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
