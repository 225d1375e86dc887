//! Which elements and slices of multi-cell collections a SELECT asks for where it does not ask for the whole
//! (`ColumnFilter.Builder.select`, `slice`). Does not evaluate selectors.

use basalt_model::Table;
use basalt_model::command::ColumnPart;
use bytes::Bytes;

use super::Selection;
use super::node::Node;
use crate::bind::Binding;
use crate::error::CqlResult;
use crate::request::Value;

/// A part of a column, its ends places among the selection's terms.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The column's index in the table.
    column: usize,
    from: Option<usize>,
    to: Option<usize>,
}

/// The parts of those columns of which no selector takes the whole.
pub(super) fn parts_of(nodes: &[Node], table: &Table, columns: &[usize]) -> Vec<Part> {
    let mut uses = Uses { table, columns, parts: Vec::new(), whole: Vec::new() };
    nodes.iter().for_each(|node| uses.add(node));
    let Uses { mut parts, whole, .. } = uses;
    parts.retain(|part| !whole.contains(&part.column));
    parts
}

/// How selectors use columns.
struct Uses<'a> {
    table: &'a Table,
    columns: &'a [usize],
    parts: Vec<Part>,
    whole: Vec<usize>,
}

impl Uses<'_> {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Column(place) => self.whole.extend(self.columns.get(*place)),
            Node::Element { inner, key, .. } => self.add_part(inner, Some(*key), Some(*key)),
            Node::Slice { inner, from, to, .. } => self.add_part(inner, *from, *to),
            _ => node.for_each_child(&mut |child| self.add(child)),
        }
    }

    fn add_part(&mut self, inner: &Node, from: Option<usize>, to: Option<usize>) {
        let column = match inner {
            Node::Column(place) => self.columns.get(*place).copied(),
            _ => None,
        };
        let multi_cell = column.filter(|column| self.table.columns[*column].data_type.is_multi_cell());
        match multi_cell {
            Some(column) => self.parts.push(Part { column, from, to }),
            None => self.add(inner),
        }
    }
}

impl Selection {
    /// Whether columns are asked for in part.
    pub(crate) fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// What is asked for of columns of which not the whole is.
    ///
    /// # Errors
    /// When a term cannot be evaluated.
    pub(crate) fn column_parts(
        &self,
        table: &Table,
        filtered: &[usize],
        binding: &Binding<'_>,
    ) -> CqlResult<Vec<ColumnPart>> {
        let end = |term: Option<usize>| -> CqlResult<Option<Bytes>> {
            match term.and_then(|term| self.terms.get(term)) {
                Some(term) => match term.bind(binding)? {
                    Value::Bytes(bytes) => Ok(Some(bytes)),
                    Value::Null | Value::Unset => Ok(None),
                },
                None => Ok(None),
            }
        };
        let parts = self.parts.iter().filter(|part| !filtered.contains(&part.column));
        let part = |part: &Part| {
            let column = table.columns[part.column].id;
            Ok(ColumnPart { column, from: end(part.from)?, to: end(part.to)? })
        };
        parts.map(part).collect()
    }
}
