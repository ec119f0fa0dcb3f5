//! The sentences that a person reads first.

use super::normalise::Replaced;
use super::pair;
use super::result::{
    AttributedCallee, Basis, CallChange, CompareOptions, Finding, FindingKind, FunctionName,
    Needed, rounded,
};

/// A warning of counts without stacks.
pub(super) const NO_STACKS: &str = "These are counts by function, without stacks: of callers, paths and lines nothing \
    is known, and a function with another name is a new one and a gone one.";

/// Characters of a name in a sentence; the finding has the whole name.
const LONGEST_NAME: usize = 60;

/// A function's name, with its middle cut out where it is long.
fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name.to_owned();
    }
    let half = LONGEST_NAME / 2;
    let head: String = name.chars().take(half).collect();
    let tail: String = name.chars().skip(length - half).collect();
    format!("{head}…{tail}")
}

/// A ratio in words: `10.2 times as much`, `37 % more`, `12 % less`.
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

/// The reason of a finding. `in_callees` is whether most of its change is in what is
/// attributed to it, `unchanged` whether its own code is the same on both sides, and `pair` what it has
/// to do with the function that it replaced, or that replaced it. A change of less than `least` is none.
pub(super) fn finding(
    finding: &Finding,
    in_callees: bool,
    unchanged: bool,
    pair: &Pair,
    least: f64,
) -> String {
    let function = short(&finding.function);
    let (change, what) = match finding.basis {
        Basis::AttributedSelf => (&finding.attributed_self, ""),
        Basis::Total | Basis::Calls => (&finding.total, " with what it calls"),
    };
    let (old, new) = (
        percent(change.baseline_share),
        percent(change.candidate_share),
    );
    let where_in = match in_callees {
        true => mostly_in(finding),
        false => String::new(),
    };
    // What other findings explain is not its own.
    let alone = match finding.basis {
        Basis::Total => " by itself",
        Basis::AttributedSelf | Basis::Calls => "",
    };
    match (finding.kind, &finding.moved_from, &finding.moved_to) {
        (FindingKind::Moved, Some(from), _) => format!(
            "the cost of {function}, {} of all, was in {} before, and{alone} is not more than it was",
            percent(finding.total.candidate_share),
            name(from),
        ),
        (FindingKind::Moved, None, to) => format!(
            "the cost of {function}, {} of all before, is in {} now, and{alone} is not less than it was",
            percent(finding.total.baseline_share),
            to.as_ref().map(name).unwrap_or_default(),
        ),
        (FindingKind::Replaced, ..) => replaced(finding, pair, &function, &old, &new),
        (FindingKind::New, ..) => {
            let replaces = match (&finding.replaces, pair) {
                (Some(gone), Pair::UnderDearer(caller)) => format!(
                    "; {}, which is gone from its place, cost as much, but {} costs more",
                    name(gone),
                    caller.as_ref().map_or("the program".to_owned(), name),
                ),
                _ => String::new(),
            };
            format!("{function} is new, and costs {new} of all{what}{where_in}{replaces}")
        }
        (FindingKind::Gone, ..) => {
            let replaced = match &finding.replaced_by {
                Some(by) => format!("; {} is new at its place", name(by)),
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
                Basis::Calls => called(finding),
            };
            let called = finding
                .calls
                .and_then(|calls| how_called(calls, least))
                .map_or(String::new(), |called| format!("; {called}"));
            format!(
                "{function}{what} costs {times}: {old} of all before, {new} \
                 now{called}{where_in}{unexplained}"
            )
        }
    }
}

