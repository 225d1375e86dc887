//! WHERE: relations resolved and joined, checked for the statement at hand, and turned into
//! partition keys, ranges, rows, slices and filters (`StatementRestrictions`). Secondary indexes
//! are not known here yet.

mod clustering;
mod filter;
mod partition;
mod relation;
mod restriction;
mod set;
mod token;
mod values;

use basalt_cql::ast;
use basalt_cql::ast::{Operator, RelationKind};
use basalt_model::command::{KeyRange, RowFilter};
use basalt_model::schema::ColumnKind;
use basalt_model::{Clustering, DataType, DecoratedKey, Slice, Table};

use self::partition::PartitionRestrictions;
use self::relation::Resolved;
use self::restriction::{Restriction, Test};
use self::set::RestrictionSet;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::receiver::Markers;
use crate::terms::{Context, Term};

pub(crate) use partition::{check_key, check_length};
pub(crate) use relation::{contained, existing_column, has_duration, table_name};

const REQUIRES_ALLOW_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

/// The kinds of statement that have a WHERE, or act as if (`StatementType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// INSERT
    Insert,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
    /// SELECT
    Select,
}

impl StatementKind {
    /// As messages write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StatementKind::Insert => "INSERT",
            StatementKind::Update => "UPDATE",
            StatementKind::Delete => "DELETE",
            StatementKind::Select => "SELECT",
        }
    }

    fn allows_slices(self) -> bool {
        matches!(self, StatementKind::Delete | StatementKind::Select)
    }
}

/// `expr(index, value)`: there are no indexes yet.
fn refuse_index_expressions(table: &Table, expressions: &[&ast::Relation]) -> CqlResult<()> {
    match expressions {
        [] => Ok(()),
        [ast::Relation { kind: ast::RelationKind::CustomIndex { index, .. }, .. }] => {
            bail!(
                "Invalid index expression, index {} not found for {}.{}",
                index.name,
                table.keyspace,
                table.name
            )
        }
        _ => invalid("Multiple custom index expressions in a single query are not supported"),
    }
}

/// `ORDER BY ... ANN OF ...` needs an index, and there are none yet.
fn refuse_ann(data_type: &DataType) -> CqlResult<()> {
    match data_type {
        DataType::Vector { element, .. } if **element == DataType::Float => {
            invalid("ANN ordering by vector requires the column to be indexed")
        }
        _ => invalid("ANN ordering is only supported on float vector indexes"),
    }
}

/// What the checks depend on besides the relations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The statement.
    pub(crate) kind: StatementKind,
    /// It touches static columns only.
    pub(crate) static_only: bool,
    /// ALLOW FILTERING is written.
    pub(crate) allow_filtering: bool,
    /// The column of ORDER BY ... ANN OF.
    pub(crate) ann: Option<usize>,
}

/// The restrictions of a statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restrictions {
    partition: PartitionRestrictions,
    clustering: RestrictionSet,
    others: RestrictionSet,
    is_key_range: bool,
    has_regular: bool,
    /// Of a static compact table: its hidden clustering column is never restricted, and the static
    /// row is what clients take for the row.
    is_static_compact: bool,
}

impl Restrictions {
    fn of(table: &Table) -> Restrictions {
        Restrictions { is_static_compact: table.is_static_compact(), ..Restrictions::default() }
    }

