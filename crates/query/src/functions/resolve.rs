//! Which function a name and arguments mean (`FunctionResolver`).

use basalt_cql::ast::FunctionName;
use basalt_model::{DataType, Table};

use super::{
    Function, aggregate, arithmetic, blob, cast, collection, floor, json, mask, math, time, token, vector,
};
use crate::assign::Fit;
use crate::error::{CqlResult, bail};
use crate::receiver::Receiver;
use crate::text;

/// An argument of a call whose function is being looked for.
pub(crate) trait Argument {
    /// How it fits a place.
    fn fit(&self, receiver: &Receiver) -> Fit;
    /// Refuses a place that the argument cannot even be compared with.
    fn check_place(&self, _place: &Receiver) -> CqlResult<()> {
        Ok(())
    }
    /// Refuses an argument of which messages cannot show the text.
    fn check_text(&self) -> CqlResult<()> {
        Ok(())
    }
    /// The type it would have if left alone.
    fn compatible_type(&self) -> Option<DataType>;
    /// How messages show it; they know whether it was tried for a place.
    fn text(&self, was_tried: bool) -> String;
    /// Whether it is a bind marker.
    fn is_marker(&self) -> bool;
    /// How many elements it has, if it is a selector that may be a list or a vector.
    fn array_length(&self) -> Option<usize> {
        None
    }
}

/// What is offered for a name.
pub(super) struct Request<'a> {
    /// The name, lower case unless quoted.
    pub(super) name: &'a str,
    /// The arguments.
    pub(super) arguments: &'a [&'a dyn Argument],
    /// The type asked for, where one is.
    pub(super) returns: Option<&'a DataType>,
    /// The statement's table.
    pub(super) table: Option<&'a Table>,
}

pub(super) fn candidates(request: &Request<'_>) -> CqlResult<Vec<Function>> {
    let name = request.name;
    let mut found = time::offer(name);
    found.extend(floor::offer(name));
    found.extend(blob::offer(name));
    found.extend(cast::offer(name));
    found.extend(arithmetic::offer(name));
    found.extend(math::offer(name));
    found.extend(aggregate::offer(request)?);
    found.extend(collection::offer(request)?);
    found.extend(json::offer(request)?);
    found.extend(token::offer(request)?);
    found.extend(vector::offer(request)?);
    found.extend(mask::offer(request)?);
    Ok(found)
}

/// Finds the function; `None` when no function has that name.
///
/// # Errors
/// When none of that name fits the arguments, or several do.
pub(crate) fn resolve(
    name: &FunctionName,
    arguments: &[&dyn Argument],
    returns: Option<&DataType>,
    table: Option<&Table>,
) -> CqlResult<Option<Function>> {
    if name.keyspace.as_ref().is_some_and(|keyspace| keyspace.name != "system") {
        return Ok(None);
    }
    resolve_native(&name.name.name, &text::plain_function_name(name), arguments, returns, table)
}

/// As [`resolve`], for a native function's bare name; `shown` is the name in messages.
pub(crate) fn resolve_native(
    name: &str,
    shown: &str,
    arguments: &[&dyn Argument],
    returns: Option<&DataType>,
    table: Option<&Table>,
) -> CqlResult<Option<Function>> {
    let mut found = candidates(&Request { name, arguments, returns, table })?;
    match found.len() {
        0 => Ok(None),
        1 => {
            let function = found.remove(0);
            validate(&function, arguments)?;
            Ok(Some(function))
        }
        _ => pick(found, name, shown, arguments, returns).map(Some),
    }
}

/// The place an argument of a function goes to (`FunctionResolver.makeArgSpec`).
pub(crate) fn argument_place(table: Option<&Table>, function: &Function, index: usize) -> Receiver {
    let name = format!("arg{index}({})", function.full_name().to_lowercase());
    let (keyspace, table) = match table {
        Some(table) => (table.keyspace.clone(), table.name.clone()),
        None => Default::default(),
    };
    Receiver::of(keyspace, table, name.into(), &function.arguments[index])
}

