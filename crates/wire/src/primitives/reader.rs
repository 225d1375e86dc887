//! Reads a message body front to back (`transport/CBUtil`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use basalt_model::Consistency;
use bytes::{Buf, Bytes};
use uuid::Uuid;

use super::Value;
use crate::{ProtocolVersion, Result, WireError};

/// A cursor over a message body. Every read either consumes what it returns or fails.
#[derive(Clone, Debug)]
pub struct Reader {
    body: Bytes,
}

impl Reader {
    /// Starts at the front of `body`.
    pub fn new(body: Bytes) -> Reader {
        Reader { body }
    }

    /// Bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.body.len()
    }

    /// What is left, unread.
    pub fn into_rest(self) -> Bytes {
        self.body
    }

    fn short_of(&self, needed: usize) -> WireError {
        WireError::protocol(format!(
            "Not enough bytes in the message body: {needed} needed, only {} remaining",
            self.body.len()
        ))
    }

    fn take(&mut self, len: usize) -> Option<Bytes> {
        (len <= self.body.len()).then(|| self.body.split_to(len))
    }

    /// `[byte]` (v5 §3).
    pub fn u8(&mut self) -> Result<u8> {
        self.body.try_get_u8().map_err(|_| self.short_of(1))
    }

    /// `[short]` (v5 §3).
    pub fn u16(&mut self) -> Result<u16> {
        self.body.try_get_u16().map_err(|_| self.short_of(2))
    }

    /// `[int]` (v5 §3).
    pub fn i32(&mut self) -> Result<i32> {
        self.body.try_get_i32().map_err(|_| self.short_of(4))
    }

    /// `[int]`, taken as a set of bits.
    pub fn u32(&mut self) -> Result<u32> {
        self.body.try_get_u32().map_err(|_| self.short_of(4))
    }

    /// `[long]` (v5 §3).
    pub fn i64(&mut self) -> Result<i64> {
        self.body.try_get_i64().map_err(|_| self.short_of(8))
    }

    /// `[string]` (v5 §3).
    pub fn string(&mut self) -> Result<String> {
        const SHORT: &str =
            "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length";
        let len = self.body.try_get_u16().map_err(|_| WireError::protocol(SHORT))?;
        let bytes = self.take(usize::from(len)).ok_or(WireError::protocol(SHORT))?;
        utf8(&bytes)
    }

    /// `[long string]` (v5 §3).
    pub fn long_string(&mut self) -> Result<String> {
        const SHORT: &str =
            "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length";
        let len = self.body.try_get_i32().map_err(|_| WireError::protocol(SHORT))?;
        let bytes = usize::try_from(len).ok().and_then(|len| self.take(len));
        utf8(&bytes.ok_or(WireError::protocol(SHORT))?)
    }

    /// `[short bytes]` (v5 §3).
    pub fn short_bytes(&mut self) -> Result<Bytes> {
        const SHORT: &str = "Not enough bytes to read a byte array preceded by its 2 bytes length";
        let len = self.body.try_get_u16().map_err(|_| WireError::protocol(SHORT))?;
        self.take(usize::from(len)).ok_or(WireError::protocol(SHORT))
    }

    fn exactly(&mut self, len: i32) -> Result<Bytes> {
        let remaining = self.body.len();
        usize::try_from(len).ok().and_then(|len| self.take(len)).ok_or_else(|| {
            WireError::protocol(format!(
                "Cannot read value of length {len}, only {remaining} bytes remaining in the message"
            ))
        })
    }

    /// `[bytes]` (v5 §3): any negative length is null.
    pub fn bytes(&mut self) -> Result<Option<Bytes>> {
        let len = self.i32()?;
        if len < 0 { Ok(None) } else { self.exactly(len).map(Some) }
    }

    /// `[value]` (v5 §3). Before version 4 there is no unset: any negative length is null.
    pub fn value(&mut self, version: ProtocolVersion) -> Result<Value> {
        match self.i32()? {
            len if len >= 0 => self.exactly(len).map(Value::Bytes),
            -1 => Ok(Value::Null),
            _ if version < ProtocolVersion::V4 => Ok(Value::Null),
            -2 => Ok(Value::Unset),
            len => Err(WireError::protocol(format!("Invalid ByteBuf length {len}"))),
        }
    }

    /// `[uuid]` (v5 §3).
    pub fn uuid(&mut self) -> Result<Uuid> {
        self.body.try_get_u128().map(Uuid::from_u128).map_err(|_| self.short_of(16))
    }

    /// `[inetaddr]` (v5 §3).
    pub fn inet_addr(&mut self) -> Result<IpAddr> {
        let len = self.u8()?;
        let bytes = self.take(usize::from(len)).ok_or_else(|| self.short_of(usize::from(len)))?;
        if let Ok(v4) = <[u8; 4]>::try_from(&bytes[..]) {
            Ok(IpAddr::V4(Ipv4Addr::from(v4)))
        } else if let Ok(v6) = <[u8; 16]>::try_from(&bytes[..]) {
            Ok(IpAddr::V6(Ipv6Addr::from(v6)))
        } else {
            Err(WireError::protocol("Invalid IP address while deserializing inet address"))
        }
    }

    /// `[inet]` (v5 §3): an address and a port.
    pub fn inet(&mut self) -> Result<SocketAddr> {
        let address = self.inet_addr()?;
        let port = self.i32()?;
        let port = u16::try_from(port).map_err(|_| {
            WireError::protocol(format!("Invalid port {port} while deserializing inet address"))
        })?;
        Ok(SocketAddr::new(address, port))
    }

    /// `[consistency]` (v5 §3).
    pub fn consistency(&mut self) -> Result<Consistency> {
        let code = self.u16()?;
        Consistency::from_code(code)
            .ok_or_else(|| WireError::protocol(format!("Unknown code {code} for a consistency level")))
    }

    /// An upper bound for `count` elements of at least `min_len` bytes each: never more than the
    /// rest of the body could hold.
    pub fn capacity(&self, count: usize, min_len: usize) -> usize {
        count.min(self.body.len() / min_len.max(1))
    }

    /// `[string list]` (v5 §3).
    pub fn string_list(&mut self) -> Result<Vec<String>> {
        let count = usize::from(self.u16()?);
        let mut list = Vec::with_capacity(self.capacity(count, 2));
        for _ in 0..count {
            list.push(self.string()?);
        }
        Ok(list)
    }

    /// `[string map]` (v5 §3), in the order it was sent.
    pub fn string_map(&mut self) -> Result<Vec<(String, String)>> {
        let count = usize::from(self.u16()?);
        let mut map = Vec::with_capacity(self.capacity(count, 4));
        for _ in 0..count {
            map.push((self.string()?, self.string()?));
        }
        Ok(map)
    }

    /// `[string multimap]` (v5 §3), in the order it was sent.
    pub fn string_multimap(&mut self) -> Result<Vec<(String, Vec<String>)>> {
        let count = usize::from(self.u16()?);
        let mut map = Vec::with_capacity(self.capacity(count, 4));
        for _ in 0..count {
            map.push((self.string()?, self.string_list()?));
        }
        Ok(map)
    }

    /// `[bytes map]` (v5 §3), in the order it was sent.
    pub fn bytes_map(&mut self) -> Result<Vec<(String, Option<Bytes>)>> {
        let count = usize::from(self.u16()?);
        let mut map = Vec::with_capacity(self.capacity(count, 6));
        for _ in 0..count {
            map.push((self.string()?, self.bytes()?));
        }
        Ok(map)
    }
}

/// The text of `bytes`; the error shows what follows the last good character, as Java's decoder
/// leaves it.
fn utf8(bytes: &Bytes) -> Result<String> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
        let hex: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        let len = error.error_len().unwrap_or(rest.len());
        WireError::protocol(format!(
            "Cannot decode string as UTF8: '{hex}'; java.nio.charset.MalformedInputException: Input length = {len}"
        ))
    })
}
