//! A JSON tree to a term of a type (`AbstractType.fromJSONObject` of each type).

use std::borrow::Cow;

use basalt_model::types::UserType;
use basalt_model::types::validate::MarshalError;
use basalt_model::{CqlError, DataType};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::document::settle_names;
use super::parse::{Number, class, java_text, parse, simple_class};
use crate::error::marshal;
use crate::literals::from_text;
use crate::terms::Term;

/// Why a value was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// It is none of its type; whoever asked says where it stood.
    Marshal(MarshalError),
    /// It is refused outright.
    Invalid(CqlError),
}

impl From<MarshalError> for ReadError {
    fn from(error: MarshalError) -> ReadError {
        ReadError::Marshal(error)
    }
}

type ReadResult<T> = Result<T, ReadError>;

fn refuse<T>(text: String) -> ReadResult<T> {
    Err(ReadError::Marshal(MarshalError(text)))
}

/// `expected`, with its article, is what should have been there.
fn unexpected<T>(expected: &str, value: &Value) -> ReadResult<T> {
    refuse(format!("Expected {expected}, but got a {}: {}", simple_class(value), java_text(value)))
}

/// The term a value other than null stands for.
///
/// # Errors
/// With Cassandra's text when it is none of the type.
pub(crate) fn read(data_type: &DataType, value: &Value) -> ReadResult<Term> {
    match data_type {
        DataType::List { element, .. } => {
            let elements = elements(element, &*decoded(value)?, "a list", "list")?;
            Ok(Term::Collection { data_type: data_type.clone(), elements })
        }
        DataType::Set { element, .. } => {
            let elements = elements(element, &*decoded(value)?, "a list (representing a set)", "set")?;
            elements.iter().try_for_each(|value| check_order(element, value))?;
            Ok(Term::Collection { data_type: data_type.clone(), elements })
        }
        DataType::Map { key, value: values, .. } => {
            let elements = entries(key, values, &*decoded(value)?)?;
            Ok(Term::Collection { data_type: data_type.clone(), elements })
        }
        DataType::Vector { element, dimension } => {
            let value = decoded(value)?;
            if let Value::Array(given) = &*value
                && usize::try_from(*dimension) != Ok(given.len())
            {
                let (count, shown) = (given.len(), java_text(&value));
                return refuse(format!(
                    "List had incorrect size: expected {dimension} but given {count}; {shown}"
                ));
            }
            let elements = elements(element, &value, "a list", "list")?;
            Ok(Term::Vector { element: element.clone(), elements })
        }
        DataType::Tuple(types) => tuple(types, &*decoded(value)?).map(Term::Tuple),
        DataType::Udt { definition, frozen } => {
            let fields = fields(definition, &*decoded(value)?)?;
            Ok(Term::Udt { definition: definition.clone(), fields, multi_cell: !frozen })
        }
        DataType::Timestamp if value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("now")) => {
            Ok(Term::Now)
        }
        scalar => self::scalar(scalar, value).map(Term::Constant),
    }
}

/// Where a composite is asked for, a string is JSON once more: keys of maps can only be strings.
fn decoded(value: &Value) -> ReadResult<Cow<'_, Value>> {
    match value {
        Value::String(text) => match parse(text) {
            Ok(value) => Ok(Cow::Owned(value)),
            Err(why) => refuse(format!("Error decoding JSON string: {why}")),
        },
        _ => Ok(Cow::Borrowed(value)),
    }
}

fn elements(element: &DataType, value: &Value, expected: &str, kind: &str) -> ReadResult<Vec<Term>> {
    let Value::Array(given) = value else { return unexpected(expected, value) };
    let one = |value: &Value| match value {
        Value::Null => refuse(format!("Invalid null element in {kind}")),
        _ => read(element, value),
    };
    given.iter().map(one).collect()
}

/// Keys and values in turn.
fn entries(key: &DataType, values: &DataType, value: &Value) -> ReadResult<Vec<Term>> {
    let Value::Object(given) = value else { return unexpected("a map", value) };
    let mut elements = Vec::with_capacity(given.len() * 2);
    for (name, value) in given {
        if value.is_null() {
            return refuse("Invalid null value in map".to_owned());
        }
        let name = read(key, &Value::String(name.clone()))?;
        check_order(key, &name)?;
        elements.push(name);
        elements.push(read(values, value)?);
    }
    Ok(elements)
}

/// What has an order among others must be a value of its type: an empty text was taken for a
/// number, and Cassandra fails when it compares a number of a single byte or two without bytes.
fn check_order(data_type: &DataType, value: &Term) -> ReadResult<()> {
    match value {
        Term::Constant(bytes) => Ok(data_type.validate(bytes)?),
        _ => Ok(()),
    }
}

fn field(data_type: &DataType, value: Option<&Value>) -> ReadResult<Term> {
    match value {
        None | Some(Value::Null) => Ok(Term::Null),
        Some(value) => read(data_type, value),
    }
}

fn tuple(types: &[DataType], value: &Value) -> ReadResult<Vec<Term>> {
    let Value::Array(given) = value else {
        return unexpected("a list representation of a tuple", value);
    };
    let count = types.len();
    if given.len() > count {
        return refuse(format!("Tuple contains extra items (expected {count}): {}", java_text(value)));
    }
    if given.len() < count {
        return refuse(format!("Tuple is missing items (expected {count}): {}", java_text(value)));
    }
    types.iter().zip(given).map(|(data_type, value)| field(data_type, Some(value))).collect()
}

