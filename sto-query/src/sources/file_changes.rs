//! When source files were last changed, according to the history of a work tree.

use std::collections::HashMap;
use std::time::Duration;
use sto_core::units::UnixSeconds;

/// When each file was last changed, within [`LOOK_BACK`] before a given time.
#[derive(Debug, Default)]
pub(crate) struct FileChanges {
    before: u64,
    /// By path within the work tree, in seconds since 1970.
    last: HashMap<String, u64>,
}

/// Ten times the `HALF_LIFE` of sto-query, in seconds: older changes count less than a thousandth.
const LOOK_BACK: u64 = 150 * 86_400;

impl FileChanges {
    /// Reads the history before a run was recorded; empty if there is no git or no work tree, or if the time of the run is
    /// unknown. `git` runs git with arguments.
    pub(super) fn read(
        recorded: Option<UnixSeconds>,
        git: impl Fn(&[&str]) -> Option<String>,
    ) -> FileChanges {
        let Some(UnixSeconds(before)) = recorded else {
            return FileChanges::default();
        };
        let since = format!("--since=@{}", before.saturating_sub(LOOK_BACK));
        let until = format!("--until=@{before}");
        // Only names of files are requested, so that git runs no external diff program.
        let log = ["log", "--format=@%ct", "--name-only", "-z"];
        let quiet = ["--no-ext-diff", "--no-textconv", &since, &until];
        match git(&[&log[..], &quiet[..]].concat()) {
            Some(log) => FileChanges {
                before,
                last: last_changes(&log),
            },
            None => FileChanges::default(),
        }
    }

    /// How long before that time a file was last changed; `None` if no change is known. `file` is a path in a
    /// profile, which may have more or fewer leading folders than the path in the work tree. If several files
    /// match, the last change of any of them counts.
    pub(crate) fn age(&self, file: &str) -> Option<Duration> {
        let is_same = |path: &str| {
            let (long, short) = if path.len() < file.len() {
                (file, path)
            } else {
                (path, file)
            };
            long.strip_suffix(short)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let same = self.last.iter().filter(|(path, _)| is_same(path));
        let last = same.map(|(_, &last)| last).max()?;
        Some(Duration::from_secs(self.before.saturating_sub(last)))
    }
}

/// Parses the output of `git log --format=@%ct --name-only -z`: a time, an empty line, and paths, each ended
/// by a NUL.
fn last_changes(log: &str) -> HashMap<String, u64> {
    let mut last: HashMap<String, u64> = HashMap::new();
    let mut time = 0;
    for part in log.split(['\0', '\n']).filter(|part| !part.is_empty()) {
        match part.strip_prefix('@').and_then(|time| time.parse().ok()) {
            Some(committed) => time = committed,
            // Newest commits come first, but clocks may differ.
            None => {
                let known = last.entry(part.to_owned()).or_default();
                *known = time.max(*known);
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_the_last_change_of_a_file() {
        let log = "@300\0\nsrc/a.rs\0src/b.rs\0\0@200\0\nsrc/a.rs\0lib/src/c.rs\0";
        let changes = FileChanges {
            before: 1000,
            last: last_changes(log),
        };
        let age = |file| changes.age(file).map(|age| age.as_secs());
        assert_eq!(age("src/a.rs"), Some(700));
        assert_eq!(age("app/src/b.rs"), Some(700));
        assert_eq!(age("src/c.rs"), Some(800));
        assert_eq!(age("rc/a.rs"), None);
        assert_eq!(age("other.rs"), None);
    }
}
