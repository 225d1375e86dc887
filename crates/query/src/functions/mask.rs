//! What stands in for a value that is not to be seen: `mask_default`, `mask_null`,
//! `mask_replace`, `mask_inner`, `mask_outer`, `mask_hash` (`MaskingFcts`). Of a
//! masked column (`ddl::mask`) everybody may see the values.

use basalt_model::DataType;
use basalt_model::types::elements::{pack_collection, pack_tuple, pack_vector};
use bytes::Bytes;
use md2::Md2;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

use super::factory::{Parameter, argument_types};
use super::resolve::Request;
use super::{Function, Scalar};
use crate::error::{CqlResult, bail};
use crate::timeuuid;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mask {
    /// The same for all values of a type.
    Default,
    /// Null.
    Null,
    /// The second argument.
    Replace,
    /// The text with its inner characters hidden.
    Inner,
    /// The text with its outer characters hidden.
    Outer,
    /// The value's digest.
    Hash,
}

const PLAIN: Parameter = Parameter::Any { asked_for: false };
const TEXT: Parameter = Parameter::OneOf("text", &[DataType::Text]);
const INT: Parameter = Parameter::OneOf("int", &[DataType::Int]);
const STRING: Parameter = Parameter::OneOf("[text|varchar|ascii]", &[DataType::Text, DataType::Ascii]);

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Option<Function>> {
    let (mask, parameters): (Mask, &[Parameter]) = match request.name {
        "mask_default" => (Mask::Default, &[PLAIN]),
        "mask_null" => (Mask::Null, &[PLAIN]),
        "mask_replace" => (Mask::Replace, &[Parameter::Any { asked_for: true }, Parameter::LikeFirst]),
        "mask_inner" => (Mask::Inner, &[STRING, INT, INT, Parameter::Optional(&TEXT)]),
        "mask_outer" => (Mask::Outer, &[STRING, INT, INT, Parameter::Optional(&TEXT)]),
        "mask_hash" => (Mask::Hash, &[PLAIN, Parameter::Optional(&TEXT)]),
        _ => return Ok(None),
    };
    let mut types = argument_types(request, parameters)?;
    // What has one type only is of that type, whatever was given for it.
    for (data_type, parameter) in types.iter_mut().zip(parameters) {
        if let Parameter::OneOf(_, [only]) | Parameter::Optional(Parameter::OneOf(_, [only])) = parameter {
            *data_type = only.clone();
        }
    }
    let returns = match mask {
        Mask::Hash => DataType::Blob,
        _ => types[0].clone(),
    };
    Ok(Some(Function::scalar(request.name, &types, returns, Scalar::Mask(mask))))
}

/// Computes.
pub(super) fn call(mask: Mask, function: &Function, arguments: &[Option<Bytes>]) -> CqlResult<Option<Bytes>> {
    let argument = |index: usize| arguments.get(index).and_then(Option::as_ref);
    let value = argument(0);
    Ok(match mask {
        Mask::Null => None,
        Mask::Replace => argument(1).cloned(),
        Mask::Default => match default(&function.returns) {
            Some(default) => Some(default),
            None => bail!("There isn't a defined masked value for type {}", function.returns),
        },
        Mask::Hash => {
            let digest = algorithm(argument(1))?;
            value.map(|value| digest(value))
        }
        Mask::Inner | Mask::Outer => {
            let padding = padding(function, argument(3))?;
            value.map(|value| {
                let text = String::from_utf8_lossy(value);
                let masked = hide(mask, &text, int(argument(1)), int(argument(2)), padding);
                encode(&function.returns, &masked)
            })
        }
    })
}

/// Refuses a character to hide others with, or a digest, that is none.
pub(super) fn check_constants(mask: Mask, function: &Function, constants: &[Option<Bytes>]) -> CqlResult<()> {
    let constant = |index: usize| constants.get(index).and_then(Option::as_ref);
    match mask {
        Mask::Inner | Mask::Outer => padding(function, constant(3)).map(drop),
        Mask::Hash => algorithm(constant(1)).map(drop),
        Mask::Default | Mask::Null | Mask::Replace => Ok(()),
    }
}

