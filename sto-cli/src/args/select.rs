//! What the user wants to look at: selectors, a benchmark, an event, and what counts as one function.

use super::quantities::{RunPart, run_time, run_window};
use clap::{ArgGroup, Args};
use std::ffi::{OsStr, OsString};
use sto_core::units::Nanoseconds;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::questions::{KeyOptions, Window};
use sto_query::sources::{Filter, Named};

/// The profiles that a command is about.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Take the profiles of this build, profile or file: `[EXE@]BUILD`, ID or PATH
    selector: OsString,

    #[command(flatten)]
    filter: FilterArgs,
}

/// The profiles that a command is about, of any number of builds.
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

    /// Judge this build, profile or file: `[EXE@]BUILD`, ID or PATH; without it, the --window of the first
    #[arg(required_unless_present = "window")]
    candidate: Option<OsString>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    windows: WindowsArgs,
}

/// The parts of the time of two sides.
#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    /// Judge only this part of each run, such as 2.5s..4s after its first sample, against --against, or else
    /// the rest of the run; of two builds, compare this part of both
    #[arg(long, value_name = "FROM..TO", value_parser = run_window, allow_hyphen_values = true)]
    window: Option<RunPart>,

    /// Compare with this part of each run
    #[arg(long, value_name = "FROM..TO", value_parser = run_window, allow_hyphen_values = true)]
    #[arg(requires = "window")]
    against: Option<RunPart>,
}

/// The part of each run's time that a command takes.
#[derive(Debug, Args)]
pub(crate) struct WindowArgs {
    /// Take only what was done from this time on, such as 2.5s or 800ms after the run's first sample
    #[arg(long, value_name = "TIME", value_parser = run_time, allow_hyphen_values = true)]
    from: Option<Nanoseconds>,

    /// Take only what was done before this time
    #[arg(long, value_name = "TIME", value_parser = run_time, allow_hyphen_values = true)]
    to: Option<Nanoseconds>,

    /// Take only what was done in this phase, by its number in `sto phases`
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["from", "to"])]
    phase: Option<usize>,
}

/// The two sides of a check.
///
/// Which of the two positional arguments is missing is seen from their number: clap's own
/// `allow_missing_positional` takes nothing after `--`.
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

    /// Compare with this tag or build of the candidate's executable; by default with what the policy
    /// names
    #[arg(long, value_name = "TAG", conflicts_with = "candidate")]
    baseline: Option<OsString>,

    #[command(flatten)]
    event: EventArg,

    #[command(flatten)]
    windows: WindowsArgs,
}

/// Which runs, and by which event.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,
}

/// The benchmark whose runs a command takes: those of several did different work.
#[derive(Debug, Args)]
pub(crate) struct BenchmarkArg {
    /// Take only runs of this benchmark, or with an empty name those that name none; needed where
    /// there are runs of several
    #[arg(long, value_name = "NAME")]
    pub(crate) benchmark: Option<String>,
}

/// The event that a command looks at.
#[derive(Debug, Args)]
pub(crate) struct EventArg {
    /// Look at this event instead of the one with most samples
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
}

impl SelectArgs {
    /// The same for the library.
    pub(crate) fn named(&self) -> Named {
        (&self.selector).into()
    }

    /// What was typed.
    pub(crate) fn selector(&self) -> &OsStr {
        &self.selector
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter()
    }
}

impl SelectSeveralArgs {
    /// The same for the library.
    pub(crate) fn named(&self) -> Vec<Named> {
        self.selector.iter().map(Named::from).collect()
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter()
    }
}

impl SelectPairArgs {
    /// The same for the library.
    pub(crate) fn named(&self) -> [Named; 2] {
        let candidate = self.candidate.as_ref().unwrap_or(&self.baseline);
        [&self.baseline, candidate].map(Named::from)
    }

    pub(crate) fn filter(&self) -> Filter {
        let mut filter = self.filter.filter();
        filter.window = self.windows.candidate();
        filter
    }

    /// What the baseline is of each run, where that is another part than the candidate.
    pub(crate) fn against(&self) -> Option<Window> {
        self.windows.baseline(self.candidate.is_none())
    }
}

impl WindowsArgs {
    /// What is judged of each run.
    fn candidate(&self) -> Option<Window> {
        let RunPart { from, to } = self.window?;
        Some(Window::Time { from, to })
    }

    /// What it is compared with, where that is another part; the runs may be the same.
    fn baseline(&self, same_runs: bool) -> Option<Window> {
        match (self.against, self.window) {
            (Some(RunPart { from, to }), _) => Some(Window::Time { from, to }),
            (None, Some(RunPart { from, to })) if same_runs => Some(Window::Rest { from, to }),
            _ => None,
        }
    }
}

impl FilterArgs {
    /// The same for the library.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.benchmark.clone_from(&self.benchmark.benchmark);
        filter.event.clone_from(&self.event.event);
        filter
    }
}

impl WindowArgs {
    /// The same filter for this part.
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
    /// Asks for these sides.
    pub(crate) fn ask(&self, request: &mut CheckRequest) {
        let (baseline, candidate) = self.named();
        request.candidate = candidate.map_or_else(Named::default, Named::from);
        request.baseline = match (baseline, &self.baseline) {
            (Some(baseline), _) => Some(Baseline::Any(baseline.into())),
            (None, Some(named)) => Some(match named.to_str() {
                Some(name) => Baseline::OfCandidate(name.to_owned()),
                None => Baseline::Any(named.into()),
            }),
            // Two parts of the same runs.
            (None, None) if self.has_one() => Some(Baseline::Any(request.candidate.clone())),
            (None, None) => None,
        };
        request.window = self.windows.candidate();
        request.against = self.windows.baseline(self.has_one());
        request.event.clone_from(&self.event.event);
    }

    /// Whether one selector alone is named, for two parts of its runs.
    pub(crate) fn has_one(&self) -> bool {
        self.windows.window.is_some() && self.candidate.is_none() && self.baseline.is_none()
    }

    /// The options that say which parts of the runs are compared.
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

    /// What is named as the baseline, if anything is, and as the candidate.
    pub(crate) fn named(&self) -> (Option<&OsString>, Option<&OsString>) {
        let first = self.any_baseline.as_ref();
        match &self.candidate {
            Some(candidate) => (first, Some(candidate)),
            None => (None, first),
        }
    }
}

/// Which function inlined code counts for.
#[derive(Debug, Args)]
pub(crate) struct InlinedArg {
    /// Count inlined functions separately from those that they were compiled into
    #[arg(long)]
    pub(crate) inlined: bool,
}

/// How functions are matched.
#[derive(Debug, Args)]
pub(crate) struct MatchingArgs {
    /// Match functions only by equal symbols, numbers and hashes of compilers included
    #[arg(long, conflicts_with = "ignore_template_arguments")]
    exact_symbols: bool,

    /// Match all instantiations of one template, generic function or type as one function
    #[arg(long)]
    ignore_template_arguments: bool,
}

impl MatchingArgs {
    /// The same for the library.
    pub(crate) fn options(&self) -> KeyOptions {
        let mut options = KeyOptions::default();
        options.exact_symbols = self.exact_symbols;
        options.ignore_template_arguments = self.ignore_template_arguments;
        options
    }
}
