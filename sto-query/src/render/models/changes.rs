//! Functions whose growth of cost changed, as text.

use super::{name, run_of, unit, without_x};
use crate::answer::Verdict;
use crate::models::{
    ComparedCurves, Detected, FunctionChange, ModelChange, ModelChanges, SideModel,
};
use crate::text::names::shorten_name;
use crate::text::{Style, format_count, line, omitted_line, paragraph, printable, short, title};
use sto_core::units::Unit;
use sto_stats::models::changes::{ChangeKind, PartialChange};

/// Width of the labels before formulas.
const INDENT: usize = 10;
/// Maximum number of callers to name, and the width of their names.
const CALLERS: usize = 3;
const NAME_WIDTH: usize = 40;

/// Returns the report as text: degradations first, with the formulas of each function before and
/// after.
pub fn text(report: &ModelChanges, style: Style) -> String {
    let text = style.bold(&title(style, &head(report))) + "\n";
    let text = text + &functions(report, style);
    text + &without_x(&report.baseline, style) + &without_x(&report.candidate, style)
}

/// Formats `REGRESSION: 12 runs of app@v2 against 12 runs of app@v1`.
pub(super) fn head(report: &ModelChanges) -> String {
    format!(
        "{}: {} against {}",
        report.verdict.name().to_uppercase(),
        run_of(&report.candidate),
        run_of(&report.baseline),
    )
}

