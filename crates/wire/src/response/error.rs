//! ERROR (v5 §4.2.1, §8; `transport/messages/ErrorMessage`): a code, a text, and what the code adds.

use std::borrow::Cow;
use std::net::SocketAddr;

use basalt_model::CqlError;
use basalt_model::error::{FunctionFailure, WriteType};
use bytes::{BufMut, BytesMut};

use crate::primitives::{
    Reader, put_consistency, put_count, put_inet_addr, put_short_bytes, put_string, put_string_list,
};
use crate::{ProtocolVersion, Result, WireError};

/// The nearest error that `version` knows (`ErrorMessage.getBackwardsCompatibleException`).
fn downgrade(error: &CqlError, version: ProtocolVersion) -> Cow<'_, CqlError> {
    match error {
        CqlError::ReadFailure { consistency, received, block_for, data_present, .. }
            if version < ProtocolVersion::V4 =>
        {
            Cow::Owned(CqlError::ReadTimeout {
                consistency: *consistency,
                received: *received,
                block_for: *block_for,
                data_present: *data_present,
            })
        }
        CqlError::WriteFailure { consistency, received, block_for, write_type, .. }
            if version < ProtocolVersion::V4 =>
        {
            Cow::Owned(CqlError::WriteTimeout {
                consistency: *consistency,
                received: *received,
                block_for: *block_for,
                write_type: *write_type,
                contentions: 0,
            })
        }
        CqlError::FunctionFailure(_) if version < ProtocolVersion::V4 => {
            Cow::Owned(CqlError::invalid(format!("ERROR FUNCTION_FAILURE: {error}")))
        }
        CqlError::CdcWriteFailure(_) if version < ProtocolVersion::V4 => {
            Cow::Owned(CqlError::invalid(format!("ERROR CDC_WRITE_FAILURE: {error}")))
        }
        CqlError::CasWriteUnknown { consistency, received, block_for } if version < ProtocolVersion::V5 => {
            Cow::Owned(CqlError::WriteTimeout {
                consistency: *consistency,
                received: *received,
                block_for: *block_for,
                write_type: WriteType::Cas,
                contentions: 0,
            })
        }
        other => Cow::Borrowed(other),
    }
}

/// Appends code, text and additions, as `version` knows them.
pub(super) fn append(error: &CqlError, version: ProtocolVersion, out: &mut BytesMut) {
    let error = downgrade(error, version);
    out.put_i32(error.code());
    put_string(out, &text(&error, version));
    match &*error {
        CqlError::Unavailable { consistency, required, alive, .. } => {
            put_consistency(out, *consistency);
            out.put_i32(*required);
            out.put_i32(*alive);
        }
        CqlError::WriteTimeout { consistency, received, block_for, write_type, contentions } => {
            put_consistency(out, *consistency);
            out.put_i32(*received);
            out.put_i32(*block_for);
            put_string(out, write_type.name());
            if version >= ProtocolVersion::V5 && *write_type == WriteType::Cas {
                out.put_u16(*contentions);
            }
        }
        CqlError::ReadTimeout { consistency, received, block_for, data_present } => {
            put_consistency(out, *consistency);
            out.put_i32(*received);
            out.put_i32(*block_for);
            out.put_u8(u8::from(*data_present));
        }
        CqlError::ReadFailure { consistency, received, block_for, failures, data_present } => {
            put_consistency(out, *consistency);
            out.put_i32(*received);
            out.put_i32(*block_for);
            put_failures(failures, version, out);
            out.put_u8(u8::from(*data_present));
        }
        CqlError::WriteFailure { consistency, received, block_for, failures, write_type } => {
            put_consistency(out, *consistency);
            out.put_i32(*received);
            out.put_i32(*block_for);
            put_failures(failures, version, out);
            put_string(out, write_type.name());
        }
        CqlError::CasWriteUnknown { consistency, received, block_for } => {
            put_consistency(out, *consistency);
            out.put_i32(*received);
            out.put_i32(*block_for);
        }
        CqlError::FunctionFailure(failure) => {
            put_string(out, &failure.keyspace);
            put_string(out, &failure.function);
            put_string_list(out, &failure.argument_types);
        }
        CqlError::AlreadyExists { keyspace, table } => {
            put_string(out, keyspace);
            put_string(out, table);
        }
        CqlError::Unprepared(id) => put_short_bytes(out, id),
        _ => {}
    }
}

