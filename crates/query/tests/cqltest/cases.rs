//! Reads `.cqltest` files; tests/cql/README.md says what stands in them.

use basalt_model::{Consistency, SerialConsistency};
use basalt_query::request::{BatchKind, QueryOptions, Value, Values};
use basalt_query::{QuerySettings, SchemaSettings, StorageCompatibilityMode};
use bytes::Bytes;

/// How a request is sent.
#[derive(Clone, Copy, PartialEq)]
pub enum How {
    Query,
    Prepare,
    PrepareOnly,
    Batch(BatchKind),
}

/// A request and its answer's lines.
pub struct Case {
    pub how: How,
    pub protocol: u8,
    pub options: QueryOptions,
    pub statements: Vec<(String, Values)>,
    pub answer: Vec<String>,
    pub differs: Option<String>,
    pub is_serial_refused: bool,
}

pub const SERIAL_REFUSED: &str =
    "error: 0x2200 Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL";

pub fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
}

fn unhex(text: &str) -> Bytes {
    let digit = |index: usize| u8::from_str_radix(&text[index..index + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect::<Vec<u8>>().into()
}

/// `hex` or `hex*times`.
fn repeated(part: &str) -> Vec<u8> {
    let (hex, times) = part.split_once('*').unwrap_or((part, "1"));
    unhex(hex).repeat(times.parse().unwrap())
}

fn value(text: &str) -> Value {
    match text {
        "null" => Value::Null,
        "unset" => Value::Unset,
        "-" => Value::Bytes(Bytes::new()),
        parts => Value::Bytes(parts.split('+').flat_map(repeated).collect()),
    }
}

fn options(protocol: u8) -> QueryOptions {
    QueryOptions {
        consistency: Consistency::One,
        serial_consistency: SerialConsistency::Serial,
        values: Values::Positional(Vec::new()),
        page_size: None,
        paging_state: None,
        default_timestamp: None,
        now_s: None,
        keyspace: None,
        protocol_version: protocol,
    }
}

fn case(block: &str) -> Option<Case> {
    let mut case = Case {
        how: How::Query,
        protocol: 5,
        options: options(5),
        statements: Vec::new(),
        answer: Vec::new(),
        differs: None,
        is_serial_refused: false,
    };
    let mut values: Vec<Value> = Vec::new();
    let mut names: Option<Vec<String>> = None;
    for line in block.lines() {
        if let Some(reason) = line.strip_prefix("# differs: ") {
            case.differs = Some(reason.to_owned());
        } else if line.starts_with('#') {
        } else if let Some(directive) = line.strip_prefix('@') {
            let (name, rest) = directive.split_once(' ').unwrap_or((directive, ""));
            match name {
                "protocol" => case.protocol = rest.parse().unwrap(),
                "consistency" => {
                    case.options.consistency = *Consistency::ALL.iter().find(|c| c.name() == rest).unwrap();
                }
                "serial" => {
                    case.options.serial_consistency = match rest {
                        "LOCAL_SERIAL" => SerialConsistency::LocalSerial,
                        "SERIAL" => SerialConsistency::Serial,
                        _ => {
                            case.is_serial_refused = true;
                            SerialConsistency::Serial
                        }
                    };
                }
                "page_size" => case.options.page_size = Some(rest.parse().unwrap()),
                "paging" => match value(rest) {
                    Value::Bytes(state) => case.options.paging_state = Some(state),
                    other => panic!("no paging state: {other:?}"),
                },
                "values" => values = rest.split_whitespace().map(value).collect(),
                "names" => names = Some(rest.split_whitespace().map(str::to_owned).collect()),
                "timestamp" => case.options.default_timestamp = Some(rest.parse().unwrap()),
                "now" => case.options.now_s = Some(rest.parse().unwrap()),
                "keyspace" => case.options.keyspace = Some(rest.into()),
                "prepare" if rest == "only" => case.how = How::PrepareOnly,
                "prepare" => case.how = How::Prepare,
                "batch" => {
                    case.how = How::Batch(match rest {
                        "LOGGED" => BatchKind::Logged,
                        "UNLOGGED" => BatchKind::Unlogged,
                        _ => BatchKind::Counter,
                    });
                }
                "setting" => {}
                other => panic!("unknown directive @{other}"),
            }
        } else if let Some(text) = line.strip_prefix("cql: ") {
            let values = std::mem::take(&mut values);
            let values = match names.take() {
                Some(names) => {
                    Values::Named(names.into_iter().map(|n| n.as_str().into()).zip(values).collect())
                }
                None => Values::Positional(values),
            };
            case.statements.push((unescape(text), values));
        } else {
            case.answer.push(line.to_owned());
        }
    }
    case.options.protocol_version = case.protocol;
    (!case.statements.is_empty()).then_some(case)
}

/// With which settings the file's node runs: its `@setting` lines.
pub fn settings(text: &str) -> (QuerySettings, SchemaSettings) {
    let mut query = QuerySettings::default();
    let mut settings = SchemaSettings::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("@setting ")) {
        match line.split_once(' ') {
            Some(("drop_compact_storage_enabled", value)) => {
                settings.drop_compact_storage_enabled = value == "true";
            }
            Some(("dynamic_data_masking_enabled", value)) => {
                settings.dynamic_data_masking_enabled = value == "true";
            }
            Some(("storage_compatibility_mode", value)) => {
                query.storage_compatibility_mode = StorageCompatibilityMode::of(value).unwrap();
            }
            Some(("max_mutation_size", value)) => {
                query.max_mutation_bytes = value.trim_end_matches("KiB").parse::<usize>().unwrap() << 10;
            }
            _ => panic!("unknown setting: {line}"),
        }
    }
    (query, settings)
}

/// The cases of a file.
pub fn parse(text: &str) -> Vec<Case> {
    text.split("\n\n").filter_map(case).collect()
}
