//! Scalar functions' bodies: dispatch to the families.

use basalt_cql::ast::ArithmeticOp;
use bytes::Bytes;

use super::{Function, arithmetic, blob, cast, collection, floor, json, mask, math, time, token, vector};
use crate::bind::Binding;
use crate::error::CqlResult;
use crate::timeuuid;

/// What a scalar function computes from its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// The present, as the function's result type.
    Now,
    /// A random UUID.
    RandomUuid,
    /// The smallest time-UUID of a moment.
    MinTimeUuid,
    /// The largest time-UUID of a moment.
    MaxTimeUuid,
    /// A time as another type of time.
    ConvertTime,
    /// A time rounded down.
    Floor,
    /// Something in place of a value.
    Mask(mask::Mask),
    /// The same bytes.
    AsBlob,
    /// The same bytes, if they are a value of the result type.
    FromBlob,
    /// A conversion between types.
    Cast,
    /// The token of a partition key.
    Token,
    /// `a + b` and its like.
    Arithmetic(ArithmeticOp),
    /// `-a`.
    Negate,
    /// `abs`, `round` and their like.
    Math(math::Operation),
    /// How similar two vectors are.
    Similarity(vector::Similarity),
    /// Something about a collection.
    Collection(collection::Operation),
    /// A value as JSON.
    ToJson,
    /// JSON as a value of the type asked for.
    FromJson,
}

impl Scalar {
    /// Whether it gives the same for the same arguments (`Function.isPure`).
    pub(crate) fn is_pure(&self) -> bool {
        !matches!(self, Scalar::Now | Scalar::RandomUuid)
    }

    /// Refuses constant arguments that no call would take, those of masks; `None` for null and for
    /// what is not constant.
    pub(crate) fn check_constants(&self, function: &Function, constants: &[Option<Bytes>]) -> CqlResult<()> {
        match self {
            Scalar::Mask(mask) => mask::check_constants(*mask, function, constants),
            _ => Ok(()),
        }
    }

    /// Computes.
    pub(crate) fn call(
        &self,
        function: &Function,
        arguments: &[Option<Bytes>],
        binding: &Binding<'_>,
    ) -> CqlResult<Option<Bytes>> {
        match self {
            Scalar::Now => Ok(Some(time::now(&function.returns, binding))),
            Scalar::RandomUuid => Ok(Some(Bytes::copy_from_slice(&timeuuid::random(binding.env)))),
            Scalar::Collection(operation) => collection::call(operation, function, arguments),
            Scalar::Mask(mask) => mask::call(*mask, function, arguments),
            Scalar::ToJson => json::to_json(function, arguments),
            _ => {
                let Some(present) = arguments.iter().cloned().collect::<Option<Vec<Bytes>>>() else {
                    return Ok(None);
                };
                self.call_present(function, &present, binding)
            }
        }
    }

    /// Functions that are null when an argument is.
    fn call_present(
        &self,
        function: &Function,
        arguments: &[Bytes],
        binding: &Binding<'_>,
    ) -> CqlResult<Option<Bytes>> {
        let Some(first) = arguments.first() else { return Ok(None) };
        match self {
            Scalar::MinTimeUuid | Scalar::MaxTimeUuid => Ok(time::bound(self == &Scalar::MaxTimeUuid, first)),
            Scalar::ConvertTime => time::convert(function, first),
            Scalar::Floor => floor::call(function, arguments),
            Scalar::AsBlob => Ok(Some(first.clone())),
            Scalar::FromBlob => blob::from_blob(function, first).map(Some),
            Scalar::Cast => cast::call(function, first),
            Scalar::Token => Ok(Some(token::call(arguments))),
            Scalar::Arithmetic(op) => arithmetic::call(*op, function, arguments),
            Scalar::Negate => Ok(arithmetic::negate(function, first)),
            Scalar::Similarity(similarity) => match arguments {
                [left, right] => vector::call(*similarity, function, left, right).map(Some),
                _ => Ok(None),
            },
            Scalar::Math(operation) => math::call(*operation, function, first),
            Scalar::FromJson => json::from_json(function, first, binding),
            Scalar::Now | Scalar::RandomUuid | Scalar::Collection(_) | Scalar::Mask(_) | Scalar::ToJson => {
                Ok(None)
            }
        }
    }
}
