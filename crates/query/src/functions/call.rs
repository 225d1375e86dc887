//! Calls among terms: `f(a)`, `CAST(a AS t)`, `a + b`, `-a` (`FunctionCall`).

use std::cell::RefCell;
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

/// What a look-up comes to; no function has the name, if none.
type Found = CqlResult<Option<Function>>;

/// A written term as an argument, and what was found out about it: asked anew for every function
/// that may take it, calls within calls would take for ever.
pub(crate) struct Written<'a> {
    context: &'a Context<'a>,
    term: &'a ast::Term,
    /// Of a call.
    arguments: Vec<Written<'a>>,
    /// The functions a call means, by the type asked for.
    found: RefCell<Vec<(Option<DataType>, Found)>>,
}

impl<'a> Written<'a> {
    /// Nothing is known of it yet.
    pub(crate) fn new(context: &'a Context<'a>, term: &'a ast::Term) -> Written<'a> {
        let arguments = arguments(term).into_iter().map(|argument| Written::new(context, argument));
        Written { context, term, arguments: arguments.collect(), found: RefCell::default() }
    }

    fn is_call(&self) -> bool {
        use TermKind as K;
        matches!(self.term.kind, K::Function(..) | K::Cast(..) | K::Arithmetic(..) | K::Negation(_))
    }

    /// The function a call means where `returns` is asked for.
    fn function(&self, returns: Option<&DataType>) -> Found {
        let known = self.found.borrow().iter().find(|(asked, _)| asked.as_ref() == returns).cloned();
        if let Some((_, found)) = known {
            return found;
        }
        let found = self.look_up(returns);
        self.found.borrow_mut().push((returns.cloned(), found.clone()));
        found
    }

    fn look_up(&self, returns: Option<&DataType>) -> Found {
        self.context.count_look_up()?;
        let arguments: Vec<&dyn Argument> = self.arguments.iter().map(|a| a as &dyn Argument).collect();
        let table = self.context.table;
        match &self.term.kind {
            TermKind::Function(name, _) => resolve(name, &arguments, returns, table),
            _ => match native_name(self.term) {
                Some(name) => resolve_native(&name, &format!("system.{name}"), &arguments, returns, table),
                None => Ok(None),
            },
        }
    }

    fn prepare(&self, markers: &mut Markers, receiver: &Receiver) -> CqlResult<Term> {
        if !self.is_call() {
            return Term::prepare(self.context, markers, self.term, receiver);
        }
        let Some(function) = self.function(Some(&receiver.ordered_type()))? else {
            match &self.term.kind {
                TermKind::Function(name, _) => {
                    bail!("Unknown function {} called", text::plain_function_name(name))
                }
                _ => bail!("Unknown function system.{} called", native_name(self.term).unwrap_or_default()),
            }
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
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for (index, argument) in self.arguments.iter().enumerate() {
            let place = argument_place(self.context.table, &function, index);
            arguments.push(argument.prepare(markers, &place)?);
        }
        Ok(Term::Call { function: Arc::new(function), arguments })
    }
}

impl Argument for Written<'_> {
    fn fit(&self, receiver: &Receiver) -> Fit {
        if !self.is_call() {
            return Term::fit(self.context, self.term, receiver);
        }
        let place = receiver.ordered_type();
        match self.function(Some(&place)) {
            Ok(Some(function)) if factory::makes(&function) => Fit::Weak,
            Ok(Some(function)) => function.fit(&place),
            Ok(None) | Err(_) => Fit::Weak,
        }
    }

    fn check_place(&self, place: &Receiver) -> CqlResult<()> {
        match self.term.kind {
            TermKind::List(_) | TermKind::Tuple(_) => {
                Term::is_assignable(self.context, self.term, place).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn compatible_type(&self) -> Option<DataType> {
        if !self.is_call() {
            return Term::compatible_type(self.context, self.term);
        }
        Some(self.function(None).ok()??.returns)
    }

    fn text(&self, was_tried: bool) -> String {
        if was_tried { self.context.shown(self.term) } else { text::term(self.term) }
    }

    fn is_marker(&self) -> bool {
        matches!(self.term.kind, TermKind::Marker(_))
    }
}

fn arguments(written: &ast::Term) -> Vec<&ast::Term> {
    match &written.kind {
        TermKind::Function(_, arguments) => arguments.iter().collect(),
        TermKind::Arithmetic(_, left, right) => vec![left, right],
        TermKind::Cast(value, _) | TermKind::Negation(value) => vec![value],
        _ => Vec::new(),
    }
}

/// The function behind a cast or an operator.
fn native_name(written: &ast::Term) -> Option<String> {
    match &written.kind {
        TermKind::Cast(_, native) => Some(format!("cast_as_{}", native.name())),
        TermKind::Arithmetic(op, ..) => Some(arithmetic::function_name(*op).to_owned()),
        TermKind::Negation(_) => Some(arithmetic::NEGATE.to_owned()),
        _ => None,
    }
}

/// Resolves a call.
pub(crate) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    written: &ast::Term,
    receiver: &Receiver,
) -> CqlResult<Term> {
    Written::new(context, written).prepare(markers, receiver)
}

/// How a call fits a place. What cannot be resolved fits weakly: preparing says why it cannot. So
/// does what returns whatever is asked for, lest it fit every one of several places exactly.
pub(crate) fn fit(context: &Context<'_>, written: &ast::Term, receiver: &Receiver) -> Fit {
    Written::new(context, written).fit(receiver)
}

/// The type of a call's result.
pub(crate) fn exact_type(context: &Context<'_>, written: &ast::Term) -> Option<DataType> {
    Written::new(context, written).compatible_type()
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
    let Some(result) = scalar.call(function, &values, binding)? else { return Ok(Value::Null) };
    if function.returns.validate(&result).is_err() {
        bail!(
            "Return of function {} is not a valid value for its declared return type {}",
            function.signature(),
            function.returns
        );
    }
    Ok(Value::Bytes(result))
}
