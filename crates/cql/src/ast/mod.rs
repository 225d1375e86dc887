//! The statements of CQL as trees. One file a statement family; shared parts in `name`, `types`, `term`, `selectable`,
//! `relation` and `property`. The trees say what was written; nothing is resolved against a schema.

mod alter_keyspace;
mod alter_table;
mod alter_type;
mod alter_view;
mod batch;
mod create_aggregate;
mod create_function;
mod create_index;
mod create_keyspace;
mod create_table;
mod create_trigger;
mod create_type;
mod create_view;
mod delete;
mod describe;
mod drop_aggregate;
mod drop_function;
mod drop_index;
mod drop_keyspace;
mod drop_table;
mod drop_trigger;
mod drop_type;
mod drop_view;
mod grant;
mod identity;
mod insert;
mod list;
mod name;
mod property;
mod relation;
mod role;
mod select;
mod selectable;
mod term;
mod truncate;
mod types;
mod update;
mod use_;

pub use alter_keyspace::AlterKeyspace;
pub use alter_table::{AlterTable, TableChange};
pub use alter_type::{AlterType, TypeChange};
pub use alter_view::AlterView;
pub use batch::{Batch, BatchKind, Modification};
pub use create_aggregate::CreateAggregate;
pub use create_function::CreateFunction;
pub use create_index::{CreateIndex, IndexTarget, IndexTargetKind};
pub use create_keyspace::CreateKeyspace;
pub use create_table::{ColumnDefinition, ColumnMask, CreateTable, PrimaryKey, TableOptions};
pub use create_trigger::CreateTrigger;
pub use create_type::CreateType;
pub use create_view::CreateView;
pub use delete::{Delete, Deletion};
pub use describe::{Describe, DescribeTarget};
pub use drop_aggregate::DropAggregate;
pub use drop_function::DropFunction;
pub use drop_index::DropIndex;
pub use drop_keyspace::DropKeyspace;
pub use drop_table::DropTable;
pub use drop_trigger::DropTrigger;
pub use drop_type::DropType;
pub use drop_view::DropView;
pub use grant::{
    GrantPermissions, GrantRole, Permission, Permissions, Resource, RevokePermissions, RevokeRole,
};
pub use identity::{AddIdentity, DropIdentity};
pub use insert::{Insert, InsertValues, Using};
pub use list::{ListPermissions, ListRoles, ListUsers};
pub use name::{FunctionName, Ident, Pos, QualifiedName};
pub use property::{Property, PropertyValue};
pub use relation::{
    ColumnPart, Condition, ConditionTest, IfClause, InValues, Operator, Relation, RelationKind,
};
pub use role::{
    Access, AlterRole, AlterUser, CreateRole, CreateUser, DropRole, DropUser, Password, RoleOptions,
};
pub use select::{Direction, Ordering, Select, Selector, Selectors};
pub use selectable::{CellAttribute, Selectable, SelectableKind};
pub use term::{ArithmeticOp, Literal, LiteralKind, Marker, Term, TermKind};
pub use truncate::Truncate;
pub use types::{CqlType, NativeType};
pub use update::{Assignment, Operation, Update};
pub use use_::Use;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the statement of the same name.
#[allow(clippy::large_enum_variant)] // One per statement, moved a few times; the large ones are the common ones.
pub enum Statement {
    Use(Use),
    Select(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    Batch(Batch),
    Truncate(Truncate),
    CreateKeyspace(CreateKeyspace),
    AlterKeyspace(AlterKeyspace),
    DropKeyspace(DropKeyspace),
    CreateTable(CreateTable),
    AlterTable(AlterTable),
    DropTable(DropTable),
    CreateType(CreateType),
    AlterType(AlterType),
    DropType(DropType),
    CreateIndex(CreateIndex),
    DropIndex(DropIndex),
    CreateView(CreateView),
    AlterView(AlterView),
    DropView(DropView),
    CreateFunction(CreateFunction),
    DropFunction(DropFunction),
    CreateAggregate(CreateAggregate),
    DropAggregate(DropAggregate),
    CreateTrigger(CreateTrigger),
    DropTrigger(DropTrigger),
    CreateRole(CreateRole),
    AlterRole(AlterRole),
    DropRole(DropRole),
    CreateUser(CreateUser),
    AlterUser(AlterUser),
    DropUser(DropUser),
    AddIdentity(AddIdentity),
    DropIdentity(DropIdentity),
    GrantPermissions(GrantPermissions),
    RevokePermissions(RevokePermissions),
    GrantRole(GrantRole),
    RevokeRole(RevokeRole),
    ListRoles(ListRoles),
    ListUsers(ListUsers),
    ListPermissions(ListPermissions),
    Describe(Describe),
}
