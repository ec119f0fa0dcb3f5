//! What the user wants to look at: selectors and an event in, stacks out.

use crate::args::benchmark::BenchmarkArg;
use crate::args::by::By;
use crate::runtime::error::CliError;
use crate::runtime::sources::{Baseline, Located, Sources};
use crate::runtime::store_path::StorePath;
use clap::{ArgGroup, Args};
use std::ffi::{OsStr, OsString};
use sto_core::store::{Store, StoreError};
use sto_core::units::SampleType;
use sto_query::compare::{Comparison, Lines, shared_event};
use sto_query::select::{Selection, one_benchmark};
use sto_query::tree::{ContextCosts, ThreadNames, View};

/// The profiles that a command is about.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Take the profiles of this build, profile or file: `[EXE@]BUILD`, ID or PATH
    selector: OsString,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,
}

/// The profiles that a command is about, of any number of builds.
#[derive(Debug, Args)]
pub(crate) struct SelectSeveralArgs {
    /// Take the profiles of these builds, profiles or files: `[EXE@]BUILD`, ID or PATH
    #[arg(required = true)]
    selector: Vec<OsString>,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,
}

/// The two groups of profiles that a command compares.
#[derive(Debug, Args)]
pub(crate) struct SelectPairArgs {
    /// Compare with this build, profile or file: `[EXE@]BUILD`, ID or PATH
    baseline: OsString,

    /// Judge this build, profile or file: `[EXE@]BUILD`, ID or PATH
    candidate: OsString,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,
}

/// The two sides of a check.
///
/// Which of the two positional arguments is missing is seen from their number: clap's own
/// `allow_missing_positional` takes nothing behind `--`.
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
}

#[derive(Debug, Args)]
struct EventArg {
    /// Look at this event instead of the one with most samples
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
}

/// Place in [`View::sample_types`] of the event that a command is about, once its arguments are
/// loaded.
pub(crate) const EVENT: usize = 0;

impl SelectArgs {
    /// Loads the stacks that the selector names.
    pub(crate) fn load(&self, store: &StorePath) -> Result<View, CliError> {
        self.event
            .keep(Sources::new(store)?.view(&self.selector, self.benchmark.name())?)
    }

    /// The same, below a root for each thread or label.
    pub(crate) fn load_by(&self, store: &StorePath, by: &By) -> Result<View, CliError> {
        let sources = Sources::new(store)?;
        let located = self.locate(&sources)?;
        let names = match located.selection.profiles.len() {
            1 => ThreadNames::NameAndId,
            _ => ThreadNames::Name,
        };
        self.event.load_by(&sources, &located, by, names)
    }

    /// The same, and what they cost in each thread and with each set of labels, where every run has these.
    pub(crate) fn load_with_contexts(
        &self,
        store: &StorePath,
    ) -> Result<(View, Option<ContextCosts>), CliError> {
        self.load_with(store, |store, view| view.context_costs(store))
    }

    /// The same, and what each line cost in each run.
    pub(crate) fn load_with_lines(
        &self,
        store: &StorePath,
    ) -> Result<(View, Vec<Lines>), CliError> {
        self.load_with(store, |store, view| match view.sample_types.get(EVENT) {
            Some(sample_type) => Lines::load_each(store, &view.selection, &sample_type.event),
            None => Ok(Vec::new()),
        })
    }

    /// The same, and what else the store has of them.
    fn load_with<T>(
        &self,
        store: &StorePath,
        more: impl FnOnce(&Store, &View) -> Result<T, StoreError>,
    ) -> Result<(View, T), CliError> {
        let sources = Sources::new(store)?;
        let located = self.locate(&sources)?;
        let store = sources.store_of(&located);
        let view = View::load_sum(store, located.selection.clone())?;
        let view = self.event.keep(view)?;
        let more = more(store, &view)?;
        Ok((view, more))
    }

    /// Finds the profiles, those of a file with threads and labels of samples.
    fn locate(&self, sources: &Sources) -> Result<Located, CliError> {
        let located = sources.located_with_contexts(&self.selector)?;
        located.of_one_benchmark(self.benchmark.name())
    }

    /// The same, with the runs apart.
    pub(crate) fn load_runs(&self, store: &StorePath) -> Result<View, CliError> {
        self.event
            .keep(Sources::new(store)?.runs(&self.selector, self.benchmark.name())?)
    }
}

impl SelectSeveralArgs {
    /// Loads the stacks that each selector names, all in one event: the first one's, unless one was
    /// asked for.
    pub(crate) fn load(&self, store: &StorePath) -> Result<Vec<View>, CliError> {
        let sources = Sources::new(store)?;
        let mut event = EventArg {
            event: self.event.event.clone(),
        };
        let load = |selector: &OsString| {
            let view = event.keep(sources.view(selector, self.benchmark.name())?)?;
            let first = view.sample_types.get(EVENT);
            event.event = event
                .event
                .take()
                .or(first.map(|first| first.event.clone()));
            Ok(view)
        };
        let views: Vec<View> = self
            .selector
            .iter()
            .map(load)
            .collect::<Result<_, CliError>>()?;
        one_benchmark(views.iter().map(|view| &view.selection))?;
        Ok(views)
    }
}