    /// Resolves, joins and checks the relations of a WHERE clause.
    pub(crate) fn prepare(
        context: &Context<'_>,
        markers: &mut Markers,
        table: &Table,
        relations: &[ast::Relation],
        terms: Terms,
    ) -> CqlResult<Restrictions> {
        let mut restrictions = Restrictions::of(table);
        let is_index_expression =
            |relation: &&ast::Relation| matches!(relation.kind, ast::RelationKind::CustomIndex { .. });
        if terms.kind != StatementKind::Select
            && relations.iter().any(|relation| is_index_expression(&relation))
        {
            return invalid(
                "Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements",
            );
        }
        for relation in relations.iter().filter(|relation| !is_index_expression(relation)) {
            refuse_contains(relation, terms.kind)?;
            match relation::resolve(context, markers, table, relation)? {
                Resolved::Token(token) => restrictions.partition.add_token(token, table)?,
                Resolved::Columns(restriction) => restrictions.add(restriction, table, terms)?,
            }
        }
        // What is ordered by nearness is restricted by it, and joins others as little as an equality does.
        if let Some((column, known)) =
            terms.ann.and_then(|column| Some((column, restrictions.others.get(column)?)))
        {
            known.merge(&Restriction::single(column, Test::Eq(Term::Null)), table)?;
        }
        let expressions: Vec<&ast::Relation> = relations.iter().filter(is_index_expression).collect();
        refuse_index_expressions(table, &expressions)?;
        restrictions.check(table, terms)?;
        Ok(restrictions)
    }

    /// Each of these columns equals its term, as in a WHERE clause of `=` alone.
    pub(crate) fn of_values(
        table: &Table,
        values: Vec<(usize, Term)>,
        terms: Terms,
    ) -> CqlResult<Restrictions> {
        let mut restrictions = Restrictions::of(table);
        for (column, value) in values {
            restrictions.add(Restriction::single(column, Test::Eq(value)), table, terms)?;
        }
        restrictions.check(table, terms)?;
        Ok(restrictions)
    }

    fn check(&mut self, table: &Table, terms: Terms) -> CqlResult<()> {
        self.has_regular = self.others.restricts(ColumnKind::Regular, table);
        self.check_partition(table, terms)?;
        if terms.static_only && !self.clustering.is_empty() {
            match terms.kind {
                StatementKind::Select => {
                    return invalid("Cannot restrict clustering columns when selecting only static columns");
                }
                StatementKind::Delete | StatementKind::Update => bail!(
                    "Invalid restrictions on clustering columns since the {} statement modifies only static columns",
                    terms.kind.name()
                ),
                StatementKind::Insert => {}
            }
        }
        self.check_clustering(table, terms)?;
        self.check_others(table, terms)
    }

    fn add(&mut self, restriction: Restriction, table: &Table, terms: Terms) -> CqlResult<()> {
        match table.columns[restriction.first()].kind {
            ColumnKind::PartitionKey => self.partition.add(restriction, table),
            ColumnKind::Clustering => self.add_clustering(restriction, table, terms),
            ColumnKind::Static | ColumnKind::Regular => self.others.add(restriction, table),
        }
    }

    fn add_clustering(&mut self, new: Restriction, table: &Table, terms: Terms) -> CqlResult<()> {
        let before = self.clustering.last().cloned();
        let (first, is_slice) = (new.first(), new.is_slice());
        let next = self.clustering.next_column(first);
        self.clustering.add(new, table)?;
        let Some(last) = before.filter(|_| !terms.allow_filtering) else { return Ok(()) };
        let name = |column: usize| &table.columns[column].name;
        ensure(!(last.is_slice() && first > last.first()), || {
            format!(
                "Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                name(first),
                name(last.first())
            )
        })?;
        if first < last.first() && is_slice {
            bail!(
                "PRIMARY KEY column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                name(next.unwrap_or(last.first())),
                name(first)
            );
        }
        Ok(())
    }

    fn check_partition(&mut self, table: &Table, terms: Terms) -> CqlResult<()> {
        let partition = &self.partition;
        if terms.kind != StatementKind::Select {
            ensure(!partition.is_on_token(table), || {
                format!(
                    "The token function cannot be used in WHERE clauses for {} statements",
                    terms.kind.name()
                )
            })?;
            if partition.has_unrestricted(table) {
                bail!("Some partition key parts are missing: {}", partition.unrestricted_names(table));
            }
            return ensure(!partition.has_slice(), || {
                format!(
                    "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for {} statements",
                    terms.kind.name()
                )
            });
        }
        let needs_filtering = partition.needs_filtering(table);
        if needs_filtering && !terms.allow_filtering && !table.is_virtual {
            return invalid(REQUIRES_ALLOW_FILTERING);
        }
        self.is_key_range = partition.is_on_token(table)
            || (partition.is_empty() && partition.has_unrestricted(table))
            || needs_filtering;
        Ok(())
    }

