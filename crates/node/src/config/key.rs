//! What a configuration key is: its kind, its default, its earlier names; and how a value given in
//! YAML becomes the text Cassandra would show for it. Knows nothing of what a key is good for.

use super::units::{Bound, DurationUnit, StorageUnit, duration_nanos, rate_bytes_per_second, storage_bytes};
use super::yaml::Yaml;

/// A key of `cassandra.yaml`.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it is when not given; `None`: unset, or derived from other things at start.
    pub default: Option<&'static str>,
    /// Names it had before, with how values under that name are read.
    pub earlier: &'static [(&'static str, Convert)],
}

/// A row of the catalogue.
pub const fn key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    earlier: &'static [(&'static str, Convert)],
) -> Key {
    Key { name, kind, default, earlier }
}

/// What values a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A Java `int`.
    Int,
    /// A Java `long`.
    Long,
    /// A number with a fraction.
    Double,
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A duration: smallest unit, range.
    Duration(DurationUnit, Bound),
    /// A size: smallest unit, range.
    Storage(StorageUnit, Bound),
    /// Bytes a second.
    Rate,
    /// A class name, or a mapping with `class_name` and `parameters`.
    Class,
    /// A mapping.
    Structure,
}

/// How a value under an earlier name is read (`config/Converters`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convert {
    /// As it is.
    Same,
    /// A number without unit: this is its unit.
    Append(&'static str),
    /// The same, and -1 says "unset".
    MinusOneIsNone(&'static str),
    /// The same, and negative numbers say 0.
    NegativeIsZero(&'static str),
    /// The same, and negative numbers say "unset".
    NegativeIsNone(&'static str),
    /// A fraction of milliseconds, rounded.
    RoundMillis,
    /// A number of seconds, or a duration with a unit, under the same name.
    SecondsOrUnit,
    /// A number of megabits a second.
    Megabits,
    /// A count that included the system keyspaces.
    LessSystemKeyspaces,
    /// A count that included the system tables.
    LessSystemTables,
}

/// Local and replicated system keyspaces (`SchemaConstants`).
const SYSTEM_KEYSPACES: i64 = 5;
/// Their tables, as stock 5.0.9 counts them.
const SYSTEM_TABLES: i64 = 48;

/// A value as Cassandra would print it, checked against its kind; `None` is null.
///
/// # Errors
/// What is wrong with the value, without the key's name.
pub fn value_text(kind: Kind, value: &Yaml) -> Result<Option<String>, String> {
    if *value == Yaml::Null {
        return Ok(None);
    }
    if let Kind::Texts | Kind::Class | Kind::Structure = kind {
        return Ok(Some(shown(kind, value)));
    }
    let text = value.scalar_text().ok_or("a single value is expected")?;
    match kind {
        Kind::Bool => bool_text(&text).map(str::to_owned).map(Some),
        Kind::Int => text.parse::<i32>().map(|_| Some(text.clone())).map_err(|_| not_a("an int", &text)),
        Kind::Long => text.parse::<i64>().map(|_| Some(text.clone())).map_err(|_| not_a("a long", &text)),
        Kind::Double => text.parse::<f64>().map(|_| Some(text.clone())).map_err(|_| not_a("a number", &text)),
        Kind::OneOf(words) if words.contains(&text.as_str()) => Ok(Some(text)),
        Kind::OneOf(words) => Err(format!("Unable to find enum value '{text}': it must be one of {words:?}")),
        Kind::Duration(unit, bound) => duration_nanos(&text, unit, bound).map(|_| Some(text)),
        Kind::Storage(unit, bound) => storage_bytes(&text, unit, bound).map(|_| Some(text)),
        Kind::Rate => rate_bytes_per_second(&text).map(|_| Some(text)),
        Kind::Text | Kind::Texts | Kind::Class | Kind::Structure => Ok(Some(text)),
    }
}

fn not_a(what: &str, text: &str) -> String {
    format!("'{text}' is not {what}")
}

/// YAML 1.1's words for truth, as Cassandra's reader takes them.
fn bool_text(text: &str) -> Result<&'static str, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Ok("true"),
        "false" | "no" | "off" => Ok("false"),
        _ => Err(not_a("true or false", text)),
    }
}

/// Lists and mappings in Java's way of printing them; a class by its name.
fn shown(kind: Kind, value: &Yaml) -> String {
    match value {
        Yaml::Map(_) if kind == Kind::Class => class_name(value).unwrap_or_default(),
        Yaml::List(items) if kind == Kind::Class => items.first().and_then(class_name).unwrap_or_default(),
        Yaml::List(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(kind, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Yaml::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{name}={}", shown(kind, value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        scalar => scalar.scalar_text().unwrap_or_else(|| "null".to_owned()),
    }
}

/// The class of a `Kind::Class` value, in both forms.
pub fn class_name(value: &Yaml) -> Option<String> {
    match value {
        Yaml::Map(_) => value.get("class_name")?.scalar_text(),
        Yaml::List(items) => items.first().and_then(class_name),
        scalar => scalar.scalar_text(),
    }
}

/// A value under an earlier name as the value it is under today's.
///
/// # Errors
/// When it is not a number where one is needed.
pub fn convert(how: Convert, value: &Yaml) -> Result<Yaml, String> {
    if *value == Yaml::Null || how == Convert::Same {
        return Ok(value.clone());
    }
    let text = value.scalar_text().ok_or("a single value is expected")?;
    let number = || text.parse::<i64>().map_err(|_| not_a("a whole number", &text));
    let with_unit = |number: i64, unit: &str| Yaml::Text(format!("{number}{unit}"));
    Ok(match how {
        Convert::Same => value.clone(),
        Convert::Append(unit) => with_unit(number()?, unit),
        Convert::MinusOneIsNone(_) if number()? == -1 => Yaml::Null,
        Convert::NegativeIsNone(_) if number()? < 0 => Yaml::Null,
        Convert::MinusOneIsNone(unit) | Convert::NegativeIsNone(unit) => with_unit(number()?, unit),
        Convert::NegativeIsZero(unit) => with_unit(number()?.max(0), unit),
        Convert::RoundMillis => match text.parse::<f64>() {
            Ok(millis) if millis.is_nan() => Yaml::Text("0ms".to_owned()),
            Ok(millis) => Yaml::Text(format!("{}ms", millis.round())),
            Err(_) => return Err(not_a("a number", &text)),
        },
        Convert::SecondsOrUnit => match text.parse::<i64>() {
            Ok(seconds) => with_unit(seconds, "s"),
            Err(_) => value.clone(),
        },
        Convert::Megabits => with_unit(number()?.saturating_mul(125_000), "B/s"),
        Convert::LessSystemKeyspaces => Yaml::Int(number()? - SYSTEM_KEYSPACES),
        Convert::LessSystemTables => Yaml::Int(number()? - SYSTEM_TABLES),
    })
}