/// A compare-and-set that timed out has a text of its own in v5 (`CasWriteTimeoutException`).
fn text(error: &CqlError, version: ProtocolVersion) -> String {
    match error {
        CqlError::WriteTimeout { received, block_for, write_type: WriteType::Cas, contentions, .. }
            if version >= ProtocolVersion::V5 =>
        {
            format!(
                "CAS operation timed out: received {received} of {block_for} required responses \
                 after {contentions} contention retries"
            )
        }
        other => other.to_string(),
    }
}

/// `<reasonmap>` in v5, the number of failures before.
fn put_failures(failures: &[(SocketAddr, u16)], version: ProtocolVersion, out: &mut BytesMut) {
    out.put_i32(i32::try_from(failures.len()).unwrap_or(i32::MAX));
    if version >= ProtocolVersion::V5 {
        for (replica, reason) in failures {
            put_inet_addr(out, replica.ip());
            put_count(out, usize::from(*reason));
        }
    }
}

/// Reads an error. Texts that follow from an error's fields are not kept.
pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<CqlError> {
    let code = body.i32()?;
    let text = body.string()?;
    let message = text.as_str().into();
    Ok(match code {
        0x0000 => CqlError::Server(message),
        0x000a => CqlError::Protocol(message),
        0x0100 => CqlError::BadCredentials(message),
        0x1000 => CqlError::Unavailable {
            consistency: body.consistency()?,
            required: body.i32()?,
            alive: body.i32()?,
            datacenter: None,
        },
        0x1001 => CqlError::Overloaded(message),
        0x1002 => CqlError::IsBootstrapping(message),
        0x1003 => CqlError::Truncate(message),
        0x1100 | 0x1200 | 0x1300 | 0x1500 | 0x1700 => decode_replica_error(code, version, body)?,
        0x1400 => CqlError::FunctionFailure(Box::new(FunctionFailure {
            keyspace: body.string()?,
            function: body.string()?,
            argument_types: body.string_list()?,
            message: text,
        })),
        0x1600 => CqlError::CdcWriteFailure(message),
        0x2000 => CqlError::Syntax(message),
        0x2100 => CqlError::Unauthorized(message),
        0x2200 => CqlError::Invalid(message),
        0x2300 => CqlError::Config(message),
        0x2400 => CqlError::AlreadyExists { keyspace: body.string()?.into(), table: body.string()?.into() },
        0x2500 => {
            let id = body.short_bytes()?;
            let id = <[u8; 16]>::try_from(&id[..])
                .map_err(|_| WireError::protocol("A statement id is not 16 bytes long"))?;
            CqlError::Unprepared(id)
        }
        other => return Err(WireError::protocol(format!("Unknown error code {other}"))),
    })
}

/// The errors that begin with `<cl><received><blockfor>`.
fn decode_replica_error(code: i32, version: ProtocolVersion, body: &mut Reader) -> Result<CqlError> {
    let (consistency, received, block_for) = (body.consistency()?, body.i32()?, body.i32()?);
    Ok(match code {
        0x1100 => {
            let write_type = decode_write_type(body)?;
            let has_contentions = version >= ProtocolVersion::V5 && write_type == WriteType::Cas;
            let contentions = if has_contentions { body.u16()? } else { 0 };
            CqlError::WriteTimeout { consistency, received, block_for, write_type, contentions }
        }
        0x1200 => {
            let data_present = body.u8()? != 0;
            CqlError::ReadTimeout { consistency, received, block_for, data_present }
        }
        0x1300 => {
            let failures = decode_failures(version, body)?;
            let data_present = body.u8()? != 0;
            CqlError::ReadFailure { consistency, received, block_for, failures, data_present }
        }
        0x1500 => {
            let failures = decode_failures(version, body)?;
            let write_type = decode_write_type(body)?;
            CqlError::WriteFailure { consistency, received, block_for, failures, write_type }
        }
        _ => CqlError::CasWriteUnknown { consistency, received, block_for },
    })
}

fn decode_write_type(body: &mut Reader) -> Result<WriteType> {
    let name = body.string()?;
    WriteType::ALL
        .into_iter()
        .find(|write_type| write_type.name() == name)
        .ok_or_else(|| WireError::protocol(format!("Invalid value '{name}' for WriteType")))
}

/// Before v5 only a number travels: who failed is lost.
fn decode_failures(version: ProtocolVersion, body: &mut Reader) -> Result<Box<[(SocketAddr, u16)]>> {
    let count = usize::try_from(body.i32()?).unwrap_or(0);
    if version < ProtocolVersion::V5 {
        return Ok(Box::default());
    }
    let mut failures = Vec::with_capacity(body.capacity(count, 7));
    for _ in 0..count {
        // The port does not travel.
        failures.push((SocketAddr::new(body.inet_addr()?, 0), body.u16()?));
    }
    Ok(failures.into())
}
