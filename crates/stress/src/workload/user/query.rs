//! A query of a profile: which column each of its markers stands for, and values for them from the rows
//! of a partition.

use basalt_cql::ast::{
    Condition, ConditionTest, Delete, Ident, IfClause, InValues, Insert, InsertValues, Operation as Change,
    Operator, QualifiedName, Relation, RelationKind, Select, Statement as Cql, Term, TermKind, Update,
};

use super::kind::Kind;
use super::profile::{Fields, QuerySpec};
use super::rows::Rows;
use super::table::Table;
use crate::random::Random;
use crate::workload::{Error, Operation, Statement};

/// A query.
#[derive(Debug)]
pub struct Query {
    statement: usize,
    fields: Fields,
    markers: Vec<Marked>,
}

/// What a marker stands for.
#[derive(Clone, Debug)]
struct Marked {
    /// The column.
    place: usize,
    /// An element of its values instead of a whole one: the element's kind, and its place.
    element: Option<(Kind, u64)>,
}

/// Finds the markers of a statement.
struct Markers<'a> {
    table: &'a Table,
    found: Vec<Option<Marked>>,
}

impl Query {
    /// Reads a query, whose statement gets this place.
    pub fn new(
        name: &str,
        spec: &QuerySpec,
        place: usize,
        table: &Table,
    ) -> Result<(Query, Statement), Error> {
        let refused = |error: Error| Error::new(format!("query {name}: {error}"));
        let parsed = basalt_cql::parse(&spec.cql).map_err(|error| refused(Error::new(error.to_string())))?;
        let mut statement = parsed.statement;
        let mut markers = Markers { table, found: vec![None; parsed.markers.len()] };
        markers.statement(&mut statement).map_err(refused)?;
        let markers: Option<Vec<Marked>> = markers.found.into_iter().collect();
        let Some(markers) = markers else {
            return Err(refused(Error::new(
                "a marker must stand for a column's value, or for an element of it; write others (LIMIT, TTL) as numbers",
            )));
        };
        let is_write = !matches!(statement, Cql::Select(_));
        let statement = Statement { text: statement.to_string(), is_write };
        Ok((Query { statement: place, fields: spec.fields, markers }, statement))
    }

    /// Makes the query of one partition.
    pub fn make(&self, mut rows: Rows, table: &Table, random: &mut Random, operation: &mut Operation) {
        let values = operation.add(self.statement);
        rows.pick(table, random);
        for marked in &self.markers {
            if self.fields == Fields::MultiRow {
                rows.pick(table, random);
            }
            let column = &table.columns[marked.place];
            let number = rows.number(table, marked.place);
            values.push_with(|out| match &marked.element {
                None => column.kind.put(number, &column.spread, out),
                Some((kind, place)) => kind.put(column.spread.element(number, *place), &column.spread, out),
            });
        }
    }
}

