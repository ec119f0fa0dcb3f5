//! Words, numbers and the order of findings, which are the same in all outputs.

use crate::compare::{
    Basis, Change, Comparison, Finding, Ignored, NormalisationMethod, Side, Verdict,
};
use crate::models::ModelChanges;
use crate::render::header::window_text;
use crate::select::shortened_revision;

pub(super) use crate::check::reason;
use crate::text::{Words, cost, format_count, printable, probability, quantity};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::units::{SampleType, Unit};

/// Returns the verdict as the heading of a report.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "REGRESSION",
        Verdict::Clean => "CLEAN",
        Verdict::Insufficient => "TOO LITTLE DATA",
    }
}

/// Returns the suffix of a weak verdict.
pub(super) fn weakness(weak: bool) -> &'static str {
    if weak { " (weak evidence)" } else { "" }
}

/// Returns `true` if no comparison has more than weak evidence.
pub(super) fn is_weak(comparisons: &[Comparison]) -> bool {
    !comparisons.is_empty() && comparisons.iter().all(has_weak_evidence)
}

/// Returns `true` if a comparison only has weak evidence. Evidence from curves is not weak.
pub(super) fn has_weak_evidence(comparison: &Comparison) -> bool {
    let has_grown = |curves: &ModelChanges| curves.verdict == Verdict::Regression;
    comparison.weak && !comparison.curves.as_ref().is_some_and(has_grown)
}

/// Returns the name of a comparison among several.
pub(super) fn label(comparison: &Comparison) -> &str {
    let benchmark = comparison.benchmark.as_deref();
    benchmark.unwrap_or(&comparison.candidate.executable)
}

/// Formats `EXE@BUILD`, escaped for display.
pub(super) fn side_name(side: &Side) -> String {
    format!("{}@{}", printable(&side.executable), printable(&side.build))
}

/// A finding with its comparison.
#[derive(Clone, Copy)]
pub(super) struct RankedFinding<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) finding: &'a Finding,
}

/// Returns the findings of all comparisons by rank, then by their order in the comparison.
pub(super) fn rank_findings(comparisons: &[Comparison]) -> Vec<RankedFinding<'_>> {
    let mut all: Vec<(u8, usize, RankedFinding)> = Vec::new();
    for comparison in comparisons {
        for (ix, finding) in comparison.findings.iter().enumerate() {
            let ranked = RankedFinding {
                comparison,
                finding,
            };
            all.push((finding.rank(), ix, ranked));
        }
    }
    // The sort is stable: equals stay in the order of their comparisons.
    all.sort_by_key(|(rank, ix, _)| (*rank, *ix));
    all.into_iter().map(|(_, _, ranked)| ranked).collect()
}

/// Number of regressions that a short output shows in full.
pub(super) const MAX_IN_FULL: usize = 5;
/// Maximum number of rows in a short output for regressions, moved costs, improvements and ignored
/// findings.
pub(super) const ROWS: [usize; 4] = [8, 3, 4, 3];

/// Returns the group of a finding: its index in [`ROWS`].
pub(super) fn group(finding: &Finding) -> usize {
    match finding.ignored {
        Some(_) => 3,
        None => usize::from(finding.kind.rank()),
    }
}

/// A warning of a comparison.
pub(super) struct Warning<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) text: &'a str,
}

/// Returns the distinct warnings of all comparisons, each with the first comparison that has it.
pub(super) fn warnings(comparisons: &[Comparison]) -> Vec<Warning<'_>> {
    let mut warnings: Vec<Warning> = Vec::new();
    for comparison in comparisons {
        for text in &comparison.warnings {
            if warnings.iter().all(|known| known.text != text) {
                warnings.push(Warning { comparison, text });
            }
        }
    }
    warnings
}

/// Returns the count that a finding is based on.
pub(super) fn basis(finding: &Finding) -> &Change {
    match finding.basis {
        Basis::AttributedSelf => &finding.attributed_self,
        Basis::Total | Basis::Calls => &finding.total,
    }
}

/// Returns the runs, samples, time of recording and origin of a side.
pub(super) fn facts(side: &Side, sample_type: Option<&SampleType>) -> String {
    let mut facts = runs(side, sample_type);
    if let Some(revision) = &side.revision {
        facts.push(format!("revision {}", shortened_revision(revision)));
    }
    if let Some(id) = &side.gnu_build_id {
        facts.push(format!("build id {id}"));
    }
    facts.join(", ")
}

