//! Warnings about what weakens a comparison without invalidating it.

use super::pair::Pair;
use super::result::{Comparison, NormalisationMethod};
use super::runs::{profiles, replicates};
use super::sentence;
use super::unnamed::not_comparable;
use crate::tree::View;
use std::collections::BTreeSet;
use sto_core::model::Profile;
use sto_core::units::SampleType;

/// Difference between the shares of truncated stacks above which totals of callers are not
/// comparable.
const TRUNCATION: f64 = 0.1;
/// Share of lost events above which there is a warning.
const LOST: f64 = 0.01;
/// Relative difference between sampling periods above which there is a warning.
const PERIOD: f64 = 0.01;

/// Returns the warnings as sentences, the most important first.
pub(super) fn warnings(views: Pair<&View>, comparison: &Comparison) -> Vec<String> {
    let Comparison {
        baseline,
        candidate,
        sample_type,
        statistics,
        ..
    } = comparison;
    let mut warnings = Vec::new();
    let ids = views.map(|view| -> BTreeSet<_> {
        view.selection
            .profiles
            .iter()
            .map(|stored| stored.id)
            .collect()
    });
    if !comparison.within_runs && !ids.baseline.is_disjoint(&ids.candidate) {
        warnings.push("The same profile is on both sides.".to_owned());
    }
    differing(&mut warnings, "hosts", views, |profile| {
        profile.origin.host.as_deref()
    });
    differing(&mut warnings, "CPUs", views, |profile| {
        profile.origin.cpu.as_deref()
    });
    differing(&mut warnings, "architectures", views, |profile| {
        profile.origin.arch.as_deref()
    });
    differing(&mut warnings, "kernels", views, |profile| {
        profile.origin.kernel.as_deref()
    });
    differing(&mut warnings, "benchmarks", views, |profile| {
        profile.benchmark.as_deref()
    });
    warnings.extend(differing_labels(views));
    for (name, view) in [("baseline", views.baseline), ("candidate", views.candidate)] {
        let benchmarks: BTreeSet<_> = profiles(view).map(|p| p.benchmark.as_deref()).collect();
        if benchmarks.len() > 1 {
            warnings.push(format!(
                "The {name} mixes runs of different benchmarks: {}.",
                listed(benchmarks, "none")
            ));
        }
    }
    if views.baseline.runs.is_empty() || views.candidate.runs.is_empty() {
        return warnings;
    }
    warnings.extend(not_comparable(views, &comparison.thresholds));
    let events = views.map(|view| &view.sample_types);
    let lacks = |a: &[SampleType], b: &[SampleType]| a.iter().any(|t| t.index_in(b).is_none());
    let (old, new) = (events.baseline, events.candidate);
    if lacks(old, new) || lacks(new, old) {
        let list = |types: &[SampleType]| {
            let events: BTreeSet<&str> = types.iter().map(|t| &*t.event).collect();
            events.into_iter().collect::<Vec<_>>().join(", ")
        };
        warnings.push(format!(
            "The sides measured different events: {} against {}. Record both with the same events.",
            list(old),
            list(new)
        ));
    }
    for (name, view, side) in [
        ("baseline", views.baseline, baseline),
        ("candidate", views.candidate, candidate),
    ] {
        let runs = replicates(view).len();
        let empty = runs - side.profiles.len();
        if empty > 0 {
            warnings.push(format!(
                "{empty} of the {name}'s {runs} runs have no samples of the event; left out."
            ));
        }
        if side.lost_share > LOST {
            let lost = side.lost_share * 100.0;
            warnings.push(format!(
                "The {name} lost {lost:.0}% of its events while recording."
            ));
        }
    }
    if (baseline.truncated_share - candidate.truncated_share).abs() > TRUNCATION {
        let [old, new] = [baseline, candidate].map(|side| side.truncated_share * 100.0);
        warnings.push(format!(
            "The shares of truncated stacks differ: {old:.0}% of the baseline's and {new:.0}% of the \
             candidate's, so totals of callers are not comparable."
        ));
    }
    if let (Some(sample_type), Some(statistics)) = (sample_type, statistics) {
        let [old, new] = [baseline, candidate].map(|side| side.value as f64 / side.samples as f64);
        if (new / old).ln().abs() > PERIOD {
            let unit = sample_type.unit.name();
            warnings.push(format!(
                "The sides were sampled at different rates: a sample stands for {old:.0} {unit} in \
                 the baseline and {new:.0} {unit} in the candidate."
            ));
        }
        if statistics.tested.shared == 0 {
            warnings.push("The sides have no function in common.".to_owned());
        }
        let size = statistics.normalisation.candidate_size;
        let work_is_known = matches!(
            statistics.normalisation.method,
            NormalisationMethod::PerMetric(_)
        );
        if !work_is_known && size.ln().abs() > comparison.thresholds.min_effect.ln_1p() {
            let more = sentence::times(size);
            warnings.push(if comparison.within_runs {
                format!(
                    "Most functions cost {more} per second of the candidate, which is taken as \
                     unchanged: the amount of work seems to differ."
                )
            } else {
                format!(
                    "Most functions cost {more} per run of the candidate, which is taken as \
                     unchanged: the runs seem to differ in length. If each run did the same work, \
                     everything changed by that much."
                )
            });
        }
    }
    warnings
}

fn differing<'a>(
    warnings: &mut Vec<String>,
    what: &str,
    views: Pair<&'a View>,
    of: impl Fn(&'a Profile) -> Option<&'a str>,
) {
    let values = views.map(|view| profiles(view).filter_map(&of).collect::<BTreeSet<_>>());
    let Pair {
        baseline,
        candidate,
    } = values;
    if !baseline.is_empty() && !candidate.is_empty() && baseline != candidate {
        let list = |values: BTreeSet<&str>| values.into_iter().collect::<Vec<_>>().join(", ");
        let (old, new) = (list(baseline), list(candidate));
        warnings.push(format!(
            "The sides have different {what}: {old} against {new}."
        ));
    }
}

/// Compares labels, which describe what recordings do not contain: the CPU governor, the machine's
/// load, the data set. All differences are in one warning, because some labels (the branch) are
/// expected to differ.
fn differing_labels(views: Pair<&View>) -> Option<String> {
    let all = profiles(views.baseline).chain(profiles(views.candidate));
    let keys: BTreeSet<&String> = all.flat_map(|profile| profile.labels.keys()).collect();
    let differences = keys.into_iter().filter_map(|key| {
        let values = views.map(|view| {
            let values = profiles(view).map(|profile| profile.labels.get(key));
            values
                .map(|value| value.map(String::as_str))
                .collect::<BTreeSet<_>>()
        });
        let differ = values.baseline != values.candidate;
        let values = values.map(|values| listed(values, "nothing"));
        differ.then(|| format!("{key} ({} against {})", values.baseline, values.candidate))
    });
    let differences: Vec<String> = differences.collect();
    (!differences.is_empty()).then(|| {
        format!(
            "The sides have different labels: {}.",
            differences.join(", ")
        )
    })
}

fn listed(values: BTreeSet<Option<&str>>, none: &str) -> String {
    let values: Vec<&str> = values
        .into_iter()
        .map(|value| value.unwrap_or(none))
        .collect();
    values.join(", ")
}
