//! CREATE TABLE (`CreateTableStatement`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use basalt_cql::ast::{ColumnDefinition, CqlType, CreateTable, Direction, Ident, NativeType, PrimaryKey};
use basalt_model::schema::{ClusteringOrder, ColumnKind, TableOptions};
use basalt_model::{Column, ColumnId, CqlError, DataType, Keyspace, Table, TableId};

use super::{DdlContext, DdlPlan, NewState, compact_table, java, mask, names, options};
use crate::restrictions::has_duration;
use crate::result::{Change, ChangeTarget};
use crate::schema::assemble::TableDraft;
use crate::schema::types::{UserTypes, resolve};

pub(super) fn plan(statement: &CreateTable, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let written = match &statement.table.keyspace {
        Some(keyspace) => names::shown(keyspace.as_str(), &statement.table.name),
        None => statement.table.name.name.clone(),
    };
    let primary_key = primary_key(statement, &written)?;
    let keyspace = names::keyspace_of(&statement.table, context)?;
    let name: Arc<str> = statement.table.name.as_str().into();
    names::authorize(keyspace, "CREATE", || format!("<all tables in {keyspace}>"))?;
    if statement.columns.iter().any(|column| column.mask.is_some()) {
        mask::ensure_enabled(context)?;
    }
    names::check_keyspace(keyspace)?;
    let plan = |state| DdlPlan::new(keyspace, Change::Created, ChangeTarget::Table(name.clone()), state);
    let Some(before) = context.schema.keyspace(keyspace) else {
        return Err(CqlError::invalid(format!("Keyspace '{keyspace}' doesn't exist")));
    };
    if before.tables.contains_key(&name) {
        if statement.if_not_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::AlreadyExists { keyspace: keyspace.into(), table: (&*name).into() });
    }
    let place = (keyspace, &before.types, context.new_table_id);
    let table = build(statement, &primary_key, place, Some(context))?;
    names::check_table(keyspace, &name)?;
    if let Some(other) = context.schema.table_by_id(table.id) {
        let (id, other) = (table.id.0, format!("{}.{}", other.keyspace, other.name));
        return Err(CqlError::server(format!(
            "java.lang.IllegalArgumentException: Multiple entries with same key: {id}={keyspace}.{name} and {id}={other}"
        )));
    }
    let warnings = effect_warning(keyspace, &name, &statement.options.properties, &table.options);
    let mut after = Keyspace::clone(before);
    after.tables.insert(name.clone(), Arc::new(table));
    Ok(DdlPlan { warnings: warnings.into_iter().collect(), ..plan(NewState::Keyspace(Arc::new(after))) })
}

/// The warning of options that are kept and do nothing.
pub(super) fn effect_warning(
    keyspace: &str,
    table: &str,
    properties: &[basalt_cql::ast::Property],
    options: &TableOptions,
) -> Option<String> {
    let names = options::without_effect(properties, options);
    (!names.is_empty()).then(|| {
        format!(
            "Options of table {keyspace}.{table} that are kept but have no effect in Basalt: {}",
            names.join(", ")
        )
    })
}

/// The one primary key, wherever it is written.
fn primary_key(statement: &CreateTable, shown: &str) -> Result<PrimaryKey, CqlError> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = statement.columns.iter().find(|column| !seen.insert(column.name.as_str())) {
        return Err(CqlError::invalid(format!(
            "Duplicate column '{}' declaration for table '{shown}'",
            twice.name.name
        )));
    }
    let in_column = statement.columns.iter().filter(|column| column.primary_key).map(|column| PrimaryKey {
        partition: vec![column.name.clone()],
        clustering: Vec::new(),
        pos: column.name.pos,
    });
    let mut keys = in_column.chain(statement.primary_keys.iter().cloned());
    let (key, another) = (keys.next(), keys.next());
    if another.is_some() {
        return Err(CqlError::invalid(format!(
            "Multiple PRIMARY KEY specified for table '{shown}' (exactly one required)"
        )));
    }
    let mut ordered = BTreeSet::new();
    let order = &statement.options.clustering_order;
    if let Some((twice, _)) = order.iter().find(|(column, _)| !ordered.insert(column.as_str())) {
        return Err(CqlError::invalid(format!(
            "Duplicate column '{}' in CLUSTERING ORDER BY clause for table '{shown}'",
            twice.name
        )));
    }
    key.ok_or_else(|| {
        CqlError::invalid(format!("No PRIMARY KEY specifed for table '{shown}' (exactly one required)"))
    })
}

/// The table a statement defines; `keyspace` need not exist.
///
/// # Errors
/// As the statement's.
pub(crate) fn define(
    statement: &CreateTable,
    keyspace: &str,
    types: &UserTypes,
    new_id: TableId,
) -> Result<Table, CqlError> {
    let key = primary_key(statement, statement.table.name.as_str())?;
    build(statement, &key, (keyspace, types, new_id), None)
}

