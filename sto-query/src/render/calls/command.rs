//! The command that opens a part of a run's time.

use crate::text::Command;

/// The words of a command that shows a part of a run's time by itself, around the two times, of which each is in
/// seconds (`2.5s`) since the run's first call. A page that has none names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartCommand {
    /// Those before the time from which it shows the run.
    pub before: Vec<String>,
    /// Those between that and the time up to which it does.
    pub between: Vec<String>,
    /// Those after that.
    pub after: Vec<String>,
}

impl PartCommand {
    /// Whether there is one.
    pub(super) fn is_there(&self) -> bool {
        !self.before.is_empty()
    }

    /// The three parts as a shell reads them; none of no command.
    pub(super) fn lines(&self) -> Vec<String> {
        if !self.is_there() {
            return Vec::new();
        }
        let parts = [&self.before, &self.between, &self.after];
        let parts = parts.map(|words| Command {
            words: words.clone(),
        });
        parts.map(|part| part.to_string()).to_vec()
    }
}