    fn check_clustering(&self, table: &Table, terms: Terms) -> CqlResult<()> {
        let set = &self.clustering;
        if !terms.kind.allows_slices() {
            ensure(!set.has_slice(), || {
                format!(
                    "Slice restrictions are not supported on the clustering columns in {} statements",
                    terms.kind.name()
                )
            })?;
            // Rows of compact tables may lack the last values of their clustering.
            if table.compact.is_some() && !set.is_empty() {
                return refuse_gaps(set, table);
            }
            if !terms.static_only && set.len() != table.clustering_count {
                let first = table.partition_key_count;
                let missing = (first..first + table.clustering_count).filter(|c| set.get(*c).is_none());
                let missing: Vec<&str> = missing.map(|column| &*table.columns[column].name).collect();
                bail!("Some clustering keys are missing: {}", missing.join(", "));
            }
            return Ok(());
        }
        ensure(!set.has_contains() || terms.allow_filtering, || {
            "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering"
                .to_owned()
        })?;
        if terms.allow_filtering { Ok(()) } else { refuse_gaps(set, table) }
    }

    fn check_others(&self, table: &Table, terms: Terms) -> CqlResult<()> {
        if let Some(column) = terms.ann {
            return refuse_ann(&table.columns[column].data_type);
        }
        if self.others.is_empty() {
            return Ok(());
        }
        if terms.kind != StatementKind::Select {
            let columns = self.others.columns(table).into_iter();
            let names: Vec<&str> = columns.map(|column| &*table.columns[column].name).collect();
            bail!("Non PRIMARY KEY columns found in where clause: {} ", names.join(", "));
        }
        ensure(terms.allow_filtering || table.is_virtual, || REQUIRES_ALLOW_FILTERING.to_owned())
    }

    /// Refuses a SELECT that would read much to return little (`checkNeedsFiltering`). Virtual tables
    /// may always be filtered (`TableMetadata.allowFilteringImplicitly`).
    pub(crate) fn check_filtering(&self, table: &Table, allow_filtering: bool) -> CqlResult<()> {
        if allow_filtering || table.is_virtual || !self.is_key_range {
            return Ok(());
        }
        let filters = self.partition_filters(table)
            || clustering::needs_filtering(&self.clustering, table)
            || !self.others.is_empty();
        let restricts_rows = !filters && !self.clustering.is_empty();
        ensure(!filters && !restricts_rows, || REQUIRES_ALLOW_FILTERING.to_owned())
    }

    fn partition_filters(&self, table: &Table) -> bool {
        self.partition.needs_filtering(table)
    }

    /// Whether several partitions are named.
    pub(crate) fn key_is_in(&self, table: &Table) -> bool {
        self.partition.has_in(table)
    }

    /// Whether a range of partitions is read rather than named ones.
    pub(crate) fn is_key_range(&self) -> bool {
        self.is_key_range
    }

    /// Whether anything is asked of the partition key.
    pub(crate) fn has_partition_key(&self) -> bool {
        !self.partition.is_empty()
    }

    /// Whether anything is asked of clustering columns.
    pub(crate) fn has_clustering(&self) -> bool {
        !self.clustering.is_empty()
    }

    /// Whether a clustering column has an IN.
    pub(crate) fn clustering_has_in(&self) -> bool {
        self.clustering.has_in()
    }

    /// Whether anything is asked of other columns.
    pub(crate) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Whether all restricted columns beyond the primary key are static.
    pub(crate) fn others_are_static(&self, table: &Table) -> bool {
        self.others.columns(table).into_iter().all(|column| table.columns[column].kind == ColumnKind::Static)
    }

    /// The restricted columns beyond the primary key.
    pub(crate) fn other_columns(&self, table: &Table) -> Vec<usize> {
        self.others.columns(table)
    }

