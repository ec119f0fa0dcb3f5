//! Sentences that summarise findings and verdicts.

use super::normalise::Replaced;
use super::pair;
use super::result::{
    AttributedCallee, Basis, CallChange, CompareOptions, Finding, FindingKind, FunctionName,
    Needed, round_for_output,
};
use crate::text::cost;
use crate::text::names::{self, Wide, distinct_names, shorten_distinctly, shorten_name};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::iter::zip;
use sto_core::units::Unit;

/// The warning for counts without stacks.
pub(super) const NO_STACKS: &str = "These are counts by function, without stacks: callers, paths and lines are \
    unknown, and a renamed function is reported as a new one and a gone one.";

/// Maximum width of a name in a sentence. The finding has the whole name.
const MAX_NAME_WIDTH: usize = 60;

/// The names of all functions in the sentences of a comparison: short forms that tell them apart.
pub(super) struct Names(HashMap<String, ShownName>);

struct ShownName {
    in_title: String,
    in_sentence: String,
}

impl Names {
    pub(super) fn new<'a>(findings: impl Iterator<Item = (&'a Finding, &'a Details)>) -> Names {
        let functions: BTreeSet<&str> = findings
            .flat_map(|(finding, details)| functions_of(finding, &details.pair))
            .collect();
        let forms = distinct_names(functions.iter().copied());
        let cut = |max| {
            let wide = forms.iter().map(|text| Wide {
                text,
                max,
                is_function: true,
            });
            shorten_distinctly(&wide.collect::<Vec<_>>())
        };
        let shown = zip(cut(names::MAX_NAME_WIDTH), cut(MAX_NAME_WIDTH));
        let shown = shown.map(|(in_title, in_sentence)| ShownName {
            in_title,
            in_sentence,
        });
        Names(zip(functions.into_iter().map(str::to_owned), shown).collect())
    }

    /// Returns the name of a function in the title of its finding.
    pub(super) fn title<'a>(&'a self, function: &'a str) -> &'a str {
        self.0.get(function).map_or(function, |name| &name.in_title)
    }

    fn short<'a>(&'a self, function: &'a str) -> &'a str {
        self.0
            .get(function)
            .map_or(function, |name| &name.in_sentence)
    }

    fn name<'a>(&'a self, function: &'a FunctionName) -> &'a str {
        self.short(&function.function)
    }
}

/// Returns the functions that the sentence of a finding may name.
fn functions_of<'a>(finding: &'a Finding, pair: &'a PairRelation) -> Vec<&'a str> {
    let Finding {
        moved_from,
        moved_to,
        replaces,
        replaced_by,
        ..
    } = finding;
    let in_pair = match pair {
        PairRelation::Itself | PairRelation::UnderCostlierCaller(None) => None,
        PairRelation::UnderCostlierCaller(Some(name)) | PairRelation::PartOf(name) => Some(name),
    };
    let related = [moved_from, moved_to, replaces, replaced_by];
    let related = related.into_iter().flatten().chain(in_pair);
    let callees = finding.attributed_callees.iter();
    let mut functions: Vec<&str> = vec![&finding.function];
    functions.extend(related.chain(&finding.grown_callees).map(|f| &*f.function));
    functions.extend(callees.filter_map(|callee| callee.function.as_deref()));
    functions
}

