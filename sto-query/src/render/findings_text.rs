//! A comparison as text: the verdict first, then causes with the callers that inherit them.

use super::header::counted;
use super::numbers::{grouped, percent, quantity};
use super::{Style, display_width, printable, shorten};
use crate::compare::{
    Change, Comparison, Dispersion, Finding, FindingKind, Ignored, NormalisationMethod, Side,
    Statistics, TestedFunction, Verdict,
};
use crate::report::SampleTypeReport;
use std::fmt::Write;

/// Columns that a report takes: it is read in logs as often as in a terminal.
pub(super) const WIDTH: usize = 80;
/// Column where a side's facts begin.
const FACTS: usize = 11;
/// Column where the text of a finding begins.
const INDENT: usize = 3;
/// Columns of an affected caller's name.
const CALLER_WIDTH: usize = 38;

/// The comparison as text, at most 80 columns wide as far as numbers allow.
pub fn findings_text(comparison: &Comparison, color: bool) -> String {
    let style = Style {
        width: Some(WIDTH),
        color,
    };
    let mut text = verdict(comparison, style);
    text.push('\n');
    for (label, value) in [
        ("BENCHMARK", &comparison.benchmark),
        ("POLICY", &comparison.policy),
    ] {
        if let Some(value) = value {
            text += &paragraph(&format!("{label:FACTS$}"), value, FACTS);
        }
    }
    text += &side(
        "BASELINE",
        &comparison.baseline,
        comparison.sample_type.as_ref(),
        style,
    );
    text += &side(
        "CANDIDATE",
        &comparison.candidate,
        comparison.sample_type.as_ref(),
        style,
    );
    for warning in &comparison.warnings {
        text += &paragraph("warning: ", warning, 9);
    }
    for (number, finding) in (1..).zip(&comparison.findings) {
        text.push('\n');
        text += &self::finding(number, finding, style);
    }
    if let Some(functions) = &comparison.functions {
        text += &all(functions, style);
    }
    if let Some(statistics) = &comparison.statistics {
        let _ = writeln!(text, "\n{}", style.bold("How this was tested"));
        for note in notes(comparison, statistics) {
            text += &paragraph("- ", &note, 2);
        }
    }
    text
}

type Mark = fn(Style, &str) -> String;

/// The verdict in capitals, and what marks it.
pub(super) fn shout(verdict: Verdict) -> (&'static str, Mark) {
    match verdict {
        Verdict::Regression => ("REGRESSION", Style::worse),
        Verdict::Clean => ("CLEAN", Style::bold),
        Verdict::Insufficient => ("TOO LITTLE DATA", Style::bold),
    }
}

fn verdict(comparison: &Comparison, style: Style) -> String {
    let (word, mark) = shout(comparison.verdict);
    let weak = if comparison.weak {
        " (weak evidence)"
    } else {
        ""
    };
    let head = format!("{word}{weak}: ");
    let sentence = paragraph(&head, &comparison.reason, 0);
    // The mark goes in after the lines are broken, as it takes no columns.
    mark(style, word) + sentence.strip_prefix(word).unwrap_or(&sentence)
}

fn side(label: &str, side: &Side, sample_type: Option<&SampleTypeReport>, style: Style) -> String {
    let name = format!("{}@{}", printable(&side.executable), printable(&side.build));
    let mut facts = vec![counted(side.runs as u64, "run")];
    let mut samples = counted(side.samples, "sample");
    if let Some(sample_type) = sample_type {
        let _ = write!(samples, " of {}", printable(&sample_type.event));
        if let Some(quantity) = quantity(side.value, sample_type.unit) {
            let _ = write!(samples, " ({quantity})");
        }
    }
    facts.push(samples);
    match (&side.first_recorded, &side.last_recorded) {
        (Some(first), Some(last)) if first != last => {
            facts.push(format!("recorded from {first} to {last}"));
        }
        (Some(first), _) => facts.push(format!("recorded {first}")),
        _ => {}
    }
    if !side.hosts.is_empty() {
        facts.push(format!("on {}", side.hosts.join(", ")));
    }
    if let Some(revision) = &side.revision {
        facts.push(format!("revision {revision}"));
    }
    if let Some(id) = &side.gnu_build_id {
        facts.push(format!("build id {id}"));
    }
    let name = style.bold(&shorten(&name, WIDTH - FACTS));
    let indent = " ".repeat(FACTS);
    let facts = paragraph(&indent, &facts.join(", "), FACTS);
    format!("{}{name}\n{facts}", style.bold(&format!("{label:FACTS$}")))
}

