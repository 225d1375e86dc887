//! The registry against Cassandra's own (`tests/golden/functions.txt`).

use basalt_model::DataType;

use super::resolve::{Argument, Request, candidates};
use super::{Body, Function};
use crate::assign::{Fit, fit};
use crate::receiver::Receiver;
use crate::testing::golden;

/// A type as an argument, as Cassandra's factories take them.
struct Typed(String, DataType);

impl Argument for Typed {
    fn fit(&self, receiver: &Receiver) -> Fit {
        fit(&self.1, &receiver.data_type)
    }

    fn compatible_type(&self) -> Option<DataType> {
        Some(self.1.clone())
    }

    fn text(&self, _was_tried: bool) -> String {
        self.0.clone()
    }

    fn is_marker(&self) -> bool {
        false
    }
}

/// A type by its class. No column has `LegacyTimeUUIDType`, so it is not read as others are.
fn data_type(class: &str) -> DataType {
    match class {
        "LegacyTimeUUIDType" => DataType::LegacyTimeUuid,
        _ => DataType::from_class_name(class).unwrap_or_else(|| panic!("{class}")).0,
    }
}

/// Classes between `;`, of which there is none inside of class strings.
fn typed(classes: &str) -> Vec<Typed> {
    let classes = classes.split(';').filter(|class| *class != "none");
    classes.map(|class| Typed(class.to_owned(), data_type(class))).collect()
}

fn types(arguments: &[Typed]) -> Vec<DataType> {
    arguments.iter().map(|argument| argument.1.clone()).collect()
}

/// Why a line of the golden file does not hold; `None` if it does, or is not of these kinds.
fn difference(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split(" | ").collect();
    match fields.as_slice() {
        ["function", kind, name, arguments, returns] => {
            let arguments = typed(arguments);
            let found = offered(name, &arguments);
            let (wanted, returned) = (types(&arguments), data_type(returns));
            let fits = |f: &Function| f.arguments == wanted && f.returns == returned;
            match found.iter().find(|function| fits(function)) {
                None => Some(format!("offered: {found:?}")),
                Some(one) if one.is_aggregate() != (*kind == "aggregate") => {
                    Some("of the other kind".to_owned())
                }
                Some(_) => None,
            }
        }
        ["made", name, arguments, what @ ..] => made(name, &typed(arguments), what),
        _ => None,
    }
}

fn offered(name: &str, arguments: &[Typed]) -> Vec<Function> {
    let arguments: Vec<&dyn Argument> = arguments.iter().map(|argument| argument as &dyn Argument).collect();
    let request = Request { name, arguments: &arguments, returns: None, table: None };
    candidates(&request).unwrap_or_default()
}

fn made(name: &str, arguments: &[Typed], what: &[&str]) -> Option<String> {
    let arguments: Vec<&dyn Argument> = arguments.iter().map(|argument| argument as &dyn Argument).collect();
    let request = Request { name, arguments: &arguments, returns: None, table: None };
    let found = candidates(&request).map(|mut found| found.pop());
    match (what, found) {
        ([message], Err(error)) => {
            let message = message.trim_start_matches('!').replace("\\p", "|");
            // What fails inside of Cassandra fails here in words of our own.
            let is_java = message.starts_with("Expected numeric collection")
                || message.starts_with("class VectorType cannot be cast")
                || message.contains("cannot be cast to class");
            (!is_java && error.to_string() != message).then(|| error.to_string())
        }
        ([wanted, returns], Ok(Some(function))) => {
            let same = function.arguments == types(&typed(wanted)) && function.returns == data_type(returns);
            (!same).then(|| format!("{function:?}"))
        }
        (_, other) => Some(format!("{other:?}")),
    }
}

#[test]
fn every_function_of_cassandra_is_there_with_its_types() {
    let recorded = golden("functions.txt");
    let lines: Vec<&str> = recorded.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 2_000, "only {} lines", lines.len());
    let differences: Vec<String> =
        lines.iter().filter_map(|line| difference(line).map(|why| format!("{line}\n    {why}"))).collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn every_factory_is_known_to_make() {
    let recorded = golden("functions.txt");
    for line in recorded.lines() {
        let Some((name, _)) = line.strip_prefix("factory | ").and_then(|rest| rest.split_once('(')) else {
            continue;
        };
        let body = Body::Scalar(super::Scalar::AsBlob);
        let function =
            Function { name: name.to_owned(), arguments: Vec::new(), returns: DataType::Int, body };
        assert!(super::factory::makes(&function), "{name}");
    }
}
