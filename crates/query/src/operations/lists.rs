//! List operations by index and by value: they need the list as it is (`Lists`).

use basalt_model::types::elements::unpack_collection;
use basalt_model::{Cell, Column, DecoratedKey, Row};
use bytes::Bytes;

use super::Writer;
use crate::error::{CqlResult, bail, invalid};
use crate::request::Value;
use crate::terms::Term;

fn cell_at<'c>(cells: &'c [Cell], index: &Bytes, what: &str) -> CqlResult<&'c Cell> {
    let Some(bytes) = index.first_chunk::<4>() else {
        return invalid("Invalid null value for list index");
    };
    let index = i32::from_be_bytes(*bytes);
    if cells.is_empty() {
        bail!("Attempted to {what} a list which is null");
    }
    match usize::try_from(index).ok().and_then(|index| cells.get(index)) {
        Some(cell) => Ok(cell),
        None => bail!("List index {index} out of bound, list has size {}", cells.len()),
    }
}

/// `l[i] = v`
pub(super) fn set_index(
    writer: &Writer<'_>,
    row: &mut Row,
    (key, column): (&DecoratedKey, &Column),
    index: &Term,
    value: &Term,
) -> CqlResult<()> {
    let index = index.bind(&writer.binding)?;
    let value = value.bind(&writer.binding)?;
    let index = match index {
        Value::Bytes(index) => index,
        Value::Null => return invalid("Invalid null value for list index"),
        Value::Unset => return invalid("Invalid unset value for list index"),
    };
    let cells = writer.existing(key, row, column);
    let path = cell_at(&cells, &index, "set an element on")?.path.clone();
    match value {
        Value::Null => writer.delete(row, column, path),
        Value::Unset => {}
        Value::Bytes(value) => writer.put(row, column, path, value),
    }
    Ok(())
}

/// `DELETE l[i]`
pub(super) fn delete_index(
    writer: &Writer<'_>,
    row: &mut Row,
    (key, column): (&DecoratedKey, &Column),
    index: &Term,
) -> CqlResult<()> {
    let index = match index.bind(&writer.binding)? {
        Value::Bytes(index) => index,
        Value::Null => return invalid("Invalid null value for list index"),
        Value::Unset => return Ok(()),
    };
    let cells = writer.existing(key, row, column);
    let path = cell_at(&cells, &index, "delete an element from")?.path.clone();
    writer.delete(row, column, path);
    Ok(())
}

/// `l = l - [...]`
pub(super) fn discard(
    writer: &Writer<'_>,
    row: &mut Row,
    (key, column): (&DecoratedKey, &Column),
    values: &Term,
) -> CqlResult<()> {
    let cells = writer.existing(key, row, column);
    let Value::Bytes(values) = values.bind(&writer.binding)? else { return Ok(()) };
    let values = elements(&values)?;
    for cell in cells.into_iter().filter(|cell| values.contains(&cell.value)) {
        writer.delete(row, column, cell.path);
    }
    Ok(())
}

/// The elements of a list or set.
pub(super) fn elements(value: &Bytes) -> CqlResult<Vec<Bytes>> {
    match unpack_collection(value, 1) {
        Some(elements) => Ok(elements),
        None => invalid("null is not supported inside collections"),
    }
}