/// Returns the runs and samples of a side.
pub(super) fn measured(side: &Side, sample_type: Option<&SampleType>) -> Vec<String> {
    let mut facts = vec![format_count(side.runs as u64, "run")];
    facts.extend(window_text(&side.windows()));
    if side.profiles.len() > side.runs {
        facts.push(format!("in {} parts", side.profiles.len()));
    }
    let mut samples = match side.calls {
        Some(calls) => format_count(calls, "call"),
        None => format_count(side.samples, "sample"),
    };
    if let Some(sample_type) = sample_type {
        let _ = write!(samples, " of {}", printable(&sample_type.event));
        if let Some(quantity) = quantity(side.value, sample_type.unit) {
            let _ = write!(samples, " ({quantity})");
        }
    }
    facts.push(samples);
    facts
}

/// Returns the runs and samples of a side, and when and where they were recorded.
fn runs(side: &Side, sample_type: Option<&SampleType>) -> Vec<String> {
    let mut facts = measured(side, sample_type);
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
    facts
}

/// Maximum number of undecided changes that an output lists for each assumption.
pub(super) const UNDECIDED: usize = 3;

/// The changes that were found under one assumption about the work of the runs, and not under the
/// other.
pub(super) struct Assumed<'a> {
    /// The changes, the largest first.
    pub(super) found: Vec<&'a Finding>,
    /// A sentence that introduces them, and names the option that decides.
    pub(super) head: String,
}

/// Returns the undecided changes by assumption.
pub(super) fn assumptions(comparison: &Comparison, words: Words) -> Vec<Assumed<'_>> {
    let by = [
        (
            NormalisationMethod::Tmm,
            "the runs did different amounts of work, and most functions are unchanged",
            Hint::UnequalWork,
        ),
        (
            NormalisationMethod::PerRun,
            "each run did the same work",
            Hint::PerRun,
        ),
    ];
    let assumed = by.into_iter().filter_map(|(method, assumption, hint)| {
        let of = comparison.undecided.iter().filter(|of| of.method == method);
        let found: Vec<&Finding> = of.map(|of| &of.finding).collect();
        let changed = format_count(found.len() as u64, "function");
        let head = format!(
            "Not counted: {changed} changed if {assumption}{}:",
            words.hint_phrase(" (", hint, ")")
        );
        (!found.is_empty()).then_some(Assumed { found, head })
    });
    assumed.collect()
}

/// Formats the costs of a run that a finding's counts stand for.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    unit: Unit,
    /// The period that they refer to: `a run` or `a second`.
    pub(super) of: &'static str,
}

impl Costs {
    pub(super) fn new(comparison: &Comparison) -> Costs {
        Costs {
            unit: comparison.unit(),
            of: if comparison.within_runs {
                "a second"
            } else {
                "a run"
            },
        }
    }

    /// Formats a cost: `4.1 ms`; `-` if only shares are known.
    pub(super) fn format(self, value: Option<f64>) -> String {
        value.map_or("-".to_owned(), |value| cost(value, self.unit))
    }

    /// Formats the costs of both sides: `4.1 ms → 4.4 ms`.
    pub(super) fn before_and_now(self, change: &Change) -> String {
        let [before, now] = [change.baseline_cost, change.candidate_cost].map(|of| self.format(of));
        format!("{before} → {now}")
    }
}

/// Formats the confidence interval of a change.
pub(super) fn interval(change: &Change) -> String {
    match change.change_low {
        None => "-".to_owned(),
        Some(low) => {
            let low = ratio(Some(low), true);
            format!("{low}..{}", ratio(change.change_high, true))
        }
    }
}

/// Formats a change: `9.8x`, `+12.0%`, `new`.
pub(crate) fn ratio(change: Option<f64>, is_in_candidate: bool) -> String {
    match change {
        None if is_in_candidate => "new".to_owned(),
        None => "-".to_owned(),
        Some(0.0) => "gone".to_owned(),
        Some(ratio) if ratio >= 2.0 => format!("{ratio:.1}x"),
        Some(ratio) => format!("{:+.1}%", (ratio - 1.0) * 100.0),
    }
}

/// Formats the false discovery rate of a change.
pub(super) fn q(change: &Change) -> String {
    change.q.map_or("-".to_owned(), probability)
}

/// Returns why a policy ignores a finding.
pub(super) fn ignore_reason(finding: &Finding) -> Option<String> {
    let Ignored { reason, expires } = finding.ignored.as_ref()?;
    Some(format!("does not count until {expires}, because: {reason}"))
}