/// The one value shown for all of a type (`AbstractType.getMaskedValue`).
fn default(data_type: &DataType) -> Option<Bytes> {
    use DataType as T;
    Some(match data_type {
        T::Text | T::Ascii => Bytes::from_static(b"****"),
        T::Blob | T::Empty => Bytes::new(),
        T::Boolean | T::TinyInt | T::Varint => Bytes::from_static(&[0; 1]),
        T::SmallInt => Bytes::from_static(&[0; 2]),
        T::Duration => Bytes::from_static(&[0; 3]),
        T::Int | T::Float | T::Inet => Bytes::from_static(&[0; 4]),
        T::Decimal => Bytes::from_static(&[0; 5]),
        T::BigInt | T::Counter | T::Double | T::Time | T::Timestamp => Bytes::from_static(&[0; 8]),
        T::Date => Bytes::from_static(&[0x80, 0, 0, 0]),
        T::Uuid => Bytes::from_static(&[0; 16]),
        T::TimeUuid | T::LegacyTimeUuid => Bytes::copy_from_slice(&timeuuid::min_at(0)),
        T::List { .. } | T::Set { .. } | T::Map { .. } => pack_collection(0, &[]),
        T::Tuple(types) => pack_tuple(&types.iter().map(default).collect::<Vec<_>>()),
        T::Udt { definition, .. } => {
            pack_tuple(&definition.fields.iter().map(|(_, field)| default(field)).collect::<Vec<_>>())
        }
        T::Vector { element, dimension } => {
            let element_mask = default(element)?;
            pack_vector(element, &vec![element_mask; usize::try_from(*dimension).ok()?])
        }
        T::Reversed(base) => return default(base),
        T::Custom(_) => return None,
    })
}

type Hasher = fn(&[u8]) -> Bytes;

fn digest<D: Digest>(value: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&D::digest(value))
}

fn algorithm(name: Option<&Bytes>) -> CqlResult<Hasher> {
    let name = name.map_or("SHA-256".into(), |name| String::from_utf8_lossy(name));
    match hasher(&name) {
        Some(hasher) => Ok(hasher),
        None => bail!("Hash algorithm not found: {name}"),
    }
}

/// The digest of a name in Java's standard library.
fn hasher(algorithm: &str) -> Option<Hasher> {
    Some(match algorithm.to_ascii_uppercase().as_str() {
        "MD2" => digest::<Md2>,
        "MD5" => digest::<Md5>,
        "SHA" | "SHA1" | "SHA-1" => digest::<Sha1>,
        "SHA-224" | "SHA224" => digest::<Sha224>,
        "SHA-256" | "SHA256" => digest::<Sha256>,
        "SHA-384" | "SHA384" => digest::<Sha384>,
        "SHA-512" | "SHA512" => digest::<Sha512>,
        "SHA-512/224" | "SHA512/224" => digest::<Sha512_224>,
        "SHA-512/256" | "SHA512/256" => digest::<Sha512_256>,
        "SHA3-224" => digest::<Sha3_224>,
        "SHA3-256" => digest::<Sha3_256>,
        "SHA3-384" => digest::<Sha3_384>,
        "SHA3-512" => digest::<Sha3_512>,
        _ => return None,
    })
}

fn int(value: Option<&Bytes>) -> i32 {
    value.and_then(|value| value.first_chunk()).map_or(0, |bytes| i32::from_be_bytes(*bytes))
}

/// The character to hide others with, a UTF-16 unit.
fn padding(function: &Function, written: Option<&Bytes>) -> CqlResult<u16> {
    let Some(written) = written else { return Ok(u16::from(b'*')) };
    let text = String::from_utf8_lossy(written);
    let units: Vec<u16> = text.encode_utf16().collect();
    match units.as_slice() {
        [single] => Ok(*single),
        several => bail!(
            "The padding argument for function {} should be single-character, but '{text}' has {} characters.",
            function.full_name(),
            several.len()
        ),
    }
}

/// Characters are counted as Java counts them, in UTF-16 units.
fn hide(mask: Mask, text: &str, begin: i32, end: i32, padding: u16) -> Vec<u16> {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    let last = i32::try_from(units.len()).unwrap_or(i32::MAX).wrapping_sub(1).wrapping_sub(end);
    for (place, unit) in (0..i32::MAX).zip(&mut units) {
        let is_inner = place >= begin && place <= last;
        if is_inner == (mask == Mask::Inner) {
            *unit = padding;
        }
    }
    units
}

/// Halves of a character that lost the other, and what is no ASCII in an `ascii`, become `?`.
fn encode(data_type: &DataType, units: &[u16]) -> Bytes {
    let known = |c: char| *data_type != DataType::Ascii || c.is_ascii();
    let text = char::decode_utf16(units.iter().copied());
    text.map(|c| c.ok().filter(|c| known(*c)).unwrap_or('?')).collect::<String>().into()
}
