//! Standard input from a file, which every run has to read from the same place.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;

/// The file, and its offset before the first run.
pub(super) struct Input {
    file: File,
    start: u64,
}

impl Input {
    /// Returns `None` if standard input is not a file.
    pub(super) fn here() -> Option<Input> {
        let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let start = file.stream_position().ok()?;
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then_some(Input { file, start })
    }

    pub(super) fn rewind(&mut self) {
        // Getting the offset worked, so seeking works.
        let _ = self.file.seek(SeekFrom::Start(self.start));
    }
}
