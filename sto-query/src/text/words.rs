//! Hints in the words of the program that prints.

use sto_core::Hint;

/// What a program calls what a [`Hint`] is about: its commands, options or buttons. By default it has none, and
/// sentences go without.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What does it; empty where nothing does.
    pub hint: fn(Hint) -> &'static str,
    /// What stands before the name of an option: `--`.
    pub option: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            hint: |_| "",
            option: "",
        }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        std::ptr::fn_addr_eq(self.hint, other.hint) && self.option == other.option
    }
}

impl Eq for Words {}

impl Words {
    /// What does it, if anything.
    pub(crate) fn of(self, hint: Hint) -> Option<&'static str> {
        Some((self.hint)(hint)).filter(|name| !name.is_empty())
    }

    /// The part of a sentence that names what does it; empty where nothing does.
    pub(crate) fn within(self, before: &str, hint: Hint, after: &str) -> String {
        let name = self.of(hint);
        name.map_or_else(String::new, |name| format!("{before}{name}{after}"))
    }
}
