//! Trees to text: every tree's `Display` is canonical CQL on one line, which parses to an equal tree.
//!
//! Knows where a name must be quoted for the parser's sake; formatting for people (DESCRIBE) is not done here.

mod access;
mod modification;
mod name;
mod schema;
mod select;
mod table;
mod term;
mod types;

use std::fmt::{Display, Formatter, Result};

use crate::ast::Statement;

/// Prints `items` with `separator` between them.
struct Joined<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// `items` with commas between them.
fn comma<T>(items: &[T]) -> Joined<'_, T> {
    Joined(items, ", ")
}

/// `items` with AND between them.
fn and<T>(items: &[T]) -> Joined<'_, T> {
    Joined(items, " AND ")
}

/// What a function writes.
struct By<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> Result> Display for By<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0(f)
    }
}

fn by<F: Fn(&mut Formatter<'_>) -> Result>(write: F) -> By<F> {
    By(write)
}

/// `words` if they are wanted.
fn when(wanted: bool, words: &'static str) -> &'static str {
    if wanted { words } else { "" }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Use(s) => s.fmt(f),
            Statement::Select(s) => s.fmt(f),
            Statement::Insert(s) => s.fmt(f),
            Statement::Update(s) => s.fmt(f),
            Statement::Delete(s) => s.fmt(f),
            Statement::Batch(s) => s.fmt(f),
            Statement::Truncate(s) => s.fmt(f),
            Statement::CreateKeyspace(s) => s.fmt(f),
            Statement::AlterKeyspace(s) => s.fmt(f),
            Statement::DropKeyspace(s) => s.fmt(f),
            Statement::CreateTable(s) => s.fmt(f),
            Statement::AlterTable(s) => s.fmt(f),
            Statement::DropTable(s) => s.fmt(f),
            Statement::CreateType(s) => s.fmt(f),
            Statement::AlterType(s) => s.fmt(f),
            Statement::DropType(s) => s.fmt(f),
            Statement::CreateIndex(s) => s.fmt(f),
            Statement::DropIndex(s) => s.fmt(f),
            Statement::CreateView(s) => s.fmt(f),
            Statement::AlterView(s) => s.fmt(f),
            Statement::DropView(s) => s.fmt(f),
            Statement::CreateFunction(s) => s.fmt(f),
            Statement::DropFunction(s) => s.fmt(f),
            Statement::CreateAggregate(s) => s.fmt(f),
            Statement::DropAggregate(s) => s.fmt(f),
            Statement::CreateTrigger(s) => s.fmt(f),
            Statement::DropTrigger(s) => s.fmt(f),
            Statement::CreateRole(s) => s.fmt(f),
            Statement::AlterRole(s) => s.fmt(f),
            Statement::DropRole(s) => s.fmt(f),
            Statement::CreateUser(s) => s.fmt(f),
            Statement::AlterUser(s) => s.fmt(f),
            Statement::DropUser(s) => s.fmt(f),
            Statement::AddIdentity(s) => s.fmt(f),
            Statement::DropIdentity(s) => s.fmt(f),
            Statement::GrantPermissions(s) => s.fmt(f),
            Statement::RevokePermissions(s) => s.fmt(f),
            Statement::GrantRole(s) => s.fmt(f),
            Statement::RevokeRole(s) => s.fmt(f),
            Statement::ListRoles(s) => s.fmt(f),
            Statement::ListUsers(s) => s.fmt(f),
            Statement::ListPermissions(s) => s.fmt(f),
            Statement::Describe(s) => s.fmt(f),
        }
    }
}
