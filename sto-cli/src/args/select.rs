//! Options that select profiles: selectors, a benchmark, an event, and how functions are matched.

use super::quantities::{RunPart, run_time, run_window};
use clap::{ArgGroup, Args};
use std::ffi::{OsStr, OsString};
use sto_core::units::Nanoseconds;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::questions::{KeyOptions, Window};
use sto_query::sources::{BuildRef, Filter};

/// The profiles that a command uses.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Take the profiles of this build, profile or file: `[EXE@]BUILD`, ID or PATH
    selector: OsString,

    #[command(flatten)]
    filter: FilterArgs,
}

/// The profiles of one or more builds that a command uses.
#[derive(Debug, Args)]
pub(crate) struct SelectSeveralArgs {
    /// Take the profiles of these builds, profiles or files: `[EXE@]BUILD`, ID or PATH
    #[arg(required = true)]
    selector: Vec<OsString>,

    #[command(flatten)]
    filter: FilterArgs,
}

/// The two groups of profiles that a command compares.
#[derive(Debug, Args)]
pub(crate) struct SelectPairArgs {
    /// Compare with this build, profile or file: `[EXE@]BUILD`, ID or PATH
    baseline: OsString,

    /// Judge this build, profile or file: `[EXE@]BUILD`, ID or PATH; if it is missing, the --window of the baseline
    #[arg(required_unless_present = "window")]
    candidate: Option<OsString>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    windows: WindowsArgs,
}

/// The parts of each run that the two sides compare.
#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    /// Judge only this part of each run, such as 2.5s..4s after its first sample, compared with --against, or by
    /// default with the rest of the run; of two builds, compare this part of both
    #[arg(long, value_name = "FROM..TO", value_parser = run_window, allow_hyphen_values = true)]
    window: Option<RunPart>,

    /// Compare with this part of each run
    #[arg(long, value_name = "FROM..TO", value_parser = run_window, allow_hyphen_values = true)]
    #[arg(requires = "window")]
    against: Option<RunPart>,
}

/// The part of each run that a command uses.
#[derive(Debug, Args)]
pub(crate) struct WindowArgs {
    /// Take only samples from this time on, such as 2.5s or 800ms after the run's first sample
    #[arg(long, value_name = "TIME", value_parser = run_time, allow_hyphen_values = true)]
    from: Option<Nanoseconds>,

    /// Take only samples before this time
    #[arg(long, value_name = "TIME", value_parser = run_time, allow_hyphen_values = true)]
    to: Option<Nanoseconds>,

    /// Take only samples of this phase, by its number in `sto phases`
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["from", "to"])]
    phase: Option<usize>,
}

/// The two sides of a check.
///
/// The number of positional arguments shows which of the two is missing: clap's own
/// `allow_missing_positional` accepts nothing after `--`.
#[derive(Debug, Args)]
#[command(override_usage = "sto find-regressions [OPTIONS] [BASELINE] <CANDIDATE>")]
#[command(group(ArgGroup::new("sides").args(["any_baseline", "candidate"]).required(true).multiple(true)))]
pub(crate) struct SidesArgs {
    /// Compare with this build, tag, profile or file: `[EXE@]BUILD`, ID or PATH
    #[arg(value_name = "BASELINE")]
    any_baseline: Option<OsString>,

    /// Judge this build, tag, profile or file: `[EXE@]BUILD`, ID or PATH
    #[arg(value_name = "CANDIDATE")]
    candidate: Option<OsString>,

    /// Compare with this tag or build of the candidate's executable; by default with the baseline that the
    /// policy names
    #[arg(long, value_name = "TAG", conflicts_with = "candidate")]
    baseline: Option<OsString>,

    #[command(flatten)]
    event: EventArg,

    #[command(flatten)]
    windows: WindowsArgs,
}

/// The benchmark and the event that a command uses.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,
}

/// The benchmarks whose runs a command uses: runs of different benchmarks are not comparable.
#[derive(Debug, Args)]
pub(crate) struct BenchmarkArg {
    /// Take only runs of this benchmark, in which `*` stands for any text, or with an empty name only runs without one;
    /// required if there are runs of several benchmarks; may be given several times
    #[arg(long = "benchmark", value_name = "NAME")]
    pub(crate) benchmarks: Vec<String>,
}

/// The event that a command uses.
#[derive(Debug, Args)]
pub(crate) struct EventArg {
    /// Use this event instead of the one with most samples
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
}

impl SelectArgs {
    /// Converts the selector for the library.
    pub(crate) fn named(&self) -> BuildRef {
        (&self.selector).into()
    }

    /// The selector as the user typed it.
    pub(crate) fn selector(&self) -> &OsStr {
        &self.selector
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter()
    }
}

