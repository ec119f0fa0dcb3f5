//! What readers can do next, in the words of the program that prints.

/// What a reader may do next, or look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Adding a profile to the store.
    AddProfile,
    /// Giving runs a metric.
    AttachMetric,
    /// Comparing two builds.
    Check,
    /// The same, with everything that there is to say.
    CheckInFull,
    /// Compacting the store.
    Compact,
    /// Counting inlined functions apart.
    CountInlined,
    /// Seeing how functions of two builds are matched.
    ExplainMatch,
    /// The same answer as JSON.
    Json,
    /// What a program said of files as JSON.
    JsonReport,
    /// Removing a run.
    RemoveRun,
    /// Giving a build a tag.
    SetTag,
    /// The same answer with everything that there is to say.
    ShowAll,
    /// Saying where sources are.
    SourceFolder,
    /// The functions that cost most, inlined ones apart.
    TopInlined,
}

/// What a program calls actions: its commands, options or buttons. By default it has none, and sentences go
/// without.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What an action is called; empty where it is not to be had.
    pub action: fn(Action) -> &'static str,
    /// What stands before the name of an option: `--`.
    pub option: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            action: |_| "",
            option: "",
        }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        std::ptr::fn_addr_eq(self.action, other.action) && self.option == other.option
    }
}

impl Eq for Words {}

impl Words {
    /// What an action is called, if it is to be had.
    pub(crate) fn of(self, action: Action) -> Option<&'static str> {
        Some((self.action)(action)).filter(|name| !name.is_empty())
    }

    /// The part of a sentence that names an action; empty where that is not to be had.
    pub(crate) fn within(self, before: &str, action: Action, behind: &str) -> String {
        let name = self.of(action);
        name.map_or_else(String::new, |name| format!("{before}{name}{behind}"))
    }
}
