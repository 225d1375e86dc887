//! ALTER TABLE (`AlterTableStatement`): add, drop and rename columns, change options.

use std::collections::BTreeSet;
use std::sync::Arc;

use basalt_cql::ast::{AlterTable, ColumnDefinition, ColumnMask, Ident, Property, TableChange};
use basalt_model::quote::identifier;
use basalt_model::schema::{ColumnKind, DroppedColumn};
use basalt_model::{Column, CqlError, DataType, Keyspace, Table};

use super::create_table::{check_nested, effect_warning, refuse_mixture};
use super::{DdlContext, DdlPlan, NewState, java, mask, names, options};
use crate::result::{Change, ChangeTarget};
use crate::schema::assemble::{TableDraft, next_column_id};
use crate::schema::compatible::is_serialization_compatible;
use crate::schema::types::{expand_user_types, resolve};
use crate::text::in_map_order;

pub(super) fn plan(statement: &AlterTable, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(&statement.table, context)?;
    let shown = names::shown(keyspace, &statement.table.name);
    names::authorize(keyspace, "ALTER", || format!("<table {shown}>"))?;
    if matches!(&statement.change, TableChange::Mask { mask: Some(_), .. }) {
        mask::ensure_enabled(context)?;
    }
    names::check_keyspace(keyspace)?;
    let name: Arc<str> = statement.table.name.as_str().into();
    let plan = |state| DdlPlan::new(keyspace, Change::Updated, ChangeTarget::Table(name.clone()), state);
    let found =
        context.schema.keyspace(keyspace).and_then(|before| Some((before, before.tables.get(&name)?)));
    let Some((before, table)) = found else {
        if statement.if_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::invalid(format!("Table '{shown}' doesn't exist")));
    };
    let mut warnings = Vec::new();
    let changed = match &statement.change {
        TableChange::AlterType { .. } => {
            return Err(CqlError::invalid("Altering column types is no longer supported"));
        }
        TableChange::Mask { if_exists, column, mask } => {
            change_mask(context, table, (column, mask.as_ref()), *if_exists)?
        }
        TableChange::Add { if_not_exists, columns } => {
            add(context, before, table, (columns, *if_not_exists))?
        }
        TableChange::Drop { if_exists, columns, timestamp } => {
            drop_columns(table, columns, *if_exists, timestamp.unwrap_or(context.timestamp))?
        }
        // IF EXISTS is read and does nothing here, as in Cassandra.
        TableChange::Rename { columns, .. } => rename(table, columns)?,
        TableChange::DropCompactStorage => drop_compact_storage(table, context)?,
        TableChange::With(properties) => {
            let changed = with(table, properties)?;
            warnings.extend(effect_warning(keyspace, &name, properties, &changed.options));
            changed
        }
    };
    let mut after = Keyspace::clone(before);
    after.tables.insert(name.clone(), Arc::new(changed.finish()));
    Ok(DdlPlan { warnings, ..plan(NewState::Keyspace(Arc::new(after))) })
}

/// Gives a column another mask, or none.
fn change_mask(
    context: &DdlContext<'_>,
    table: &Table,
    (column, written): (&Ident, Option<&ColumnMask>),
    if_exists: bool,
) -> Result<TableDraft, CqlError> {
    let mut draft = TableDraft::of(table);
    let Some(masked) = draft.columns.iter_mut().find(|known| &*known.name == column.as_str()) else {
        if if_exists {
            return Ok(draft);
        }
        return Err(CqlError::invalid(format!(
            "Column with name '{}' doesn't exist on table '{}'",
            column.name, table.name
        )));
    };
    let place = (column.as_str(), &masked.data_type);
    let mask = written.map(|written| mask::prepare(context, &table.keyspace, place, written)).transpose()?;
    masked.mask = mask.map(Arc::new);
    Ok(draft)
}

/// What was hidden may be seen from now on.
fn drop_compact_storage(table: &Table, context: &DdlContext<'_>) -> Result<TableDraft, CqlError> {
    if !context.settings.drop_compact_storage_enabled {
        return Err(CqlError::invalid("DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use."));
    }
    if table.compact.is_none() {
        return Err(CqlError::invalid("Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE"));
    }
    let mut draft = TableDraft::of(table);
    draft.flags.retain(|flag| flag == "counter");
    draft.flags.push("compound".to_owned());
    Ok(draft)
}

fn add(
    context: &DdlContext<'_>,
    keyspace: &Keyspace,
    table: &Table,
    (columns, if_not_exists): (&[ColumnDefinition], bool),
) -> Result<TableDraft, CqlError> {
    let mut draft = TableDraft::of(table);
    for column in columns {
        add_column(context, keyspace, table, (column, if_not_exists), &mut draft)?;
    }
    refuse_mixture(&draft.columns, table.is_counter(), (&table.keyspace, &table.name))?;
    Ok(draft)
}

