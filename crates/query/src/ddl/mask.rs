//! `MASKED WITH function(...)` (`ColumnMask.Raw.prepare`): which function it is, and the values of
//! its arguments.

use basalt_cql::ast;
use basalt_model::schema::ColumnMask;
use basalt_model::{CqlError, DataType};

use super::DdlContext;
use crate::assign::{Fit, fit};
use crate::bind::Binding;
use crate::functions::call::Written;
use crate::functions::resolve::argument_place;
use crate::functions::{Argument, Body, Function, Scalar, resolve};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::terms::{Context, Term};
use crate::text;
use crate::timeuuid::TimeUuids;

/// What a mask answers while `dynamic_data_masking_enabled` is off.
const DISABLED: &str = "Cannot mask columns because dynamic data masking is not enabled. You can enable it with the dynamic_data_masking_enabled property on cassandra.yaml";

/// Refuses masks while they are switched off.
///
/// # Errors
/// `Invalid`.
pub(super) fn ensure_enabled(context: &DdlContext<'_>) -> Result<(), CqlError> {
    if context.settings.dynamic_data_masking_enabled { Ok(()) } else { Err(CqlError::invalid(DISABLED)) }
}

/// The masked column's value as the first argument.
struct Masked<'a>(&'a DataType);

impl Argument for Masked<'_> {
    fn fit(&self, receiver: &Receiver) -> Fit {
        fit(self.0, &receiver.data_type)
    }

    fn compatible_type(&self) -> Option<DataType> {
        Some(self.0.clone())
    }

    fn text(&self, _was_tried: bool) -> String {
        self.0.class_name()
    }

    fn is_marker(&self) -> bool {
        false
    }
}

/// The mask of column `column` of that type.
///
/// # Errors
/// With Cassandra's texts, when there is no such masking function, or its arguments do not fit.
pub(super) fn prepare(
    context: &DdlContext<'_>,
    keyspace: &str,
    (column, data_type): (&str, &DataType),
    written: &ast::ColumnMask,
) -> Result<ColumnMask, CqlError> {
    let terms = Context::new(context.schema, keyspace);
    let others: Vec<Written<'_>> = written.arguments.iter().map(|term| Written::new(&terms, term)).collect();
    let masked = Masked(data_type);
    let arguments: Vec<&dyn Argument> = std::iter::once(&masked as &dyn Argument)
        .chain(others.iter().map(|argument| argument as &dyn Argument))
        .collect();
    let found = resolve(&written.function, &arguments, Some(data_type), None)?;
    let function = check(found, column, data_type, &shown(written))?;
    let timeuuids = TimeUuids::new(context.env.clone());
    let binding = Binding { values: &[], env: context.env.as_ref(), timeuuids: &timeuuids };
    let mut values = Vec::with_capacity(written.arguments.len());
    for (index, term) in written.arguments.iter().enumerate() {
        let place = argument_place(None, &function, index + 1);
        let mut markers = Markers::new(Vec::new());
        let term = Term::prepare(&terms, &mut markers, term, &place)?;
        if !markers.is_empty() {
            return Err(CqlError::invalid("Bind variables cannot be arguments of a mask"));
        }
        let value = match term.bind(&binding)? {
            Value::Bytes(bytes) => Some(bytes),
            Value::Null | Value::Unset => None,
        };
        values.push((place.data_type, value));
    }
    Ok(ColumnMask { keyspace: "system".into(), function: function.name.as_str().into(), arguments: values })
}

/// The mask as messages show it.
fn shown(written: &ast::ColumnMask) -> String {
    let arguments: Vec<String> = written.arguments.iter().map(text::term).collect();
    format!("{}({})", text::plain_function_name(&written.function), arguments.join(", "))
}

fn check(
    found: Option<Function>,
    column: &str,
    data_type: &DataType,
    shown: &str,
) -> Result<Function, CqlError> {
    let refuse = |text: String| Err(CqlError::invalid(text));
    let Some(function) = found else {
        return refuse(format!(
            "Unable to find masking function for {column}, no declared function matches the signature {shown}"
        ));
    };
    match function.body {
        Body::Aggregate(_) => {
            refuse(format!("Aggregate function {shown} cannot be used for masking table columns"))
        }
        Body::Scalar(Scalar::Mask(_)) if function.returns.equals(data_type) => Ok(function),
        Body::Scalar(Scalar::Mask(_)) => refuse(format!(
            "Masking function {shown} return type is {}. This is different to the type of the masked column {column} of type {data_type}. Masking functions can only be attached to table columns if they return the same data type as the masked column.",
            function.returns
        )),
        Body::Scalar(_) => {
            refuse(format!("Not-masking function {shown} cannot be used for masking table columns"))
        }
    }
}
