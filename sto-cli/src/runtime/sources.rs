//! Where profiles come from: a build or profile in the store, or a file, which is read into a store
//! in memory.

use crate::runtime::environment::symbol_options;
use crate::runtime::error::CliError;
use crate::runtime::git::resolved;
use crate::runtime::progress::Progress;
use crate::runtime::store_path::StorePath;
use crate::runtime::ui;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sto_core::id::ProfileId;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::intern::SliceCount;
use sto_core::store::{Store, StoreError};
use sto_query::compare::{Comparison, Finding, Lines};
use sto_query::select::{
    SelectError, Selection, Selector, oldest_first, one_benchmark, select, whole,
};
use sto_query::tree::View;

/// The user's store, and one in memory for the files of one command.
pub(crate) struct Sources<'a> {
    folder: &'a Path,
    /// The store as it was when it was first looked at: one question is answered from one state.
    stored: OnceCell<Rc<Store>>,
    memory: Store,
}

/// Profiles of one build, and where they are.
pub(crate) struct Located {
    /// `None` where they were read from a file.
    store: Option<Rc<Store>>,
    pub(crate) selection: Selection,
}

/// What names a baseline.
pub(crate) enum Baseline<'a> {
    /// Any selector.
    Any(&'a OsStr),
    /// A build or tag of the candidate's executable; any selector where it has none such.
    OfCandidate(&'a OsStr),
}

/// What a selector turned out to be.
enum Target {
    Stored(Rc<Store>, Selection),
    File(ProfileFile),
}

/// A file to read, and the name of the build that it becomes.
struct ProfileFile {
    path: PathBuf,
    name: String,
}

/// Slices that a file is read in where threads and labels of samples are asked for: they are kept with
/// these alone.
const CONTEXTS: Option<SliceCount> = SliceCount::new(1);

impl Located {
    /// Whether the profiles are in the store, and no file: that names no benchmark.
    pub(crate) fn is_stored(&self) -> bool {
        self.store.is_some()
    }

    /// Those of one benchmark; a file is one run.
    pub(crate) fn of_one_benchmark(self, named: Option<&str>) -> Result<Located, CliError> {
        Ok(match self.store {
            None => self,
            store => Located {
                selection: self.selection.of_one_benchmark(named)?,
                store,
            },
        })
    }
}

impl<'a> Sources<'a> {
    pub(crate) fn new(store: &'a StorePath) -> Result<Self, CliError> {
        Ok(Sources {
            folder: &store.folder,
            stored: OnceCell::new(),
            memory: Store::in_memory()?,
        })
    }

    fn stored(&self) -> Result<Rc<Store>, StoreError> {
        if let Some(store) = self.stored.get() {
            return Ok(store.clone());
        }
        let store = Rc::new(Store::open_snapshot(self.folder)?);
        Ok(self.stored.get_or_init(|| store).clone())
    }

    /// The stacks that a selector names, and what they cost in all runs together.
    pub(crate) fn view(&self, selector: &OsStr, benchmark: Option<&str>) -> Result<View, CliError> {
        match self.locate_runs(selector, benchmark)? {
            Target::Stored(store, selection) => Ok(View::load_sum(&store, selection)?),
            file => self.load(file),
        }
    }

    /// The stacks that a selector names, and what they cost in each run.
    pub(crate) fn runs(&self, selector: &OsStr, benchmark: Option<&str>) -> Result<View, CliError> {
        self.load(self.locate_runs(selector, benchmark)?)
    }

    /// The stacks that two selectors name.
    pub(crate) fn pair(
        &self,
        [a, b]: [&OsStr; 2],
        benchmark: Option<&str>,
    ) -> Result<(View, View), CliError> {
        let located = |selector| self.locate_runs(selector, benchmark);
        let (a, b) = told_apart(located(a)?, located(b)?);
        match (a, b) {
            (Target::Stored(store, a), Target::Stored(other, b)) => {
                Ok(View::load_both((&store, a), (&other, b))?)
            }
            (a, b) => Ok((self.load(a)?, self.load(b)?)),
        }
    }

    /// The profiles that a selector names, those of files with threads and labels of samples.
    pub(crate) fn located_with_contexts(&self, selector: &OsStr) -> Result<Located, CliError> {
        self.located(self.locate(selector)?, CONTEXTS)
    }

    /// The same for two selectors.
    pub(crate) fn located_pair_with_contexts(
        &self,
        [a, b]: [&OsStr; 2],
        benchmark: Option<&str>,
    ) -> Result<[Located; 2], CliError> {
        let located = |selector| self.locate_runs(selector, benchmark);
        let (a, b) = told_apart(located(a)?, located(b)?);
        Ok([self.located(a, CONTEXTS)?, self.located(b, CONTEXTS)?])
    }

    /// Runs of one build in the store, by the ids of their profiles.
    pub(crate) fn stored_runs(&self, ids: &[ProfileId]) -> Result<Located, CliError> {
        let store = self.stored()?;
        let mut builds = store.builds()?;
        builds.retain_mut(|build| {
            build.profiles.retain(|profile| ids.contains(&profile.id));
            !build.profiles.is_empty()
        });
        let build = builds.pop().expect("the runs were just stored");
        Ok(Located {
            store: Some(store),
            selection: Selection {
                build: build.build,
                profiles: build.profiles,
            },
        })
    }

    /// Says of findings which line to look at first.
    pub(crate) fn find_lines(
        &self,
        comparison: &mut Comparison,
        [baseline, candidate]: [(&Located, &View); 2],
    ) -> Result<(), CliError> {
        for ((place, view), of_gone) in [(baseline, true), (candidate, false)] {
            let is_of_side = |finding: &Finding| finding.is_gone() == of_gone;
            let Some(sample_type) = &comparison.sample_type else {
                continue;
            };
            if comparison.findings.iter().any(is_of_side) {
                let store = self.store_of(place);
                let lines = Lines::load(store, &view.selection, &sample_type.event)?;
                comparison.set_lines(&lines, of_gone);
            }
        }
        Ok(())
    }

    /// The profiles that two selectors name.
    pub(crate) fn located_pair(
        &self,
        baseline: &Baseline,
        candidate: &OsStr,
    ) -> Result<(Located, Located), CliError> {
        let candidate = self.locate(candidate)?;
        let baseline = match (baseline, &candidate) {
            (Baseline::OfCandidate(name), Target::Stored(_, selection)) => {
                self.locate_of(name, &selection.build.executable)?
            }
            (Baseline::OfCandidate(selector) | Baseline::Any(selector), _) => {
                self.locate(selector)?
            }
        };
        let (baseline, candidate) = told_apart(baseline, candidate);
        Ok((
            self.located(baseline, None)?,
            self.located(candidate, None)?,
        ))
    }

    /// A build or tag of an executable, or else whatever the selector names.
    fn locate_of(&self, selector: &OsStr, executable: &str) -> Result<Target, CliError> {
        let Some(name) = selector.to_str() else {
            return self.locate(selector);
        };
        // `@previous` is the program's own, as `demo@previous` is.
        let names = [name, name.strip_prefix('@').unwrap_or(name)];
        for name in names {
            let selector = resolved(format!("{executable}@{name}").parse()?);
            match selector.map(|selector| self.find_stored(&selector)) {
                Ok(Ok((store, selection))) => return Ok(Target::Stored(store, selection)),
                Ok(Err(error)) if is_of_program(&error) => return Err(error.into()),
                _ => {}
            }
        }
        self.locate(selector)
    }

    fn located(&self, target: Target, slices: Option<SliceCount>) -> Result<Located, CliError> {
        Ok(match target {
            Target::Stored(store, selection) => Located {
                store: Some(store),
                selection,
            },
            Target::File(file) => Located {
                store: None,
                selection: self.read(file, slices)?,
            },
        })
    }

    /// The stacks of some of the profiles that were located.
    pub(crate) fn views_of(
        &self,
        [(a, of_a), (b, of_b)]: [(&Located, Selection); 2],
    ) -> Result<(View, View), CliError> {
        let (a, b) = (self.store_of(a), self.store_of(b));
        Ok(View::load_both((a, of_a), (b, of_b))?)
    }

    /// Where profiles are.
    pub(crate) fn store_of<'s>(&'s self, place: &'s Located) -> &'s Store {
        place.store.as_deref().unwrap_or(&self.memory)
    }

    /// Of the builds of a program that have several such runs in the store, the newest.
    pub(crate) fn with_several_runs(
        &self,
        executable: &str,
        chosen: impl Fn(Selection) -> Selection,
    ) -> Result<Option<View>, CliError> {
        // Two files can be compared without a store.
        let Ok(store) = self.stored() else {
            return Ok(None);
        };
        let mut builds = store.builds()?;
        builds.retain(|stored| stored.build.executable == executable);
        oldest_first(&mut builds);
        let selections = builds.iter().rev().map(|stored| chosen(whole(stored)));
        let mut with_several = selections
            .filter(|selection| selection.profiles.len() > 1 && one_benchmark([selection]).is_ok());
        let view = with_several
            .next()
            .map(|selection| View::load(&store, selection));
        Ok(view.transpose()?)
    }

    /// A build in the store comes before a file of the same name; a path with a slash in it that
    /// exists, or one that starts as a path does, is always a file.
    fn locate(&self, selector: &OsStr) -> Result<Target, CliError> {
        let path = Path::new(selector);
        let file = || {
            Ok(Target::File(ProfileFile {
                path: path.to_owned(),
                name: last_components(path, 1),
            }))
        };
        let Some(text) = selector.to_str() else {
            return file();
        };
        let exists = path.exists();
        let mut starts = ["/", "./", "../"].iter();
        let is_path = starts.any(|start| text.starts_with(start));
        if is_path || (exists && text.contains('/')) {
            return file();
        }
        match self.find_stored(&resolved(text.parse()?)?) {
            Err(error) if !is_absence(&error) => Err(error.into()),
            Err(_) if exists => file(),
            Err(source) => Err(CliError::NothingNamed {
                selector: text.to_owned(),
                source,
            }),
            Ok((store, selection)) => Ok(Target::Stored(store, selection)),
        }
    }

    /// The same, of the runs in the store those of one benchmark; a file is one run.
    fn locate_runs(&self, selector: &OsStr, benchmark: Option<&str>) -> Result<Target, CliError> {
        Ok(match self.locate(selector)? {
            Target::Stored(store, selection) => {
                Target::Stored(store, selection.of_one_benchmark(benchmark)?)
            }
            file => file,
        })
    }

    fn find_stored(&self, selector: &Selector) -> Result<(Rc<Store>, Selection), SelectError> {
        let store = self.stored()?;
        let selection = select(&store, selector)?;
        Ok((store, selection))
    }

    fn load(&self, target: Target) -> Result<View, CliError> {
        match target {
            Target::Stored(store, selection) => Ok(View::load(&store, selection)?),
            Target::File(file) => Ok(View::load(&self.memory, self.read(file, None)?)?),
        }
    }

    fn read(&self, file: ProfileFile, slices: Option<SliceCount>) -> Result<Selection, CliError> {
        let progress = Progress::new(&file.path);
        let options = IngestOptions {
            version: Some(file.name),
            symbols: symbol_options(&[], &file.path),
            slices,
            on_read: progress.on_read(),
            ..IngestOptions::default()
        };
        let mut show = |stage| progress.stage(stage);
        let report = ingest(&self.memory, &file.path, &options, &mut show)?;
        drop(progress);
        ui::warn(&file.path, &report.warnings);
        let read: Vec<_> = report.profiles.iter().map(|profile| profile.id).collect();
        let mut builds = self.memory.builds()?;
        builds.retain_mut(|build| {
            build.profiles.retain(|profile| read.contains(&profile.id));
            !build.profiles.is_empty()
        });
        let build = builds.pop().expect("a file that was read is one profile");
        Ok(Selection {
            build: build.build,
            profiles: build.profiles,
        })
    }
}

/// Names two files so that one can be told from the other.
fn told_apart(mut a: Target, mut b: Target) -> (Target, Target) {
    if let (Target::File(a), Target::File(b)) = (&mut a, &mut b) {
        (a.name, b.name) = telling_names(&a.path, &b.path);
    }
    (a, b)
}

/// Whether the selector names nothing in the store, so that it may well be a file's name.
fn is_absence(error: &SelectError) -> bool {
    matches!(
        error,
        SelectError::Store(StoreError::NotFound { .. })
            | SelectError::EmptyStore
            | SelectError::NotFound { .. }
            | SelectError::ShortPrefix { .. }
    )
}

/// Whether the selector names builds of a program by their age or revision, and there is no such build.
fn is_of_program(error: &SelectError) -> bool {
    matches!(
        error,
        SelectError::TooFewBuilds { .. }
            | SelectError::NoBuildOfCommit(_)
            | SelectError::SeveralOfCommit { .. }
    )
}

/// Names for two files: their base names, with as many folders before them as it takes to tell
/// one from the other.
pub(crate) fn telling_names(a: &Path, b: &Path) -> (String, String) {
    let longest = a.components().count().max(b.components().count());
    (1..=longest)
        .map(|count| (last_components(a, count), last_components(b, count)))
        .find(|(a, b)| a != b)
        .unwrap_or_else(|| (last_components(a, 1), last_components(b, 1)))
}

fn last_components(path: &Path, count: usize) -> String {
    let components: Vec<&OsStr> = path.components().map(|c| c.as_os_str()).collect();
    let kept = &components[components.len().saturating_sub(count)..];
    kept.iter()
        .collect::<PathBuf>()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::telling_names;
    use std::path::Path;

    #[track_caller]
    fn assert_names(a: &str, b: &str, expected: (&str, &str)) {
        let (a, b) = telling_names(Path::new(a), Path::new(b));
        assert_eq!((a.as_str(), b.as_str()), expected);
    }

    #[test]
    fn files_are_told_apart_by_as_little_of_their_path_as_it_takes() {
        assert_names("x/v1.data", "y/v2.data", ("v1.data", "v2.data"));
        assert_names("x/perf.data", "y/perf.data", ("x/perf.data", "y/perf.data"));
        assert_names("perf.data", "y/perf.data", ("perf.data", "y/perf.data"));
        assert_names("/perf.data", "perf.data", ("/perf.data", "perf.data"));
    }

    #[test]
    fn a_file_beside_itself_keeps_its_name() {
        assert_names("x/perf.data", "x/perf.data", ("perf.data", "perf.data"));
    }
}