impl SelectSeveralArgs {
    /// Converts the selectors for the library.
    pub(crate) fn named(&self) -> Vec<BuildRef> {
        self.selector.iter().map(BuildRef::from).collect()
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter()
    }
}

impl SelectPairArgs {
    /// Converts both selectors for the library; without a candidate, both are the baseline.
    pub(crate) fn named(&self) -> [BuildRef; 2] {
        let candidate = self.candidate.as_ref().unwrap_or(&self.baseline);
        [&self.baseline, candidate].map(BuildRef::from)
    }

    pub(crate) fn filter(&self) -> Filter {
        let mut filter = self.filter.filter();
        filter.window = self.windows.candidate();
        filter
    }

    /// The baseline's part of each run, if it differs from the candidate's.
    pub(crate) fn against(&self) -> Option<Window> {
        self.windows.baseline(self.candidate.is_none())
    }
}

impl WindowsArgs {
    /// The part of each run that is judged.
    fn candidate(&self) -> Option<Window> {
        let RunPart { from, to } = self.window?;
        Some(Window::Time { from, to })
    }

    /// The part of each run that is the baseline, if it differs; the runs may be the same.
    fn baseline(&self, same_runs: bool) -> Option<Window> {
        match (self.against, self.window) {
            (Some(RunPart { from, to }), _) => Some(Window::Time { from, to }),
            (None, Some(RunPart { from, to })) if same_runs => Some(Window::Rest { from, to }),
            _ => None,
        }
    }
}

impl FilterArgs {
    /// Converts the arguments to a filter.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.benchmarks.clone_from(&self.benchmark.benchmarks);
        filter.event.clone_from(&self.event.event);
        filter
    }
}

impl WindowArgs {
    /// Restricts a filter to this part of each run.
    pub(crate) fn within(&self, mut filter: Filter) -> Filter {
        if self.from.is_some() || self.to.is_some() {
            filter.window = Some(Window::Time {
                from: self.from.unwrap_or_default(),
                to: self.to,
            });
        }
        if let Some(phase) = self.phase {
            filter.window = Some(Window::Phase(phase));
        }
        filter
    }
}

impl SidesArgs {
    /// Adds the two sides to the request.
    pub(crate) fn ask(&self, request: &mut CheckRequest) {
        let (baseline, candidate) = self.named();
        request.candidate = candidate.map_or_else(BuildRef::default, BuildRef::from);
        request.baseline = match (baseline, &self.baseline) {
            (Some(baseline), _) => Some(Baseline::Any(baseline.into())),
            (None, Some(named)) => Some(match named.to_str() {
                Some(name) => Baseline::OfCandidate(name.to_owned()),
                None => Baseline::Any(named.into()),
            }),
            // Two parts of the same runs are compared.
            (None, None) if self.has_one() => Some(Baseline::Any(request.candidate.clone())),
            (None, None) => None,
        };
        request.window = self.windows.candidate();
        request.against = self.windows.baseline(self.has_one());
        request.event.clone_from(&self.event.event);
    }

    /// Whether only one selector is given, to compare two parts of its runs.
    pub(crate) fn has_one(&self) -> bool {
        self.windows.window.is_some() && self.candidate.is_none() && self.baseline.is_none()
    }

    /// The options that repeat which parts of the runs are compared.
    pub(crate) fn window_options(&self) -> Vec<String> {
        let named = [
            ("--window", self.windows.window),
            ("--against", self.windows.against),
        ];
        let given = named
            .iter()
            .filter_map(|(option, part)| Some((option, (*part)?)));
        given
            .flat_map(|(option, part)| [(*option).to_owned(), part.to_string()])
            .collect()
    }

    /// The baseline and the candidate as the user typed them.
    pub(crate) fn named(&self) -> (Option<&OsString>, Option<&OsString>) {
        let first = self.any_baseline.as_ref();
        match &self.candidate {
            Some(candidate) => (first, Some(candidate)),
            None => (None, first),
        }
    }
}

/// How the cost of inlined code is counted.
#[derive(Debug, Args)]
pub(crate) struct InlinedArg {
    /// Count inlined functions separately from the functions that they were inlined into
    #[arg(long)]
    pub(crate) inlined: bool,
}

/// How functions are matched.
#[derive(Debug, Args)]
pub(crate) struct MatchingArgs {
    /// Match functions only by identical symbols, including the numbers and hashes that compilers add
    #[arg(long, conflicts_with = "ignore_template_arguments")]
    exact_symbols: bool,

    /// Match all instantiations of one template, generic function or type as one function
    #[arg(long)]
    ignore_template_arguments: bool,
}

impl MatchingArgs {
    /// Converts the arguments to matching options.
    pub(crate) fn options(&self) -> KeyOptions {
        let mut options = KeyOptions::default();
        options.exact_symbols = self.exact_symbols;
        options.ignore_template_arguments = self.ignore_template_arguments;
        options
    }
}
