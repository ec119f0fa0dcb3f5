//! Warnings about runs, each printed once for all of them.

use crate::runtime::ui;

/// Distinct warnings.
#[derive(Default)]
pub(super) struct Warnings {
    distinct: Vec<Warning>,
}

struct Warning {
    /// The text without the digits in it, which differ from run to run.
    pattern: String,
    text: String,
    /// The number of runs that the warning concerns.
    runs: usize,
}

impl Warnings {
    pub(super) fn add(&mut self, text: &str) {
        let pattern: String = text.chars().filter(|c| !c.is_ascii_hexdigit()).collect();
        match self
            .distinct
            .iter_mut()
            .find(|known| known.pattern == pattern)
        {
            Some(known) => known.runs += 1,
            None => self.distinct.push(Warning {
                pattern,
                text: text.to_owned(),
                runs: 1,
            }),
        }
    }

    /// Prints all warnings, out of `total` runs.
    pub(super) fn print(&self, total: usize) {
        for Warning { text, runs, .. } in &self.distinct {
            let text = match (total, *runs) {
                (1, _) => text.clone(),
                (total, runs) if total == runs => format!("all {total} runs: {text}"),
                (total, runs) => format!("{runs} of {total} runs: {text}"),
            };
            ui::print_message("warning", &text);
        }
    }
}