fn finding(number: usize, finding: &Finding, style: Style) -> String {
    let (kind, mark): (&str, Mark) = match finding.kind {
        FindingKind::Regression => ("regression", Style::worse),
        FindingKind::New => ("new", Style::worse),
        FindingKind::Moved => ("moved", Style::bold),
        FindingKind::Improvement => ("improvement", Style::better),
        FindingKind::Gone => ("gone", Style::better),
    };
    let ignored = finding.ignored.as_ref().map_or("", |_| ", ignored");
    let head = format!("{number}. {kind}{ignored}  ");
    let function = shorten(&printable(&finding.function), WIDTH - display_width(&head));
    let mut text = format!(
        "{number}. {}{ignored}  {}\n",
        mark(style, kind),
        style.bold(&function)
    );
    if let Some(Ignored { reason, expires }) = &finding.ignored {
        let why = format!("does not count until {expires}, because: {reason}");
        text += &paragraph(&" ".repeat(INDENT), &why, INDENT);
    }

    let place = [Some(finding.module.as_str()), finding.file.as_deref()];
    let place: Vec<&str> = place
        .into_iter()
        .flatten()
        .filter(|name| !name.is_empty())
        .collect();
    if !place.is_empty() {
        let place = shorten(&printable(&place.join(", ")), WIDTH - INDENT);
        let _ = writeln!(text, "{:INDENT$}{}", "", style.dim(&place));
    }
    text += &paragraph(&" ".repeat(INDENT), &finding.reason, INDENT);

    text += &changes(
        [&finding.self_, &finding.attributed_self, &finding.total],
        style,
    );

    if !finding.affected_callers.is_empty() {
        let _ = writeln!(text, "{:INDENT$}inherited by its callers:", "");
    }
    for caller in &finding.affected_callers {
        let name = shorten(&printable(&caller.function), CALLER_WIDTH);
        let padding = CALLER_WIDTH - display_width(&name);
        let _ = writeln!(
            text,
            "{:5}{name}{:padding$} {:>8} -> {:>8}{:>13}",
            "",
            "",
            percent(caller.baseline_share),
            percent(caller.candidate_share),
            ratio(caller.change, caller.candidate_share > 0.0),
        );
    }
    text
}

/// A table of self, attributed self (where it differs) and total.
fn changes([own, attributed, total]: [&Change; 3], style: Style) -> String {
    let heading = format!(
        "{:INDENT$}{:<10}{:>18}{:>18}{:>8}{:>16}{:>7}",
        "", "", "baseline", "candidate", "change", "interval", "q"
    );
    let mut text = style.dim(&heading) + "\n";
    let samples = |change: &Change| (change.baseline_samples, change.candidate_samples);
    if samples(own) == samples(attributed) {
        text += &change("self", attributed);
    } else {
        text += &change("self", own);
        text += &change("attributed", attributed);
    }
    text + &change("total", total)
}

/// Every function that was tested.
fn all(functions: &[TestedFunction], style: Style) -> String {
    let heading = format!("All functions that were tested ({})", functions.len());
    let mut text = format!("\n{}\n", style.bold(&heading));
    for function in functions {
        let name = shorten(&printable(&function.function), WIDTH - INDENT);
        let _ = writeln!(text, "\n{}", style.bold(&name));
        text += &changes(
            [&function.self_, &function.attributed_self, &function.total],
            style,
        );
    }
    text
}

fn change(label: &str, change: &Change) -> String {
    let ratio = ratio(change.change, change.candidate_samples > 0);
    let interval = interval(change);
    let q = match change.q {
        None => "-".to_owned(),
        Some(q) if q < 0.001 => format!("{q:.0e}"),
        Some(q) => format!("{q:.3}"),
    };
    format!(
        "{:INDENT$}{label:<10}{:>7}{:>11}{:>8}{:>10}{ratio:>8}{interval:>16}{q:>7}\n",
        "",
        percent(change.baseline_share),
        grouped(change.baseline_samples),
        percent(change.candidate_share),
        grouped(change.candidate_samples),
    )
}

/// From the least to the largest change that the test does not exclude.
fn interval(change: &Change) -> String {
    match change.change_low {
        None => "-".to_owned(),
        Some(low) => {
            let low = self::ratio(Some(low), true);
            format!("{low}..{}", self::ratio(change.change_high, true))
        }
    }
}

fn ratio(change: Option<f64>, is_in_candidate: bool) -> String {
    match change {
        None if is_in_candidate => "new".to_owned(),
        None => "-".to_owned(),
        Some(0.0) => "gone".to_owned(),
        Some(ratio) if ratio >= 2.0 => format!("{ratio:.1}x"),
        Some(ratio) => format!("{:+.1}%", (ratio - 1.0) * 100.0),
    }
}

