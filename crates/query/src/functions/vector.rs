//! How similar two vectors of floats are (`VectorFcts`).

use basalt_model::DataType;
use bytes::Bytes;

use super::factory::{Parameter, argument_types};
use super::resolve::Request;
use super::{Function, Scalar};
use crate::error::{CqlResult, bail, invalid};

/// The measure of similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the function of the same name.
pub(crate) enum Similarity {
    Cosine,
    Euclidean,
    DotProduct,
}

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Option<Function>> {
    let name = request.name;
    let similarity = match name {
        "similarity_cosine" => Similarity::Cosine,
        "similarity_euclidean" => Similarity::Euclidean,
        "similarity_dot_product" => Similarity::DotProduct,
        _ => return Ok(None),
    };
    let types = argument_types(request, &[Parameter::Vector { other: 1 }, Parameter::Vector { other: 0 }])?;
    if let Some(other) = types.iter().find(|data_type| !matches!(data_type, DataType::Vector { .. })) {
        bail!("Function system.{name} requires a float vector argument, but found one of type {other}");
    }
    if types[0] != types[1] {
        return invalid("All arguments must have the same vector dimensions");
    }
    Ok(Some(Function::scalar(name, &types, DataType::Float, Scalar::Similarity(similarity))))
}

fn floats(value: &[u8]) -> Vec<f32> {
    value.chunks_exact(4).map(|bytes| f32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect()
}

/// Computes.
pub(super) fn call(similarity: Similarity, left: &Bytes, right: &Bytes) -> CqlResult<Bytes> {
    let (left, right) = (floats(left), floats(right));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let result = match similarity {
        Similarity::Cosine => {
            let norms = f64::from(dot(&left, &left)) * f64::from(dot(&right, &right));
            if norms == 0.0 {
                return invalid("Function system.similarity_cosine doesn't support all-zero vectors.");
            }
            (1.0 + (f64::from(dot(&left, &right)) / norms.sqrt()) as f32) / 2.0
        }
        Similarity::Euclidean => {
            let distance: f32 = left.iter().zip(&right).map(|(a, b)| (a - b) * (a - b)).sum();
            1.0 / (1.0 + distance)
        }
        Similarity::DotProduct => (1.0 + dot(&left, &right)) / 2.0,
    };
    Ok(Bytes::copy_from_slice(&result.to_be_bytes()))
}
