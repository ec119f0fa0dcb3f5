//! Turns causes into findings, in the order of their importance.

use super::call_counts::CallCounts;
use super::cause::{Cause, Evidences};
use super::evidence::{Direction, Evidence, Tests};
use super::functions::FunctionIx;
use super::normalise::Replaced;
use super::pair::Pair;
use super::partner::Partner;
use super::paths::PathEnds;
use super::result::{
    AffectedCaller, Basis, CompareOptions, Finding, FindingKind, FunctionName, IgnoredFunction,
    TestedFunction, round_for_output,
};
use super::verdict::have_little_in_common;
use super::{callees, sentence};
use crate::functions::key_symbol;
use crate::text::Command;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Returns all findings, the most likely cause of a regression first. Also returns the share of
/// each side's samples that ended in functions that both sides have (renamed ones included), and,
/// if most functions were replaced, their numbers.
///
/// The numbers of the findings are those of `shown`.
pub(super) fn findings(
    evidences: &Evidences,
    shown: &Tests,
    causes: Vec<(Cause, Option<Partner>)>,
    owners: &[u32],
    called: Option<&CallCounts>,
) -> (Vec<Finding>, Pair<f64>, Option<Replaced>) {
    let setting = evidences.tests.setting;
    let (causes, partners): (Vec<Cause>, Vec<Option<Partner>>) = causes.into_iter().unzip();
    let in_common = if setting.within_runs {
        Pair::new(1.0, 1.0)
    } else {
        in_common(evidences, &causes, &partners)
    };
    let renamed = causes.iter().zip(&partners);
    let renamed = renamed.filter(|(_, partner)| matches!(partner, Some(Partner::Renamed(_))));
    let renamed: BTreeSet<usize> = renamed.map(|(cause, _)| cause.function.get()).collect();
    let stayed = &evidences.sizes.stayed;
    let replaced = stayed.most_replaced(|function| renamed.contains(&function));
    let is_possible = evidences.sizes.without_majority && !setting.within_runs;
    let replaced = replaced.filter(|_| is_possible);
    let judged = if have_little_in_common(in_common) || replaced.is_some() {
        Judged::Callers
    } else {
        Judged::Functions
    };
    let ends = PathEnds::new(evidences, &causes);
    let callees = callees::attributed_callees(evidences, owners, &causes);
    let ignored = ignored(setting.options);
    let mut findings: Vec<(f64, Finding, sentence::Details)> = Vec::with_capacity(causes.len());
    for ((cause, partner), callees) in causes.iter().zip(partners).zip(callees) {
        let mut finding = finding(evidences, shown, cause, partner, judged);
        let pair = pair(evidences, partner);
        if setting.has_stacks {
            (finding.call_paths, finding.more_call_paths) =
                ends.changed(evidences, cause, shown.setting);
            finding.caller_file = ends.caller_file(evidences, cause, shown.setting);
        }
        finding.weak = !setting.variations.estimated;
        finding.calls = called.map(|called| {
            let change = match cause.basis {
                Basis::AttributedSelf => &finding.attributed_self,
                Basis::Total | Basis::Calls => &finding.total,
            };
            called.change(cause.function, change.change)
        });
        let entries = ignored.get(&finding.function).into_iter().flatten();
        let entry = entries
            .into_iter()
            .find(|entry| entry.may_be_in(&finding.module));
        finding.ignored = entry.map(|entry| entry.why.clone());
        finding.attributed_callees = callees.named;
        let unchanged = evidences.functions.list[cause.function.get()].unchanged;
        let least = setting.options.min_effect;
        let details = sentence::Details {
            in_callees: callees.have_most,
            unchanged,
            pair,
            least,
            unit: setting.unit,
            period: if setting.within_runs { "second" } else { "run" },
        };
        findings.push((cause.explains.abs(), finding, details));
    }
    let named = findings
        .iter()
        .map(|(_, finding, details)| (finding, details));
    let names = sentence::Names::new(named);
    for (_, finding, details) in &mut findings {
        finding.reason = sentence::finding(finding, details, &names);
        finding.short_name = names.title(&finding.function).to_owned();
    }
    // Functions are sorted by name, causes by function, and the sort is stable.
    findings.sort_by(|(a_explains, a, _), (b_explains, b, _)| {
        (a.rank().cmp(&b.rank())).then(b_explains.total_cmp(a_explains))
    });
    let findings = findings
        .into_iter()
        .map(|(_, finding, _)| finding)
        .collect();
    (findings, in_common, replaced)
}

