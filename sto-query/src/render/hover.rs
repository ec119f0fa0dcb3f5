//! What a function or line costs, as an editor shows it where the pointer rests.

use super::hot::{percent, words};
use crate::hot::{FunctionNo, HotCosts, HotFunction, HotHistory, HotIndex, HotLine};
use crate::text::{counted, printable, shorten};
use crate::tree::CostShare;
use std::fmt::Write;

/// Callers and callees that are shown of a function.
const MOST_CALLS: usize = 5;

/// Longer names are cut in their middle.
const NAME_WIDTH: usize = 120;

/// Heights of a column, from nothing to all.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How a hover is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoverForm {
    /// As Markdown, in which names are code.
    Markdown,
    /// As it is.
    Text,
}

/// What a function costs: over builds, where these are known; its callers and callees; where it was inlined; and how many
/// runs that rests on. A change is a ratio, and the build since which it is.
pub fn function(
    index: &HotIndex,
    function: HotFunction<'_>,
    history: Option<&HotHistory>,
    change: Option<(f64, &str)>,
    form: HoverForm,
) -> String {
    let name = form.name(function.name);
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

/// What a line costs, and how many runs that rests on.
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

/// Self and total over builds, as columns, where there are several builds.
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
        format!("{name} {}  {last}\n", columns(shares, largest))
    };
    let [from, to] = [first, last].map(|build| printable(&shorten(&build.build, 40)).into_owned());
    // A name in the block could end it.
    let builds = counted(history.builds.len() as u64, "build");
    let caption = format!("{builds}, {} to {}", form.name(&from), form.name(&to));
    let rows = row("self ", &selfs) + &row("total", &totals);
    Some(match form {
        HoverForm::Markdown => format!("\n```text\n{rows}```\n{caption}\n"),
        HoverForm::Text => format!("\n{rows}{caption}\n"),
    })
}

/// A column a share; what is not zero shows.
fn columns(shares: &[f64], largest: f64) -> String {
    let highest = BLOCKS.len() - 1;
    let height = |share: &f64| match share / largest * highest as f64 {
        height if height > 0.0 => (height.round() as usize).clamp(1, highest),
        _ => 0,
    };
    shares.iter().map(|share| BLOCKS[height(share)]).collect()
}

fn calls(
    text: &mut String,
    index: &HotIndex,
    title: &str,
    calls: impl Iterator<Item = (FunctionNo, CostShare)>,
    form: HoverForm,
) {
    let shown: Vec<_> = calls.take(MOST_CALLS).collect();
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}\n");
    for (other, cost) in shown {
        let name = form.name(index.function(other).name);
        let _ = writeln!(text, "- {name} {}", percent(cost.share));
    }
}

/// `338 of 2,716 samples of cpu-clock, in 1 run of demo@v1`
fn basis(index: &HotIndex, costs: &HotCosts, form: HoverForm) -> String {
    let subject = index.subject();
    let event = match &subject.sample_type {
        Some(sample_type) => format!(" of {}", form.name(&sample_type.event)),
        None => String::new(),
    };
    let build = format!("{}@{}", subject.executable, subject.build);
    format!(
        "{} of {}{event}, in {} of {}",
        crate::text::grouped(costs.total.samples),
        counted(subject.samples, "sample"),
        counted(index.runs() as u64, "run"),
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
        words(
            costs,
            since.as_ref().map(|(ratio, since)| (*ratio, &**since)),
        )
    }

    /// A name that shows as it is, whatever is in it.
    fn name(self, name: &str) -> String {
        let name = printable(name);
        let name = shorten(&name, NAME_WIDTH);
        match self {
            HoverForm::Markdown => code(&name),
            HoverForm::Text => name,
        }
    }

    /// A name within a sentence.
    fn escaped(self, text: &str) -> String {
        let text = printable(text);
        match self {
            HoverForm::Markdown => escaped(&text),
            HoverForm::Text => text.into_owned(),
        }
    }
}

/// A name as code: between more backticks than it has in a row.
fn code(name: &str) -> String {
    let runs = name.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    match name.trim().is_empty() || name.contains('`') {
        true => format!("{fence} {name} {fence}"),
        false => format!("{fence}{name}{fence}"),
    }
}

/// Text in which nothing is markup: every mark of ASCII may have a backslash before it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        // Between digits and letters they are none: `v1.2` stays as it is read.
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
    fn a_name_cannot_end_the_code_that_it_is() {
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

    #[test]
    fn columns_are_as_high_as_their_shares() {
        assert_eq!(columns(&[0.0, 0.001, 0.5, 1.0], 1.0), " ▁▄█");
        assert_eq!(columns(&[0.0, 0.0], 0.0), "  ");
    }
}
