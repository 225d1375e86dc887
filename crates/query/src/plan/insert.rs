//! INSERT (`UpdateStatement.ParsedInsert`).

use basalt_cql::ast;
use basalt_cql::ast::{InsertValues, Operator, Relation, RelationKind};
use basalt_model::schema::ColumnKind;
use basalt_model::{CqlError, Schema};

use super::modify::{ModifyPlan, is_static_only, split};
use super::{attributes, find_table};
use crate::conditions::Conditions;
use crate::error::{CqlResult, ensure};
use crate::operations::set_value;
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, StatementKind, Terms, existing_column};
use crate::terms::Context;

/// Resolves an INSERT.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    insert: &ast::Insert,
    keyspace: Option<&str>,
) -> CqlResult<ModifyPlan> {
    let (table, replication) = find_table(schema, &insert.table, keyspace)?;
    let context = Context { schema, keyspace: &table.keyspace, table: Some(&table) };
    let InsertValues::Columns(names, values) = &insert.values else {
        return Err(CqlError::unsupported("INSERT JSON"));
    };
    let place = Receiver::named(&table, "", basalt_model::DataType::BigInt);
    let using = (insert.using.timestamp.as_ref(), insert.using.ttl.as_ref());
    let attributes = attributes::prepare(&context, markers, using, &place)?;
    ensure(!table.is_counter(), || {
        "INSERT statements are not allowed on counter tables, use UPDATE instead".to_owned()
    })?;
    ensure(!names.is_empty(), || "No columns provided to INSERT".to_owned())?;
    ensure(names.len() == values.len(), || "Unmatched column names/values".to_owned())?;
    let repeated = |index: usize| names[..index].iter().any(|name| name.name == names[index].name);
    ensure(!(0..names.len()).any(repeated), || "The column names contains duplicates".to_owned())?;
    let conditions = if insert.if_not_exists { Conditions::NotExists } else { Conditions::None };
    let mut key = Vec::new();
    let mut operations = Vec::new();
    let mut sets_clustering = false;
    for (name, value) in names.iter().zip(values) {
        let column = existing_column(&table, &name.name)?;
        let kind = table.columns[column].kind;
        sets_clustering |= kind == ColumnKind::Clustering;
        if matches!(kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
            let relation =
                RelationKind::Column { column: name.clone(), op: Operator::Eq, value: value.clone() };
            key.push(Relation { kind: relation, pos: name.pos });
        } else {
            operations.push(set_value(&context, markers, &table, column, value)?);
        }
    }
    let (regular, statics) = split(operations, &table);
    let kind = StatementKind::Insert;
    let static_only = !sets_clustering && is_static_only(kind, (&regular, &statics), &conditions, &table);
    let terms = Terms { kind, static_only, allow_filtering: false };
    let restrictions = Restrictions::prepare(&context, markers, &table, &key, terms)?;
    let plan =
        ModifyPlan { kind, table, replication, restrictions, regular, statics, conditions, attributes };
    Ok(plan)
}
