//! Types as written to types of the model, with Cassandra's rules and words
//! (`CQL3Type.Raw`). Knows the user types it is given, no other part of the schema.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use basalt_cql::ast::{CqlType, NativeType, QualifiedName};
use basalt_model::types::UserType;
use basalt_model::{CqlError, DataType};

use crate::types::native;

/// The user types of a keyspace, by name.
pub type UserTypes = BTreeMap<Arc<str>, Arc<UserType>>;

/// How deep types may nest; the parser has a limit of its own, stored text has none.
const NESTING_MAX: usize = 64;

/// A type as written, with `frozen` moved to where it acts.
#[derive(Clone, Debug)]
pub enum RawType {
    /// A scalar.
    Native(NativeType),
    /// `'class'`.
    Custom(String),
    /// `list<values>`.
    List(Box<RawType>, bool),
    /// `set<values>`.
    Set(Box<RawType>, bool),
    /// `map<keys, values>`.
    Map(Box<RawType>, Box<RawType>, bool),
    /// `tuple<...>`.
    Tuple(Vec<RawType>),
    /// `vector<element, dimension>`.
    Vector(Box<RawType>, i32),
    /// A user type: its keyspace if written, its name, whether frozen.
    User(Option<String>, String, bool),
}

impl RawType {
    /// Reads what the parser saw.
    ///
    /// # Errors
    /// When types nest too deep.
    pub fn of(written: &CqlType) -> Result<RawType, CqlError> {
        RawType::at_depth(written, 0)
    }

    fn at_depth(written: &CqlType, depth: usize) -> Result<RawType, CqlError> {
        if depth > NESTING_MAX {
            return Err(CqlError::syntax("types are nested too deep"));
        }
        let inner = |cql_type: &CqlType| RawType::at_depth(cql_type, depth + 1).map(Box::new);
        Ok(match written {
            CqlType::Native(native) => RawType::Native(*native),
            CqlType::Custom(class) => RawType::Custom(class.clone()),
            CqlType::List(values) => RawType::List(inner(values)?, false),
            CqlType::Set(values) => RawType::Set(inner(values)?, false),
            CqlType::Map(keys, values) => RawType::Map(inner(keys)?, inner(values)?, false),
            CqlType::Vector(element, dimension) => RawType::Vector(inner(element)?, *dimension),
            CqlType::Tuple(types) => {
                let types: Result<Vec<RawType>, CqlError> =
                    types.iter().map(|part| inner(part).map(|raw| raw.freeze())).collect();
                RawType::Tuple(types?)
            }
            CqlType::User(QualifiedName { keyspace, name }) => {
                RawType::User(keyspace.as_ref().map(|k| k.name.clone()), name.name.clone(), false)
            }
            CqlType::Frozen(frozen) => inner(frozen)?.freeze(),
        })
    }

    /// `frozen<...>` around it: reaches into collections; scalars stay as they are.
    fn freeze(self) -> RawType {
        match self {
            RawType::List(values, _) => RawType::List(Box::new(values.freeze()), true),
            RawType::Set(values, _) => RawType::Set(Box::new(values.freeze()), true),
            RawType::Map(keys, values, _) => {
                RawType::Map(Box::new(keys.freeze()), Box::new(values.freeze()), true)
            }
            RawType::User(keyspace, name, _) => RawType::User(keyspace, name, true),
            other => other,
        }
    }

    /// The same with every user type named by its keyspace.
    pub fn in_keyspace(self, keyspace: &str) -> RawType {
        let inner = |raw: Box<RawType>| Box::new(raw.in_keyspace(keyspace));
        match self {
            RawType::List(values, frozen) => RawType::List(inner(values), frozen),
            RawType::Set(values, frozen) => RawType::Set(inner(values), frozen),
            RawType::Map(keys, values, frozen) => RawType::Map(inner(keys), inner(values), frozen),
            RawType::Tuple(parts) => {
                RawType::Tuple(parts.into_iter().map(|part| part.in_keyspace(keyspace)).collect())
            }
            RawType::Vector(element, dimension) => RawType::Vector(inner(element), dimension),
            RawType::User(_, name, frozen) => RawType::User(Some(keyspace.to_owned()), name, frozen),
            other => other,
        }
    }

    /// `counter`.
    pub fn is_counter(&self) -> bool {
        matches!(self, RawType::Native(NativeType::Counter))
    }

    /// A user type that is not frozen.
    pub fn is_unfrozen_user_type(&self) -> bool {
        matches!(self, RawType::User(_, _, false))
    }

