//! The command that shows a part of a run's time.

use crate::text::Command;

/// A shell command that shows a part of a run's time, split around its two times.
///
/// Times are in seconds since the run's first call (`2.5s`). Empty if the page names no command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartCommand {
    /// Words before the start time.
    pub before: Vec<String>,
    /// Words between the start time and the end time.
    pub between: Vec<String>,
    /// Words after the end time.
    pub after: Vec<String>,
}

impl PartCommand {
    /// Returns `true` if there is a command.
    pub(super) fn is_available(&self) -> bool {
        !self.before.is_empty()
    }

    /// Returns the three parts, quoted for a shell, or nothing if there is no command.
    pub(super) fn lines(&self) -> Vec<String> {
        if !self.is_available() {
            return Vec::new();
        }
        let parts = [&self.before, &self.between, &self.after];
        let parts = parts.map(|words| Command {
            words: words.clone(),
        });
        parts.map(|part| part.to_string()).to_vec()
    }
}