/// The table of a statement whose primary key is found. Without a context there are no masks.
fn build(
    statement: &CreateTable,
    key: &PrimaryKey,
    (keyspace, types, new_id): (&str, &UserTypes, TableId),
    context: Option<&DdlContext<'_>>,
) -> Result<Table, CqlError> {
    let name = statement.table.name.as_str();
    let table_options = options::new_options(&statement.options.properties)?;
    let (mut data_types, mut masks) = (BTreeMap::new(), BTreeMap::new());
    let names: Vec<&str> = statement.columns.iter().map(|column| column.name.as_str()).collect();
    let in_order = java::name_order(&names);
    for column in in_order.iter().filter_map(|name| statement.columns.iter().find(|c| c.name.name == *name)) {
        let (name, data_type) = (column.name.as_str(), resolve(&column.cql_type, keyspace, types)?);
        if let (Some(written), Some(context)) = (&column.mask, context) {
            masks.insert(name, Arc::new(mask::prepare(context, keyspace, (name, &data_type), written)?));
        }
        data_types.insert(name, data_type);
    }
    for data_type in data_types.values() {
        check_nested(data_type).map_err(CqlError::invalid)?;
    }
    let statics: BTreeSet<&str> = statement
        .columns
        .iter()
        .filter(|column| column.is_static)
        .map(|column| column.name.as_str())
        .collect();
    check_key(key, &data_types, &statics, name)?;
    let orders = clustering_orders(statement, key)?;
    let is_compact = statement.options.compact_storage;
    if is_compact {
        compact_table::check(key, &data_types, !statics.is_empty())?;
    } else if key.clustering.is_empty() && !statics.is_empty() {
        return Err(CqlError::invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        ));
    }
    let is_counter = check_counters(statement, key, &data_types, &table_options)?;
    let mut columns = columns(statement, key, &mut data_types, &orders);
    refuse_mixture(&columns, is_counter, (keyspace, name))?;
    for column in &mut columns {
        column.mask = masks.remove(&*column.name);
    }
    let id = options::table_id(&statement.options.properties)?.map_or(new_id, TableId);
    let mut flags = if is_compact {
        compact_table::complete(&mut columns, key, is_counter);
        compact_table::flags(key)
    } else {
        vec!["compound".to_owned()]
    };
    if is_counter {
        flags.push("counter".to_owned());
    }
    Ok(TableDraft {
        id,
        keyspace: keyspace.into(),
        name: name.into(),
        columns,
        dropped_columns: BTreeMap::new(),
        options: table_options,
        flags,
        is_virtual: false,
    }
    .finish())
}

/// A user type stored by field may not hold collections stored by element.
///
/// # Errors
/// Cassandra's text.
pub(super) fn check_nested(data_type: &DataType) -> Result<(), &'static str> {
    match data_type {
        DataType::Udt { definition, frozen: false }
            if definition.fields.iter().any(|(_, field)| field.is_multi_cell()) =>
        {
            Err("Non-frozen UDTs with nested non-frozen collections are not supported")
        }
        _ => Ok(()),
    }
}

fn check_key(
    key: &PrimaryKey,
    types: &BTreeMap<&str, DataType>,
    statics: &BTreeSet<&str>,
    table: &str,
) -> Result<(), CqlError> {
    let mut seen = BTreeSet::new();
    for column in key.partition.iter().chain(&key.clustering) {
        let name = column.as_str();
        let refuse = |text: String| Err(CqlError::invalid(text));
        let Some(data_type) = types.get(name) else {
            return refuse(format!("Unknown column '{name}' referenced in PRIMARY KEY for table '{table}'"));
        };
        if !seen.insert(name) {
            return refuse(format!("Duplicate column '{name}' in PRIMARY KEY clause for table '{table}'"));
        }
        match data_type {
            DataType::Udt { definition, frozen: false } => {
                return refuse(format!(
                    "Invalid non-frozen user-defined type \"{}.{}\" for PRIMARY KEY column '{name}'",
                    definition.keyspace, definition.name
                ));
            }
            collection if collection.is_multi_cell() => {
                return refuse(format!(
                    "Invalid non-frozen collection type {collection} for PRIMARY KEY column '{name}'"
                ));
            }
            DataType::Counter => {
                return refuse(format!("counter type is not supported for PRIMARY KEY column '{name}'"));
            }
            other if has_duration(other) => {
                return refuse(format!("duration type is not supported for PRIMARY KEY column '{name}'"));
            }
            _ => {}
        }
        if statics.contains(name) {
            return refuse(format!("Static column '{name}' cannot be part of the PRIMARY KEY"));
        }
    }
    Ok(())
}

