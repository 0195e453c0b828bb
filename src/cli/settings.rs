//! `lpf.toml`: named, or found in the working directory or above it.

use std::path::{Path, PathBuf};

use super::Failure;
use super::display::escaped;
use super::output::note;
use crate::audit::{Gate, GateError};

/// What a file of settings is called.
const NAME: &str = "lpf.toml";

/// Where settings are, if they are not on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SettingsFile {
    /// Limits, bins, classes and names of columns in a file; the command line takes precedence [default:
    /// lpf.toml in the working directory or the nearest folder above it]
    #[arg(long, value_name = "lpf.toml")]
    pub(super) config: Option<PathBuf>,

    /// Use no lpf.toml
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,
}

impl SettingsFile {
    /// The settings, and the file that they are in.
    ///
    /// # Errors
    /// Where the file cannot be read or is wrong.
    pub(crate) fn read(&self) -> Result<(Gate, PathBuf), Failure> {
        let found = match (&self.config, self.no_config) {
            (Some(path), _) => Some(path.clone()),
            (None, true) => None,
            (None, false) => {
                let found = nearest();
                if let Some(path) = &found {
                    note(&format!("settings: {}", escaped(&path.to_string_lossy())));
                }
                found
            }
        };
        match found {
            None => Ok((Gate::default(), PathBuf::new())),
            Some(path) => match Gate::read(&path) {
                Ok(gate) => Ok((gate, path)),
                Err(error) => Err(failure(&path, error)),
            },
        }
    }
}

/// The file in the working directory or the nearest folder above it.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut folders = here.ancestors();
    let above = folders.find_map(|folder| Some(folder.join(NAME)).filter(|file| file.is_file()))?;
    // In the working directory its name says enough.
    Some(match above.parent() == Some(&here) {
        true => PathBuf::from(NAME),
        false => above,
    })
}

fn failure(path: &Path, error: GateError) -> Failure {
    match error {
        GateError::Io(error) => Failure::read(path, error),
        GateError::Line { line, what } => Failure::line(path, line, what),
    }
}