fn add_column(
    context: &DdlContext<'_>,
    keyspace: &Keyspace,
    table: &Table,
    (written, if_not_exists): (&ColumnDefinition, bool),
    draft: &mut TableDraft,
) -> Result<(), CqlError> {
    let name = written.name.as_str();
    let data_type = resolve(&written.cql_type, &keyspace.name, &keyspace.types)?;
    // That masks are switched off does not count here, as in Cassandra.
    let mask = written.mask.as_ref();
    let mask = mask
        .map(|written| mask::prepare(context, &keyspace.name, (name, &data_type), written))
        .transpose()?
        .map(Arc::new);
    if draft.column(name).is_some() {
        if if_not_exists {
            return Ok(());
        }
        return Err(CqlError::invalid(format!("Column with name '{name}' already exists")));
    }
    if table.compact.is_some() {
        return Err(CqlError::invalid("Cannot add new column to a COMPACT STORAGE table"));
    }
    if written.is_static && table.clustering_count == 0 {
        return Err(CqlError::invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        ));
    }
    check_nested(&data_type).map_err(|text| CqlError::invalid(format!("{text} for column {name}")))?;
    let kind = if written.is_static { ColumnKind::Static } else { ColumnKind::Regular };
    let mut id = next_column_id(&draft.columns, &draft.dropped_columns);
    if let Some(dropped) = table.dropped_columns.get(name) {
        check_readded(table, name, &data_type, kind, &dropped.column)?;
        id = dropped.column.id;
    }
    draft.columns.push(Column {
        name: name.into(),
        data_type,
        kind,
        position: 0,
        order: Default::default(),
        id,
        mask,
    });
    Ok(())
}

/// What a column may be that was there before.
fn check_readded(
    table: &Table,
    name: &str,
    data_type: &DataType,
    kind: ColumnKind,
    dropped: &Column,
) -> Result<(), CqlError> {
    if !is_serialization_compatible(data_type, &dropped.data_type) {
        return Err(CqlError::invalid(format!(
            "Cannot add a column '{name}' of type {data_type}, incompatible with previously dropped column '{name}' of type {}",
            dropped.data_type
        )));
    }
    let word = |kind| if kind == ColumnKind::Static { "STATIC" } else { "REGULAR" };
    if kind != dropped.kind {
        return Err(CqlError::invalid(format!(
            "Cannot re-add previously dropped column '{name}' of kind {}, incompatible with previous kind {}",
            word(kind),
            word(dropped.kind)
        )));
    }
    if table.is_counter() {
        return Err(CqlError::invalid(format!("Cannot re-add previously dropped counter column {name}")));
    }
    Ok(())
}

fn drop_columns(
    table: &Table,
    columns: &[Ident],
    if_exists: bool,
    timestamp: i64,
) -> Result<TableDraft, CqlError> {
    let mut draft = TableDraft::of(table);
    let mut names: Vec<&str> = columns.iter().map(Ident::as_str).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in java::name_order(&names) {
        let Some(current) = table.column(name) else {
            if if_exists {
                continue;
            }
            return Err(CqlError::invalid(format!(
                "Column {name} was not found in table '{}'",
                shown(table)
            )));
        };
        if matches!(current.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
            return Err(CqlError::invalid(format!("Cannot drop PRIMARY KEY column {name}")));
        }
        if table.compact.is_some() && current.kind == ColumnKind::Regular {
            return Err(CqlError::invalid(format!(
                "Cannot drop column {name}: a COMPACT STORAGE table keeps its rows in it"
            )));
        }
        if let DataType::Udt { frozen: false, .. } = current.data_type {
            return Err(CqlError::invalid(format!(
                "Cannot drop non-frozen column {name} of user type {}",
                current.data_type
            )));
        }
        draft.columns.retain(|column| &*column.name != name);
        let data_type = expand_user_types(&current.data_type);
        let column = Column { data_type, mask: None, ..current.clone() };
        draft.dropped_columns.insert(name.into(), DroppedColumn { column, dropped_time: timestamp });
    }
    Ok(draft)
}

fn rename(table: &Table, columns: &[(Ident, Ident)]) -> Result<TableDraft, CqlError> {
    let mut draft = TableDraft::of(table);
    for (from, to) in in_map_order(columns) {
        let found = table.column(from.as_str()).filter(|column| !table.is_hidden(column));
        let Some(column) = found else {
            return Err(CqlError::invalid(format!(
                "Undefined column name {} in table {}",
                identifier(from.as_str()),
                shown(table)
            )));
        };
        if !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
            return Err(CqlError::invalid(format!("Cannot rename non PRIMARY KEY column {}", from.name)));
        }
        if table.column(to.as_str()).is_some() || draft.column(to.as_str()).is_some() {
            return Err(CqlError::invalid(format!(
                "Cannot rename column {} to {} in table '{}'; another column with that name already exists",
                from.name,
                to.name,
                shown(table)
            )));
        }
        for renamed in draft.columns.iter_mut().filter(|renamed| renamed.id == column.id) {
            renamed.name = to.as_str().into();
        }
    }
    Ok(draft)
}

fn with(table: &Table, properties: &[Property]) -> Result<TableDraft, CqlError> {
    let mut draft = TableDraft::of(table);
    draft.options = options::altered_options(properties, &table.options)?;
    if table.is_counter() && draft.options.default_time_to_live > 0 {
        return Err(CqlError::invalid("Cannot set default_time_to_live on a table with counters"));
    }
    Ok(draft)
}

/// `TableMetadata.toString`.
fn shown(table: &Table) -> String {
    format!("{}.{}", identifier(&table.keyspace), identifier(&table.name))
}