fn validate(function: &Function, arguments: &[&dyn Argument]) -> CqlResult<()> {
    let expected = function.arguments.len();
    if arguments.len() != expected {
        bail!(
            "Invalid number of arguments in call to function {}: {expected} required but {} provided",
            function.full_name(),
            arguments.len()
        );
    }
    for (index, argument) in arguments.iter().enumerate() {
        let place = argument_place(None, function, index);
        argument.check_place(&place)?;
        if !argument.fit(&place).is_assignable() {
            bail!(
                "Type error: {} cannot be passed as argument {index} of function {} of type {}",
                argument.text(true),
                function.full_name(),
                function.arguments[index]
            );
        }
    }
    Ok(())
}

/// How arguments fit a function; `tried` becomes the number of those that were ever looked at.
fn match_arguments(function: &Function, arguments: &[&dyn Argument], tried: &mut usize) -> CqlResult<Fit> {
    if arguments.len() != function.arguments.len() {
        return Ok(Fit::No);
    }
    let mut all = Fit::Exact;
    for (index, argument) in arguments.iter().enumerate() {
        let place = argument_place(None, function, index);
        *tried = (*tried).max(index + 1);
        argument.check_place(&place)?;
        match argument.fit(&place) {
            Fit::No => return Ok(Fit::No),
            Fit::Weak => all = Fit::Weak,
            Fit::Exact => {}
        }
    }
    Ok(all)
}

fn pick(
    candidates: Vec<Function>,
    name: &str,
    shown: &str,
    arguments: &[&dyn Argument],
    returns: Option<&DataType>,
) -> CqlResult<Function> {
    let is_of_one_type = |function: &&Function| {
        returns.is_some_and(|returns| function.arguments.iter().all(|argument| argument.equals(returns)))
    };
    let (mut exact, mut compatible): (Vec<&Function>, Vec<&Function>) = (Vec::new(), Vec::new());
    let mut tried = 0;
    for function in &candidates {
        if returns.is_some_and(|returns| !function.fit(returns).is_assignable()) {
            continue;
        }
        match match_arguments(function, arguments, &mut tried)? {
            Fit::Exact => exact.push(function),
            Fit::Weak => compatible.push(function),
            Fit::No => {}
        }
    }
    // Cassandra takes any that is exact. Several are where an operand is itself an operation of
    // literals, which exactly fits every type.
    if exact.len() > 1 {
        let own: Vec<Option<DataType>> =
            arguments.iter().map(|argument| argument.compatible_type()).collect();
        let is_own = |function: &&&Function| {
            own.iter().zip(&function.arguments).all(|(own, argument)| own.as_ref() == Some(argument))
        };
        let best = exact.iter().find(is_own).or_else(|| exact.iter().find(|one| is_of_one_type(one)));
        exact = vec![best.unwrap_or(&exact[0])];
    }
    if let [function] = exact.as_slice() {
        return Ok((*function).clone());
    }
    // By their own names the functions behind operators are functions as others.
    let operator = arithmetic::operator_of(name).filter(|_| shown.starts_with("system."));
    let shown_argument =
        |index: usize| arguments.get(index).map(|a| a.text(index < tried)).unwrap_or_default();
    match (compatible.as_slice(), operator) {
        ([one], _) => Ok((*one).clone()),
        ([], Some(op)) => bail!(
            "the '{}' operation is not supported between {} and {}",
            op.symbol(),
            shown_argument(0),
            shown_argument(1)
        ),
        ([], None) => bail!(
            "Invalid call to function {shown}, none of its type signatures match (known type signatures: {})",
            signatures(candidates.iter())
        ),
        (several, Some(op)) => {
            let has_marker = arguments.iter().any(|argument| argument.is_marker());
            if let Some(function) = several.iter().find(|function| !has_marker && is_of_one_type(function)) {
                return Ok((**function).clone());
            }
            bail!(
                "Ambiguous '{}' operation with args {} and {}: use type hint to disambiguate, example '(int) ?'",
                op.symbol(),
                shown_argument(0),
                shown_argument(1)
            )
        }
        (_, None) if name == arithmetic::NEGATE && shown.starts_with("system.") => {
            bail!("Ambiguous negation: use type casts to disambiguate")
        }
        (several, None) => bail!(
            "Ambiguous call to function {shown} (can be matched by following signatures: {}): use type casts to disambiguate",
            signatures(several.iter().copied())
        ),
    }
}

fn signatures<'a>(functions: impl Iterator<Item = &'a Function>) -> String {
    functions.map(Function::signature).collect::<Vec<String>>().join(", ")
}
