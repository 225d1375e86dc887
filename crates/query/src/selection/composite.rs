//! Selectors that are put together from others: tuples, lists, vectors, sets, maps and values of
//! user-defined types (`Selectable.WithList` and its like).

use basalt_cql::ast::{Selectable, SelectableKind};
use basalt_model::DataType;

use super::infer::{check_shown, exact_type};
use super::node::Node;
use super::prepare::{Preparation, Resolved, resolved};
use super::show::show;
use crate::error::{CqlResult, bail};

impl Preparation<'_> {
    /// The type of a composite selector: its own if known, else the one asked for.
    fn composite_type(&self, selectable: &Selectable, expected: Option<&DataType>) -> CqlResult<DataType> {
        let expected = expected.map(DataType::unwrap_reversed);
        match exact_type(self.context, self.table, selectable).or_else(|| expected.cloned()) {
            Some(data_type) => Ok(data_type),
            None => {
                check_shown(self.context, self.table, selectable)?;
                bail!(
                    "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                    show(self.context, selectable)
                )
            }
        }
    }

    fn all(&mut self, parts: &[Selectable], element: &DataType) -> CqlResult<(Vec<Node>, String, bool)> {
        self.each(parts, std::iter::repeat(element))
    }

    /// Resolves parts, each for a type of its own: the nodes, the names, and whether one is an aggregate.
    fn each<'t>(
        &mut self,
        parts: &[Selectable],
        types: impl Iterator<Item = &'t DataType>,
    ) -> CqlResult<(Vec<Node>, String, bool)> {
        let mut nodes = Vec::with_capacity(parts.len());
        let mut names = Vec::with_capacity(parts.len());
        let mut is_aggregate = false;
        for (part, expected) in parts.iter().zip(types) {
            let part = self.resolve(part, Some(expected))?;
            is_aggregate |= part.is_aggregate;
            names.push(part.output.name.to_string());
            nodes.push(part.node);
        }
        Ok((nodes, names.join(", "), is_aggregate))
    }

    /// `(a)`, `(a, b)`
    pub(super) fn parentheses(
        &mut self,
        selectable: &Selectable,
        parts: &[Selectable],
        expected: Option<&DataType>,
    ) -> CqlResult<Resolved> {
        let data_type = self.composite_type(selectable, expected)?;
        if let [part] = parts
            && !matches!(data_type, DataType::Tuple(_))
        {
            // It might be a tuple of one.
            if expected.is_none() {
                bail!(
                    "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                    show(self.context, selectable)
                );
            }
            let inner = self.resolve(part, expected)?;
            let name = format!("({})", inner.output.name);
            let data_type = inner.output.data_type.clone();
            return Ok(resolved(inner.node, name, data_type, inner.is_aggregate));
        }
        // A user type is a tuple of several, too.
        let types: Vec<&DataType> = match &data_type {
            DataType::Tuple(types) => types.iter().collect(),
            DataType::Udt { definition, .. } => definition.fields.iter().map(|(_, field)| field).collect(),
            _ => {
                bail!("Invalid tuple type literal for {} of type {data_type}", show(self.context, selectable))
            }
        };
        if parts.len() > types.len() {
            bail!("Invalid tuple literal for {}: too many elements", show(self.context, selectable));
        }
        let (nodes, names, is_aggregate) = self.each(parts, types.into_iter())?;
        let name = format!("({names})");
        Ok(resolved(Node::Tuple(nodes), name, data_type.clone(), is_aggregate))
    }

    /// `[a, b]`
    pub(super) fn array(
        &mut self,
        selectable: &Selectable,
        parts: &[Selectable],
        expected: Option<&DataType>,
    ) -> CqlResult<Resolved> {
        if let Some(DataType::Vector { element, dimension }) = expected.map(DataType::unwrap_reversed) {
            // Its own type comes first, here too.
            let own = parts.iter().find_map(|part| exact_type(self.context, self.table, part));
            let (element, dimension) = match (own, u32::try_from(parts.len())) {
                (Some(own), Ok(count)) => (own.into(), count),
                _ => (element.clone(), *dimension),
            };
            let vector = DataType::Vector { element: element.clone(), dimension };
            if usize::try_from(dimension) != Ok(parts.len()) {
                bail!("Unable to create a vector selector of type {vector} from {} elements", parts.len());
            }
            let (nodes, names, is_aggregate) = self.all(parts, &element)?;
            let node = Node::Vector(element, nodes);
            return Ok(resolved(node, format!("[{names}]"), vector, is_aggregate));
        }
        let data_type = self.composite_type(selectable, expected)?;
        let DataType::List { element, .. } = &data_type else {
            bail!("Invalid list literal for {} of type {data_type}", show(self.context, selectable));
        };
        let (nodes, names, is_aggregate) = self.all(parts, element)?;
        Ok(resolved(Node::List(nodes), format!("[{names}]"), data_type.clone(), is_aggregate))
    }

    /// `{a, b}`
    pub(super) fn set(
        &mut self,
        selectable: &Selectable,
        parts: &[Selectable],
        expected: Option<&DataType>,
    ) -> CqlResult<Resolved> {
        let data_type = self.composite_type(selectable, expected)?;
        match &data_type {
            DataType::Map { key, .. } => {
                let node = Node::Map(key.clone(), Vec::new());
                Ok(resolved(node, "{}".to_owned(), data_type.clone(), false))
            }
            DataType::Set { element, .. } if **element == DataType::Duration => {
                bail!("Durations are not allowed inside sets: {data_type}")
            }
            DataType::Set { element, .. } => {
                let (nodes, names, is_aggregate) = self.all(parts, element)?;
                let node = Node::Set(element.clone(), nodes);
                Ok(resolved(node, format!("{{{names}}}"), data_type.clone(), is_aggregate))
            }
            other => bail!("Invalid set literal for {} of type {other}", show(self.context, selectable)),
        }
    }

    /// `{a: b}`
    pub(super) fn map_or_udt(
        &mut self,
        selectable: &Selectable,
        entries: &[(Selectable, Selectable)],
        expected: Option<&DataType>,
    ) -> CqlResult<Resolved> {
        let data_type = self.composite_type(selectable, expected)?;
        match &data_type {
            DataType::Udt { definition, .. } => {
                let mut fields: Vec<Option<Node>> = vec![None; definition.fields.len()];
                let mut names: Vec<(usize, String)> = Vec::with_capacity(entries.len());
                for (field, value) in entries {
                    let SelectableKind::Column(name) = &field.kind else {
                        bail!(
                            "{} is not a valid field identifier of type {} ",
                            show(self.context, field),
                            definition.name
                        );
                    };
                    let found = definition.fields.iter().position(|(known, _)| **known == *name.name);
                    let Some(index) = found else {
                        bail!(
                            "Unknown field '{}' in value of user defined type {}",
                            name.name,
                            definition.name
                        );
                    };
                    let value = self.resolve(value, Some(&definition.fields[index].1))?;
                    let shown = format!("{}: {}", name.name, value.output.name);
                    // Of a field that stands twice the last value counts.
                    match names.iter_mut().find(|(known, _)| *known == index) {
                        Some(known) => known.1 = shown,
                        None => names.push((index, shown)),
                    }
                    fields[index] = Some(value.node);
                }
                let names: Vec<String> = names.into_iter().map(|(_, shown)| shown).collect();
                let name = format!("{{{}}}", names.join(", "));
                Ok(resolved(Node::Udt(fields), name, data_type.clone(), false))
            }
            DataType::Map { key, .. } if **key == DataType::Duration => {
                bail!("Durations are not allowed as map keys: {data_type}")
            }
            DataType::Map { key, value, .. } => {
                let mut nodes = Vec::with_capacity(entries.len());
                let mut names = Vec::with_capacity(entries.len());
                for (k, v) in entries {
                    let (k, v) = (self.resolve(k, Some(key))?, self.resolve(v, Some(value))?);
                    names.push(format!("{}: {}", k.output.name, v.output.name));
                    nodes.push((k.node, v.node));
                }
                let name = format!("{{{}}}", names.join(", "));
                Ok(resolved(Node::Map(key.clone(), nodes), name, data_type.clone(), false))
            }
            other => bail!("Invalid map literal for {} of type {other}", show(self.context, selectable)),
        }
    }
}
