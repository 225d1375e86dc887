//! `token(...)` of a table's partition key (`TokenFct`).

use basalt_model::{DataType, DecoratedKey, Token};
use bytes::Bytes;

use super::resolve::Request;
use super::{Function, Scalar};
use crate::error::{CqlResult, invalid};

/// The functions of a name.
pub(super) fn offer(request: &Request<'_>) -> CqlResult<Option<Function>> {
    if request.name != "token" {
        return Ok(None);
    }
    let Some(table) = request.table else {
        return invalid("No receiver table has been specified for function system.token");
    };
    let types: Vec<DataType> = table.partition_key().iter().map(|column| column.data_type.clone()).collect();
    Ok(Some(Function::scalar("token", &types, DataType::BigInt, Scalar::Token)))
}

/// The token of a key's values.
pub(super) fn call(values: &[Bytes]) -> Bytes {
    let token = match values {
        [single] => Token::of(single),
        several => Token::of(&DecoratedKey::join(several)),
    };
    Bytes::copy_from_slice(&token.0.to_be_bytes())
}
