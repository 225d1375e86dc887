//! Bind markers: values are checked against the type asked for, and collections brought into the
//! form in which they are stored.

use std::sync::Arc;

use basalt_cql::ast;
use basalt_model::DataType;

use super::Term;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid, marshal};
use crate::receiver::Receiver;
use crate::request::Value;
use crate::values::stored_form;

/// A bind marker.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    index: usize,
    data_type: DataType,
    /// The receiver's name, where an unset value is refused by name: tuples of several columns.
    tuple_name: Option<Arc<str>>,
    /// Whether the bytes are taken as they are: Cassandra does not see that a descending column is a collection.
    keeps_bytes: bool,
}

/// A marker for one place.
pub(super) fn prepare(marker: &ast::Marker, receiver: &Receiver) -> Term {
    Term::Marker(Marker {
        index: usize::from(marker.index),
        data_type: receiver.data_type.clone(),
        tuple_name: None,
        keeps_bytes: receiver.is_reversed,
    })
}

/// A marker for several columns, or for a list of their tuples.
pub(super) fn prepare_tuple(marker: &ast::Marker, receiver: &Receiver) -> Term {
    Term::Marker(Marker {
        index: usize::from(marker.index),
        data_type: receiver.data_type.clone(),
        tuple_name: Some(receiver.name.clone()),
        keeps_bytes: false,
    })
}

/// What `(a, b) > ?` takes: a tuple named `(a,b)`.
pub(super) fn tuple_receiver(receivers: &[Receiver]) -> Receiver {
    let types: Vec<DataType> = receivers.iter().map(|receiver| receiver.data_type.clone()).collect();
    receivers[0].part(format!("({})", names(receivers)), &DataType::Tuple(types.into()))
}

/// What `(a, b) IN ?` takes: a list of tuples named `in(a,b)`.
pub(super) fn tuple_in_receiver(receivers: &[Receiver]) -> CqlResult<Receiver> {
    let multi_cell =
        |receiver: &Receiver| receiver.data_type.is_collection() && receiver.data_type.is_multi_cell();
    if receivers.iter().any(multi_cell) {
        return invalid("Non-frozen collection columns do not support IN relations");
    }
    let types: Vec<DataType> = receivers.iter().map(|receiver| receiver.data_type.clone()).collect();
    let list = DataType::List { element: Arc::new(DataType::Tuple(types.into())), frozen: false };
    Ok(receivers[0].part(format!("in({})", names(receivers)), &list))
}

fn names(receivers: &[Receiver]) -> String {
    receivers.iter().map(|receiver| &*receiver.name).collect::<Vec<&str>>().join(",")
}

impl Marker {
    /// The checked value.
    pub(super) fn bind(&self, binding: &Binding<'_>) -> CqlResult<Value> {
        match binding.value(self.index) {
            Value::Null => Ok(Value::Null),
            Value::Unset => match &self.tuple_name {
                Some(name) if matches!(self.data_type, DataType::List { .. }) => {
                    bail!("Invalid unset value for {name}")
                }
                Some(name) => bail!("Invalid unset value for tuple {name}"),
                None => Ok(Value::Unset),
            },
            Value::Bytes(bytes) if self.keeps_bytes => {
                self.data_type.validate(bytes).map_err(marshal)?;
                Ok(Value::Bytes(bytes.clone()))
            }
            Value::Bytes(bytes) => {
                self.data_type.validate_bound(bytes).map_err(marshal)?;
                Ok(Value::Bytes(stored_form(&self.data_type, bytes.clone())?))
            }
        }
    }
}
