//! Notes that git keeps beside commits.

use super::{GitError, Repository};
use std::io::Write;
use std::process::Stdio;
use sto_core::model::CommitHash;

impl Repository {
    /// Where the notes of this program are: `refs/notes/sto`.
    pub(crate) const NOTES: &'static str = "sto";

    /// Keeps a note of this program beside a commit, in place of one that is there.
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
