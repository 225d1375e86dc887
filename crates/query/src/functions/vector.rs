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

/// Computes. Sums are made in the order in which jvector makes them, which their last digits show.
pub(super) fn call(
    similarity: Similarity,
    function: &Function,
    left: &Bytes,
    right: &Bytes,
) -> CqlResult<Bytes> {
    let (left, right) = (floats(left), floats(right));
    let is_zero = |vector: &[f32]| vector.iter().all(|element| *element == 0.0);
    if similarity == Similarity::Cosine && (is_zero(&left) || is_zero(&right)) {
        bail!("Function {} doesn't support all-zero vectors.", function.full_name());
    }
    let measure = match similarity {
        Similarity::Cosine => cosine(&left, &right),
        Similarity::Euclidean => square_distance(&left, &right),
        Similarity::DotProduct => dot_product(&left, &right),
    };
    if !measure.is_finite() {
        bail!("Function {} has no result for these vectors: it is not finite", function.full_name());
    }
    let result = match similarity {
        Similarity::Euclidean => 1.0 / (1.0 + measure),
        Similarity::Cosine | Similarity::DotProduct => (1.0 + measure) / 2.0,
    };
    Ok(Bytes::copy_from_slice(&result.to_be_bytes()))
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).fold(0.0_f32, |sum, (a, b)| sum + a * b);
    let norms = f64::from(sum(left, left)) * f64::from(sum(right, right));
    (f64::from(sum(left, right)) / norms.sqrt()) as f32
}

/// What is more than a multiple of eight stands first.
fn dot_product(left: &[f32], right: &[f32]) -> f32 {
    let products: Vec<f32> = left.iter().zip(right).map(|(a, b)| a * b).collect();
    let (first, eights) = products.split_at(products.len() % 8);
    let sum = first.iter().fold(0.0, |sum, product| sum + product);
    eights.chunks(8).fold(sum, |sum, eight| sum + total(eight))
}

/// What is more than a multiple of eight stands last.
fn square_distance(left: &[f32], right: &[f32]) -> f32 {
    let squares: Vec<f32> = left.iter().zip(right).map(|(a, b)| (a - b) * (a - b)).collect();
    let (eights, last) = squares.split_at(squares.len() - squares.len() % 8);
    let sum = eights.chunks(8).fold(0.0, |sum, eight| sum + total(eight));
    last.iter().fold(sum, |sum, square| sum + square)
}

fn total(terms: &[f32]) -> f32 {
    terms.iter().copied().reduce(|sum, term| sum + term).unwrap_or_default()
}