/// The functions whose changes can be regressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Functions,
    /// Only functions that both sides have, because most functions were replaced. A new function is
    /// a regression only if one of its callers costs more.
    Callers,
}

impl Judged {
    /// Whether a new function can be a regression.
    fn applies_to(self, evidences: &Evidences, cause: &Cause) -> bool {
        let costs_more = |function: &FunctionIx| {
            let total = &evidences.tests.total[function.get()];
            total.is_on_both_sides() && total.changed == Some(Direction::Up)
        };
        self == Judged::Functions || cause.affected.iter().any(costs_more)
    }
}

/// Returns the share of each side's samples that ended in functions that both sides have, renamed
/// functions included.
fn in_common(evidences: &Evidences, causes: &[Cause], partners: &[Option<Partner>]) -> Pair<f64> {
    let mut shares = Pair::default();
    let mut add = |evidence: &Evidence| {
        shares.baseline += evidence.share.baseline;
        shares.candidate += evidence.share.candidate;
    };
    let own = &evidences.tests.self_;
    let on_both = own.iter().filter(|own| own.is_on_both_sides());
    on_both.for_each(&mut add);
    for (cause, partner) in causes.iter().zip(partners) {
        let own = &own[cause.function.get()];
        if !own.is_on_both_sides() && matches!(partner, Some(Partner::Renamed(_))) {
            add(own);
        }
    }
    shares
}

/// Groups the ignored functions of the options by function key.
fn ignored(options: &CompareOptions) -> HashMap<String, Vec<&IgnoredFunction>> {
    let mut entries: HashMap<String, Vec<&IgnoredFunction>> = HashMap::new();
    for entry in &options.ignored {
        let key = key_symbol(&entry.function, options.matching).into_owned();
        entries.entry(key).or_default().push(entry);
    }
    entries
}

/// Describes how a cause relates to its partner, for the finding's sentence.
fn pair(evidences: &Evidences, partner: Option<Partner>) -> sentence::PairRelation {
    let name = |function| evidences.functions.name(function);
    match partner {
        Some(Partner::ReplacedUnder(_, caller)) => {
            sentence::PairRelation::UnderCostlierCaller(caller.map(name))
        }
        Some(Partner::PartOf(top, _)) => sentence::PairRelation::PartOf(name(top)),
        _ => sentence::PairRelation::Itself,
    }
}

