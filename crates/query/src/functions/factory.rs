//! Functions made to measure: their parameters, and the types of the arguments at hand
//! (`FunctionFactory`, `FunctionParameter`). Does not know what the functions compute.

use std::fmt;

use basalt_model::DataType;

use super::resolve::{Argument, Request};
use super::{Function, NUMBERS};
use crate::assign::fit;
use crate::error::{CqlResult, bail};

/// The names of functions made to measure. How a call of one fits a place is never decided
/// exactly, because its types follow its arguments.
const MADE: [&str; 22] = [
    "collection_avg",
    "collection_count",
    "collection_max",
    "collection_min",
    "collection_sum",
    "from_json",
    "fromjson",
    "map_keys",
    "map_values",
    "mask_default",
    "mask_hash",
    "mask_inner",
    "mask_null",
    "mask_outer",
    "mask_replace",
    "max",
    "min",
    "similarity_cosine",
    "similarity_dot_product",
    "similarity_euclidean",
    "to_json",
    "tojson",
];

/// Whether a function is made to measure.
pub(super) fn makes(function: &Function) -> bool {
    function.name == "token" || MADE.contains(&function.name.as_str())
}

/// A parameter of such a function.
#[derive(Clone, Copy)]
pub(super) enum Parameter {
    /// Any type; with `asked_for` the type the result should have, if the argument has none.
    Any { asked_for: bool },
    /// Any type, that of the first argument if it has one.
    LikeFirst,
    /// One of some types, which messages show thus; the first, if the argument has none.
    OneOf(&'static str, &'static [DataType]),
    /// A list, set or map.
    Collection,
    /// A set or list.
    SetOrList,
    /// A set or list of numbers.
    Numbers,
    /// A map.
    Map,
    /// A vector of floats; the type of the other argument, if this one has none.
    Vector { other: usize },
    /// Parameters that may be left out stand last.
    Optional(&'static Parameter),
}

impl Parameter {
    fn infer(
        &self,
        argument: &dyn Argument,
        asked_for: Option<&DataType>,
        inferred: Option<&[Option<DataType>]>,
    ) -> Option<DataType> {
        let of = |other: usize| inferred.and_then(|types| types.get(other).cloned().flatten());
        match self {
            Parameter::LikeFirst => {
                of(0).or_else(|| argument.compatible_type()).or_else(|| asked_for.cloned())
            }
            Parameter::Any { asked_for: true } => argument.compatible_type().or_else(|| asked_for.cloned()),
            Parameter::OneOf(_, types) => argument.compatible_type().or_else(|| types.first().cloned()),
            Parameter::Vector { other } => {
                let dimension = argument.array_length().and_then(|length| u32::try_from(length).ok());
                let own = match dimension {
                    Some(dimension) => Some(DataType::Vector { element: DataType::Float.into(), dimension }),
                    None => argument.compatible_type().or_else(|| asked_for.cloned()),
                };
                own.or_else(|| of(*other))
            }
            Parameter::Optional(parameter) => parameter.infer(argument, asked_for, inferred),
            _ => argument.compatible_type(),
        }
    }

    /// What it requires instead of a type, if it does not take that. Collections and vectors are not seen through a
    /// descending order.
    fn refuses(&self, data_type: &DataType) -> Option<String> {
        let element = match data_type {
            DataType::List { element, .. } | DataType::Set { element, .. } => Some(&**element),
            _ => None,
        };
        let (takes, wanted) = match self {
            Parameter::Any { .. } | Parameter::LikeFirst => return None,
            Parameter::Optional(parameter) => return parameter.refuses(data_type),
            Parameter::OneOf(text, types) => {
                let takes = types.iter().any(|one| fit(data_type, one).is_assignable());
                return (!takes).then(|| format!("an argument of type {text}"));
            }
            Parameter::Collection => (data_type.is_collection(), "collection"),
            Parameter::SetOrList => (element.is_some(), "set or list"),
            Parameter::Numbers => {
                (element.is_some_and(|e| NUMBERS.contains(e) && *e != DataType::Counter), "numeric set/list")
            }
            Parameter::Map => (matches!(data_type, DataType::Map { .. }), "map"),
            Parameter::Vector { .. } => {
                let takes = match data_type {
                    DataType::Vector { element, .. } => **element == DataType::Float,
                    // An oversight of Cassandra's: such lists are refused by the function itself.
                    DataType::List { element, .. } => !fit(element, &DataType::Float).is_assignable(),
                    _ => false,
                };
                (takes, "float vector")
            }
        };
        (!takes).then(|| format!("a {wanted} argument"))
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Any { .. } | Parameter::LikeFirst => f.write_str("any"),
            Parameter::OneOf(text, _) => f.write_str(text),
            Parameter::Collection => f.write_str("collection"),
            Parameter::SetOrList | Parameter::Numbers => f.write_str("numeric_set_or_list"),
            Parameter::Map => f.write_str("map"),
            Parameter::Vector { .. } => f.write_str("vector<float, n>"),
            Parameter::Optional(parameter) => write!(f, "[{parameter}]"),
        }
    }
}

/// The class of a type that functions have (`AbstractType.udfType`).
pub(super) fn as_functions_know(data_type: DataType) -> DataType {
    if data_type == DataType::TimeUuid { DataType::LegacyTimeUuid } else { data_type }
}

/// The types of the arguments of a call, one for each argument.
///
/// # Errors
/// When there are too few or too many, or one has no type, or one that its parameter refuses.
pub(super) fn argument_types(request: &Request<'_>, parameters: &[Parameter]) -> CqlResult<Vec<DataType>> {
    let (name, arguments, asked_for) = (request.name, request.arguments, request.returns);
    let signature = || {
        let parameters: Vec<String> = parameters.iter().map(Parameter::to_string).collect();
        format!("system.{name}({})", parameters.join(", "))
    };
    let needed = parameters.iter().filter(|parameter| !matches!(parameter, Parameter::Optional(_))).count();
    if arguments.len() < needed || arguments.len() > parameters.len() {
        bail!("Invalid number of arguments for function {}", signature());
    }
    let is_empty = |(argument, parameter): (&&dyn Argument, &Parameter)| {
        matches!(parameter, Parameter::Vector { .. }) && argument.array_length() == Some(0)
    };
    if arguments.iter().zip(parameters).any(is_empty) {
        bail!("vectors may only have positive dimensions; given 0");
    }
    // Each argument is looked at alone first, then knowing of the others.
    let pairs = || arguments.iter().zip(parameters);
    let mut types: Vec<Option<DataType>> =
        pairs().map(|(argument, parameter)| parameter.infer(*argument, asked_for, None)).collect();
    let mut found = Vec::with_capacity(arguments.len());
    for (index, (argument, parameter)) in pairs().enumerate() {
        let Some(data_type) = parameter.infer(*argument, asked_for, Some(&types)) else {
            argument.check_text()?;
            bail!(
                "Cannot infer type of argument {} in call to function {}: use type casts to disambiguate",
                argument.text(true),
                signature()
            );
        };
        if let Some(wanted) = parameter.refuses(&data_type) {
            bail!(
                "Function system.{name} requires {wanted}, but found argument {} of type {data_type}",
                argument.text(true)
            );
        }
        let data_type = as_functions_know(data_type);
        types[index] = Some(data_type.clone());
        found.push(data_type);
    }
    Ok(found)
}
