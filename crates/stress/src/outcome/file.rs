//! The document as a file: JSON, read within bounds, with a summary for those who do not decode
//! histograms. The summary is written and never read.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{FORMAT, Latency, Outcome};

/// Bytes of the longest document read: a day of one-second intervals takes less.
const FILE_MAX: u64 = 512 * 1024 * 1024;

/// Why a document cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file system said so.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: std::io::Error,
    },
    /// Not a document of ours.
    #[error("{}: not the outcome of a run: {error}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: serde_json::Error,
    },
    /// Longer than any of ours.
    #[error("{}: longer than {FILE_MAX} bytes", .0.display())]
    TooLong(PathBuf),
    /// Of a later program.
    #[error("{}: format {format}; this program reads up to {FORMAT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it says.
        format: u32,
    },
}

/// What a document says first, whatever the rest looks like.
#[derive(serde::Deserialize)]
struct Head {
    format: u32,
}

/// The document with figures beside its histograms.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    summary: Summary,
}

/// Figures in milliseconds and requests a second.
#[derive(Serialize)]
struct Summary {
    rate: f64,
    response_ms: Figures,
    service_ms: Figures,
}

#[derive(Serialize)]
struct Figures {
    mean: f64,
    p50: f64,
    p90: f64,
    p95: f64,
    p99: f64,
    #[serde(rename = "p99.9")]
    p999: f64,
    #[serde(rename = "p99.99")]
    p9999: f64,
    max: f64,
}

impl Figures {
    fn of(latency: &Latency) -> Figures {
        let at = |quantile| latency.at(quantile) as f64 / 1e6;
        Figures {
            mean: latency.0.mean() / 1e6,
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            p9999: at(0.9999),
            max: latency.0.max() as f64 / 1e6,
        }
    }
}

/// The document as text.
///
/// # Errors
/// When a number in it is not one that JSON has.
pub fn to_json(outcome: &Outcome) -> Result<String, serde_json::Error> {
    let summary = Summary {
        rate: outcome.rate(),
        response_ms: Figures::of(&outcome.response()),
        service_ms: Figures::of(&outcome.service()),
    };
    serde_json::to_string_pretty(&Written { outcome, summary })
}

/// The document in a text.
///
/// # Errors
/// When it is none, or of a later format; `path` is for the error's words.
pub fn from_json(text: &[u8], path: &Path) -> Result<Outcome, FileError> {
    let json = |error| FileError::Json { path: path.to_owned(), error };
    let head: Head = serde_json::from_slice(text).map_err(json)?;
    if head.format > FORMAT {
        return Err(FileError::Newer { path: path.to_owned(), format: head.format });
    }
    serde_json::from_slice(text).map_err(json)
}

/// Writes the document.
///
/// # Errors
/// When the file cannot be written.
pub fn write(outcome: &Outcome, path: &Path) -> Result<(), FileError> {
    let text = to_json(outcome).map_err(|error| FileError::Json { path: path.to_owned(), error })?;
    std::fs::write(path, text).map_err(|error| FileError::Io { path: path.to_owned(), error })
}

/// Reads the document.
///
/// # Errors
/// When the file cannot be read, or holds none.
pub fn read(path: &Path) -> Result<Outcome, FileError> {
    let io = |error| FileError::Io { path: path.to_owned(), error };
    let file = std::fs::File::open(path).map_err(io)?;
    let mut text = Vec::new();
    file.take(FILE_MAX + 1).read_to_end(&mut text).map_err(io)?;
    if text.len() as u64 > FILE_MAX {
        return Err(FileError::TooLong(path.to_owned()));
    }
    from_json(&text, path)
}

#[cfg(test)]
mod tests {
    //! A document there and back, and documents that are none.
    use super::*;
    use crate::simulation;

    #[test]
    fn a_document_comes_back_as_it_went() {
        let outcome = simulation::stall();
        let text = to_json(&outcome).unwrap();
        let again = from_json(text.as_bytes(), Path::new("x.json")).unwrap();
        assert_eq!(to_json(&again).unwrap(), text);
        assert_eq!(again.response(), outcome.response());
        assert!(text.contains("\"p99.9\""));
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_name() {
        let refusal = |text: &str| from_json(text.as_bytes(), Path::new("x.json")).unwrap_err().to_string();
        assert!(refusal("{}").starts_with("x.json: not the outcome of a run: missing field `format`"));
        assert_eq!(refusal("{\"format\": 99}"), "x.json: format 99; this program reads up to 1");
        assert!(refusal("{\"format\": 1}").contains("missing field"));
    }
}