fn fields(definition: &UserType, value: &Value) -> ReadResult<Vec<Term>> {
    let Value::Object(given) = value else { return unexpected("a map", value) };
    let given: Map<String, Value> = settle_names(given.clone())?;
    let known = definition.fields.iter();
    let fields = known.map(|(name, data_type)| field(data_type, given.get(&**name)));
    let fields = fields.collect::<ReadResult<Vec<Term>>>()?;
    let is_known = |name: &str| definition.fields.iter().any(|(field, _)| **field == *name);
    match given.keys().find(|name| !is_known(name)) {
        Some(name) => {
            refuse(format!("Unknown field '{name}' in value of user defined type {}", definition.name))
        }
        None => Ok(fields),
    }
}

fn scalar(data_type: &DataType, value: &Value) -> ReadResult<Bytes> {
    use DataType as T;
    match (data_type, value) {
        (T::Varint | T::Decimal, _) => number_text(data_type, value),
        (T::Blob, _) => blob(value),
        (T::Counter | T::Custom(_), _) => {
            refuse(format!("Values of type {data_type} cannot be read from JSON"))
        }
        // Cassandra's reader of durations does not go by the rules of the others.
        (T::Duration, Value::String(text)) => {
            from_text(data_type, text).map_err(|why| ReadError::Invalid(marshal(why)))
        }
        (_, Value::String(text)) => Ok(from_text(data_type, text)?),
        (T::Boolean, Value::Bool(value)) => Ok(Bytes::copy_from_slice(&[u8::from(*value)])),
        (T::TinyInt | T::SmallInt, Value::Number(_)) => Ok(from_text(data_type, &java_text(value))?),
        (_, Value::Number(number)) if *data_type != T::Empty => {
            self::number(data_type, &Number::of(number), value)
        }
        (T::Empty, _) => refuse(format!("Expected an empty string, but got: {}", java_text(value))),
        _ => unexpected(expected(data_type), value),
    }
}

fn number(data_type: &DataType, number: &Number, value: &Value) -> ReadResult<Bytes> {
    use DataType as T;
    Ok(match (data_type, number) {
        (T::Int, Number::Int(number)) => Bytes::copy_from_slice(&number.to_be_bytes()),
        (T::BigInt, Number::Int(number)) => Bytes::copy_from_slice(&i64::from(*number).to_be_bytes()),
        // A number below 2^31 is no long to Java, and as a timestamp refused.
        (T::BigInt | T::Timestamp, Number::Long(number)) => Bytes::copy_from_slice(&number.to_be_bytes()),
        (T::Float, number) => {
            let float = match number {
                Number::Int(number) => *number as f32,
                Number::Long(number) => *number as f32,
                Number::Big(number) => number.to_string().parse().unwrap_or(f32::NAN),
                Number::Double(number) => *number as f32,
            };
            Bytes::copy_from_slice(&float.to_be_bytes())
        }
        (T::Double, number) => {
            let double = match number {
                Number::Int(number) => f64::from(*number),
                Number::Long(number) => *number as f64,
                Number::Big(number) => number.to_string().parse().unwrap_or(f64::NAN),
                Number::Double(number) => *number,
            };
            Bytes::copy_from_slice(&double.to_be_bytes())
        }
        _ => return unexpected(expected(data_type), value),
    })
}

/// `varint` and `decimal` are read from the text of whatever is there.
fn number_text(data_type: &DataType, value: &Value) -> ReadResult<Bytes> {
    let text = java_text(value);
    let is_empty_varint = text.is_empty() && *data_type == DataType::Varint;
    match from_text(data_type, &text) {
        Ok(bytes) if !is_empty_varint => Ok(bytes),
        _ => refuse(format!("Value '{text}' is not a valid representation of a {data_type} value")),
    }
}

fn blob(value: &Value) -> ReadResult<Bytes> {
    let why = match value {
        Value::String(text) => match text.strip_prefix("0x").map(|digits| from_text(&DataType::Blob, digits))
        {
            Some(Ok(bytes)) => return Ok(bytes),
            Some(Err(why)) => why.0,
            None => format!("String representation of blob is missing 0x prefix: {text}"),
        },
        _ => {
            let class = class(value);
            format!(
                "class {class} cannot be cast to class java.lang.String ({class} and java.lang.String are in module java.base of loader 'bootstrap')"
            )
        }
    };
    refuse(format!("Value '{}' is not a valid blob representation: {why}", java_text(value)))
}

/// What a value of a type looks like in JSON, in Cassandra's words.
fn expected(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Ascii => "an ascii string",
        DataType::BigInt => "a bigint value",
        DataType::Boolean => "a boolean value",
        DataType::Date => "a string representation of a date value",
        DataType::Double => "a double value",
        DataType::Duration => "a string representation of a duration",
        DataType::Float => "a float value",
        DataType::Inet => "a string representation of an inet value",
        DataType::Int => "an int value",
        DataType::SmallInt => "a short value",
        DataType::Text => "a UTF-8 string",
        DataType::Time => "a string representation of a time value",
        DataType::Timestamp => "a long or a datestring representation of a timestamp value",
        DataType::TimeUuid | DataType::LegacyTimeUuid => "a string representation of a timeuuid",
        DataType::TinyInt => "a byte value",
        DataType::Uuid => "a string representation of a uuid",
        _ => "an empty string",
    }
}
