//! The thread for slow work: watches and loads the store, compares builds, and draws pages.

use crate::args::PolicyArg;
use crate::args::drawing::draw_flame;
use crate::runtime::error::sentence;
use crate::runtime::source_choices::Chosen;
use crate::runtime::{
    CliError, Machine, StorePath, WORDS, browser, context, next_steps, output, panics,
};
use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};
use sto_core::id::{BuildId, ProfileId};
use sto_core::store::{Snapshot, StateId, Store, StoreError};
use sto_query::check::{Baseline, Check, CheckRequest};
use sto_query::internal::hot::{HotHistory, HotIndex, HotRequest, PlacedFiles, newest_of_branch};
use sto_query::internal::source::SourceTree;
use sto_query::policy::Policy;
use sto_query::questions::{FlameRequest, ask};
use sto_query::render::flame::FlameOptions;
use sto_query::results::Side;
use sto_query::select::{SelectError, first_recorded};
use sto_query::sources::{BuildRef, Filter, Sources};
use sto_query::{QueryError, render};

/// Interval at which files are checked for changes, so that a new profile is shown within a second.
const POLL: Duration = Duration::from_millis(400);

/// Number of earlier builds in hovers.
const BUILDS_BEFORE: usize = 19;

/// The build and runs to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) build: Option<String>,
    pub(super) baseline: Option<String>,
    pub(super) filter: Filter,
}

pub(super) enum Job {
    /// Show this build from now on.
    Show(Wanted),
    /// Match source files again.
    Place(Chosen),
    /// Draw a page.
    Draw(Page),
    /// List the builds of the store.
    List,
}

/// A page to draw.
pub(super) enum Page {
    /// The flame graph of the shown build, or of its stacks with this function.
    FlameGraph(Option<String>),
    /// The findings of the comparison.
    Difference,
}

/// A result of the worker.
pub(super) enum Report {
    /// New costs; later reports refer to them.
    Costs(Arc<HotIndex>, PlacedFiles),
    /// The new places of source files.
    Placed(PlacedFiles),
    /// Costs of functions in earlier builds.
    History(HotHistory),
    /// The comparison with the baseline.
    Compared(Check),
    /// The builds in the store, newest first, as commands name them.
    Builds(Vec<String>),
    /// The path of a drawn page.
    Drawn(PathBuf),
    /// A failure. `is_expected` is set if the store does not exist yet or is empty.
    Failed { message: String, is_expected: bool },
}

pub(super) struct Worker<R> {
    store: StorePath,
    root: PathBuf,
    report: R,
    wanted: Wanted,
    chosen: Chosen,
    watched: Option<Watched>,
    /// The store, which stays open as long as its state is used.
    opened: Option<Store>,
    loaded: Option<Loaded>,
    /// The folder for pages, once there is one.
    pages: Option<PathBuf>,
    /// The last failure, which is reported only once.
    failed: Option<String>,
}

/// The loaded data.
struct Loaded {
    from: LoadedFrom,
    /// The state of the store.
    sources: Sources,
    index: Arc<HotIndex>,
    /// The request of the comparison, if there is a baseline.
    compared: Option<CheckRequest>,
}

/// Everything that loaded data depends on; it is loaded again when this changes.
#[derive(PartialEq)]
struct LoadedFrom {
    wanted: Wanted,
    named: BuildRef,
    builds: Vec<(BuildId, Vec<ProfileId>, Vec<String>)>,
    policy: Option<(Policy, Option<String>)>,
}

/// The last seen state of the store or the reason why it cannot be read, and the policy and git's log of `HEAD`, which
/// grows with every checkout.
#[derive(PartialEq)]
struct Watched {
    store: Result<StateId, String>,
    files: [Option<(u64, u64, SystemTime)>; 2],
}

impl<R: Fn(Report)> Worker<R> {
    pub(super) fn new(store: StorePath, root: PathBuf, chosen: Chosen, report: R) -> Self {
        Worker {
            store,
            root,
            report,
            wanted: Wanted::default(),
            chosen,
            watched: None,
            opened: None,
            loaded: None,
            pages: None,
            failed: None,
        }
    }