/// Formats a ratio in words: `10.2 times as much`, `37% more`, `12% less`.
pub(super) fn times(ratio: f64) -> String {
    if ratio >= 2.0 {
        format!("{ratio:.1} times as much")
    } else if ratio >= 1.0 {
        format!("{:.0}% more", (ratio - 1.0) * 100.0)
    } else {
        format!("{:.0}% less", (1.0 - ratio) * 100.0)
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Properties of a finding that its sentence describes, besides the finding.
pub(super) struct Details {
    /// Whether most of the change is in callees whose cost is attributed to the function.
    pub(super) in_callees: bool,
    /// Whether the function's own code is the same on both sides.
    pub(super) unchanged: bool,
    /// The function's relation to the one that it replaced or that replaced it.
    pub(super) pair: PairRelation,
    /// Changes below this count as unchanged.
    pub(super) least: f64,
    /// The event's unit.
    pub(super) unit: Unit,
    /// The period that costs refer to: `run` or `second`.
    pub(super) period: &'static str,
}

/// Returns the reason of a finding.
pub(super) fn finding(finding: &Finding, details: &Details, names: &Names) -> String {
    let Details {
        in_callees,
        unchanged,
        ref pair,
        least,
        unit,
        period,
    } = *details;
    let name = |function: &FunctionName| names.name(function).to_owned();
    let function = names.short(&finding.function);
    let function = match finding.instances {
        0 => function.to_owned(),
        count => format!("{function} ({count} instances together)"),
    };
    let (change, what) = match finding.basis {
        Basis::AttributedSelf => (&finding.attributed_self, ""),
        Basis::Total | Basis::Calls => (&finding.total, " with what it calls"),
    };
    let (old, new) = (
        percent(change.baseline_share),
        percent(change.candidate_share),
    );
    let where_in = if in_callees {
        name_main_callees(finding, names)
    } else {
        String::new()
    };
    // The part of the change that other findings explain does not belong to this one.
    let by_itself = match finding.basis {
        Basis::Total => " by itself",
        Basis::AttributedSelf | Basis::Calls => "",
    };
    match (finding.kind, &finding.moved_from, &finding.moved_to) {
        (FindingKind::Moved, Some(from), _) => format!(
            "the cost of {function}, {} of all, was in {} before, and{by_itself} is not more than it was",
            percent(finding.total.candidate_share),
            name(from),
        ),
        (FindingKind::Moved, None, to) => format!(
            "the cost of {function}, {} of all before, is in {} now, and{by_itself} is not less than it was",
            percent(finding.total.baseline_share),
            to.as_ref().map(name).unwrap_or_default(),
        ),
        (FindingKind::Replaced, ..) => replaced(finding, pair, names, [&function, &old, &new]),
        (FindingKind::New, ..) => {
            let replaces = match (&finding.replaces, pair) {
                (Some(gone), PairRelation::UnderCostlierCaller(caller)) => format!(
                    "; {}, which it replaced, cost as much, but {} costs more",
                    name(gone),
                    caller.as_ref().map_or("the program".to_owned(), name),
                ),
                _ => String::new(),
            };
            format!("{function} is new, and costs {new} of all{what}{where_in}{replaces}")
        }
        (FindingKind::Gone, ..) => {
            let replaced = match &finding.replaced_by {
                Some(by) => format!("; {} replaced it", name(by)),
                None => String::new(),
            };
            format!("{function} is gone; it cost {old} of all{what}{where_in}{replaced}")
        }
        (FindingKind::Regression | FindingKind::Improvement, ..) => {
            let times = change.change.map_or_else(|| "more".to_owned(), times);
            let function = match &finding.moved_from {
                Some(old) => format!("{function} (was {})", name(old)),
                None => function,
            };
            let unexplained = match finding.basis {
                Basis::AttributedSelf if unchanged => {
                    "; its code is the same, but these stacks do not show what called it".to_owned()
                }
                Basis::AttributedSelf => String::new(),
                Basis::Total => ", and no single function below it explains that".to_owned(),
                Basis::Calls => called(finding, names),
            };
            let called = finding
                .calls
                .and_then(|calls| describe_calls(calls, least))
                .map_or(String::new(), |called| format!("; {called}"));
            let costs = match change.baseline_cost.zip(change.candidate_cost) {
                Some((before, now)) => format!(
                    "{} a {period} before, {} now ({old} and {new} of all)",
                    cost(before, unit),
                    cost(now, unit)
                ),
                None => format!("{old} of all before, {new} now"),
            };
            format!("{function}{what} costs {times}: {costs}{called}{where_in}{unexplained}")
        }
    }
}

/// Describes whether a function is called more often, or each call takes longer: `it is called as
/// often, and each call takes 1.8 times as long`. Changes below `least` count as unchanged.
fn describe_calls(calls: CallChange, least: f64) -> Option<String> {
    let (often, each) = calls.often.zip(calls.each)?;
    let is_same = |ratio: f64| ratio.ln().abs() <= least.ln_1p();
    let often = match often {
        often if is_same(often) => "as often".to_owned(),
        often if often >= 2.0 => format!("{often:.1} times as often"),
        often if often >= 1.0 => format!("{:.0}% more often", (often - 1.0) * 100.0),
        often => format!("{:.0}% less often", (1.0 - often) * 100.0),
    };
    let each = match each {
        each if is_same(each) => "as long as before".to_owned(),
        each if each >= 2.0 => format!("{each:.1} times as long"),
        each if each >= 1.0 => format!("{:.0}% longer", (each - 1.0) * 100.0),
        each => format!("{:.0}% less time", (1.0 - each) * 100.0),
    };
    Some(format!("it is called {often}, and each call takes {each}"))
}

/// Names the callees that most of the change is in.
fn name_main_callees(finding: &Finding, names: &Names) -> String {
    let callees = finding.attributed_callees.iter().take(2);
    let name = |callee: &AttributedCallee| match &callee.function {
        Some(function) if callee.module == finding.module => names.short(function).to_owned(),
        Some(function) => format!("{} ({})", names.short(function), callee.module),
        None if callee.module == finding.module => "library code".to_owned(),
        None => callee.module.clone(),
    };
    let names: Vec<String> = callees.map(name).collect();
    match names[..] {
        [] => String::new(),
        _ => format!(", mostly in what it calls: {}", names.join(" and ")),
    }
}

/// The relation of a function to the replacement that it is part of.
pub(super) enum PairRelation {
    /// The function is one of the pair.
    Itself,
    /// The function is one of the pair, and their caller costs more; `None` stands for the whole
    /// program.
    UnderCostlierCaller(Option<FunctionName>),
    /// The function is called by this one of the pair.
    PartOf(FunctionName),
}

fn replaced(
    finding: &Finding,
    pair: &PairRelation,
    names: &Names,
    [function, old, new]: [&str; 3],
) -> String {
    let name = |function| names.name(function);
    match (pair, &finding.replaces, &finding.replaced_by) {
        (PairRelation::PartOf(top), Some(gone), _) => format!(
            "{function} is new, and costs {new} of all; it is a part of {}, which replaced {} at the \
             same cost",
            name(top),
            name(gone),
        ),
        (PairRelation::PartOf(top), None, Some(by)) => format!(
            "{function} is gone, and cost {old} of all; it was a part of {}, which {} replaced at \
             the same cost",
            name(top),
            name(by),
        ),
        (_, Some(gone), _) => format!(
            "{function} is new, and costs {new} of all; {}, which it replaced, cost as much, \
             and what calls it costs no more",
            name(gone),
        ),
        (_, None, Some(by)) => format!(
            "{function} is gone, and cost {old} of all; {}, which replaced it, costs as much",
            name(by),
        ),
        (_, None, None) => format!(
            "{function} is new, and costs {new} of all, as most functions are; what calls it costs no \
             more"
        ),
    }
}

/// Names the functions that grew because the finding's function calls them more often.
fn called(finding: &Finding, names: &Names) -> String {
    let more = match finding.kind {
        FindingKind::Improvement | FindingKind::Gone => "less",
        _ => "more",
    };
    let callees = finding.grown_callees.iter().take(2);
    let names: Vec<&str> = callees.map(|callee| names.name(callee)).collect();
    match names[..] {
        [] => String::new(),
        _ => format!("; it calls {} {more}", names.join(" and ")),
    }
}

/// Returns the reason of the verdict `regression`.
pub(super) fn worse(first: &Finding, count: usize) -> String {
    match count {
        1 => first.reason.clone(),
        2 => format!("{}; and 1 more function got worse", first.reason),
        _ => format!(
            "{}; and {} more functions got worse",
            first.reason,
            count - 1
        ),
    }
}

/// Returns the reason of the verdict `regression` if the sides have hardly a function in common.
/// Functions of both sides come first.
pub(super) fn worse_with_little_in_common(
    in_common: pair::Pair<f64>,
    worse: &[&Finding],
) -> String {
    format!(
        "most functions were replaced: those that both sides have hold {} of the baseline and {} of \
         the candidate; {}",
        percent(in_common.baseline),
        percent(in_common.candidate),
        worse_of_both(worse),
    )
}

/// Returns the reason of the verdict `regression` if most functions were replaced. Functions of
/// both sides come first.
pub(super) fn worse_with_most_replaced(replaced: Replaced, worse: &[&Finding]) -> String {
    format!("{}; {}", most_replaced(replaced), worse_of_both(worse))
}

/// Returns the reason of the verdict `clean` if most functions were replaced.
pub(super) fn clean_with_most_replaced(replaced: Replaced, clean: &str) -> String {
    format!("{}; of what both have, {clean}", most_replaced(replaced))
}

fn most_replaced(Replaced { gone, new, stayed }: Replaced) -> String {
    format!(
        "most functions were replaced: of those that cost most, {gone} are gone, {new} are new and \
         {stayed} are on both sides"
    )
}

/// Describes the function or caller of both sides that got worse and has the largest share.
fn worse_of_both(worse: &[&Finding]) -> String {
    let itself = worse
        .iter()
        .filter(|f| f.kind == FindingKind::Regression)
        .map(|f| {
            let total = &f.total;
            (&f.function, total.candidate_share, total.change)
        });
    let callers = worse.iter().flat_map(|f| &f.affected_callers);
    let callers = callers.map(|c| (&c.function, c.candidate_share, c.change));
    let on_both = itself
        .chain(callers)
        .filter_map(|(f, share, change)| Some((f, share, change?)));
    // Of equal shares, the first is used, which is innermost.
    let largest = on_both.reduce(|a, b| if b.1 > a.1 { b } else { a });
    match (largest, worse) {
        (Some((function, _, change)), _) => {
            format!(
                "of what both have, {} costs {}",
                shorten_name(function, MAX_NAME_WIDTH),
                times(change)
            )
        }
        (None, [first, ..]) => first.reason.clone(),
        (None, []) => String::new(),
    }
}

/// Returns the reason of the verdict `clean`. `ignored` is the number of findings that are worse
/// but ignored.
pub(super) fn clean(findings: usize, ignored: usize, options: &CompareOptions) -> String {
    let others = match findings - ignored {
        0 => "",
        _ => "; the other changes are no worse",
    };
    let but = match ignored {
        0 => String::new(),
        1 => "but for 1 that is ignored, ".to_owned(),
        _ => format!("but for {ignored} that are ignored, "),
    };
    format!(
        "{but}no function got slower by {}% or more that holds {} of all{others}",
        round_for_output(options.min_effect * 100.0),
        percent(options.min_share),
    )
}

/// Describes the functions that got slower under one assumption only.
pub(super) fn undecided(worse: usize) -> String {
    match worse {
        0 => String::new(),
        1 => "; whether 1 function did depends on how much work the runs did".to_owned(),
        _ => format!("; whether {worse} functions did depends on how much work the runs did"),
    }
}

/// Returns the reason if the sides have no event in common.
pub(super) fn no_shared_event(baseline: &[String], candidate: &[String]) -> String {
    let list = |events: &[String]| match events {
        [] => "nothing".to_owned(),
        _ => events.join(", "),
    };
    format!(
        "the sides share no event: the baseline measured {}, the candidate {}; record both \
         with the same one",
        list(baseline),
        list(candidate)
    )
}

/// Returns the reason if the sides have hardly a function in common.
pub(super) fn little_in_common(in_common: pair::Pair<f64>) -> String {
    format!(
        "the sides have hardly a function in common: those that both have hold {} of the baseline \
         and {} of the candidate, and cost no more; are these two builds of one program, both with \
         symbols?",
        percent(in_common.baseline),
        percent(in_common.candidate),
    )
}

/// Returns the reason if a side, or both, have no runs.
pub(super) fn no_runs(baseline: bool, candidate: bool) -> String {
    let sides = match (baseline, candidate) {
        (true, true) => "neither side has",
        (true, false) => "the baseline does not have",
        _ => "the candidate does not have",
    };
    format!("{sides} any runs to compare")
}

/// Returns the reason if each side is one short trace of calls.
pub(super) fn one_trace_a_side() -> String {
    "one short run per side does not show whether calls take longer, because threads are \
     suspended for different times in each run; record two or more runs of each side"
        .to_owned()
}

/// Returns the reason if a side has no samples.
pub(super) fn no_samples(side: &str) -> String {
    format!("the {side} has no samples")
}

/// Describes the samples and runs needed to detect the smallest effect.
pub(super) fn needed(needed: Needed, min_effect: f64, in_parts: bool) -> String {
    let unit = if in_parts { "parts" } else { "runs" };
    format!(
        "to see a change of {}% in a function that holds a tenth takes about {} samples and {} \
         {unit} a side",
        round_for_output(min_effect * 100.0),
        needed.samples,
        needed.runs,
    )
}

/// Returns the warning if a metric that should count is missing.
pub(super) fn no_such_metric(name: &str) -> String {
    format!("The metric {name} should count, but not every side has it.")
}
