//! `basalt stress compare`: two groups of recorded runs, and whether they differ.

use std::path::PathBuf;
use std::process::ExitCode;

use basalt_stress::compare;
use clap::Args;

use super::files;

/// What `basalt stress compare` takes.
#[derive(Args)]
pub struct Options {
    /// Recorded runs of both groups with the word `vs` between them: `a1 a2 a3 vs b1 b2 b3`; or a folder for each group.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// The same seed draws the same samples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints the comparison.
///
/// # Errors
/// One line: what cannot be read or compared.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let (before, after) = groups(&options.runs)?;
    let (before, after) = (files::read(before)?, files::read(after)?);
    let comparison = compare::compare(&before, &after, options.seed).map_err(|error| error.to_string())?;
    print!("{}", compare::text(&comparison));
    Ok(ExitCode::SUCCESS)
}

fn groups(runs: &[PathBuf]) -> Result<(&[PathBuf], &[PathBuf]), String> {
    let mut parts = runs.split(|path| path.as_os_str() == "vs");
    match (parts.next(), parts.next(), parts.next(), runs) {
        (Some(before), Some(after), None, _) if !before.is_empty() && !after.is_empty() => {
            Ok((before, after))
        }
        (_, None, _, [before, after]) => Ok((std::slice::from_ref(before), std::slice::from_ref(after))),
        _ => Err("two groups are compared: a1 a2 a3 vs b1 b2 b3, or a folder for each".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    //! Groups as typed.
    use super::*;

    #[test]
    fn groups_are_parted_by_vs_or_are_two_folders() {
        let parted = |words: &str| {
            let runs: Vec<PathBuf> = words.split(' ').map(PathBuf::from).collect();
            groups(&runs).map(|(before, after)| (before.len(), after.len()))
        };
        assert_eq!(parted("a b vs c"), Ok((2, 1)));
        assert_eq!(parted("a b"), Ok((1, 1)));
        for wrong in ["a", "a vs", "vs a", "a b c", "a vs b vs c"] {
            assert!(parted(wrong).is_err(), "{wrong}");
        }
    }
}