    /// Works until the sender of jobs is dropped.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let done = match jobs.recv_timeout(POLL) {
                Ok(job) => panics::catch(|| self.work(job)),
                Err(RecvTimeoutError::Timeout) => panics::catch(|| self.reload_if_changed()),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if let Err(error) = done {
                self.report_error(&error);
            }
        }
    }

    fn report_error(&mut self, error: &CliError) {
        let message = sentence(error);
        if self.failed.as_ref() == Some(&message) {
            return;
        }
        let is_expected = match error {
            CliError::Store(error) => matches!(error, StoreError::NotFound { .. }),
            CliError::Query(QueryError::Select(error)) => matches!(error, SelectError::EmptyStore),
            _ => false,
        };
        self.failed = Some(message.clone());
        (self.report)(Report::Failed {
            message,
            is_expected,
        });
    }

    fn work(&mut self, job: Job) -> Result<(), CliError> {
        match job {
            Job::Show(wanted) => {
                self.wanted = wanted;
                self.watched = Some(self.watched_now());
                self.load()
            }
            Job::Place(chosen) => {
                self.chosen = chosen;
                if let Some(loaded) = &self.loaded {
                    (self.report)(Report::Placed(self.placed(&loaded.index)));
                }
                Ok(())
            }
            Job::Draw(page) => {
                let drawn = self.draw(&page)?;
                (self.report)(Report::Drawn(drawn));
                Ok(())
            }
            Job::List => {
                let mut builds = self.snapshot()?.builds()?;
                builds.retain(|stored| !stored.profiles.is_empty());
                builds.sort_by_key(|stored| Reverse(first_recorded(stored)));
                let names = builds
                    .iter()
                    .map(|s| format!("{}@{}", s.build.executable, s.build.version));
                (self.report)(Report::Builds(names.collect()));
                Ok(())
            }
        }
    }

    /// Loads data again if files changed. If the store is gone, the loaded data stays until the store is back.
    fn reload_if_changed(&mut self) -> Result<(), CliError> {
        let now = Some(self.watched_now());
        if now == self.watched {
            return Ok(());
        }
        self.watched = now;
        self.load()
    }

    fn watched_now(&mut self) -> Watched {
        let seen = |path: PathBuf| {
            let found = fs::metadata(path).ok()?;
            Some((found.ino(), found.len(), found.modified().ok()?))
        };
        let policy = PolicyArg::found().and_then(seen);
        let store = self.opened().and_then(Store::state);
        Watched {
            store: store.map_err(|error| error.to_string()),
            files: [policy, seen(self.root.join(".git/logs/HEAD"))],
        }
    }

    fn opened(&mut self) -> Result<&Store, StoreError> {
        match &mut self.opened {
            Some(store) => Ok(store),
            missing => Ok(missing.insert(self.store.open()?)),
        }
    }

    /// The current state of the store. Writers don't wait for it.
    fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        self.opened()?.snapshot()
    }

    fn load(&mut self) -> Result<(), CliError> {
        let snapshot = self.snapshot()?;
        let builds = snapshot.builds()?.into_iter().map(|stored| {
            let runs = stored.profiles.iter().map(|run| run.id);
            (stored.id, runs.collect(), stored.tags)
        });
        let builds = builds.collect();
        let sources = sources(snapshot);
        let named = match &self.wanted.build {
            Some(build) => BuildRef::from(&**build),
            None => newest_of_branch(&sources)?,
        };
        let mut request = CheckRequest::default();
        PolicyArg::default().ask(&mut request)?;
        let from = LoadedFrom {
            wanted: self.wanted.clone(),
            named: named.clone(),
            builds,
            policy: Some((request.policy.clone(), request.policy_name.clone())),
        };
        if let Some(known) = self.loaded.as_mut().filter(|known| known.from == from) {
            // The file does not have to keep the older state.
            known.sources = sources;
            return Ok(());
        }
        self.failed = None;
        let mut wanted = HotRequest::default();
        wanted.named = Some(named.clone());
        wanted.filter = self.wanted.filter.clone();
        let index = Arc::new(HotIndex::load(&sources, &wanted)?);
        (self.report)(Report::Costs(index.clone(), self.placed(&index)));
        let loaded = self.loaded.insert(Loaded {
            from,
            sources,
            index,
            compared: None,
        });
        let history = HotHistory::load(&loaded.sources, &loaded.index, BUILDS_BEFORE)?;
        let before = history.baseline().map(|build| build.runs.clone());
        (self.report)(Report::History(history));
        request.baseline = match (&self.wanted.baseline, &request.policy.baseline) {
            (Some(baseline), _) => Some(Baseline::OfCandidate(baseline.clone())),
            (None, Some(_)) => None,
            (None, None) => match before {
                Some(before) => Some(Baseline::Any(before)),
                None => return Ok(()),
            },
        };
        request.candidate = named;
        request.event.clone_from(&self.wanted.filter.event);
        request.benchmarks = self.wanted.filter.benchmarks.clone();
        let found = ask(&loaded.sources, &request, &context())?;
        loaded.compared = Some(request);
        (self.report)(Report::Compared(found));
        Ok(())
    }

    fn placed(&self, index: &HotIndex) -> PlacedFiles {
        let tree = SourceTree::scan(&self.root, index.files().map(|file| file.path));
        index.place_files(&tree, &self.chosen)
    }

    /// Draws a page into a folder that only this user can read. The folder is not removed, because the browser may read the page again.
    fn draw(&mut self, page: &Page) -> Result<PathBuf, CliError> {
        let loaded = self.loaded.as_ref().ok_or(CliError::NothingShown)?;
        let sources = &loaded.sources;
        let (name, drawn) = match page {
            Page::FlameGraph(focus) => {
                let mut request = FlameRequest::default();
                request.named = loaded.from.named.clone();
                request.filter = loaded.from.wanted.filter.clone();
                request.stacks.focus.clone_from(focus);
                let options = FlameOptions {
                    as_page: true,
                    ..FlameOptions::default()
                };
                let drawn = draw_flame(ask(sources, &request, &context())?, options)?;
                ("flame", drawn.drawing)
            }
            Page::Difference => {
                let compared = loaded.compared.as_ref().ok_or(QueryError::NoBaseline)?;
                let mut request = compared.clone();
                request.stacks = true;
                let mut check = ask(sources, &request, &context())?;
                for comparison in &mut check.comparisons {
                    let name = |side: &Side| format!("{}@{}", side.executable, side.build);
                    let sides = [&comparison.baseline, &comparison.candidate].map(name);
                    let sides = [&*sides[0], &*sides[1]];
                    next_steps::add_comparison_commands(comparison, &sides, &self.store.option());
                }
                ("comparison", render::html(&check.comparisons, WORDS))
            }
        };
        let folder = match &self.pages {
            Some(folder) => folder,
            None => self.pages.insert(browser::folder()?),
        };
        // Earlier pages stay, because the browser may read them again.
        let mut names = (1..).map(|number| folder.join(format!("{name}-{number}.html")));
        let path = names.find(|path| !path.exists());
        let path = path.expect("numbers do not end");
        output::write_file(&path, drawn.as_bytes())?;
        Ok(path)
    }
}

fn sources(snapshot: Snapshot) -> Sources {
    Sources::from_snapshot(snapshot).with_environment(Arc::new(Machine::here()))
}
