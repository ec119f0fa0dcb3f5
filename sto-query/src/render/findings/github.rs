//! Findings as workflow commands, which GitHub Actions turns into annotations.
//!
//! A line `::error file=F,line=L,title=T::MESSAGE` becomes an annotation of the step. The escapes
//! are those that `ActionCommand.cs` of the actions runner decodes.

use super::curves::{self, Curve, Weight};
use super::metrics;
use super::steps::steps;
use super::words::{
    self, RankedFinding, basis, facts, ignore_reason, interval, label, rank_findings, ratio,
    reason, side_name, verdict_word, weakness,
};
use crate::compare::{Comparison, Finding, MetricOutcome, Verdict};
use crate::text::names::shorten_name;
use crate::text::{Words, percent, printable, shorten};
use sto_core::Hint;

/// Number of annotations of each kind that GitHub keeps for a step. It silently drops the rest.
const MAX_OF_A_KIND: usize = 10;
/// Maximum width of function names in titles and of all names in messages.
const NAME_WIDTH: usize = 100;
/// Maximum number of functions at either end of a call path.
const PATH_ENDS: usize = 4;

/// Returns the findings as annotations. Regressions are errors, or warnings if the evidence is
/// weak. Moved costs and improvements are notices. Too little data, and whatever weakens a
/// comparison, are warnings.
///
/// At most ten annotations of each kind are written, as GitHub shows no more. If there are more,
/// the tenth counts them.
pub fn github(comparisons: &[Comparison], words: Words) -> String {
    let (mut errors, mut warnings, mut notices) = (Vec::new(), Vec::new(), Vec::new());
    for comparison in comparisons {
        if comparison.verdict == Verdict::Insufficient {
            warnings.push(insufficient(comparison));
        }
    }
    for comparison in comparisons {
        let rows = metrics::rows(comparison).into_iter();
        let worse = rows.filter(|row| row.outcome == MetricOutcome::Worse);
        let kind = match comparison.verdict {
            Verdict::Insufficient => &mut warnings,
            _ => &mut errors,
        };
        kind.extend(worse.map(|row| metric(comparison, &row)));
    }
    for comparison in comparisons {
        for curve in curves::changed(comparison) {
            let kind = match curve.weight {
                Weight::Error => &mut errors,
                Weight::Warning => &mut warnings,
                Weight::Note => &mut notices,
            };
            kind.push(of_curve(comparison, &curve));
        }
    }
    for ranked in rank_findings(comparisons) {
        let RankedFinding {
            comparison,
            finding,
        } = ranked;
        let is_judged = comparison.verdict != Verdict::Insufficient;
        let kind = match (finding.is_regression(), finding.weak || !is_judged) {
            (true, false) => &mut errors,
            (true, true) => &mut warnings,
            (false, _) => &mut notices,
        };
        kind.push(annotation(ranked));
    }
    for warning in words::warnings(comparisons) {
        warnings.push(Annotation {
            title: format!("sto: {}", name(label(warning.comparison))),
            message: printable(warning.text).into_owned(),
            location: None,
        });
    }
    if errors.is_empty() && warnings.is_empty() {
        notices.insert(0, verdict(comparisons));
    }
    let mut text = String::new();
    for (command, annotations) in [
        ("error", errors),
        ("warning", warnings),
        ("notice", notices),
    ] {
        for annotation in capped(annotations, words) {
            text += &annotation.line(command);
        }
    }
    text
}

/// A message at a line of the source.
struct Annotation {
    location: Option<(String, Option<u32>)>,
    title: String,
    message: String,
}

impl Annotation {
    fn line(&self, command: &str) -> String {
        let mut properties = Vec::new();
        if let Some((file, line)) = &self.location {
            properties.push(format!("file={}", escaped_property(file)));
            properties.extend(line.map(|line| format!("line={line}")));
        }
        properties.push(format!("title={}", escaped_property(&self.title)));
        let message = escaped(&self.message);
        format!("::{command} {}::{message}\n", properties.join(","))
    }
}