fn finding(
    evidences: &Evidences,
    shown: &Tests,
    cause: &Cause,
    partner: Option<Partner>,
    judged: Judged,
) -> Finding {
    let Evidences {
        functions, tests, ..
    } = *evidences;
    let ix = cause.function.get();
    let function = &functions.list[ix];
    let kind = match partner {
        Some(Partner::Moved(_) | Partner::Renamed(_)) => FindingKind::Moved,
        Some(Partner::Replaced(_) | Partner::PartOf(..)) => FindingKind::Replaced,
        Some(Partner::ReplacedUnder(..)) | None => match kind(cause, &tests.total[ix]) {
            FindingKind::New if !judged.applies_to(evidences, cause) => FindingKind::Replaced,
            kind => kind,
        },
    };
    let (moved, replaced) = match partner {
        Some(Partner::Moved(other) | Partner::Renamed(other)) => {
            (Some(functions.name(other)), None)
        }
        Some(
            Partner::Replaced(other) | Partner::ReplacedUnder(other, _) | Partner::PartOf(_, other),
        ) => (None, Some(functions.name(other))),
        None => (functions.old_name(cause.function), None),
    };
    let (moved_to, moved_from, replaced_by, replaces) = match cause.direction {
        Direction::Up => (None, moved, None, replaced),
        Direction::Down if partner.is_none() => (None, moved, None, None),
        Direction::Down => (moved, None, replaced, None),
    };
    let [self_, attributed_self, total] = shown.changes(ix);
    // Moved cost makes no caller slower.
    let affected = match kind {
        FindingKind::Moved | FindingKind::Replaced => &[][..],
        _ => &cause.affected,
    };
    Finding {
        function: function.symbol.clone(),
        short_name: String::new(),
        instances: function.instances,
        module: function.module.clone(),
        file: function.file.clone(),
        line: None,
        caller_file: None,
        kind,
        reason: String::new(),
        basis: cause.basis,
        self_,
        attributed_self,
        total,
        call_paths: Vec::new(),
        more_call_paths: 0,
        runs: shown.run_costs(cause.basis, ix),
        affected_callers: affected
            .iter()
            .map(|&f| caller(evidences, shown, f))
            .collect(),
        attributed_callees: Vec::new(),
        grown_callees: grown_callees(evidences, cause),
        calls: None,
        moved_to,
        moved_from,
        replaces,
        replaced_by,
        weak: false,
        command: Command::default(),
        ignored: None,
    }
}

/// Returns all tested functions, the largest share of total first.
pub(super) fn tested_functions(evidences: &Evidences) -> Vec<TestedFunction> {
    let Evidences {
        functions, tests, ..
    } = *evidences;
    let share = |ix: usize| {
        let share = tests.total[ix].share;
        share.baseline.max(share.candidate)
    };
    let is_tested = |ix: &usize| {
        let counts = [&tests.self_, &tests.attributed, &tests.total];
        counts.iter().any(|tests| tests[*ix].tested.is_some())
    };
    let mut tested: Vec<usize> = (0..functions.list.len()).filter(is_tested).collect();
    // Functions are sorted by name, and the sort is stable.
    tested.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
    let report = |ix: usize| {
        let function = &functions.list[ix];
        let [self_, attributed_self, total] = tests.changes(ix);
        TestedFunction {
            function: function.symbol.clone(),
            module: function.module.clone(),
            file: function.file.clone(),
            self_,
            attributed_self,
            total,
        }
    };
    tested.into_par_iter().map(report).collect()
}

fn grown_callees(evidences: &Evidences, cause: &Cause) -> Vec<FunctionName> {
    let difference = |f: FunctionIx| evidences.tests.attributed[f.get()].difference().abs();
    let mut callees = cause.grown_callees.clone();
    callees.sort_by(|&a, &b| difference(b).total_cmp(&difference(a)));
    let named = callees.into_iter().filter(|&f| f != cause.function);
    named.map(|f| evidences.functions.name(f)).collect()
}

fn kind(cause: &Cause, total: &Evidence) -> FindingKind {
    match cause.direction {
        Direction::Up if total.samples.baseline == 0 => FindingKind::New,
        Direction::Up => FindingKind::Regression,
        Direction::Down if total.samples.candidate == 0 => FindingKind::Gone,
        Direction::Down => FindingKind::Improvement,
    }
}

fn caller(evidences: &Evidences, shown: &Tests, function: FunctionIx) -> AffectedCaller {
    let FunctionName {
        function: symbol,
        module,
    } = evidences.functions.name(function);
    let Evidence {
        share,
        means,
        samples,
        ..
    } = shown.total[function.get()];
    AffectedCaller {
        function: symbol,
        module,
        baseline_share: round_for_output(share.baseline),
        candidate_share: round_for_output(share.candidate),
        change: (samples.baseline > 0).then(|| round_for_output(means.candidate / means.baseline)),
    }
}