    /// Whether rows are found by slices rather than by name.
    pub(crate) fn is_column_range(&self, table: &Table) -> bool {
        if self.is_static_compact {
            return false;
        }
        self.clustering.len() < table.clustering_count || !self.clustering.has_only_equality()
    }

    /// Whether a column is fixed by `=`.
    pub(crate) fn is_restricted_by_eq(&self, column: usize, table: &Table) -> bool {
        let set = match table.columns[column].kind {
            ColumnKind::PartitionKey => return self.partition.is_restricted_by_eq(column),
            ColumnKind::Clustering => &self.clustering,
            ColumnKind::Static | ColumnKind::Regular => &self.others,
        };
        set.get(column).is_some_and(Restriction::is_eq)
    }

    /// Whether each primary key column is fixed by `=` or IN.
    pub(crate) fn names_rows(&self, table: &Table) -> bool {
        !self.partition.is_on_token(table)
            && !self.partition.has_unrestricted(table)
            && self.partition.has_only_equality()
            && self.clustering.len() == table.clustering_count
            && self.clustering.has_only_equality()
    }

    /// Whether a partition without rows still shows its static content.
    pub(crate) fn shows_static_alone(&self) -> bool {
        self.is_static_compact || (self.clustering.is_empty() && !self.has_regular)
    }

    /// The partitions that are named, in the order of the key's types.
    pub(crate) fn partition_keys(
        &self,
        table: &Table,
        binding: &Binding<'_>,
    ) -> CqlResult<Vec<DecoratedKey>> {
        self.partition.keys(table, binding, false)
    }

    /// The same, checked to be keys that can be written.
    pub(crate) fn written_keys(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Vec<DecoratedKey>> {
        self.partition.keys(table, binding, true)
    }

    /// The range of partitions; `None` when it is empty.
    pub(crate) fn key_range(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Option<KeyRange>> {
        self.partition.range(table, binding)
    }

    /// The rows that are named; ascending, distinct.
    pub(crate) fn rows(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Vec<Clustering>> {
        if self.is_static_compact {
            return Ok(Vec::new());
        }
        clustering::rows(&self.clustering, table, binding)
    }

    /// The slices of rows; ascending, disjoint.
    pub(crate) fn slices(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Vec<Slice>> {
        clustering::slices(&self.clustering, table, binding, false)
    }

    /// The slices of rows a deletion is about.
    pub(crate) fn deleted_slices(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Vec<Slice>> {
        clustering::slices(&self.clustering, table, binding, true)
    }

    /// What is left to be asked of each row.
    pub(crate) fn row_filter(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<RowFilter> {
        let mut expressions = Vec::new();
        if self.partition_filters(table) {
            for restriction in self.partition.iter() {
                filter::append(&mut expressions, restriction, table, binding)?;
            }
        }
        for restriction in clustering::filtered(&self.clustering, table) {
            filter::append(&mut expressions, restriction, table, binding)?;
        }
        for column in self.others.columns(table) {
            if let Some(restriction) = self.others.get(column) {
                filter::append(&mut expressions, restriction, table, binding)?;
            }
        }
        Ok(RowFilter(expressions))
    }
}

/// Refuses restrictions of clustering columns that do not follow one another from the first on.
fn refuse_gaps(set: &RestrictionSet, table: &Table) -> CqlResult<()> {
    if !clustering::needs_filtering(set, table) {
        return Ok(());
    }
    for (restricted, column) in set.columns(table).into_iter().zip(table.partition_key_count..) {
        if restricted != column {
            bail!(
                "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
                table.columns[restricted].name,
                table.columns[column].name
            );
        }
    }
    Ok(())
}

fn refuse_contains(relation: &ast::Relation, kind: StatementKind) -> CqlResult<()> {
    if let RelationKind::Column { op: op @ (Operator::Contains | Operator::ContainsKey), .. } = &relation.kind
        && matches!(kind, StatementKind::Update | StatementKind::Delete)
    {
        bail!("Cannot use {} with {}", kind.name(), op.symbol());
    }
    Ok(())
}
