//! Selectors as messages show them (`Selectable.toString`).

use basalt_cql::ast;
use basalt_cql::ast::{Selectable, SelectableKind};

use super::infer::as_term;
use crate::functions;
use crate::terms::Context;
use crate::{text, types};

/// A selector's text.
pub(super) fn show(context: &Context<'_>, selectable: &Selectable) -> String {
    let show = |selectable: &Selectable| show(context, selectable);
    if let Some(term) = as_term(selectable) {
        return text::term(&term);
    }
    let list = |parts: &[Selectable]| parts.iter().map(show).collect::<Vec<String>>().join(", ");
    match &selectable.kind {
        SelectableKind::Column(name) => name.name.clone(),
        SelectableKind::CountRows => "count".to_owned(),
        SelectableKind::CellAttribute(attribute, operand) => {
            format!("{}({})", attribute.name(), show(operand))
        }
        SelectableKind::Function(name, arguments) => {
            let shown: Vec<String> = arguments.iter().map(show).collect();
            functions::special_column_name(&name.name.name, &shown).unwrap_or_else(|| {
                let prefix = if name.keyspace.is_none() { "system." } else { "" };
                format!("{prefix}{}({})", text::function_name(name), shown.join(", "))
            })
        }
        SelectableKind::Cast(operand, native) => format!("cast({} as {})", show(operand), native.name()),
        SelectableKind::TypeHint(cql_type, operand) => {
            format!("({}){}", text::type_name(&types::qualified(cql_type, context.keyspace)), show(operand))
        }
        SelectableKind::Field(inner, field) => format!("{}.{}", show(inner), field.name),
        SelectableKind::Element(inner, key) => format!("{}[{}]", show(inner), context.shown(key)),
        SelectableKind::Slice(inner, from, to) => {
            let end =
                |end: &Option<ast::Term>| end.as_ref().map(|end| context.shown(end)).unwrap_or_default();
            format!("{}[{}..{}]", show(inner), end(from), end(to))
        }
        SelectableKind::ParenthesesOrTuple(parts) => format!("({})", list(parts)),
        SelectableKind::List(parts) => format!("[{}]", list(parts)),
        SelectableKind::Set(parts) => format!("{{{}}}", list(parts)),
        SelectableKind::MapOrUserType(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", show(key), show(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        SelectableKind::Arithmetic(op, left, right) => {
            format!("{} {} {}", show(left), op.symbol(), show(right))
        }
        SelectableKind::Negation(operand) => format!("-{}", show(operand)),
        SelectableKind::Literal(_) | SelectableKind::Null | SelectableKind::Marker(_) => String::new(),
    }
}
