//! Values of every CQL type, made from a number: the same number gives the same value.

use basalt_cql::ast::{CqlType, CreateType, NativeType};
use bytes::{BufMut, BytesMut};

use crate::distribution::Distribution;
use crate::random::{Random, mix};
use crate::workload::{Error, fill};

/// How values of a type are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Native(NativeType),
    /// A list or set.
    List(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
    /// A tuple or user type: the same bytes.
    Tuple(Vec<Kind>),
    Vector(Box<Kind>, u32),
}

/// Where the numbers of a column's values come from.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Keeps columns apart.
    pub salt: u64,
    /// The values.
    pub population: Distribution,
    /// Bytes of texts and blobs, elements of collections.
    pub size: Distribution,
}

/// The bytes a value may have at most; servers refuse more by default.
pub const VALUE_BYTES_MAX: u64 = 16 << 20;

/// Keeps elements and sizes apart from the values they belong to.
const ELEMENTS: u64 = 0x656c_656d;
const SIZES: u64 = 0x7369_7a65;

const DAY_NANOS: u64 = 86_400_000_000_000;

/// 100-nanosecond steps from 1582-10-15 to 1970-01-01.
const EPOCH_STEPS: u64 = 122_192_928_000_000_000;

impl Kind {
    /// Of a type as written.
    pub fn of(written: &CqlType, types: &[(String, Kind)]) -> Result<Kind, Error> {
        let inner = |written: &CqlType| Kind::of(written, types);
        Ok(match written {
            CqlType::Native(native) => Kind::Native(*native),
            CqlType::List(element) | CqlType::Set(element) => Kind::List(Box::new(inner(element)?)),
            CqlType::Map(key, value) => Kind::Map(Box::new(inner(key)?), Box::new(inner(value)?)),
            CqlType::Tuple(parts) => Kind::Tuple(parts.iter().map(inner).collect::<Result<_, _>>()?),
            CqlType::Frozen(inside) => inner(inside)?,
            CqlType::Vector(element, dimension) => match u32::try_from(*dimension) {
                Ok(dimension) if dimension > 0 => Kind::Vector(Box::new(inner(element)?), dimension),
                _ => return Err(Error::new(format!("{written}: a vector has at least one element"))),
            },
            CqlType::User(name) => match types.iter().find(|(known, _)| *known == name.name.name) {
                Some((_, kind)) => kind.clone(),
                None => {
                    return Err(Error::new(format!(
                        "type {name} is not in extra_definitions, or only later"
                    )));
                }
            },
            CqlType::Custom(_) => return Err(Error::new(format!("values of type {written} cannot be made"))),
        })
    }

    /// Of a user type; those before it are known.
    pub fn of_user_type(definition: &CreateType, types: &[(String, Kind)]) -> Result<Kind, Error> {
        let parts = definition.fields.iter().map(|(_, written)| Kind::of(written, types));
        let kind = Kind::Tuple(parts.collect::<Result<_, _>>()?);
        // Each level of user types may double the fields.
        if kind.bytes_max(1) > VALUE_BYTES_MAX {
            return Err(Error::new(format!("type {} is too large", definition.name.name.name)));
        }
        Ok(kind)
    }

    pub fn is_counter(&self) -> bool {
        *self == Kind::Native(NativeType::Counter)
    }

    /// An upper bound of a value's bytes, where sizes are at most `size`.
    pub fn bytes_max(&self, size: u64) -> u64 {
        let with_length = |kind: &Kind| kind.bytes_max(size).saturating_add(9);
        match self {
            Kind::Native(NativeType::Ascii | NativeType::Text | NativeType::Varchar | NativeType::Blob) => {
                size
            }
            Kind::Native(_) => 32,
            Kind::List(element) => size.saturating_mul(with_length(element)),
            Kind::Map(key, value) => size.saturating_mul(with_length(key).saturating_add(with_length(value))),
            Kind::Tuple(parts) => {
                parts.iter().fold(0, |sum: u64, part| sum.saturating_add(with_length(part)))
            }
            Kind::Vector(element, dimension) => with_length(element).saturating_mul(u64::from(*dimension)),
        }
    }

    /// Appends the value that a number stands for.
    pub fn put(&self, number: i64, spread: &Spread, out: &mut BytesMut) {
        match self {
            Kind::Native(native) => put_native(*native, number, spread, out),
            Kind::List(element) => {
                let count = spread.size_of(number);
                out.put_i32(count as i32);
                (0..count).for_each(|place| element.put_element(number, place, spread, out));
            }
            Kind::Map(key, value) => {
                let count = spread.size_of(number);
                out.put_i32(count as i32);
                for place in 0..count {
                    key.put_element(number, place * 2, spread, out);
                    value.put_element(number, place * 2 + 1, spread, out);
                }
            }
            Kind::Tuple(parts) => {
                parts.iter().zip(0..).for_each(|(part, place)| part.put_element(number, place, spread, out));
            }
            Kind::Vector(element, dimension) => {
                for place in 0..u64::from(*dimension) {
                    element.put_vector_element(number, place, spread, out);
                }
            }
        }
    }

