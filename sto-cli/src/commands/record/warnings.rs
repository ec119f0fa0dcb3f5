//! Warnings about runs, each printed once for all of them.

use crate::runtime::ui;

/// Warnings, each with the number of runs it concerns.
#[derive(Default)]
pub(super) struct Warnings {
    said: Vec<Warning>,
}

struct Warning {
    /// The text without the digits in it, which differ from run to run.
    sort: String,
    text: String,
    runs: usize,
}

impl Warnings {
    pub(super) fn add(&mut self, text: &str) {
        let sort: String = text.chars().filter(|c| !c.is_ascii_hexdigit()).collect();
        match self.said.iter_mut().find(|known| known.sort == sort) {
            Some(known) => known.runs += 1,
            None => self.said.push(Warning {
                sort,
                text: text.to_owned(),
                runs: 1,
            }),
        }
    }

    /// Prints all warnings about `of` runs.
    pub(super) fn say(&self, of: usize) {
        for Warning { text, runs, .. } in &self.said {
            let text = match (of, *runs) {
                (1, _) => text.clone(),
                (of, runs) if of == runs => format!("all {of} runs: {text}"),
                (of, runs) => format!("{runs} of {of} runs: {text}"),
            };
            ui::say("warning", &text);
        }
    }
}
