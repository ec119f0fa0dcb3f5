//! Functions whose cost grows otherwise than it did, as text.

use super::formula::kind;
use super::{run_of, unit, without_x};
use crate::models::{Detected, FunctionChange, Growth, ModelChange, ModelChanges, SideModel};
use crate::statistics::models::changes::ChangeKind;
use crate::text::{
    Style, counted, line, not_shown, paragraph, printable, probability, short, title,
};
use std::fmt::Write;
use sto_core::units::Unit;

/// Columns before the formulas.
const INDENT: usize = 10;

/// The report as text: what got worse first, each function with its formulas before and now.
pub fn text(report: &ModelChanges, style: Style) -> String {
    let head = format!(
        "{}: {} against {}",
        report.verdict.name().to_uppercase(),
        run_of(&report.candidate),
        run_of(&report.baseline),
    );
    let mut text = style.bold(&title(style, &head));
    let unit = unit(&report.candidate);
    let x = printable(&report.candidate.x);
    let is_told = |of: &&FunctionChange| of.result != ModelChange::NoChange || is_detected(of);
    let changed = report.functions.iter().filter(is_told);
    let changed: Vec<&FunctionChange> = changed.collect();
    for change in &changed {
        let sentence = format!("{}: {}", said(change.result), sentence(change, &x));
        let line = paragraph(style, "\n", &sentence, 2);
        text += &match change.result {
            ModelChange::Degradation => style.worse(&line),
            ModelChange::Optimisation => style.better(&line),
            _ => line,
        };
        for (name, side) in [("before", &change.baseline), ("now", &change.candidate)] {
            let head = format!("  {name:<width$}", width = INDENT - 2);
            text += &paragraph(style, &head, &modelled(side, &x, unit), INDENT);
        }
        if !change.detectors.is_empty() {
            let head = format!("  {:<width$}", "Perun", width = INDENT - 2);
            text += &paragraph(style, &head, &detected(&change.detectors), INDENT);
        }
    }
    let noun = if changed.is_empty() {
        "function"
    } else {
        "other function"
    };
    let same = counted((report.functions.len() - changed.len()) as u64, noun);
    if report.functions.len() > changed.len() {
        let sentence = format!("The cost of {same} goes with {x} as before.");
        text += "\n";
        text += &line(style, &sentence, 0);
    }
    text += &not_shown(report.omitted, "function");
    text + &without_x(&report.baseline, style) + &without_x(&report.candidate, style)
}

fn is_detected(of: &FunctionChange) -> bool {
    let mut found = of.detectors.iter().filter_map(|of| of.change.as_ref());
    found.any(|change| change.result != ChangeKind::NoChange)
}

/// `degradation: integral comparison 0.71, fast check 1.20; no change: average amount 1.44`.
fn detected(detectors: &[Detected]) -> String {
    let mut by_result: Vec<(&str, Vec<String>)> = Vec::new();
    for of in detectors {
        let name = of.detector.name().replace('-', " ");
        let (result, text) = match &of.change {
            Some(change) => {
                let rate = short(change.error_rate.abs());
                let sign = if change.error_rate < 0.0 { "-" } else { "" };
                (word(change.result), format!("{name} {sign}{rate}"))
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

fn word(result: ChangeKind) -> &'static str {
    match result {
        ChangeKind::Degradation => "degradation",
        ChangeKind::MaybeDegradation => "maybe degradation",
        ChangeKind::Optimisation => "optimisation",
        ChangeKind::MaybeOptimisation => "maybe optimisation",
        ChangeKind::NoChange => "no change",
    }
}

/// What became of a function.
fn said(result: ModelChange) -> &'static str {
    match result {
        ModelChange::Degradation => "degradation",
        ModelChange::MaybeDegradation => "maybe degradation",
        ModelChange::Optimisation => "optimisation",
        ModelChange::MaybeOptimisation => "maybe optimisation",
        ModelChange::NoChange => "no change",
    }
}

/// `parse went from linear to quadratic: 14.2 times as much at n = 20000, other from n = 1500 on; ...`.
fn sentence(change: &FunctionChange, x: &str) -> String {
    let kinds = [&change.baseline, &change.candidate].map(|side| side.model.as_ref());
    let name = printable(&change.function);
    let mut text = match kinds {
        [Some(old), Some(new)] if old.kind != new.kind => {
            format!("{name} went from {} to {}", kind(old.kind), kind(new.kind))
        }
        [_, Some(new)] => format!("{name} is {}, as before", kind(new.kind)),
        _ => name.into_owned(),
    };
    let at = short(change.largest_x);
    match change.ratio {
        Some(0.0) => text += "; it costs nothing now",
        Some(ratio) => {
            let _ = write!(text, "; {} times as much at {x} = {at}", short(ratio));
        }
        None => {
            let _ = write!(text, "; it cost nothing before at {x} = {at}");
        }
    }
    if let Some(from) = change.matters_from {
        let _ = write!(text, ", and other from {x} = {} on", short(from));
    }
    text += &change
        .growth
        .map_or_else(String::new, |growth| grown(growth, x));
    if let Some(q) = change.q {
        let _ = write!(text, " (q {})", probability(q));
    }
    text
}

/// `; the exponent of n grew from 1.01 to 2.02, by 0.96 to 1.06`; nothing where chance may have made the difference.
fn grown(growth: Growth, x: &str) -> String {
    let Growth {
        baseline,
        candidate,
        low,
        high,
    } = growth;
    let (verb, least, most) = match (low > 0.0, high < 0.0) {
        (true, _) => ("grew", low, high),
        (_, true) => ("fell", -high, -low),
        _ => return String::new(),
    };
    format!(
        "; the exponent of {x} {verb} from {baseline:.2} to {candidate:.2}, by {least:.2} to {most:.2} with 95 %"
    )
}

fn modelled(side: &SideModel, x: &str, unit: Option<Unit>) -> String {
    let Some(model) = &side.model else {
        return "nothing can be fitted".to_owned();
    };
    super::sentence(model, x, unit)
}