/// Whether a function costs more as it is called more often, or as each call takes longer: `it is called as often, and
/// each call takes 1.8 times as long`. What differs by less than `least` is as it was.
fn how_called(calls: CallChange, least: f64) -> Option<String> {
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

/// What the finding's function calls and spends most of its change in.
fn mostly_in(finding: &Finding) -> String {
    let callees = finding.attributed_callees.iter().take(2);
    let name = |callee: &AttributedCallee| match &callee.function {
        Some(function) if callee.module == finding.module => short(function),
        Some(function) => format!("{} ({})", short(function), callee.module),
        None if callee.module == finding.module => "library code".to_owned(),
        None => callee.module.clone(),
    };
    let names: Vec<String> = callees.map(name).collect();
    match names[..] {
        [] => String::new(),
        _ => format!(", mostly in what it calls: {}", names.join(" and ")),
    }
}

/// What a replaced function has to do with the pair that it is of.
pub(super) enum Pair {
    /// It is one of the two.
    Itself,
    /// It is one of the two, and their caller costs more; `None` where that is the program.
    UnderDearer(Option<FunctionName>),
    /// It is called by this one of the two.
    PartOf(FunctionName),
}

fn replaced(finding: &Finding, pair: &Pair, function: &str, old: &str, new: &str) -> String {
    match (pair, &finding.replaces, &finding.replaced_by) {
        (Pair::PartOf(top), Some(gone), _) => format!(
            "{function} is new, and costs {new} of all; it is a part of {}, which replaced {} at the \
             same cost",
            name(top),
            name(gone),
        ),
        (Pair::PartOf(top), None, Some(by)) => format!(
            "{function} is gone, and cost {old} of all; it was a part of {}, which {} replaced at \
             the same cost",
            name(top),
            name(by),
        ),
        (_, Some(gone), _) => format!(
            "{function} is new, and costs {new} of all; {}, which is gone from its place, cost as \
             much, and what calls it costs no more",
            name(gone),
        ),
        (_, None, Some(by)) => format!(
            "{function} is gone, and cost {old} of all; {}, which is new at its place, costs as much",
            name(by),
        ),
        (_, None, None) => format!(
            "{function} is new, and costs {new} of all, as most functions are; what calls it costs no \
             more"
        ),
    }
}

/// The functions that grew because the finding's calls them more.
fn called(finding: &Finding) -> String {
    let more = match finding.kind {
        FindingKind::Improvement | FindingKind::Gone => "less",
        _ => "more",
    };
    let names: Vec<String> = finding.grown_callees.iter().take(2).map(name).collect();
    match names[..] {
        [] => String::new(),
        _ => format!("; it calls {} {more}", names.join(" and ")),
    }
}

fn name(function: &FunctionName) -> String {
    short(&function.function)
}

/// The reason of the verdict `regression`.
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

/// The reason of the verdict `regression` where the sides have hardly a function in common: what both
/// have is judged first.
pub(super) fn worse_of_strangers(in_common: pair::Pair<f64>, worse: &[&Finding]) -> String {
    format!(
        "most functions were replaced: those that both sides have hold {} of the baseline and {} of \
         the candidate; {}",
        percent(in_common.baseline),
        percent(in_common.candidate),
        worse_of_both(worse),
    )
}

/// The reason of the verdict `regression` where most functions were replaced: what both sides have is
/// judged first.
pub(super) fn worse_of_few(replaced: Replaced, worse: &[&Finding]) -> String {
    format!("{}; {}", most_replaced(replaced), worse_of_both(worse))
}

/// The reason of the verdict `clean` where most functions were replaced.
pub(super) fn clean_of_few(replaced: Replaced, clean: &str) -> String {
    format!("{}; of what both have, {clean}", most_replaced(replaced))
}

fn most_replaced(Replaced { gone, new, stayed }: Replaced) -> String {
    format!(
        "most functions were replaced: of those that cost most, {gone} are gone, {new} are new and \
         {stayed} are on both sides"
    )
}

/// What got worse that both sides have: the function or caller with the largest share.
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
    // Of equals the first: it is innermost.
    let largest = on_both.reduce(|a, b| if b.1 > a.1 { b } else { a });
    match (largest, worse) {
        (Some((function, _, change)), _) => {
            format!(
                "of what both have, {} costs {}",
                short(function),
                times(change)
            )
        }
        (None, [first, ..]) => first.reason.clone(),
        (None, []) => String::new(),
    }
}

/// The reason of the verdict `clean`; of the findings, so many are worse but ignored.
pub(super) fn clean(findings: usize, ignored: usize, options: &CompareOptions) -> String {
    let others = match findings - ignored {
        0 => "",
        _ => "; what did change, is no worse",
    };
    let but = match ignored {
        0 => String::new(),
        1 => "but for 1 that is ignored, ".to_owned(),
        _ => format!("but for {ignored} that are ignored, "),
    };
    format!(
        "{but}no function got slower by {}% or more that holds {} of all{others}",
        rounded(options.min_effect * 100.0),
        percent(options.min_share),
    )
}

/// The reason where no event is common.
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

/// The reason where the sides have hardly a function in common.
pub(super) fn strangers(in_common: pair::Pair<f64>) -> String {
    format!(
        "the sides have hardly a function in common: those that both have hold {} of the baseline \
         and {} of the candidate, and cost no more; are these two builds of one program, both with \
         symbols?",
        percent(in_common.baseline),
        percent(in_common.candidate),
    )
}

/// The reason where a side, or both, have no runs.
pub(super) fn no_runs(baseline: bool, candidate: bool) -> String {
    let sides = match (baseline, candidate) {
        (true, true) => "neither side has",
        (true, false) => "the baseline does not have",
        _ => "the candidate does not have",
    };
    format!("{sides} any runs to compare")
}

/// The reason where each side is one trace of calls, and these are short.
pub(super) fn one_trace_a_side() -> String {
    "one short run a side does not say whether calls take longer, as how long threads stand still differs from run to run; \
     record two or more of each"
        .to_owned()
}

/// The reason where a side has no samples.
pub(super) fn no_samples(side: &str) -> String {
    format!("the {side} has no samples")
}

/// What it takes to see the smallest effect.
pub(super) fn needed(needed: Needed, min_effect: f64, in_parts: bool) -> String {
    let unit = if in_parts { "parts" } else { "runs" };
    format!(
        "to see a change of {}% in a function that holds a tenth takes about {} samples and {} \
         {unit} a side",
        rounded(min_effect * 100.0),
        needed.samples,
        needed.runs,
    )
}

/// The warning where a metric that is to count cannot.
pub(super) fn no_such_metric(name: &str) -> String {
    format!("The metric {name} is to count, but not every side has it.")
}