    fn is_duration(&self) -> bool {
        matches!(self, RawType::Native(NativeType::Duration))
    }

    /// The type it names in `keyspace`.
    ///
    /// # Errors
    /// With Cassandra's text.
    pub fn prepare(&self, keyspace: &str, types: &UserTypes) -> Result<DataType, CqlError> {
        let element = |raw: &RawType| raw.prepare(keyspace, types).map(Arc::new);
        match self {
            RawType::Native(name) => Ok(native(*name)),
            RawType::Custom(class) => custom_type(class),
            RawType::List(values, frozen) => {
                self.check_parts(None, values, *frozen)?;
                Ok(DataType::List { element: element(values)?, frozen: *frozen })
            }
            RawType::Set(values, frozen) => {
                self.check_parts(None, values, *frozen)?;
                Ok(DataType::Set { element: element(values)?, frozen: *frozen })
            }
            RawType::Map(keys, values, frozen) => {
                self.check_parts(Some(keys), values, *frozen)?;
                Ok(DataType::Map { key: element(keys)?, value: element(values)?, frozen: *frozen })
            }
            RawType::Tuple(parts) => {
                if parts.iter().any(RawType::is_counter) {
                    return Err(CqlError::invalid("Counters are not allowed inside tuples"));
                }
                let parts: Result<Vec<DataType>, CqlError> =
                    parts.iter().map(|part| part.prepare(keyspace, types)).collect();
                Ok(DataType::Tuple(parts?.into()))
            }
            RawType::Vector(values, dimension) => {
                let element = element(values)?;
                match u32::try_from(*dimension) {
                    Ok(dimension) if dimension > 0 => Ok(DataType::Vector { element, dimension }),
                    _ => Err(CqlError::invalid(format!(
                        "vectors may only have positive dimensions; given {dimension}"
                    ))),
                }
            }
            RawType::User(written, name, frozen) => {
                user_type(written.as_deref(), name, *frozen, keyspace, types)
            }
        }
    }

    /// The rules for what a collection holds (`RawCollection.prepare`).
    fn check_parts(&self, keys: Option<&RawType>, values: &RawType, frozen: bool) -> Result<(), CqlError> {
        if !frozen {
            self.check_nested(values)?;
        }
        if values.is_counter() {
            return Err(CqlError::invalid(format!("Counters are not allowed inside collections: {self}")));
        }
        if values.is_duration() && matches!(self, RawType::Set(..)) {
            return Err(CqlError::invalid(format!("Durations are not allowed inside sets: {self}")));
        }
        let Some(keys) = keys else { return Ok(()) };
        if keys.is_counter() {
            return Err(CqlError::invalid(format!("Counters are not allowed inside collections: {self}")));
        }
        if keys.is_duration() {
            return Err(CqlError::invalid(format!("Durations are not allowed as map keys: {self}")));
        }
        if frozen { Ok(()) } else { self.check_nested(keys) }
    }

    fn check_nested(&self, inner: &RawType) -> Result<(), CqlError> {
        let what = match inner {
            RawType::List(_, false) | RawType::Set(_, false) | RawType::Map(_, _, false) => "collections",
            RawType::User(_, _, false) => "UDTs",
            _ => return Ok(()),
        };
        Err(CqlError::invalid(format!("Non-frozen {what} are not allowed inside collections: {self}")))
    }
}

impl fmt::Display for RawType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawType::Native(native) => f.write_str(native.name()),
            RawType::Custom(class) => write!(f, "'{class}'"),
            RawType::List(values, false) => write!(f, "list<{values}>"),
            RawType::List(values, true) => write!(f, "frozen<list<{values}>>"),
            RawType::Set(values, false) => write!(f, "set<{values}>"),
            RawType::Set(values, true) => write!(f, "frozen<set<{values}>>"),
            RawType::Map(keys, values, false) => write!(f, "map<{keys}, {values}>"),
            RawType::Map(keys, values, true) => write!(f, "frozen<map<{keys}, {values}>>"),
            RawType::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            RawType::Tuple(parts) => {
                f.write_str("tuple<")?;
                for (index, part) in parts.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{part}")?;
                }
                f.write_str(">")
            }
            RawType::User(keyspace, name, frozen) => {
                let (open, close) = if *frozen { ("frozen<", ">") } else { ("", "") };
                match keyspace {
                    Some(keyspace) => write!(f, "{open}{keyspace}.{name}{close}"),
                    None => write!(f, "{open}{name}{close}"),
                }
            }
        }
    }
}

