//! `basalt stress report`: runs that were recorded, as text, page, table or pictures.

use std::path::PathBuf;
use std::process::ExitCode;

use basalt_stress::report::{self, html};
use basalt_stress::search::Sla;
use clap::Args;

use super::files;

/// What `basalt stress report` takes.
#[derive(Args)]
pub struct Options {
    /// Recorded runs: outcome.json, a folder with one, or a folder of such folders.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write one page that stands alone.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a table: a line an interval of one run, a line a run of several.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a picture of each chart.
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
    /// Say whether an agreement was kept, and draw it: p99<5ms,p99.9<10ms,max<1s.
    #[arg(long, value_parser = Sla::parse)]
    sla: Option<Sla>,
}

/// Writes what was asked for, or prints the text when nothing was.
///
/// # Errors
/// One line: which file, and why.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let outcomes = files::read(&options.runs)?;
    let sla = options.sla.as_ref();
    if let Some(file) = &options.html {
        files::write(file, html::html(&outcomes, sla, &[]))?;
    }
    if let Some(file) = &options.csv {
        files::write(file, files::table(&outcomes))?;
    }
    if let Some(folder) = &options.png {
        files::pictures(folder, &outcomes, sla)?;
    }
    if options.html.is_none() && options.csv.is_none() && options.png.is_none() {
        for outcome in &outcomes {
            println!("{}", report::text_with(outcome, sla));
        }
    }
    Ok(ExitCode::SUCCESS)
}