/// Keeps as many annotations as GitHub shows. If some are left out, the last counts them.
fn capped(mut annotations: Vec<Annotation>, words: Words) -> Vec<Annotation> {
    if annotations.len() > MAX_OF_A_KIND {
        let more = annotations.len() - (MAX_OF_A_KIND - 1);
        annotations.truncate(MAX_OF_A_KIND - 1);
        annotations.push(Annotation {
            location: None,
            title: format!("sto: {more} more"),
            message: format!(
                "{more} more of this kind are not shown here, as GitHub shows \
                 {MAX_OF_A_KIND} of a step.{}",
                words.hint_phrase(" `", Hint::Check, "` lists all of them.")
            ),
        });
    }
    annotations
}

fn metric(comparison: &Comparison, row: &metrics::Row) -> Annotation {
    Annotation {
        location: None,
        title: format!("sto: {} got worse ({})", row.name, name(label(comparison))),
        message: format!(
            "{} -> {}: {}, {}\nbaseline {}, candidate {}{}",
            row.baseline,
            row.candidate,
            row.change,
            row.evidence,
            side_name(&comparison.baseline),
            side_name(&comparison.candidate),
            comparison
                .command
                .line()
                .map_or(String::new(), |line| format!("\n{line}")),
        ),
    }
}

fn of_curve(comparison: &Comparison, curve: &Curve) -> Annotation {
    let function = shorten_name(&printable(&curve.change.function), NAME_WIDTH);
    Annotation {
        location: None,
        title: format!(
            "sto: {} of {function} ({})",
            curve.word,
            name(label(comparison))
        ),
        message: format!(
            "{}\nbaseline {}, candidate {}",
            printable(&curve.change.reason),
            side_name(&comparison.baseline),
            side_name(&comparison.candidate),
        ),
    }
}

fn annotation(
    RankedFinding {
        comparison,
        finding,
    }: RankedFinding<'_>,
) -> Annotation {
    let function = printable(&finding.short_name);
    let benchmark = match &comparison.benchmark {
        Some(benchmark) => format!(" ({})", name(benchmark)),
        None => String::new(),
    };
    Annotation {
        location: finding
            .annotated_place()
            .map(|(file, line)| (printable(file).into_owned(), line)),
        title: format!("sto: {} in {function}{benchmark}", finding.kind.name()),
        message: message(comparison, finding),
    }
}

fn message(comparison: &Comparison, finding: &Finding) -> String {
    let change = basis(finding);
    let mut lines = vec![format!(
        "{}{}",
        printable(&finding.reason),
        weakness(finding.weak)
    )];
    lines.extend(ignore_reason(finding).map(|why| printable(&why).into_owned()));
    lines.push(format!(
        "{} -> {}: {}, between {}",
        percent(change.baseline_share),
        percent(change.candidate_share),
        ratio(change.change, change.candidate_samples > 0),
        interval(change),
    ));
    lines.extend(finding.call_paths.first().map(|path| {
        let more = match finding.more_call_paths + finding.call_paths.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more paths)"),
        };
        format!("by {}{more}", steps(path, PATH_ENDS, NAME_WIDTH))
    }));
    lines.push(format!(
        "baseline {}, candidate {}",
        side_name(&comparison.baseline),
        side_name(&comparison.candidate)
    ));
    lines.extend(finding.command.line());
    lines.join("\n")
}

fn insufficient(comparison: &Comparison) -> Annotation {
    let sample_type = comparison.sample_type.as_ref();
    let side = |side| format!("{}: {}", side_name(side), facts(side, sample_type));
    Annotation {
        location: None,
        title: format!("sto: too little data ({})", name(label(comparison))),
        message: format!(
            "{}\nbaseline {}\ncandidate {}",
            printable(&comparison.reason),
            printable(&side(&comparison.baseline)),
            printable(&side(&comparison.candidate)),
        ),
    }
}

/// Returns the verdict, for comparisons without problems.
fn verdict(comparisons: &[Comparison]) -> Annotation {
    let word = verdict_word(Verdict::combine(comparisons));
    Annotation {
        location: None,
        title: "sto".to_owned(),
        message: format!("{word}: {}", printable(&reason(comparisons))),
    }
}

fn name(name: &str) -> String {
    shorten(&printable(name), NAME_WIDTH)
}

fn escaped(message: &str) -> String {
    let message = message.replace('%', "%25");
    message.replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(value: &str) -> String {
    escaped(value).replace(':', "%3A").replace(',', "%2C")
}
