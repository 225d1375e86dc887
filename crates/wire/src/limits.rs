//! Every limit of the wire, by name. Cassandra's option names stand in the comments; a node sets
//! [`Limits`] from its configuration.

/// Length of an envelope's header (v5 §2.4; v3 and v4 §2).
pub const ENVELOPE_HEADER_LEN: usize = 9;

/// Longest payload of one v5 frame: 2^17 - 1 bytes (v5 §2.1).
pub const MAX_FRAME_PAYLOAD: usize = (1 << 17) - 1;

/// Longest `[string]`: its length is a `[short]` (v5 §3).
pub const MAX_STRING_LEN: usize = u16::MAX as usize;

/// Most elements of a list whose count is a `[short]` (v5 §3).
pub const MAX_SHORT_COUNT: usize = u16::MAX as usize;

/// Deepest nesting of a type in result metadata that is decoded (client side).
pub const MAX_TYPE_DEPTH: usize = 64;

/// Bodies below this many bytes are sent uncompressed in v3 and v4 even when compression was
/// agreed; the protocol leaves that to the sender (v4 §5).
pub const MIN_COMPRESSED_BODY: usize = 512;

/// `native_transport_max_frame_size`: 16MiB.
pub const DEFAULT_MAX_FRAME_SIZE: u32 = 16 * 1024 * 1024;

/// `native_transport_max_message_size`: 16MiB, half of `commitlog_segment_size` (`max_mutation_size`).
pub const DEFAULT_MAX_MESSAGE_SIZE: u32 = 16 * 1024 * 1024;

/// `consecutive_message_errors_threshold`: 1.
pub const DEFAULT_CONSECUTIVE_MESSAGE_ERRORS: u32 = 1;

/// The configurable limits of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `native_transport_max_frame_size`, bytes: the longest unframed envelope (v3, v4, and any
    /// handshake), header included, and the longest body one may decompress to.
    pub max_frame_size: u32,
    /// `native_transport_max_message_size`, bytes: the longest body of a v5 envelope that spans
    /// several frames.
    pub max_message_size: u32,
    /// `consecutive_message_errors_threshold`: a frame with more broken messages in a row than
    /// this closes its connection (v5).
    pub consecutive_message_errors_threshold: u32,
    /// `native_transport_allow_older_protocols`: whether versions below 5 are served.
    pub allow_older_protocols: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_frame_size: DEFAULT_MAX_FRAME_SIZE,
            max_message_size: DEFAULT_MAX_MESSAGE_SIZE,
            consecutive_message_errors_threshold: DEFAULT_CONSECUTIVE_MESSAGE_ERRORS,
            allow_older_protocols: true,
        }
    }
}
