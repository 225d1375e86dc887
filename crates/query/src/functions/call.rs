//! Calls among terms: `f(a)`, `CAST(a AS t)`, `a + b`, `-a` (`FunctionCall`).

use std::sync::Arc;

use basalt_cql::ast;
use basalt_cql::ast::TermKind;
use basalt_model::DataType;

use super::resolve::{argument_place, resolve_native};
use super::{Argument, Body, Function, arithmetic, factory, resolve};
use crate::assign::Fit;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::terms::{Context, Term};
use crate::text;

/// A written term as an argument.
struct Written<'a> {
    context: &'a Context<'a>,
    term: &'a ast::Term,
}

impl Argument for Written<'_> {
    fn fit(&self, receiver: &Receiver) -> Fit {
        Term::fit(self.context, self.term, receiver)
    }

    fn compatible_type(&self) -> Option<DataType> {
        Term::compatible_type(self.context, self.term)
    }

    fn text(&self) -> String {
        text::term(self.term)
    }

    fn is_marker(&self) -> bool {
        matches!(self.term.kind, TermKind::Marker(_))
    }
}

/// The function a written call means, its arguments, and its name in messages.
fn look_up<'a>(
    context: &Context<'_>,
    written: &'a ast::Term,
    returns: Option<&DataType>,
) -> CqlResult<(Option<Function>, Vec<&'a ast::Term>, String)> {
    let (name, arguments): (String, Vec<&ast::Term>) = match &written.kind {
        TermKind::Cast(value, native) => (format!("cast_as_{}", native.name()), vec![value]),
        TermKind::Arithmetic(op, left, right) => {
            (arithmetic::function_name(*op).to_owned(), vec![left, right])
        }
        TermKind::Negation(value) => (arithmetic::NEGATE.to_owned(), vec![value]),
        TermKind::Function(name, arguments) => {
            let arguments: Vec<&ast::Term> = arguments.iter().collect();
            let shown = text::plain_function_name(name);
            let found =
                with_arguments(context, &arguments, |args| resolve(name, args, returns, context.table))?;
            return Ok((found, arguments, shown));
        }
        _ => return Ok((None, Vec::new(), String::new())),
    };
    let shown = format!("system.{name}");
    let found = with_arguments(context, &arguments, |args| {
        resolve_native(&name, &shown, args, returns, context.table)
    })?;
    Ok((found, arguments, shown))
}

fn with_arguments<T>(
    context: &Context<'_>,
    arguments: &[&ast::Term],
    then: impl FnOnce(&[&dyn Argument]) -> T,
) -> T {
    let arguments: Vec<Written<'_>> = arguments.iter().map(|term| Written { context, term }).collect();
    let arguments: Vec<&dyn Argument> = arguments.iter().map(|argument| argument as &dyn Argument).collect();
    then(&arguments)
}

/// Resolves a call.
pub(crate) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    written: &ast::Term,
    receiver: &Receiver,
) -> CqlResult<Term> {
    let (found, arguments, shown) = look_up(context, written, Some(&receiver.data_type))?;
    let Some(function) = found else {
        bail!("Unknown function {shown} called");
    };
    if function.is_aggregate() {
        return invalid("Aggregation function are not supported in the where clause");
    }
    if !function.fit(&receiver.data_type).is_assignable() {
        let (kind, name) = match arithmetic::operator_of(&function.name) {
            Some(op) => ("operation", op.symbol().to_string()),
            None => ("function", function.full_name()),
        };
        bail!(
            "Type error: cannot assign result of {kind} {name} (type {}) to {} (type {})",
            function.returns,
            receiver.name,
            receiver.data_type
        );
    }
    let mut terms = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.into_iter().enumerate() {
        let place = argument_place(context.table, &function, index);
        terms.push(Term::prepare(context, markers, argument, &place)?);
    }
    Ok(Term::Call { function: Arc::new(function), arguments: terms })
}

/// How a call fits a place. What cannot be resolved fits weakly: preparing says why it cannot. So
/// does what returns whatever is asked for, lest it fit every one of several places exactly.
pub(crate) fn fit(context: &Context<'_>, written: &ast::Term, receiver: &Receiver) -> Fit {
    let place = (std::ptr::from_ref(written).addr(), receiver.data_type.clone());
    if let Some(known) = context.fits.borrow().get(&place) {
        return *known;
    }
    let fit = compute_fit(context, written, receiver);
    context.fits.borrow_mut().insert(place, fit);
    fit
}

fn compute_fit(context: &Context<'_>, written: &ast::Term, receiver: &Receiver) -> Fit {
    match look_up(context, written, Some(&receiver.data_type)) {
        Ok((Some(function), _, _)) if factory::makes(&function) => Fit::Weak,
        Ok((Some(function), _, _)) => function.fit(&receiver.data_type),
        _ => Fit::Weak,
    }
}

/// The type of a call's result.
pub(crate) fn exact_type(context: &Context<'_>, written: &ast::Term) -> Option<DataType> {
    Some(look_up(context, written, None).ok()?.0?.returns)
}

/// Evaluates a call.
pub(crate) fn bind(function: &Function, arguments: &[Term], binding: &Binding<'_>) -> CqlResult<Value> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(match argument.bind(binding)? {
            Value::Bytes(bytes) => Some(bytes),
            Value::Null => None,
            Value::Unset => bail!("Invalid unset value for argument in call to function {}", function.name),
        });
    }
    let Body::Scalar(scalar) = &function.body else {
        return invalid("Aggregation function are not supported in the where clause");
    };
    Ok(scalar.call(function, &values, binding)?.map_or(Value::Null, Value::Bytes))
}
