//! Outcomes from files, and what is written beside them: the page, the tables, the pictures.

use std::fs;
use std::path::{Path, PathBuf};

use basalt_stress::outcome::{self, Outcome};
use basalt_stress::report::{chart, charts, csv, html};
use basalt_stress::search::Sla;

/// The name under which a run's folder holds its outcome.
pub const OUTCOME: &str = "outcome.json";

/// Runs read at most.
const RUNS_MAX: usize = 1000;

/// The outcomes of some paths, in their order: a file; a folder that holds one; a folder of such folders, by name.
///
/// # Errors
/// One line: which cannot be read, and why.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Vec::new();
    for path in paths {
        for file in files(path)? {
            if outcomes.len() == RUNS_MAX {
                return Err(format!("more than {RUNS_MAX} runs"));
            }
            outcomes.push(outcome::read(&file).map_err(|error| error.to_string())?);
        }
    }
    Ok(outcomes)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    if path.join(OUTCOME).exists() {
        return Ok(vec![path.join(OUTCOME)]);
    }
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join(OUTCOME)))
        .filter(|file| file.exists())
        .collect();
    found.sort();
    if found.is_empty() {
        Err(format!("{}: no {OUTCOME} in it, nor in its folders", path.display()))
    } else {
        Ok(found)
    }
}

/// Writes a file, and the folder it is in.
///
/// # Errors
/// One line: which file, and why.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}

/// Writes all that there is to look at into `folder`: report.html, a table, the spectra, a picture of each chart.
///
/// # Errors
/// As [`write`].
pub fn write_all(
    folder: &Path,
    outcomes: &[Outcome],
    sla: Option<&Sla>,
    answer: &[String],
) -> Result<(), String> {
    write(&folder.join("report.html"), html::html(outcomes, sla, answer))?;
    write(&folder.join(table_name(outcomes)), table(outcomes))?;
    if let [outcome] = outcomes {
        write(&folder.join("response.hgrm"), csv::hgrm(&outcome.response()))?;
        write(&folder.join("service.hgrm"), csv::hgrm(&outcome.service()))?;
    }
    pictures(folder, outcomes, sla)
}

fn table_name(outcomes: &[Outcome]) -> &'static str {
    if outcomes.len() == 1 { "intervals.csv" } else { "runs.csv" }
}

/// A line an interval of one run, or a line a run of several.
pub fn table(outcomes: &[Outcome]) -> String {
    match outcomes {
        [outcome] => csv::intervals(outcome),
        many => csv::runs(many),
    }
}

/// Writes a picture of each chart into `folder`.
///
/// # Errors
/// As [`write`].
pub fn pictures(folder: &Path, outcomes: &[Outcome], sla: Option<&Sla>) -> Result<(), String> {
    for chart in charts::all(outcomes, sla) {
        let picture = chart::png(&chart).map_err(|error| error.to_string())?;
        write(&folder.join(format!("{}.png", chart.name)), picture)?;
    }
    Ok(())
}
