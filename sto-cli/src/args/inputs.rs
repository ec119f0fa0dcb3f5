//! The files that paths on the command line refer to.

use crate::runtime::CliError;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use sto_core::formats::{group_pieces, is_recording};

/// A file to read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// The other pieces of the recording, if perf wrote it in several files.
    pub(crate) more: Vec<PathBuf>,
    /// Whether the file was found in a folder, and so may not be a profile.
    pub(crate) is_found: bool,
}

impl Input {
    /// Whether it is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// The name shown to the user.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() {
            "standard input".to_owned()
        } else {
            let name = self.path.display().to_string();
            match self.more.len() {
                0 => name,
                more => format!("{name} and {more} more"),
            }
        }
    }

    /// All files of the recording, in order of time.
    pub(crate) fn pieces(&self) -> Vec<PathBuf> {
        [slice::from_ref(&self.path), &self.more].concat()
    }
}

/// Expands the paths to files; folders are searched recursively, in order of names.
///
/// A folder that is itself one recording is returned as is, and files that are pieces of one recording are one input. Hidden entries are skipped, and links to folders
/// are not followed.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<Input>, CliError> {
    let standard = paths.iter().filter(|path| path.as_os_str() == "-");
    if standard.count() > 1 {
        return Err(CliError::StdinTwice);
    }
    let mut inputs = Vec::new();
    for path in paths {
        if path.is_dir() && !is_recording(path) {
            find(path, &mut inputs)?;
        } else {
            inputs.push(Input {
                path: path.clone(),
                more: Vec::new(),
                is_found: false,
            });
        }
    }
    if inputs.len() > 1 {
        inputs = join_pieces(inputs);
    }
    Ok(inputs)
}

/// Makes one input of the files that are pieces of one recording.
fn join_pieces(inputs: Vec<Input>) -> Vec<Input> {
    let paths: Vec<&Path> = inputs.iter().map(|input| &*input.path).collect();
    let joined = |group: Vec<usize>| {
        let mut pieces = group.iter().map(|&piece| &inputs[piece]);
        let first = pieces.next()?;
        Some(Input {
            path: first.path.clone(),
            is_found: first.is_found,
            more: pieces.map(|piece| piece.path.clone()).collect(),
        })
    };
    group_pieces(&paths)
        .into_iter()
        .filter_map(joined)
        .collect()
}

fn find(folder: &Path, inputs: &mut Vec<Input>) -> Result<(), CliError> {
    let io = |source| CliError::ReadFolder {
        path: folder.to_owned(),
        source,
    };
    let entries = fs::read_dir(folder).map_err(io)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(io)?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let kind = entry.file_type().map_err(io)?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && !is_recording(&path) {
            find(&path, inputs)?;
        } else if kind.is_dir() || path.is_file() {
            inputs.push(Input {
                path,
                more: Vec::new(),
                is_found: true,
            });
        }
    }
    Ok(())
}
