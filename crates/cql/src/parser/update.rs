//! UPDATE.

use std::collections::{BTreeMap, BTreeSet};

use super::name::{is_column, is_function, is_name};
use super::{Parser, Result};
use crate::ast::{Assignment, Ident, Operation, Term, TermKind, Update};
use crate::lexer::{Keyword, Kind};

/// What has been assigned to a column.
#[derive(Default)]
struct Assigned {
    whole: bool,
    fields: BTreeSet<String>,
}

/// What has been assigned so far, by column.
type AssignedColumns = BTreeMap<String, Assigned>;

/// Whether `new` may come with what came before (`RawUpdate.isCompatibleWith`), and remembers it.
fn compatible(columns: &mut AssignedColumns, column: &Ident, new: &Operation) -> bool {
    let Some(before) = columns.get_mut(&column.name) else {
        let mut assigned = Assigned::default();
        remember(&mut assigned, new);
        columns.insert(column.name.clone(), assigned);
        return true;
    };
    if before.whole || matches!(new, Operation::Set(_)) {
        return false;
    }
    remember(before, new)
}

fn remember(assigned: &mut Assigned, new: &Operation) -> bool {
    match new {
        Operation::Set(_) => assigned.whole = true,
        Operation::SetField(field, _) => return assigned.fields.insert(field.name.clone()),
        Operation::SetElement(..) | Operation::Add(_) | Operation::Subtract(_) | Operation::Prepend(_) => {}
    }
    true
}

impl Parser<'_> {
    pub(super) fn update(&mut self) -> Result<Update> {
        self.expect_key(Keyword::Update)?;
        let table = self.table_name()?;
        let using = self.using()?;
        self.expect_key(Keyword::Set)?;
        let mut columns = AssignedColumns::new();
        let assignments = self.comma_separated(|parser| parser.assignment(&mut columns))?;
        let where_clause = self.where_clause()?;
        Ok(Update { table, using, assignments, where_clause, if_clause: self.if_clause()? })
    }

    fn assignment(&mut self, columns: &mut AssignedColumns) -> Result<Assignment> {
        let column = self.column()?;
        let operation = match self.kind() {
            Kind::Equal => {
                self.advance()?;
                self.assigned(&column)?
            }
            Kind::PlusEq => {
                self.advance()?;
                Operation::Add(self.term()?)
            }
            Kind::MinusEq => {
                self.advance()?;
                Operation::Subtract(self.term()?)
            }
            Kind::LeftBracket => {
                self.advance()?;
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                self.expect(Kind::Equal)?;
                Operation::SetElement(key, self.term()?)
            }
            Kind::Dot => {
                self.advance()?;
                let field = self.ident()?;
                self.expect(Kind::Equal)?;
                Operation::SetField(field, self.term()?)
            }
            _ => return Err(self.no_viable()),
        };
        if !compatible(columns, &column, &operation) {
            return Err(self.refused(format!("Multiple incompatible setting of column {}", column.name)));
        }
        Ok(Assignment { column, operation })
    }

    /// What follows `column =`.
    fn assigned(&mut self, column: &Ident) -> Result<Operation> {
        if is_column(self.kind()) {
            match self.peek(1)? {
                Kind::Plus | Kind::Minus | Kind::Integer => {
                    self.decided_by(1)?;
                    return self.own_column(column);
                }
                Kind::LeftParen if is_function(self.kind()) || self.at_key(Keyword::Cast) => {}
                Kind::Dot if is_name(self.kind()) => {}
                _ => return Err(self.no_viable_ahead(1)),
            }
        }
        let term = self.term()?;
        if !self.eat(Kind::Plus)? {
            return Ok(Operation::Set(term));
        }
        if self.column()? != *column {
            return Err(self.refused("Only expressions of the form X = <value> + X are supported."));
        }
        Ok(Operation::Prepend(term))
    }

    /// `column + t`, `column - t` or `column -3`
    fn own_column(&mut self, column: &Ident) -> Result<Operation> {
        let same = self.column()? == *column;
        let pos = self.token.pos;
        match self.kind() {
            Kind::Plus => {
                self.advance()?;
                let term = self.term()?;
                self.require_own(same, "+")?;
                Ok(Operation::Add(term))
            }
            Kind::Minus => {
                self.advance()?;
                let term = self.term()?;
                self.require_own(same, "-")?;
                Ok(Operation::Subtract(term))
            }
            _ => {
                let literal = self.literal()?;
                let sign = if literal.text.starts_with('-') { "- " } else { "+ " };
                self.require_own(same, sign)?;
                Ok(Operation::Add(Term { kind: TermKind::Literal(literal), pos }))
            }
        }
    }

    fn require_own(&self, same: bool, operator: &str) -> Result<()> {
        if same {
            return Ok(());
        }
        Err(self.refused(format!("Only expressions of the form X = X {operator}<value> are supported.")))
    }
}
