//! `writetime`, `maxwritetime` and `ttl` of a column, element, slice or field
//! (`WritetimeOrTTLSelector`, `ColumnTimestamps`).

use basalt_cql::ast::CellAttribute;
use bytes::Bytes;

use super::input::{CellTimes, Times};
use super::node::{Evaluation, Node};
use crate::error::CqlResult;
use crate::values::pack_nullable_list;

/// The value of an attribute of `operand`.
pub(super) fn attribute(
    attribute: CellAttribute,
    operand: &Node,
    evaluation: &Evaluation<'_>,
) -> CqlResult<Option<Bytes>> {
    let times = times(operand, evaluation)?;
    let value = |times: &CellTimes| match attribute {
        CellAttribute::Ttl => times.ttl_s.map(|ttl| Bytes::copy_from_slice(&ttl.to_be_bytes())),
        CellAttribute::WriteTime | CellAttribute::MaxWriteTime => {
            times.write_time.map(|time| Bytes::copy_from_slice(&time.to_be_bytes()))
        }
    };
    Ok(match times {
        Times::None => None,
        Times::One(times) => value(&times),
        Times::Many(times) if attribute == CellAttribute::MaxWriteTime => {
            times.iter().max_by_key(|times| times.write_time).and_then(value)
        }
        Times::Many(times) if times.is_empty() => None,
        Times::Many(times) => {
            let values: Vec<Option<Bytes>> = times.iter().map(value).collect();
            Some(pack_nullable_list(&values))
        }
    })
}

fn times(operand: &Node, evaluation: &Evaluation<'_>) -> CqlResult<Times> {
    match operand {
        Node::Column(index) => Ok(evaluation.row.times(*index).clone()),
        Node::Field { inner, index } => Ok(match times(inner, evaluation)? {
            Times::Many(times) => times.get(*index).map_or(Times::None, |times| Times::One(*times)),
            single => single,
        }),
        Node::Element { inner, .. } | Node::Slice { inner, .. } => {
            let of_inner = times(inner, evaluation)?;
            let Some(range) = operand.selected_range(evaluation)? else { return Ok(Times::None) };
            if range.is_empty() {
                return Ok(Times::None);
            }
            let is_element = matches!(operand, Node::Element { .. });
            Ok(match of_inner {
                Times::Many(times) if is_element => {
                    times.get(range.start).map_or(Times::None, |times| Times::One(*times))
                }
                Times::Many(times) => {
                    Times::Many(times.get(range).map(<[CellTimes]>::to_vec).unwrap_or_default())
                }
                single => single,
            })
        }
        _ => Ok(Times::None),
    }
}