fn notes(comparison: &Comparison, statistics: &Statistics) -> Vec<String> {
    let Statistics {
        normalisation,
        dispersion,
        tested,
        needed,
    } = statistics;
    let thresholds = &comparison.thresholds;
    let mut notes = Vec::new();
    notes.push(match &normalisation.method {
        NormalisationMethod::Tmm => format!(
            "Counts are made comparable by the trimmed mean of {} functions' ratios: what did not \
             change costs {:.3} times as much in a candidate run. All in all, a candidate run costs \
             {:.3} times as much.",
            normalisation.functions, normalisation.candidate_size, normalisation.candidate_cost
        ),
        NormalisationMethod::PerRun => format!(
            "Counts are compared by run, as if each run did the same work{}. All in all, a \
             candidate run costs {:.3} times as much.",
            match thresholds.normalisation {
                NormalisationMethod::Tmm => ": too few functions stood still to tell",
                _ => "",
            },
            normalisation.candidate_cost
        ),
        NormalisationMethod::PerMetric(metric) => format!(
            "Counts are compared for each unit of {metric}, of which a candidate run has {:.3} times \
             as much. All in all, a unit costs {:.3} times as much in the candidate.",
            normalisation.candidate_size,
            normalisation.candidate_cost / normalisation.candidate_size,
        ),
        NormalisationMethod::Total => format!(
            "Counts are compared as shares of all samples: where one function grows, all others \
             shrink. All in all, a candidate run costs {:.3} times as much.",
            normalisation.candidate_cost
        ),
    });
    notes.push(variation(dispersion));
    if !comparison.unchanged_modules.is_empty() {
        notes.push(format!(
            "These modules are the same on both sides, so what they cost is laid at their callers \
             (\"attributed\"): {}.",
            comparison.unchanged_modules.join(", ")
        ));
    }
    notes.push(format!(
        "Tested: self counts of {} and totals of {}; {} are on both sides. Reported: changes of at \
         least {}, in functions that hold at least {} of a side, with a false discovery rate (q) \
         of at most {}. Intervals have a confidence of {}.",
        tested.self_,
        counted(tested.total as u64, "function"),
        tested.shared,
        threshold(thresholds.min_effect),
        threshold(thresholds.min_share),
        threshold(thresholds.alpha),
        threshold(1.0 - thresholds.alpha),
    ));
    notes.push(format!(
        "A change of {} in a function that holds a tenth of all is seen with about {} and {} a \
         side.",
        threshold(thresholds.min_effect),
        counted(needed.samples, "sample"),
        counted(needed.runs, "run"),
    ));
    notes
}

/// A threshold in percent, as it was given.
fn threshold(share: f64) -> String {
    // Six digits, without what a binary fraction adds to a decimal one.
    let percent = (share * 1e8).round() / 1e6;
    format!("{percent}%")
}

fn variation(dispersion: &Dispersion) -> String {
    let deviation = |dispersion: f64| format!("{:.0}%", dispersion.sqrt() * 100.0);
    if dispersion.estimated {
        format!(
            "From run to run, functions vary by {} in their self and {} in their total counts, \
             sampling aside (the runs of each build tell; less than 2% is never assumed).",
            deviation(dispersion.self_),
            deviation(dispersion.total),
        )
    } else if let Some(build) = &dispersion.earlier_build {
        format!(
            "From run to run, functions vary by {} in their self and {} in their total counts, \
             sampling aside: so they did in {build}. There are not several runs of either side, so \
             the evidence is weak. Record more runs of each build.",
            deviation(dispersion.self_),
            deviation(dispersion.total),
        )
    } else {
        format!(
            "From run to run, functions are assumed to vary by {}, as there are not several runs \
             to estimate it from: the evidence is weak. Record more runs of each build.",
            deviation(dispersion.self_),
        )
    }
}

/// A paragraph behind `head`, its lines broken at spaces, those after the first indented.
pub(super) fn paragraph(head: &str, sentence: &str, indent: usize) -> String {
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut space = "";
    for word in printable(sentence).split_whitespace() {
        let word = shorten(word, WIDTH - indent);
        let width = display_width(&word);
        if column > indent && column + space.len() + width > WIDTH {
            text.truncate(text.trim_end().len());
            let _ = write!(text, "\n{:indent$}", "");
            (column, space) = (indent, "");
        }
        let _ = write!(text, "{space}{word}");
        column += space.len() + width;
        space = " ";
    }
    text.push('\n');
    text
}
