//! `compression` (`CompressionParams`).

use std::collections::BTreeMap;

use basalt_model::CqlError;
use basalt_model::schema::CompressionOptions;

use crate::ddl::java;

const PACKAGE: &str = "org.apache.cassandra.io.compress.";
const CHUNK_LENGTH_DEFAULT: i32 = 16 * 1024;

/// Reads the map and brings it into the form that is stored.
///
/// # Errors
/// For unknown classes, sub-options and values.
pub fn compression(map: BTreeMap<String, String>) -> Result<CompressionOptions, CqlError> {
    let given = map.len();
    let mut options = map;
    let enabled = options.get("enabled").is_none_or(|value| value.eq_ignore_ascii_case("true"));
    if given > 0 && enabled && !options.contains_key("class") {
        return Err(CqlError::config("Missing sub-option 'class' for the 'compression' option."));
    }
    options.remove("enabled");
    if !enabled && !options.is_empty() {
        return Err(CqlError::config(
            "If the 'enabled' option is set to false no other options must be specified",
        ));
    }
    let class = options.remove("class");
    if class.as_ref().is_some_and(String::is_empty) {
        return Err(CqlError::config(
            "The 'class' option must not be empty. To disable compression use 'enabled' : false",
        ));
    }
    let chunk_length = chunk_length(options.remove("chunk_length_in_kb"))?;
    let ratio = min_ratio(options.remove("min_compress_ratio"))?;
    let Some(class) = class else {
        return Ok(CompressionOptions(BTreeMap::from([("enabled".to_owned(), "false".to_owned())])));
    };
    let class = check_class(&class, &options)?;
    validate(chunk_length, ratio)?;
    let mut stored = options;
    stored.insert("class".to_owned(), class);
    stored.insert("chunk_length_in_kb".to_owned(), (chunk_length / 1024).to_string());
    if ratio != 0.0 {
        stored.insert("min_compress_ratio".to_owned(), java::double(ratio));
    }
    Ok(CompressionOptions(stored))
}

fn chunk_length(text: Option<String>) -> Result<i32, CqlError> {
    let Some(text) = text else { return Ok(CHUNK_LENGTH_DEFAULT) };
    let kib: i32 = text.parse().map_err(|_| CqlError::config("Invalid value for chunk_length_in_kb"))?;
    if kib > i32::MAX / 1024 {
        return Err(CqlError::config(format!("Value of chunk_length_in_kb is too large ({kib})")));
    }
    Ok(kib.wrapping_mul(1024))
}

fn min_ratio(text: Option<String>) -> Result<f64, CqlError> {
    let Some(text) = text else { return Ok(0.0) };
    java::parse_double(&text).ok_or_else(|| {
        CqlError::server(format!("java.lang.NumberFormatException: For input string: \"{text}\""))
    })
}

fn validate(chunk_length: i32, ratio: f64) -> Result<(), CqlError> {
    if chunk_length <= 0 {
        return Err(CqlError::config("Invalid negative or null chunk_length_in_kb"));
    }
    if chunk_length & (chunk_length - 1) != 0 {
        return Err(CqlError::config("chunk_length_in_kb must be a power of 2"));
    }
    let longest = (f64::from(chunk_length) / ratio).min(f64::from(i32::MAX)).ceil();
    if longest < 0.0 {
        return Err(CqlError::config("Invalid negative min_compress_ratio"));
    }
    if longest > f64::from(chunk_length) && longest < f64::from(i32::MAX) {
        return Err(CqlError::config("min_compress_ratio can either be 0 or greater than or equal to 1"));
    }
    Ok(())
}

/// The full class name; checks the sub-options the class knows.
fn check_class(class: &str, options: &BTreeMap<String, String>) -> Result<String, CqlError> {
    let full = if class.contains('.') { class.to_owned() } else { format!("{PACKAGE}{class}") };
    let known: &[&str] = match full.strip_prefix(PACKAGE) {
        Some("LZ4Compressor") => {
            check_lz4(options)?;
            &["lz4_high_compressor_level", "lz4_compressor_type"]
        }
        Some("ZstdCompressor") => {
            check_zstd(options)?;
            &["compression_level"]
        }
        Some("SnappyCompressor" | "DeflateCompressor" | "NoopCompressor") => &[],
        _ => return Err(CqlError::config(format!("Could not create Compression for type {full}"))),
    };
    let names: Vec<&str> = options.keys().map(String::as_str).collect();
    match java::hash_order(&names, 0).into_iter().find(|name| !known.contains(name)) {
        Some(unknown) => Err(CqlError::config(format!("Unknown compression options {unknown}"))),
        None => Ok(full),
    }
}

fn check_lz4(options: &BTreeMap<String, String>) -> Result<(), CqlError> {
    if let Some(kind) = options.get("lz4_compressor_type")
        && kind != "fast"
        && kind != "high"
    {
        return Err(CqlError::config(format!(
            "Invalid compressor type '{kind}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, fast]."
        )));
    }
    if let Some(level) = options.get("lz4_high_compressor_level")
        && !level.parse::<i32>().is_ok_and(|level| (1..=17).contains(&level))
    {
        return Err(CqlError::config(format!(
            "Invalid value [{level}] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17."
        )));
    }
    Ok(())
}

/// zstd's own bounds: -131072 to 22.
fn check_zstd(options: &BTreeMap<String, String>) -> Result<(), CqlError> {
    let Some(text) = options.get("compression_level") else { return Ok(()) };
    let threw =
        |cause: String| Err(CqlError::config(format!("ZstdCompressor.create() threw an error: {cause}")));
    match text.parse::<i32>() {
        Err(_) => threw(format!("java.lang.NumberFormatException For input string: \"{text}\"")),
        Ok(level) if !(-131_072..=22).contains(&level) => {
            threw(format!("java.lang.IllegalArgumentException compression_level={level} is invalid"))
        }
        Ok(_) => Ok(()),
    }
}
