//! INSERT (`UpdateStatement.ParsedInsert`, `ParsedInsertJson`).

use basalt_cql::ast;
use basalt_cql::ast::{Ident, InsertValues, TermKind};
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Schema, Table};

use super::document::Document;
use super::modify::{ModifyPlan, is_static_only, split};
use super::{attributes, find_table};
use crate::conditions::Conditions;
use crate::error::{CqlResult, ensure, invalid};
use crate::json::document::read_columns;
use crate::operations::{Action, Operation, set_value};
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, StatementKind, Terms, existing_column};
use crate::terms::{Context, Term};

/// What is inserted: the key's columns with their values, and what happens to the others.
#[derive(Default)]
struct Inserted {
    key: Vec<(usize, Term)>,
    operations: Vec<Operation>,
    /// Where a JSON document is bound.
    document: Option<Document>,
}

/// Resolves an INSERT.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    insert: &ast::Insert,
    keyspace: Option<&str>,
) -> CqlResult<ModifyPlan> {
    let (table, replication) = find_table(schema, &insert.table, keyspace)?;
    let context = Context::of(schema, &table);
    let place = Receiver::named(&table, "", DataType::BigInt);
    let using = (insert.using.timestamp.as_ref(), insert.using.ttl.as_ref());
    let attributes = attributes::prepare(&context, markers, using, &place)?;
    ensure(!table.is_counter(), || {
        "INSERT statements are not allowed on counter tables, use UPDATE instead".to_owned()
    })?;
    let Inserted { key, operations, document } = match &insert.values {
        InsertValues::Columns(names, values) => columns(&context, markers, &table, names, values)?,
        InsertValues::Json { value, default_unset } => json(markers, &table, value, *default_unset)?,
    };
    let sets_clustering = key.iter().any(|(column, _)| table.columns[*column].kind == ColumnKind::Clustering);
    let conditions = if insert.if_not_exists { Conditions::NotExists } else { Conditions::None };
    let (regular, statics) = split(operations, &table);
    let kind = StatementKind::Insert;
    let static_only = !sets_clustering && is_static_only(kind, (&regular, &statics), &conditions, &table);
    let terms = Terms { kind, static_only, allow_filtering: false, ann: None };
    let restrictions = Restrictions::of_values(&table, key, terms)?;
    let plan = ModifyPlan {
        kind,
        table,
        replication,
        restrictions,
        regular,
        statics,
        conditions,
        attributes,
        document,
    };
    plan.validate_conditions()?;
    Ok(plan)
}

fn is_key(table: &Table, column: usize) -> bool {
    matches!(table.columns[column].kind, ColumnKind::PartitionKey | ColumnKind::Clustering)
}

/// `(names) VALUES (values)`
fn columns(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    names: &[Ident],
    values: &[ast::Term],
) -> CqlResult<Inserted> {
    ensure(!names.is_empty(), || "No columns provided to INSERT".to_owned())?;
    ensure(names.len() == values.len(), || "Unmatched column names/values".to_owned())?;
    let repeated = |index: usize| names[..index].iter().any(|name| name.name == names[index].name);
    ensure(!(0..names.len()).any(repeated), || "The column names contains duplicates".to_owned())?;
    let mut inserted = Inserted::default();
    let mut key = Vec::new();
    for (name, value) in names.iter().zip(values) {
        let column = existing_column(table, &name.name)?;
        if is_key(table, column) {
            key.push((column, value));
        } else {
            inserted.operations.push(set_value(context, markers, table, column, value)?);
        }
    }
    // Of several mistakes, one in another column than the key's is told first.
    for (column, value) in key {
        let term = Term::prepare(context, markers, value, &Receiver::column(table, column))?;
        inserted.key.push((column, term));
    }
    Ok(inserted)
}

/// `JSON value`: every column of the table gets a value, those the document does not name null,
/// or with `DEFAULT UNSET` none.
fn json(markers: &mut Markers, table: &Table, value: &ast::Term, default_unset: bool) -> CqlResult<Inserted> {
    let mut inserted = Inserted::default();
    let values: Vec<Term> = match &value.kind {
        TermKind::Literal(literal) => {
            let absent = if default_unset { Term::Unset } else { Term::Null };
            let values = read_columns(&literal.text, table)?.into_iter();
            values.map(|value| value.unwrap_or_else(|| absent.clone())).collect()
        }
        TermKind::Marker(marker) => {
            markers.add(marker, &Receiver::named(table, "[json]", DataType::Text), Some(table));
            let document = Document::new(marker, markers, default_unset);
            let values = (0..table.columns.len()).map(|column| document.term(column)).collect();
            inserted.document = Some(document);
            values
        }
        _ => return invalid("INSERT JSON takes a string or a bind marker"),
    };
    for (column, value) in values.into_iter().enumerate() {
        if is_key(table, column) {
            // A static compact table has one that nobody may name, so that no document will do.
            existing_column(table, &table.columns[column].name)?;
            inserted.key.push((column, value));
        } else {
            inserted.operations.push(Operation { column, action: Action::Set(value) });
        }
    }
    Ok(inserted)
}
