//! What DESCRIBE lists: schema elements with their kind, names and, when asked for, their CREATE
//! statement (`SchemaElement`).

use basalt_model::quote::identifier;
use basalt_model::types::UserType;
use basalt_model::{DataType, Keyspace, Table};

use super::text;

/// A schema element.
#[derive(Clone, Copy)]
pub enum Element<'a> {
    /// A keyspace alone.
    Keyspace(&'a Keyspace),
    /// A user type.
    Type(&'a UserType),
    /// A table.
    Table(&'a Table),
}

impl Element<'_> {
    /// `keyspace_name`, `type` and `name`.
    pub fn names(&self) -> [String; 3] {
        let (keyspace, kind, name) = match self {
            Element::Keyspace(keyspace) => (&keyspace.name, "keyspace", &keyspace.name),
            Element::Type(user_type) => (&user_type.keyspace, "type", &user_type.name),
            Element::Table(table) => (&table.keyspace, "table", &table.name),
        };
        [identifier(keyspace).into_owned(), kind.to_owned(), identifier(name).into_owned()]
    }

    /// `create_statement`.
    pub fn create_statement(&self, with_internals: bool) -> String {
        match self {
            Element::Keyspace(keyspace) => text::keyspace(keyspace),
            Element::Type(user_type) => text::user_type(user_type),
            Element::Table(table) => text::table(table, with_internals),
        }
    }
}

/// Java's `compareToIgnoreCase`, which is how DESCRIBE sorts; equal names keep their order.
fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Keyspaces by name.
pub fn sorted<'a>(keyspaces: impl Iterator<Item = &'a Keyspace>) -> Vec<&'a Keyspace> {
    let mut keyspaces: Vec<&Keyspace> = keyspaces.collect();
    keyspaces.sort_by_cached_key(|keyspace| folded(&keyspace.name));
    keyspaces
}

/// The tables of a keyspace by name.
pub fn tables(keyspace: &Keyspace) -> Vec<Element<'_>> {
    let mut tables: Vec<&Table> = keyspace.tables.values().map(|table| &**table).collect();
    tables.sort_by_cached_key(|table| folded(&table.name));
    tables.into_iter().map(Element::Table).collect()
}

/// The types of a keyspace by name.
pub fn types(keyspace: &Keyspace) -> Vec<Element<'_>> {
    let mut types: Vec<&UserType> = keyspace.types.values().map(|user_type| &**user_type).collect();
    types.sort_by_cached_key(|user_type| folded(&user_type.name));
    types.into_iter().map(Element::Type).collect()
}

/// A keyspace with all that is in it: types before the types that use them, then tables.
pub fn whole(keyspace: &Keyspace) -> Vec<Element<'_>> {
    let mut elements = vec![Element::Keyspace(keyspace)];
    let mut seen: Vec<&str> = Vec::new();
    for user_type in keyspace.types.values() {
        add_type(keyspace, user_type, &mut seen);
    }
    let ordered = seen.iter().filter_map(|name| keyspace.types.get(*name));
    elements.extend(ordered.map(|user_type| Element::Type(user_type)));
    elements.extend(tables(keyspace));
    elements
}

/// `Types.sortedStream`: depth first. Types cannot refer to each other in a circle.
fn add_type<'a>(keyspace: &'a Keyspace, user_type: &'a UserType, seen: &mut Vec<&'a str>) {
    if seen.contains(&&*user_type.name) {
        return;
    }
    for (_, field) in &user_type.fields {
        add_types_of(keyspace, field, seen);
    }
    seen.push(&user_type.name);
}

fn add_types_of<'a>(keyspace: &'a Keyspace, data_type: &'a DataType, seen: &mut Vec<&'a str>) {
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } | DataType::Vector { element, .. } => {
            add_types_of(keyspace, element, seen);
        }
        DataType::Map { key, value, .. } => {
            add_types_of(keyspace, key, seen);
            add_types_of(keyspace, value, seen);
        }
        DataType::Tuple(parts) => parts.iter().for_each(|part| add_types_of(keyspace, part, seen)),
        DataType::Udt { definition, .. } => {
            if let Some(inner) = keyspace.types.get(&definition.name) {
                add_type(keyspace, inner, seen);
            }
        }
        _ => {}
    }
}