impl SelectPairArgs {
    /// Loads the stacks of the baseline and of the candidate.
    pub(crate) fn load(&self, sources: &Sources) -> Result<(View, View), CliError> {
        let (baseline, candidate) =
            sources.pair([&self.baseline, &self.candidate], self.benchmark.name())?;
        self.keep_event(baseline, candidate)
    }

    /// Leaves the event that was asked for, or else the one that both sides have.
    fn keep_event(&self, baseline: View, candidate: View) -> Result<(View, View), CliError> {
        let shared = || shared_event(&baseline, &candidate).map(str::to_owned);
        let event = EventArg {
            event: self.event.event.clone().or_else(shared),
        };
        Ok((event.keep(baseline)?, event.keep(candidate)?))
    }

    /// The same, below a root for each thread or label.
    pub(crate) fn load_by(&self, sources: &Sources, by: &By) -> Result<(View, View), CliError> {
        let selectors = [self.baseline.as_os_str(), self.candidate.as_os_str()];
        let [baseline, candidate] =
            sources.located_pair_with_contexts(selectors, self.benchmark.name())?;
        let load = |side: &Located| {
            View::load(sources.store_of(side), side.selection.clone()).map_err(CliError::from)
        };
        let views = self.keep_event(load(&baseline)?, load(&candidate)?)?;
        // Ids differ between the two.
        let apart =
            |view: &View, side| by.tell_apart(view, sources.store_of(side), ThreadNames::Name);
        Ok((apart(&views.0, &baseline)?, apart(&views.1, &candidate)?))
    }
}

impl SidesArgs {
    /// Names both sides.
    pub(crate) fn name(&mut self, baseline: OsString, candidate: OsString) {
        (self.any_baseline, self.candidate) = (Some(baseline), Some(candidate));
    }

    /// What is named as the baseline, if anything is, and as the candidate.
    fn named(&self) -> (Option<&OsStr>, &OsStr) {
        let first = self.any_baseline.as_deref();
        match &self.candidate {
            Some(candidate) => (first, candidate),
            None => (None, first.unwrap_or_default()),
        }
    }

    /// Lets a comparison say which command shows more, with the sides as they were named here.
    pub(crate) fn name_in(&self, comparison: &mut Comparison, store: &StorePath) {
        let mut options = Vec::new();
        if let Some(event) = &self.event.event {
            options.extend(["--event".to_owned(), event.clone()]);
        }
        if store.is_named {
            options.extend(["--store".to_owned(), store.folder.display().to_string()]);
        }
        let (baseline, candidate) = self.named();
        let baseline = match baseline {
            Some(named) => named.to_string_lossy().into_owned(),
            // A tag may stand for another build by then.
            None => {
                let side = &comparison.baseline;
                format!("{}@{}", side.executable, side.build)
            }
        };
        let candidate = candidate.to_string_lossy().into_owned();
        comparison.set_commands([&baseline, &candidate], &options);
    }

    /// Finds the profiles of both sides; `default` is the baseline where none is named.
    pub(crate) fn locate(
        &self,
        sources: &Sources,
        default: Option<&str>,
    ) -> Result<(Located, Located), CliError> {
        let of_candidate = self.baseline.as_deref().or(default.map(OsStr::new));
        let (named, candidate) = self.named();
        let baseline = match (named, of_candidate) {
            (Some(baseline), _) => Baseline::Any(baseline),
            (None, Some(baseline)) => Baseline::OfCandidate(baseline),
            (None, None) => return Err(CliError::NoBaseline),
        };
        sources.located_pair(&baseline, candidate)
    }

    /// Loads the stacks of some of the runs of both sides.
    pub(crate) fn load(
        &self,
        sources: &Sources,
        sides: [(&Located, Selection); 2],
    ) -> Result<(View, View), CliError> {
        let keep = |view: View| match view.runs[..] {
            [] => Ok(view),
            _ => self.event.keep(view),
        };
        let (baseline, candidate) = sources.views_of(sides)?;
        Ok((keep(baseline)?, keep(candidate)?))
    }
}

impl EventArg {
    fn load_by(
        &self,
        sources: &Sources,
        located: &Located,
        by: &By,
        names: ThreadNames,
    ) -> Result<View, CliError> {
        let store = sources.store_of(located);
        let view = self.keep(View::load(store, located.selection.clone())?)?;
        by.tell_apart(&view, store, names)
    }

    /// Leaves the event that was asked for as the only one; without a wish, the one with most
    /// samples is the first anyway.
    fn keep(&self, mut view: View) -> Result<View, CliError> {
        let Some(event) = &self.event else {
            return Ok(view);
        };
        let Some(place) = SampleType::place_of_event(event, &view.sample_types) else {
            let build = &view.selection.build;
            return Err(CliError::UnknownEvent {
                build: format!("{}@{}", build.executable, build.version),
                event: event.clone(),
                known: view
                    .sample_types
                    .into_iter()
                    .map(|known| known.event)
                    .collect(),
            });
        };
        view.sample_types = vec![view.sample_types.swap_remove(place)];
        for run in &mut view.runs {
            *run = vec![run.swap_remove(place)];
        }
        Ok(view)
    }
}
