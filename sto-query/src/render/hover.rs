//! The costs of a function or line, as shown in the hover of an editor.

use super::hot::{format_costs, percent};
use crate::hot::{FunctionNo, HotCosts, HotFunction, HotHistory, HotIndex, HotLine};
use crate::text::{format_count, printable, short_name, shorten, sparkline};
use crate::tree::CostShare;
use std::fmt::Write;

/// Maximum number of callers and of callees to show.
const MAX_CALLS: usize = 5;

/// Width from which on names are shortened in the middle.
const NAME_WIDTH: usize = 120;

/// Markup of a hover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoverForm {
    /// Markdown, with names as code.
    Markdown,
    /// Plain text.
    Text,
}

/// Returns the hover of a function: its costs, their history if known, its callers and callees, the
/// functions it was inlined into, and the number of runs.
///
/// A change is the ratio of the totals and the build since which the function changed.
pub fn function(
    index: &HotIndex,
    function: HotFunction<'_>,
    history: Option<&HotHistory>,
    change: Option<(f64, &str)>,
    form: HoverForm,
) -> String {
    let name = form.function(function.name);
    let module = match function.module {
        "" => String::new(),
        module => format!(" in {}", form.name(module)),
    };
    let mut text = format!(
        "{}{module}\n\n{}\n",
        form.title(&name),
        form.words(&function.costs, change)
    );
    if let Some(plot) = history.and_then(|history| plot(history, function.number, form)) {
        text += &plot;
    }
    let number = function.number;
    calls(&mut text, index, "Called by", index.callers(number), form);
    calls(&mut text, index, "Calls", index.callees(number), form);
    let inlined = index.inlined_into(number);
    calls(&mut text, index, "Inlined into", inlined, form);
    let _ = writeln!(text, "\n{}", basis(index, &function.costs, form));
    text
}

/// Returns the hover of a line: its costs and the number of runs.
pub fn line(index: &HotIndex, line: &HotLine, form: HoverForm) -> String {
    let mut text = format!(
        "{}\n\n{}\n",
        form.title("This line"),
        form.words(&line.costs, None)
    );
    if line.inlined.samples > 0 {
        let inlined = percent(line.inlined.share);
        let _ = writeln!(text, "\n{inlined} where its function was inlined");
    }
    let _ = writeln!(text, "\n{}", basis(index, &line.costs, form));
    text
}

/// Draws self and total over builds as bars, if there are at least two builds.
fn plot(history: &HotHistory, function: FunctionNo, form: HoverForm) -> Option<String> {
    let (first, last) = (history.builds.first()?, history.builds.last()?);
    if history.builds.len() < 2 {
        return None;
    }
    let costs = history.costs(function);
    let selfs: Vec<f64> = costs.iter().map(|costs| costs.self_cost.share).collect();
    let totals: Vec<f64> = costs.iter().map(|costs| costs.total.share).collect();
    let largest = totals.iter().copied().fold(0.0, f64::max);
    let row = |name: &str, shares: &[f64]| {
        let last = percent(shares.last().copied().unwrap_or(0.0));
        format!("{name} {}  {last}\n", sparkline(shares, largest))
    };
    let [from, to] = [first, last].map(|build| printable(&shorten(&build.build, 40)).into_owned());
    // Names stay outside of the code block, as they could end it.
    let builds = format_count(history.builds.len() as u64, "build");
    let caption = format!("{builds}, {} to {}", form.name(&from), form.name(&to));
    let rows = row("self ", &selfs) + &row("total", &totals);
    Some(match form {
        HoverForm::Markdown => format!("\n```text\n{rows}```\n{caption}\n"),
        HoverForm::Text => format!("\n{rows}{caption}\n"),
    })
}

fn calls(
    text: &mut String,
    index: &HotIndex,
    title: &str,
    calls: impl Iterator<Item = (FunctionNo, CostShare)>,
    form: HoverForm,
) {
    let shown: Vec<_> = calls.take(MAX_CALLS).collect();
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}\n");
    for (other, cost) in shown {
        let name = form.function(index.function(other).name);
        let _ = writeln!(text, "- {name} {}", percent(cost.share));
    }
}

/// Formats `338 of 2,716 samples of cpu-clock, in 1 run of demo@v1`.
fn basis(index: &HotIndex, costs: &HotCosts, form: HoverForm) -> String {
    let subject = index.subject();
    let event = match &subject.sample_type {
        Some(sample_type) => format!(" of {}", form.name(&sample_type.event)),
        None => String::new(),
    };
    let build = format!("{}@{}", subject.executable, subject.build);
    format!(
        "{} of {}{event}, in {} of {}",
        crate::text::group_digits(costs.total.samples),
        format_count(subject.samples, "sample"),
        format_count(index.runs() as u64, "run"),
        form.name(&build),
    )
}

impl HoverForm {
    fn title(self, title: &str) -> String {
        match self {
            HoverForm::Markdown => format!("**{title}**"),
            HoverForm::Text => title.to_owned(),
        }
    }

    fn words(self, costs: &HotCosts, change: Option<(f64, &str)>) -> String {
        let since = change.map(|(ratio, since)| (ratio, self.escaped(since)));
        format_costs(
            costs,
            since.as_ref().map(|(ratio, since)| (*ratio, &**since)),
        )
    }

    /// Returns the short form of a function's name, which is displayed literally.
    fn function(self, symbol: &str) -> String {
        self.name(&short_name(symbol))
    }

    /// Returns a name that is displayed literally, shortened to the maximum width.
    fn name(self, name: &str) -> String {
        let name = printable(name);
        let name = shorten(&name, NAME_WIDTH);
        match self {
            HoverForm::Markdown => code(&name),
            HoverForm::Text => name,
        }
    }

    /// Returns a name that is displayed literally within a sentence.
    fn escaped(self, text: &str) -> String {
        let text = printable(text);
        match self {
            HoverForm::Markdown => escaped(&text),
            HoverForm::Text => text.into_owned(),
        }
    }
}

/// Formats a name as code, delimited by more backticks than it has in a row.
fn code(name: &str) -> String {
    let runs = name.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    if name.trim().is_empty() || name.contains('`') {
        format!("{fence} {name} {fence}")
    } else {
        format!("{fence}{name}{fence}")
    }
}

/// Escapes Markdown: every ASCII punctuation character may follow a backslash.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        // These are not markup between letters and digits, and `v1.2` stays readable.
        if character.is_ascii_punctuation() && !"._-".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_code_spans() {
        assert_eq!(code("main"), "`main`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("`"), "`` ` ``");
        let markdown = HoverForm::Markdown;
        assert_eq!(markdown.name("a\n# b\n"), "`a\\u{a}# b\\u{a}`");
        assert_eq!(
            markdown.escaped("[v1](command:x)<b>"),
            "\\[v1\\]\\(command\\:x\\)\\<b\\>"
        );
    }
}
