//! Opcodes and their directions (v5 §2.4.1.4, `transport/Message.Type`).

use std::fmt;

use crate::{Result, WireError};

/// Who sends a message: the top bit of a header's first byte (v5 §2.4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Client to server.
    Request,
    /// Server to client.
    Response,
}

impl Direction {
    /// The direction a header's first byte states.
    pub fn of(first_byte: u8) -> Direction {
        if first_byte & 0x80 == 0 { Direction::Request } else { Direction::Response }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Request => "REQUEST",
            Direction::Response => "RESPONSE",
        })
    }
}

macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $direction:ident, $text:literal;)+) => {
        /// Which message an envelope carries.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode { $($(#[$doc])* $name = $code,)+ }

        impl Opcode {
            /// Every opcode.
            pub const ALL: &[Opcode] = &[$(Opcode::$name,)+];

            /// The opcode with this code, whoever may send it.
            pub fn from_code(code: u8) -> Option<Opcode> {
                match code { $($code => Some(Opcode::$name),)+ _ => None }
            }

            /// Who sends this message.
            pub fn direction(self) -> Direction {
                match self { $(Opcode::$name => Direction::$direction,)+ }
            }

            /// The name in the specification.
            pub fn name(self) -> &'static str {
                match self { $(Opcode::$name => $text,)+ }
            }
        }
    };
}

opcodes! {
    /// v5 §4.2.1.
    Error = 0x00, Response, "ERROR";
    /// v5 §4.1.1.
    Startup = 0x01, Request, "STARTUP";
    /// v5 §4.2.2.
    Ready = 0x02, Response, "READY";
    /// v5 §4.2.3.
    Authenticate = 0x03, Response, "AUTHENTICATE";
    /// Version 1 only: known by name, never served.
    Credentials = 0x04, Request, "CREDENTIALS";
    /// v5 §4.1.3.
    Options = 0x05, Request, "OPTIONS";
    /// v5 §4.2.4.
    Supported = 0x06, Response, "SUPPORTED";
    /// v5 §4.1.4.
    Query = 0x07, Request, "QUERY";
    /// v5 §4.2.5.
    Result = 0x08, Response, "RESULT";
    /// v5 §4.1.5.
    Prepare = 0x09, Request, "PREPARE";
    /// v5 §4.1.6.
    Execute = 0x0a, Request, "EXECUTE";
    /// v5 §4.1.8.
    Register = 0x0b, Request, "REGISTER";
    /// v5 §4.2.6.
    Event = 0x0c, Response, "EVENT";
    /// v5 §4.1.7.
    Batch = 0x0d, Request, "BATCH";
    /// v5 §4.2.7.
    AuthChallenge = 0x0e, Response, "AUTH_CHALLENGE";
    /// v5 §4.1.2.
    AuthResponse = 0x0f, Request, "AUTH_RESPONSE";
    /// v5 §4.2.8.
    AuthSuccess = 0x10, Response, "AUTH_SUCCESS";
}

impl Opcode {
    /// The code in the header.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The opcode of a header whose direction bit says `direction`.
    pub fn decode(code: u8, direction: Direction) -> Result<Opcode> {
        let opcode = Opcode::from_code(code)
            .ok_or_else(|| WireError::protocol(format!("Unknown opcode {}", code.cast_signed())))?;
        if opcode.direction() != direction {
            return Err(WireError::protocol(format!(
                "Wrong protocol direction (expected {}, got {direction}) for opcode {code} ({opcode})",
                opcode.direction(),
            )));
        }
        Ok(opcode)
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
