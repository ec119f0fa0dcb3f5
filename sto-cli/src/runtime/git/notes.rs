//! Git notes on commits.

use super::{GitError, Repository};
use std::io::Write;
use std::process::Stdio;
use sto_core::model::CommitHash;

impl Repository {
    /// The name of this program's notes: `refs/notes/sto`.
    pub(crate) const NOTES: &'static str = "sto";

    /// Sets this program's note on a commit, replacing an existing one.
    pub(crate) fn note(&self, commit: &CommitHash, text: &str) -> Result<(), GitError> {
        let mut command = self.git();
        command.args([
            "notes",
            "--ref",
            Self::NOTES,
            "add",
            "--force",
            "--file",
            "-",
        ]);
        command.arg(commit.to_string()).stdin(Stdio::piped());
        let write = |stdin: &mut dyn Write| stdin.write_all(text.as_bytes());
        self.run_with(command, Some(&write)).map(drop)
    }
}
