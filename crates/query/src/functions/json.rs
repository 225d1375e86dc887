//! `to_json`, `from_json` (`ToJsonFct`, `FromJsonFct`).

use basalt_model::error::FunctionFailure;
use basalt_model::{CqlError, DataType};
use bytes::Bytes;

use super::factory::{Parameter, argument_types};
use super::resolve::Request;
use super::{Function, Scalar};
use crate::bind::Binding;
use crate::error::{CqlResult, bail, marshal};
use crate::json::{self, ReadError};
use crate::request::Value;

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Option<Function>> {
    let name = request.name;
    match name {
        "to_json" | "tojson" => {
            let types = argument_types(request, &[Parameter::Any { asked_for: false }])?;
            Ok(Some(Function::scalar(name, &types, DataType::Text, Scalar::ToJson)))
        }
        "from_json" | "fromjson" => {
            argument_types(request, &[Parameter::OneOf("text", &[DataType::Text])])?;
            let Some(returns) = request.returns else {
                bail!("{name}() cannot be used in the selection clause of a SELECT statement");
            };
            Ok(Some(Function::scalar(name, &[DataType::Text], returns.clone(), Scalar::FromJson)))
        }
        _ => Ok(None),
    }
}

/// `to_json`: what is null or means nothing is `null`.
pub(super) fn to_json(function: &Function, arguments: &[Option<Bytes>]) -> CqlResult<Option<Bytes>> {
    let (Some(data_type), Some(value)) = (function.arguments.first(), arguments.first()) else {
        return Ok(None);
    };
    let means_something = |value: &&Bytes| !value.is_empty() || !is_empty_meaningless(data_type);
    let text = json::written(|text| match value.as_ref().filter(means_something) {
        Some(value) => json::print(data_type, value, text),
        None => text.push_str("null"),
    })?;
    Ok(Some(text))
}

/// Types whose empty value means nothing (`AbstractType.isEmptyValueMeaningless`).
fn is_empty_meaningless(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type.unwrap_reversed(),
        T::BigInt
            | T::Boolean
            | T::Counter
            | T::Decimal
            | T::Double
            | T::Float
            | T::Inet
            | T::Int
            | T::Timestamp
            | T::TimeUuid
            | T::LegacyTimeUuid
            | T::Uuid
            | T::Varint
    )
}

/// `from_json`: a value of whatever type is asked for.
pub(super) fn from_json(
    function: &Function,
    text: &Bytes,
    binding: &Binding<'_>,
) -> CqlResult<Option<Bytes>> {
    let text = String::from_utf8_lossy(text);
    let value = json::parse(&text).map_err(|why| {
        let detail = format!("Could not decode JSON string '{text}': {why}");
        failure(function, format!("execution of '{}[text]' failed: {detail}", function.full_name()))
    })?;
    if value.is_null() {
        return Ok(None);
    }
    let term = json::read(&function.returns, &value).map_err(|error| match error {
        ReadError::Marshal(why) => {
            failure(function, format!("org.apache.cassandra.serializers.MarshalException: {why}"))
        }
        ReadError::Invalid(error) => error,
    })?;
    match term.bind(binding)? {
        Value::Bytes(bytes) => {
            // An empty text is taken for a number, also where numbers must have bytes.
            function.returns.validate(&bytes).map_err(marshal)?;
            Ok(Some(bytes))
        }
        Value::Null | Value::Unset => Ok(None),
    }
}

fn failure(function: &Function, message: String) -> CqlError {
    CqlError::FunctionFailure(Box::new(FunctionFailure {
        keyspace: "system".to_owned(),
        function: function.name.clone(),
        argument_types: vec!["text".to_owned()],
        message,
    }))
}