    /// Appends an element of a value with its length in front.
    fn put_element(&self, number: i64, place: u64, spread: &Spread, out: &mut BytesMut) {
        let at = out.len();
        out.put_i32(0);
        self.put(spread.element(number, place), spread, out);
        // Values are bounded far below 2 GiB.
        let length = (out.len() - at - 4) as i32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// A vector's elements have their length in front only where it may differ, as a vint.
    fn put_vector_element(&self, number: i64, place: u64, spread: &Spread, out: &mut BytesMut) {
        let element = spread.element(number, place);
        if self.has_fixed_length() {
            return self.put(element, spread, out);
        }
        // The length is known afterwards: it is appended, and turned to the front.
        let at = out.len();
        self.put(element, spread, out);
        let end = out.len();
        put_vint((end - at) as u64, out);
        let length = out.len() - end;
        out[at..].rotate_right(length);
    }

    /// As Cassandra's `AbstractType.valueLengthIfFixed` has it: not all types that could be.
    fn has_fixed_length(&self) -> bool {
        match self {
            Kind::Native(native) => matches!(
                native,
                NativeType::Boolean
                    | NativeType::Int
                    | NativeType::Float
                    | NativeType::Bigint
                    | NativeType::Double
                    | NativeType::Timestamp
                    | NativeType::Uuid
                    | NativeType::Timeuuid
            ),
            Kind::Vector(element, _) => element.has_fixed_length(),
            _ => false,
        }
    }
}

impl Spread {
    /// The number of an element of the value that a number stands for.
    pub fn element(&self, number: i64, place: u64) -> i64 {
        self.population.draw(self.salt ^ ELEMENTS, number as u64, place)
    }

    fn size_of(&self, number: i64) -> u64 {
        self.size.draw(self.salt ^ SIZES, number as u64, 0).max(0) as u64
    }
}

fn put_native(native: NativeType, number: i64, spread: &Spread, out: &mut BytesMut) {
    match native {
        NativeType::Ascii | NativeType::Text | NativeType::Varchar | NativeType::Blob => {
            let mut random = Random::new(mix(spread.salt ^ mix(number as u64)));
            fill(out, spread.size_of(number) as usize, &mut random);
        }
        NativeType::Bigint | NativeType::Counter | NativeType::Timestamp => out.put_i64(number),
        NativeType::Int => out.put_i32(number as i32),
        NativeType::Smallint => out.put_i16(number as i16),
        NativeType::Tinyint => out.put_i8(number as i8),
        NativeType::Boolean => out.put_u8((number & 1) as u8),
        NativeType::Double => out.put_f64(number as f64),
        NativeType::Float => out.put_f32(number as f32),
        NativeType::Date => out.put_u32((1_u32 << 31).wrapping_add(number as u32)),
        NativeType::Time => out.put_u64(number as u64 % DAY_NANOS),
        NativeType::Inet => out.put_i32(number as i32),
        NativeType::Timeuuid => put_timeuuid(number, out),
        NativeType::Uuid => {
            let high = mix(number as u64);
            out.put_u64(high & !0xf000 | 0x4000);
            out.put_u64(mix(high) >> 2 | 1 << 63);
        }
        NativeType::Varint => put_varint(number, out),
        NativeType::Decimal => {
            out.put_i32(2);
            put_varint(number, out);
        }
        NativeType::Duration => {
            // Months, days and nanoseconds have one sign, and months and days are 32 bits.
            let number = number.unsigned_abs();
            [number % 120, number % 31, number % DAY_NANOS]
                .into_iter()
                .for_each(|part| put_vint(part << 1, out));
        }
    }
}

/// A millisecond since 1970 for each number; clock sequence and node are fixed.
fn put_timeuuid(number: i64, out: &mut BytesMut) {
    let time = EPOCH_STEPS.wrapping_add((number as u64).wrapping_mul(10_000)) & (u64::MAX >> 4);
    out.put_u32(time as u32);
    out.put_u16((time >> 32) as u16);
    out.put_u16(0x1000 | (time >> 48) as u16);
    out.put_u64(0x8080_0100_0000_0001);
}

/// Two's complement in as few bytes as hold it.
fn put_varint(number: i64, out: &mut BytesMut) {
    let bits = 65 - if number < 0 { !number } else { number }.leading_zeros() as usize;
    out.extend_from_slice(&number.to_be_bytes()[8 - bits.div_ceil(8)..]);
}

/// An unsigned vint: as many leading ones as bytes follow the first.
fn put_vint(number: u64, out: &mut BytesMut) {
    let bits = 64 - (number | 1).leading_zeros() as usize;
    let extra = if bits > 56 { 8 } else { (bits - 1) / 7 };
    let bytes = number.to_be_bytes();
    if extra == 8 {
        out.put_u8(0xff);
        return out.extend_from_slice(&bytes);
    }
    let first = bytes[7 - extra] | !(0xff_u16 >> extra) as u8;
    out.put_u8(first);
    out.extend_from_slice(&bytes[8 - extra..]);
}