impl Markers<'_> {
    /// Names the statement's table in full, and finds its markers.
    fn statement(&mut self, statement: &mut Cql) -> Result<(), Error> {
        match statement {
            Cql::Select(Select { table, where_clause, .. }) => {
                self.name(table)?;
                self.relations(where_clause)
            }
            Cql::Delete(Delete { table, where_clause, if_clause, .. }) => {
                self.name(table)?;
                self.relations(where_clause)?;
                self.conditions(if_clause.as_ref())
            }
            Cql::Insert(Insert { table, values, .. }) => {
                self.name(table)?;
                if let InsertValues::Columns(columns, terms) = values {
                    for (column, term) in columns.iter().zip(terms) {
                        self.whole(column, term)?;
                    }
                }
                Ok(())
            }
            Cql::Update(Update { table, assignments, where_clause, if_clause, .. }) => {
                self.name(table)?;
                for assignment in assignments {
                    self.change(&assignment.column, &assignment.operation)?;
                }
                self.relations(where_clause)?;
                self.conditions(if_clause.as_ref())
            }
            _ => Err(Error::new("a query is a SELECT, INSERT, UPDATE or DELETE")),
        }
    }

    fn name(&self, name: &mut QualifiedName) -> Result<(), Error> {
        name.keyspace.get_or_insert_with(|| Ident::new(self.table.keyspace.clone()));
        // Views and other tables of the profile have the columns of this one, or the server refuses.
        Ok(())
    }

    fn change(&mut self, column: &Ident, change: &Change) -> Result<(), Error> {
        match change {
            Change::Set(term) | Change::Add(term) | Change::Prepend(term) => self.whole(column, term),
            Change::Subtract(term) => match self.kind(column)? {
                // From a map a set of keys is taken away, which no column's value is.
                Kind::Map(..) => Ok(()),
                _ => self.whole(column, term),
            },
            Change::SetElement(key, value) => self.element(column, key, value),
            Change::SetField(..) => Ok(()),
        }
    }

    fn relations(&mut self, relations: &[Relation]) -> Result<(), Error> {
        for relation in relations {
            match &relation.kind {
                RelationKind::Column { column, op, value } => self.compared(column, *op, value)?,
                RelationKind::In { column, values: InValues::List(terms) } => {
                    for term in terms {
                        self.whole(column, term)?;
                    }
                }
                RelationKind::Element { column, key, value, .. } => self.element(column, key, value)?,
                // token(a, b) > token(?, ?): the arguments are the columns' values.
                RelationKind::Token { columns, value, .. } => {
                    if let TermKind::Function(_, terms) = &value.kind {
                        self.several(columns, terms)?;
                    }
                }
                RelationKind::Tuple { columns, value, .. } => {
                    if let TermKind::Tuple(terms) = &value.kind {
                        self.several(columns, terms)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn conditions(&mut self, clause: Option<&IfClause>) -> Result<(), Error> {
        let Some(IfClause::Conditions(conditions)) = clause else { return Ok(()) };
        for Condition { column, part, test } in conditions {
            if let (basalt_cql::ast::ColumnPart::Whole, ConditionTest::Compare(operator, value)) =
                (part, test)
            {
                self.compared(column, *operator, value)?;
            }
        }
        Ok(())
    }

    fn several(&mut self, columns: &[Ident], terms: &[Term]) -> Result<(), Error> {
        columns.iter().zip(terms).try_for_each(|(column, term)| self.whole(column, term))
    }

    fn compared(&mut self, column: &Ident, operator: Operator, value: &Term) -> Result<(), Error> {
        let (key, element) = elements(self.kind(column)?);
        match operator {
            Operator::Contains => self.mark(column, value, element),
            Operator::ContainsKey => self.mark(column, value, key),
            _ => self.whole(column, value),
        }
    }

    fn element(&mut self, column: &Ident, key: &Term, value: &Term) -> Result<(), Error> {
        let (key_kind, element) = elements(self.kind(column)?);
        self.mark(column, key, key_kind)?;
        self.mark(column, value, element)
    }

    fn whole(&mut self, column: &Ident, term: &Term) -> Result<(), Error> {
        let place = self.place(column)?;
        if let TermKind::Marker(marker) = &term.kind {
            self.found[usize::from(marker.index)] = Some(Marked { place, element: None });
        }
        Ok(())
    }

    /// A marker that stands for an element.
    fn mark(&mut self, column: &Ident, term: &Term, element: Option<(Kind, u64)>) -> Result<(), Error> {
        let place = self.place(column)?;
        if let (TermKind::Marker(marker), Some(_)) = (&term.kind, &element) {
            self.found[usize::from(marker.index)] = Some(Marked { place, element });
        }
        Ok(())
    }

    fn kind(&self, column: &Ident) -> Result<&Kind, Error> {
        Ok(&self.table.columns[self.place(column)?].kind)
    }

    fn place(&self, column: &Ident) -> Result<usize, Error> {
        let place = self.table.place(&column.name);
        place.ok_or_else(|| Error::new(format!("there is no column {}", column.name)))
    }
}

/// A kind with its place.
type Placed = (Kind, u64);

/// The first key and the first element of a collection's values, with their places.
fn elements(kind: &Kind) -> (Option<Placed>, Option<Placed>) {
    match kind {
        Kind::List(element) => (None, Some((Kind::clone(element), 0))),
        Kind::Map(key, value) => (Some((Kind::clone(key), 0)), Some((Kind::clone(value), 1))),
        _ => (None, None),
    }
}
