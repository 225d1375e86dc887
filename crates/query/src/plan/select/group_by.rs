//! GROUP BY: which columns rows are grouped by (`SelectStatement.getAggregationSpecFactory`).

use basalt_cql::ast::{Selectable, SelectableKind};
use basalt_model::Table;
use basalt_model::schema::ColumnKind;

use crate::error::{CqlResult, bail, ensure, invalid};
use crate::receiver::Markers;
use crate::restrictions::{Restrictions, existing_column};
use crate::selection::{GroupSelector, Grouping};
use crate::terms::Context;

const OUT_OF_ORDER: &str =
    "Group by currently only support groups of columns following their declared order in the PRIMARY KEY";

/// Resolves GROUP BY; `None` where there is none.
pub(super) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    group_by: &[Selectable],
    restrictions: &Restrictions,
    is_distinct: bool,
) -> CqlResult<Option<Grouping>> {
    if group_by.is_empty() {
        return Ok(None);
    }
    let key_columns = table.partition_key_count + table.clustering_count;
    let mut next = 0;
    let mut selector: Option<GroupSelector> = None;
    for written in group_by {
        let column = match &written.kind {
            SelectableKind::Function(..)
            | SelectableKind::CountRows
            | SelectableKind::Arithmetic(..)
            | SelectableKind::Negation(_) => {
                let prepared = GroupSelector::prepare(context, markers, table, written)?;
                selector.insert(prepared).column
            }
            SelectableKind::Column(name) => {
                let column = existing_column(table, &name.name)?;
                ensure(table.columns[column].kind <= ColumnKind::Clustering, || {
                    format!(
                        "Group by is currently only supported on the columns of the PRIMARY KEY, got {}",
                        table.columns[column].name
                    )
                })?;
                ensure(selector.is_none(), || {
                    "Functions are only supported on the last element of the GROUP BY clause".to_owned()
                })?;
                column
            }
            part => {
                check_name(part, table)?;
                return invalid("Group by is only supported on columns and functions of columns");
            }
        };
        loop {
            ensure(next < key_columns, || OUT_OF_ORDER.to_owned())?;
            let passed = next;
            next += 1;
            if passed == column {
                break;
            }
            ensure(restrictions.is_restricted_by_eq(passed, table), || OUT_OF_ORDER.to_owned())?;
        }
    }
    if next < table.partition_key_count {
        bail!("Group by is not supported on only a part of the partition key");
    }
    let prefix = next - table.partition_key_count;
    ensure(prefix == 0 || !is_distinct, || {
        "Grouping on clustering columns is not allowed for SELECT DISTINCT queries".to_owned()
    })?;
    Ok(Some(Grouping { prefix, selector }))
}

/// Refuses a part of a column that is not there, before it is refused for being a part.
fn check_name(mut part: &SelectableKind, table: &Table) -> CqlResult<()> {
    loop {
        part = match part {
            SelectableKind::Field(of, _) | SelectableKind::Element(of, _) | SelectableKind::Slice(of, ..) => {
                &of.kind
            }
            SelectableKind::Column(name) => return existing_column(table, &name.name).map(drop),
            _ => return Ok(()),
        };
    }
}
