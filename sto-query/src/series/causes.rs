//! Compares the judged build with the build before, to find the functions that explain a change.

use crate::compare::{CompareOptions, Comparison, FindingKind, FunctionName, compare};
use crate::history::{FunctionIx, History, HistoryFunction, Judged};
use std::collections::BTreeMap;
use std::ops::Range;

/// The findings of a comparison, by function.
#[derive(Default)]
pub(super) struct Causes {
    by_function: BTreeMap<FunctionIx, Found>,
    /// The old functions of renamed ones.
    renamed: Vec<FunctionIx>,
}

/// The result of a comparison for one function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Its place among the functions that explain why a run costs more, if it is one.
    pub(super) rank: Option<usize>,
    /// Whether its cost moved from or to another function and did not change.
    pub(super) moved: bool,
    /// The function that had its cost before.
    pub(super) was: Option<FunctionIx>,
    /// The function that has its cost now.
    pub(super) is_now: Option<FunctionIx>,
    /// Whether `was` is the same function under its old name.
    pub(super) renamed: bool,
}

impl Causes {
    /// Compares the judged runs with the build before, as `find-regressions` does. If there is only one build,
    /// its judged run is compared with those before it.
    pub(super) fn new(history: &History, judged: &Judged, min_share: f64) -> Causes {
        let build = |run: usize| &history.runs[run].build;
        let is_one_build = build(judged.window.start) == build(judged.newest());
        let last = judged.builds.last().filter(|_| !is_one_build);
        let baseline = last.unwrap_or(&judged.window).clone();
        let options = CompareOptions {
            min_share,
            matching: history.matching,
            ..CompareOptions::default()
        };
        let views = [baseline.clone(), judged.runs.clone()].map(|runs| history.view(runs));
        // The thresholds are valid, so this only fails if a metric that normalises costs is missing, and none does.
        let compared = compare(&views[0], &views[1], &options);
        compared.map_or_else(
            |_| Causes::default(),
            |comparison| {
                Causes::from_comparison(&comparison, history, [baseline, judged.runs.clone()])
            },
        )
    }

    fn from_comparison(
        comparison: &Comparison,
        history: &History,
        sides: [Range<usize>; 2],
    ) -> Causes {
        let mut causes = Causes::default();
        let [before, now] = sides.map(|runs| functions_in(history, runs));
        for (rank, finding) in comparison.findings.iter().enumerate() {
            let Some(function) = find(history, &finding.function, &finding.module) else {
                continue;
            };
            let named = |name: &Option<FunctionName>| {
                let name = name.as_ref()?;
                find(history, &name.function, &name.module)
            };
            let was = named(&finding.moved_from);
            let renamed = was.is_some_and(|was| !now[was.get()] && !before[function.get()]);
            if renamed {
                causes.renamed.extend(was);
            }
            causes.by_function.insert(
                function,
                Found {
                    rank: finding.kind.is_worse().then_some(rank),
                    moved: finding.kind == FindingKind::Moved,
                    was,
                    is_now: named(&finding.moved_to),
                    renamed,
                },
            );
        }
        causes
    }

    /// Returns the result for a function; the default if it has no finding.
    pub(super) fn of_function(&self, function: FunctionIx) -> Found {
        self.by_function.get(&function).copied().unwrap_or_default()
    }

    /// Whether a function is the old one of a renamed function, whose samples include its own.
    pub(super) fn is_old_name(&self, function: FunctionIx) -> bool {
        self.renamed.contains(&function)
    }
}

/// Returns, for each function, whether any of these runs has samples of it.
fn functions_in(history: &History, runs: Range<usize>) -> Vec<bool> {
    let mut has = vec![false; history.functions.len()];
    for totals in runs.map(|run| history.totals(run)) {
        let totals = totals.iter().zip(&mut has);
        totals.for_each(|(total, has)| *has |= total.samples > 0);
    }
    has
}

/// Returns the function with this name. The functions of a history are sorted, and functions of the program's own file
/// have the program's name as their module.
fn find(history: &History, function: &str, module: &str) -> Option<FunctionIx> {
    let find = |module| {
        let wanted = (function, module);
        let order = |known: &HistoryFunction| (&*known.function, &*known.module).cmp(&wanted);
        history.functions.binary_search_by(order).ok()
    };
    let found = find(module).or_else(|| find(&history.executable));
    found.map(FunctionIx::new)
}
