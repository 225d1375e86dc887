//! Constants among terms. What they are worth is the literals module's matter.

use basalt_cql::ast::{Literal, LiteralKind};
use basalt_model::DataType;
use basalt_model::types::elements::pack_tuple;
use bytes::Bytes;

use super::Term;
use crate::assign::Fit;
use crate::error::{CqlResult, bail, marshal};
use crate::literals::{self, Assignment};
use crate::receiver::Receiver;

/// Resolves a constant.
pub(super) fn prepare(literal: &Literal, receiver: &Receiver) -> CqlResult<Term> {
    if let (DataType::Tuple(types), false) = (&receiver.data_type, literal.kind == LiteralKind::Hex) {
        return tuple(literal, receiver, types).map(Term::Constant);
    }
    let is_now = literal.kind == LiteralKind::String && literal.text.eq_ignore_ascii_case("now");
    if is_now && receiver.data_type == DataType::Timestamp {
        return Ok(Term::Now);
    }
    literals::from_literal(literal, &receiver.name, &receiver.data_type).map(Term::Constant)
}

/// A tuple as text: fields between colons, `@` for null (`TupleType.fromString`).
fn tuple(literal: &Literal, receiver: &Receiver, types: &[DataType]) -> CqlResult<Bytes> {
    let mut fields = vec![String::new()];
    let mut is_escaped = false;
    for c in literal.text.chars() {
        let split = c == ':' && !is_escaped;
        is_escaped = c == '\\';
        match fields.last_mut() {
            Some(field) if !split => field.push(c),
            _ => fields.push(String::new()),
        }
    }
    if literal.text.is_empty() {
        fields.clear();
    }
    if fields.len() > types.len() {
        bail!(
            "Invalid tuple literal: too many elements. Type {} expects {} but got {}",
            receiver.data_type,
            types.len(),
            fields.len()
        );
    }
    let mut values = Vec::with_capacity(fields.len());
    for (field, data_type) in fields.iter().zip(types) {
        if field == "@" {
            values.push(None);
            continue;
        }
        let text = field.replace("\\:", ":").replace("\\@", "@");
        let value = literals::from_text(data_type, &text);
        values.push(Some(value.map_err(marshal)?));
    }
    Ok(pack_tuple(&values))
}

/// How a constant fits a type.
pub(super) fn fit(literal: &Literal, data_type: &DataType) -> Fit {
    match literals::assignment(literal, data_type) {
        Assignment::Exact => Fit::Exact,
        Assignment::Weak => Fit::Weak,
        Assignment::No => Fit::No,
    }
}