/// Returns the changes of functions and the number of unchanged functions.
pub(in crate::render) fn functions(report: &ModelChanges, style: Style) -> String {
    let mut text = String::new();
    let unit = unit(&report.candidate);
    let x = printable(&report.candidate.x);
    for change in report.functions.iter().filter(|change| is_shown(change)) {
        let sentence = format!("{}: {}", word(change), change.reason);
        let line = paragraph(style, "", &sentence, 2);
        text += &match change.result {
            ModelChange::Degradation => style.worse(&line),
            ModelChange::Optimisation => style.better(&line),
            _ => line,
        };
        for (name, side) in [("before", &change.baseline), ("now", &change.candidate)] {
            let head = format!("  {name:<width$}", width = INDENT - 2);
            text += &paragraph(style, &head, &modelled(side, &x, unit), INDENT);
        }
        for curves in &change.curves {
            let head = format!("  {:<width$}", "Perun", width = INDENT - 2);
            let found = format!("{}: {}", compared(curves), detected(&curves.detectors));
            text += &paragraph(style, &head, &found, INDENT);
            for part in curves.detectors.iter().filter_map(|of| parts(of, &x)) {
                text += &paragraph(style, &" ".repeat(INDENT), &part, INDENT + 2);
            }
        }
        if !change.inherited_by.is_empty() {
            let head = format!("  {:<width$}", "callers", width = INDENT - 2);
            text += &paragraph(style, &head, &callers(&change.inherited_by), INDENT);
        }
        text.push('\n');
    }
    if let Some(sentence) = as_before(report) {
        text += &line(style, &sentence, 0);
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text + &omitted_line(report.omitted, "function")
}

/// Formats `The cost of 4 other functions grows with n as before.`, or that none could be compared; `None` if there are
/// no other functions.
pub(in crate::render) fn as_before(report: &ModelChanges) -> Option<String> {
    let changed = report
        .functions
        .iter()
        .filter(|change| is_shown(change))
        .count();
    let same = report.functions.len() - changed + report.unchanged;
    let noun = if changed == 0 {
        "function"
    } else {
        "other function"
    };
    let functions = format_count(same as u64, noun);
    let x = printable(&report.candidate.x);
    let sentence = if report.verdict == Verdict::Insufficient {
        format!(
            "{functions} could not be compared: too few points in the range of {x} that both sides have."
        )
    } else {
        format!("The cost of {functions} grows with {x} as before.")
    };
    (same > 0).then_some(sentence)
}

/// Formats `main, run and 14 more change with it`.
fn callers(names: &[String]) -> String {
    let name = |name: &String| shorten_name(&printable(name), NAME_WIDTH);
    let mut named: Vec<String> = names.iter().take(CALLERS).map(name).collect();
    if let more @ 1.. = names.len().saturating_sub(CALLERS) {
        named.push(format!("{more} more"));
    }
    let last = named.pop().unwrap_or_default();
    let all = if named.is_empty() {
        last
    } else {
        format!("{} and {last}", named.join(", "))
    };
    let verb = match names.len() {
        1 => "changes",
        _ => "change",
    };
    format!("{all} {verb} with it")
}

/// Returns `true` if the test or a detector finds a change, at least in a part of x.
pub(super) fn is_shown(of: &FunctionChange) -> bool {
    let detectors = of.curves.iter().flat_map(|curves| &curves.detectors);
    let mut found = detectors.filter_map(|of| of.change.as_ref());
    let is_detected = found.any(|change| {
        let parts = change.intervals.iter().map(|part| part.result);
        let mut results = parts.chain([change.result]);
        results.any(|result| result != ChangeKind::NoChange)
    });
    is_detected || of.result != ModelChange::NoChange
}

/// Formats `linear, then quadratic, R² 0.998`: the kinds of both sides' curves, and the lower R².
fn compared(curves: &ComparedCurves) -> String {
    let candidate = curves.unified.as_ref().or(curves.candidate.as_ref());
    let Some((before, now)) = curves.baseline.as_ref().zip(candidate) else {
        return "nothing can be fitted".to_owned();
    };
    let kinds = if before.kind == now.kind {
        name(before)
    } else {
        format!("{}, then {}", name(before), name(now))
    };
    format!("{kinds}, R² {:.3}", before.r_square.min(now.r_square))
}

/// Returns the parts of x that local statistics compared, with adjacent ones of the same result joined. The error rate is
/// the mean of those of the parts.
pub(super) fn joined_parts(detected: &Detected) -> Vec<PartialChange> {
    let parts = detected.change.iter().flat_map(|change| &change.intervals);
    let parts: Vec<PartialChange> = parts.copied().collect();
    let joined = parts.chunk_by(|a, b| a.result == b.result).map(|parts| {
        let sum: f64 = parts.iter().map(|part| part.error_rate).sum();
        let mut joined = parts[0];
        joined.error_rate = sum / parts.len() as f64;
        joined.x_end = parts[parts.len() - 1].x_end;
        joined
    });
    joined.collect()
}

/// Formats `degradation from x = 0 to 1: 0.791; no change from x = 2 to 5: -0.0840`; `None` for detectors that do not
/// compare parts of x.
fn parts(detected: &Detected, x: &str) -> Option<String> {
    let parts = joined_parts(detected).into_iter().map(|part| {
        let [from, to] = [part.x_start, part.x_end].map(short);
        let result = found(part.result);
        format!(
            "{result} from {x} = {from} to {to}: {}",
            signed(part.error_rate)
        )
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Formats a relative change.
fn signed(rate: f64) -> String {
    let sign = if rate < 0.0 { "-" } else { "" };
    format!("{sign}{}", short(rate.abs()))
}

/// Formats `degradation: integral comparison 0.71, fast check 1.20; no change: average amount
/// 1.44`.
fn detected(detectors: &[Detected]) -> String {
    let mut by_result: Vec<(&str, Vec<String>)> = Vec::new();
    for of in detectors {
        let name = of.detector.name().replace('-', " ");
        let (result, text) = match &of.change {
            Some(change) => {
                let rate = signed(change.error_rate);
                (found(change.result), format!("{name} {rate}"))
            }
            None => ("not compared", name),
        };
        match by_result.iter_mut().find(|(known, _)| *known == result) {
            Some((_, texts)) => texts.push(text),
            None => by_result.push((result, vec![text])),
        }
    }
    let of = by_result.into_iter();
    of.map(|(result, texts)| format!("{result}: {}", texts.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns the result of a detector in words.
pub(super) fn found(result: ChangeKind) -> &'static str {
    match result {
        ChangeKind::Degradation => "degradation",
        ChangeKind::MaybeDegradation => "maybe degradation",
        ChangeKind::Optimisation => "optimisation",
        ChangeKind::MaybeOptimisation => "maybe optimisation",
        ChangeKind::NoChange => "no change",
    }
}

/// Returns the result for a function in words.
pub(in crate::render) fn word(change: &FunctionChange) -> &'static str {
    match change.result {
        ModelChange::Degradation if change.ignored => "ignored degradation",
        ModelChange::Degradation => "degradation",
        ModelChange::MaybeDegradation => "maybe degradation",
        ModelChange::Optimisation => "optimisation",
        ModelChange::MaybeOptimisation => "maybe optimisation",
        ModelChange::NoChange => "no change",
    }
}

fn modelled(side: &SideModel, x: &str, unit: Option<Unit>) -> String {
    let Some(model) = &side.model else {
        return "nothing can be fitted".to_owned();
    };
    super::sentence(model, x, unit)
}