fn user_type(
    written: Option<&str>,
    name: &str,
    frozen: bool,
    keyspace: &str,
    types: &UserTypes,
) -> Result<DataType, CqlError> {
    if let Some(written) = written
        && written != keyspace
    {
        return Err(CqlError::invalid(format!(
            "Statement on keyspace {keyspace} cannot refer to a user type in keyspace {written}; user types can only be used in the keyspace they are defined in"
        )));
    }
    match types.get(name) {
        Some(definition) => Ok(DataType::Udt { definition: definition.clone(), frozen }),
        None => Err(CqlError::invalid(format!("Unknown type {keyspace}.{name}"))),
    }
}

fn custom_type(class: &str) -> Result<DataType, CqlError> {
    if class.is_empty() {
        return Ok(DataType::Blob);
    }
    match DataType::from_class_name(class) {
        // The order of a `ReversedType` is that of clustering columns alone.
        Some((data_type, _)) => Ok(data_type),
        None => Err(CqlError::syntax(format!("Error setting type {class}: {}", class_trouble(class)))),
    }
}

/// What is wrong with the name of a class, or with what stands behind it (`TypeParser`).
fn class_trouble(class: &str) -> String {
    const PACKAGE: &str = "org.apache.cassandra.db.marshal.";
    const WITH_PARAMETERS: [&str; 8] = [
        "FrozenType",
        "ListType",
        "MapType",
        "ReversedType",
        "SetType",
        "TupleType",
        "UserType",
        "VectorType",
    ];
    let name = class.trim_start();
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-+._&".contains(c))).unwrap_or(name.len());
    let name = name.split_at_checked(end).map_or(name, |(name, _)| name);
    let full = if name.contains('.') { name.to_owned() } else { format!("{PACKAGE}{name}") };
    if full.strip_prefix(PACKAGE).is_some_and(|known| WITH_PARAMETERS.contains(&known)) {
        return format!("Invalid definition for comparator {full}.");
    }
    format!("Unable to find abstract-type class '{full}'")
}

/// Refuses unknown classes of custom types, as Cassandra's parser does.
///
/// # Errors
/// `Syntax`.
pub fn check_classes(written: &CqlType) -> Result<(), CqlError> {
    match written {
        CqlType::Custom(class) => custom_type(class).map(|_| ()),
        CqlType::List(inner) | CqlType::Set(inner) | CqlType::Frozen(inner) | CqlType::Vector(inner, _) => {
            check_classes(inner)
        }
        CqlType::Map(key, value) => check_classes(key).and_then(|()| check_classes(value)),
        CqlType::Tuple(parts) => parts.iter().try_for_each(check_classes),
        CqlType::Native(_) | CqlType::User(_) => Ok(()),
    }
}

/// The type a written one names in `keyspace`.
///
/// # Errors
/// With Cassandra's text.
pub fn resolve(written: &CqlType, keyspace: &str, types: &UserTypes) -> Result<DataType, CqlError> {
    RawType::of(written)?.prepare(keyspace, types)
}

/// Whether `data_type` is, or holds, the user type of that name.
pub fn references(data_type: &DataType, name: &str) -> bool {
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } | DataType::Vector { element, .. } => {
            references(element, name)
        }
        DataType::Map { key, value, .. } => references(key, name) || references(value, name),
        DataType::Tuple(parts) => parts.iter().any(|part| references(part, name)),
        DataType::Udt { definition, .. } => {
            &*definition.name == name || definition.fields.iter().any(|(_, field)| references(field, name))
        }
        _ => false,
    }
}

/// The type with tuples in place of user types (`AbstractType.expandUserTypes`): what a dropped
/// column keeps, so that its user types may be dropped too.
pub fn expand_user_types(data_type: &DataType) -> DataType {
    let expand = |inner: &Arc<DataType>| Arc::new(expand_user_types(inner));
    // What is inside a tuple is frozen.
    let part = |part: &DataType| expand_user_types(part).freeze();
    match data_type {
        DataType::List { element, frozen } => DataType::List { element: expand(element), frozen: *frozen },
        DataType::Set { element, frozen } => DataType::Set { element: expand(element), frozen: *frozen },
        DataType::Map { key, value, frozen } => {
            DataType::Map { key: expand(key), value: expand(value), frozen: *frozen }
        }
        DataType::Tuple(parts) => DataType::Tuple(parts.iter().map(part).collect()),
        DataType::Udt { definition, .. } => {
            DataType::Tuple(definition.fields.iter().map(|(_, field)| part(field)).collect())
        }
        DataType::Vector { element, dimension } => {
            DataType::Vector { element: expand(element), dimension: *dimension }
        }
        other => other.clone(),
    }
}