/// The direction of each clustering column.
fn clustering_orders(statement: &CreateTable, key: &PrimaryKey) -> Result<Vec<ClusteringOrder>, CqlError> {
    let given = &statement.options.clustering_order;
    let strangers: Vec<&str> = given
        .iter()
        .map(|(column, _)| column.as_str())
        .filter(|column| !key.clustering.iter().any(|clustering| clustering.as_str() == *column))
        .collect();
    if !strangers.is_empty() {
        return Err(CqlError::invalid(format!(
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: {} are not clustering columns",
            java::bracketed(&strangers)
        )));
    }
    for ((column, _), expected) in given.iter().zip(&key.clustering) {
        let (column, expected) = (column.as_str(), expected.as_str());
        if column != expected {
            let later = given.iter().any(|(other, _)| other.as_str() == expected);
            return Err(CqlError::invalid(if later {
                format!(
                    "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns ({expected} must appear before {column})"
                )
            } else {
                format!("Missing CLUSTERING ORDER for column {expected}")
            }));
        }
    }
    let order = |index: usize| match given.get(index) {
        Some((_, Direction::Desc)) => ClusteringOrder::Desc,
        _ => ClusteringOrder::Asc,
    };
    Ok((0..key.clustering.len()).map(order).collect())
}

fn check_counters(
    statement: &CreateTable,
    key: &PrimaryKey,
    types: &BTreeMap<&str, DataType>,
    options: &TableOptions,
) -> Result<bool, CqlError> {
    // One that is named by its class does not make the table one of counters.
    let is_counter =
        |column: &ColumnDefinition| matches!(column.cql_type, CqlType::Native(NativeType::Counter));
    if !statement.columns.iter().any(is_counter) {
        return Ok(false);
    }
    let in_key =
        |name: &str| key.partition.iter().chain(&key.clustering).any(|column| column.as_str() == name);
    let mixed = statement
        .columns
        .iter()
        .filter(|column| !in_key(column.name.as_str()))
        .any(|column| types.get(column.name.as_str()) != Some(&DataType::Counter));
    if mixed {
        return Err(CqlError::invalid("Cannot mix counter and non counter columns in the same table"));
    }
    if options.default_time_to_live > 0 {
        return Err(CqlError::invalid("Cannot set default_time_to_live on a table with counters"));
    }
    Ok(true)
}

/// A table has counters only, or none (`TableMetadata.validate`).
///
/// # Errors
/// Cassandra's text.
pub(super) fn refuse_mixture(
    columns: &[Column],
    is_counter: bool,
    (keyspace, table): (&str, &str),
) -> Result<(), CqlError> {
    let is_strange = |column: &&Column| {
        matches!(column.kind, ColumnKind::Static | ColumnKind::Regular)
            && (column.data_type == DataType::Counter) != is_counter
    };
    let Some(Column { name, .. }) = columns.iter().find(is_strange) else { return Ok(()) };
    let which = if is_counter {
        format!("non counter column (\"{name}\") in a counter table")
    } else {
        format!("counter column (\"{name}\") in a non counter table")
    };
    Err(CqlError::config(format!("{keyspace}.{table}: Cannot have a {which}")))
}

/// The columns; ids count up in the order of the text.
fn columns(
    statement: &CreateTable,
    key: &PrimaryKey,
    types: &mut BTreeMap<&str, DataType>,
    orders: &[ClusteringOrder],
) -> Vec<Column> {
    let place = |names: &[Ident], name: &str| names.iter().position(|column| column.as_str() == name);
    let column = |(index, definition): (usize, &ColumnDefinition)| {
        let name = definition.name.as_str();
        let (kind, position, order) = if let Some(position) = place(&key.partition, name) {
            (ColumnKind::PartitionKey, position, ClusteringOrder::Asc)
        } else if let Some(position) = place(&key.clustering, name) {
            let order = orders.get(position).copied().unwrap_or_default();
            (ColumnKind::Clustering, position, order)
        } else if definition.is_static {
            (ColumnKind::Static, 0, ClusteringOrder::Asc)
        } else {
            (ColumnKind::Regular, 0, ClusteringOrder::Asc)
        };
        Column {
            name: name.into(),
            data_type: types.remove(name).unwrap_or(DataType::Blob),
            kind,
            // A statement has far fewer columns than 65,536: its text is bounded by the frame.
            position: u16::try_from(position).unwrap_or(u16::MAX),
            order,
            id: ColumnId(u32::try_from(index).unwrap_or(u32::MAX)),
            mask: None,
        }
    };
    statement.columns.iter().enumerate().map(column).collect()
}
