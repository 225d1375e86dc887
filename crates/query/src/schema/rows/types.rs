//! `system_schema.types`.

use basalt_model::types::UserType;

use super::SchemaMutation;
use crate::schema::encode;

/// A user type.
pub fn write(user_type: &UserType, mutation: &mut SchemaMutation<'_>) {
    let types: Vec<String> = user_type.fields.iter().map(|(_, field)| field.to_string()).collect();
    mutation.row("types", &[&user_type.name], |row| {
        row.set("field_names", encode::text_list(user_type.fields.iter().map(|(name, _)| &**name)));
        row.set("field_types", encode::text_list(types.iter().map(String::as_str)));
    });
}

/// Its end.
pub fn delete(user_type: &UserType, mutation: &mut SchemaMutation<'_>) {
    mutation.delete_row("types", &[&user_type.name]);
}
