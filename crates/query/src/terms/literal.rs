//! Constants among terms. What they are worth is the literals module's matter.

use basalt_cql::ast::{Literal, LiteralKind};
use basalt_model::DataType;

use super::Term;
use crate::assign::Fit;
use crate::error::CqlResult;
use crate::literals::{self, Assignment};
use crate::receiver::Receiver;

/// Resolves a constant.
pub(super) fn prepare(literal: &Literal, receiver: &Receiver) -> CqlResult<Term> {
    let is_now = literal.kind == LiteralKind::String && literal.text.eq_ignore_ascii_case("now");
    if is_now && receiver.data_type == DataType::Timestamp {
        return Ok(Term::Now);
    }
    literals::from_literal(literal, &receiver.name, &receiver.data_type).map(Term::Constant)
}

/// How a constant fits a type.
pub(super) fn fit(literal: &Literal, data_type: &DataType) -> Fit {
    match literals::assignment(literal, data_type) {
        Assignment::Exact => Fit::Exact,
        Assignment::Weak => Fit::Weak,
        Assignment::No => Fit::No,
    }
}
