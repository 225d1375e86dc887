//! Restrictions on the partition key, by columns, by token, or both
//! (`PartitionKeySingleRestrictionSet`, `TokenFilter`).

use basalt_model::command::KeyRange;
use basalt_model::key::PARTITION_KEY_MAX_BYTES;
use basalt_model::{DecoratedKey, Table};
use bytes::Bytes;

use super::restriction::Restriction;
use super::set::RestrictionSet;
use super::token::TokenRestriction;
use super::values::{self, Combinations};
use crate::bind::Binding;
use crate::error::{CqlResult, ensure, marshal};

/// Restrictions on the partition key.
#[derive(Clone, Debug, Default)]
pub(super) struct PartitionRestrictions {
    columns: RestrictionSet,
    token: Option<TokenRestriction>,
}

impl PartitionRestrictions {
    pub(super) fn add(&mut self, restriction: Restriction, table: &Table) -> CqlResult<()> {
        self.columns.add(restriction, table)
    }

    pub(super) fn add_token(&mut self, token: TokenRestriction, table: &Table) -> CqlResult<()> {
        self.token = Some(match &self.token {
            None => token,
            Some(known) => {
                let names: Vec<&str> = table.partition_key().iter().map(|column| &*column.name).collect();
                known.merge(&token, &names.join(", "))?
            }
        });
        Ok(())
    }

    /// The token alone says which partitions: columns beside it only filter.
    pub(super) fn is_on_token(&self, table: &Table) -> bool {
        self.token.is_some()
            && (self.columns_need_filtering(table) || self.columns.len() < table.partition_key_count)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.token.is_none()
    }

    /// Some column of the key is not restricted. The token restricts all of them, unless columns
    /// are restricted as well.
    pub(super) fn has_unrestricted(&self, table: &Table) -> bool {
        if self.columns.is_empty() && self.token.is_some() {
            return false;
        }
        self.columns.len() < table.partition_key_count
    }

    pub(super) fn unrestricted_names(&self, table: &Table) -> String {
        let missing = (0..table.partition_key_count).filter(|column| self.columns.get(*column).is_none());
        let missing: Vec<&str> = missing.map(|column| &*table.columns[column].name).collect();
        missing.join(", ")
    }

    fn columns_need_filtering(&self, table: &Table) -> bool {
        !self.columns.is_empty()
            && (self.columns.len() < table.partition_key_count
                || self.columns.has_slice()
                || self.columns.has_contains())
    }

    pub(super) fn needs_filtering(&self, table: &Table) -> bool {
        self.columns_need_filtering(table)
    }

    pub(super) fn has_slice(&self) -> bool {
        self.columns.has_slice()
    }

    pub(super) fn has_in(&self, table: &Table) -> bool {
        !self.is_on_token(table) && self.columns.has_in()
    }

    pub(super) fn has_only_equality(&self) -> bool {
        self.columns.has_only_equality()
    }

    pub(super) fn is_restricted_by_eq(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(Restriction::is_eq)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Restriction> {
        self.columns.iter()
    }

    /// The named partitions, in the order of the key's types. What is read may be no value of its type (a blob or
    /// an `int` stands for other types); there is nothing then.
    pub(super) fn keys(
        &self,
        table: &Table,
        binding: &Binding<'_>,
        is_written: bool,
    ) -> CqlResult<Vec<DecoratedKey>> {
        let mut combinations = Combinations::new();
        for restriction in self.columns.iter() {
            values::append(&mut combinations, restriction, table, binding)?;
            if combinations.is_nothing() {
                return Ok(Vec::new());
            }
        }
        let mut prefixes = combinations.into_prefixes();
        if prefixes.len() > 1 {
            sort(&mut prefixes, table);
        }
        let tokens = self.token.as_ref().map(|token| token.bind(binding)).transpose()?;
        let mut keys = Vec::with_capacity(prefixes.len());
        for prefix in prefixes {
            let values: Vec<Bytes> = prefix.into_iter().flatten().collect();
            if is_written {
                check_types(&values, table)?;
            }
            let key = DecoratedKey::new(serialize(values)?);
            if tokens.as_ref().is_none_or(|tokens| tokens.contains(key.token.0)) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// The range of partitions.
    pub(super) fn range(&self, table: &Table, binding: &Binding<'_>) -> CqlResult<Option<KeyRange>> {
        match &self.token {
            Some(token) if self.is_on_token(table) => Ok(token.bind(binding)?.key_range()),
            _ => Ok(Some(KeyRange::all())),
        }
    }
}

fn sort(prefixes: &mut Vec<Vec<Option<Bytes>>>, table: &Table) {
    let compare = |a: &Vec<Option<Bytes>>, b: &Vec<Option<Bytes>>| {
        let pairs = table.partition_key().iter().zip(a.iter().zip(b));
        let orders = pairs.map(|(column, (a, b))| match (a, b) {
            (Some(a), Some(b)) => column.data_type.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    prefixes.sort_by(compare);
    prefixes.dedup_by(|a, b| compare(a, b).is_eq());
}

/// Refuses a key that is no value of its types (`Validation.validateKey`).
fn check_types(values: &[Bytes], table: &Table) -> CqlResult<()> {
    if matches!(values, [single] if single.is_empty()) {
        // The whole key is empty, and later refused for that.
        return Ok(());
    }
    let mut columns = table.partition_key().iter().zip(values);
    columns.try_for_each(|(column, value)| column.data_type.validate(value)).map_err(marshal)
}

/// A key's bytes, of which the number is checked.
fn serialize(mut values: Vec<Bytes>) -> CqlResult<Bytes> {
    check_length(values.iter().map(Bytes::len).sum())?;
    if let [single] = values.as_mut_slice() {
        return Ok(std::mem::take(single));
    }
    let key = DecoratedKey::join(&values);
    check_length(key.len())?;
    Ok(key)
}

/// Refuses an empty key (`QueryProcessor.validateKey`).
pub(crate) fn check_key(key: &DecoratedKey) -> CqlResult<()> {
    ensure(!key.key.is_empty(), || "Key may not be empty".to_owned())
}

/// Refuses a key, or the parts of a key, of more bytes than it may have (`ClusteringPrefix.validate`).
pub(crate) fn check_length(bytes: usize) -> CqlResult<()> {
    ensure(bytes <= PARTITION_KEY_MAX_BYTES, || {
        format!("Key length of {bytes} is longer than maximum of {PARTITION_KEY_MAX_BYTES}")
    })
}
