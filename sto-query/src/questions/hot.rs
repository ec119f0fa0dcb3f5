//! What lines of source cost.

use crate::QueryError;
use crate::check::{Baseline, Check, CheckRequest, check};
use crate::hot::{
    Before, Blame, DoubtfulFile, FileNo, HotChanges, HotIndex, HotRequest, HotSpots, InText,
};
use crate::policy::Policy;
use crate::source::{SourceError, SourceTree, read};
use crate::sources::{self, Named, Sources, Surroundings};
use crate::tree::{Order, Prune};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which lines of source files cost most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HotSpotsRequest {
    /// The build.
    pub of: HotRequest,
    /// A source file, or a folder that has some.
    pub path: PathBuf,
    /// By paths of profiles, which of several files of the work tree is meant.
    pub chosen: BTreeMap<String, PathBuf>,
    /// The cost that lines are ordered by.
    pub order: Order,
    /// Lines with a smaller share of everything in their total are left out.
    pub min_share: f64,
    /// The most lines to list; all without it.
    pub limit: Option<usize>,
}

impl Default for HotSpotsRequest {
    fn default() -> Self {
        HotSpotsRequest {
            of: HotRequest::default(),
            path: PathBuf::from("."),
            chosen: BTreeMap::new(),
            order: Order::default(),
            min_share: Prune::default().min_share,
            limit: None,
        }
    }
}

/// Lists the lines that cost most of a source file, or of those below a folder, where they are now.
///
/// # Errors
/// As [`Sources::view`], and where the path or a source file cannot be read.
pub fn hot(sources: &Sources, request: &HotSpotsRequest) -> Result<HotSpots, QueryError> {
    let surroundings = sources.surroundings();
    let place = Place::of(&request.path, surroundings)?;
    let index = HotIndex::load(sources, &request.of)?;
    let (files, doubtful) = place.files(&index, &request.chosen);
    let (mut spots, mut edited) = (Vec::new(), Vec::new());
    for (path, mut files) in files {
        files.retain(|&file| index.has_share(file, request.min_share));
        if files.is_empty() {
            continue;
        }
        let text = text_of(&path)?;
        let (found, text_known) = in_text(&index, surroundings, &path, &files, &text);
        let shown = place.shown(&path);
        let of_file = index.spots(&shown, &found, &text);
        spots.extend(of_file.filter(|spot| spot.costs.total.share >= request.min_share));
        if !text_known {
            edited.push(shown);
        }
    }
    let spots = HotSpots::of(&index, spots, request.order, request.limit);
    let doubtful = doubtful.into_iter().map(|(file, candidates)| DoubtfulFile {
        file: index.file(file).path.to_owned(),
        candidates: candidates.iter().map(|path| place.shown(path)).collect(),
    });
    Ok(HotSpots {
        edited,
        doubtful: doubtful.collect(),
        ..spots
    })
}

/// What each line of a source file costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BlameRequest {
    /// The build.
    pub of: HotRequest,
    /// The source file.
    pub path: PathBuf,
    /// By paths of profiles, which of several files of the work tree is meant.
    pub chosen: BTreeMap<String, PathBuf>,
    /// What it is compared with. A text that names no build is taken for a revision.
    pub since: Option<Baseline>,
    /// By what it is compared.
    pub policy: Policy,
}

/// Shows a source file with what each line costs, where it is now.
///
/// # Errors
/// As [`hot`] and [`check`].
pub fn blame(sources: &Sources, request: &BlameRequest) -> Result<Blame, QueryError> {
    let surroundings = sources.surroundings();
    let text = text_of(&request.path)?;
    let place = Place::of(&request.path, surroundings)?;
    let index = HotIndex::load(sources, &request.of)?;
    let of_file = |index: &HotIndex| {
        let (mut files, _) = place.files(index, &request.chosen);
        files.remove(&place.real).unwrap_or_default()
    };
    let files = of_file(&index);
    let (found, text_known) = in_text(&index, surroundings, &place.real, &files, &text);
    let before = request.since.as_ref().map(|since| {
        let (then, check) = compared(sources, request, &index, since)?;
        let files = of_file(&then);
        let (found, text_known) = in_text(&then, surroundings, &place.real, &files, &text);
        Ok::<_, QueryError>(Before {
            changes: HotChanges::of(&index, &check.comparisons[0]),
            verdict: check.verdict,
            index: then,
            found,
            text_known,
        })
    });
    let path = place.named.display().to_string();
    let blame = index.blame(path, &text, &found, before.transpose()?.as_ref());
    let files = files.iter().map(|&file| index.file(file).path.to_owned());
    Ok(Blame {
        files: files.collect(),
        text_known,
        ..blame
    })
}

/// The index of what a build is compared with, and the comparison.
fn compared(
    sources: &Sources,
    request: &BlameRequest,
    index: &HotIndex,
    since: &Baseline,
) -> Result<(HotIndex, Check), QueryError> {
    let newest = || Named::Runs(index.subject().profiles.clone());
    let candidate = request.of.named.clone().unwrap_or_else(newest);
    let baseline = baseline(sources, since, &candidate)?;
    let then = HotRequest {
        named: Some(baseline.clone()),
        filter: request.of.filter.clone(),
    };
    let check_request = CheckRequest {
        baseline: Some(Baseline::Any(baseline)),
        candidate,
        benchmarks: request.of.filter.benchmark.iter().cloned().collect(),
        event: request.of.filter.event.clone(),
        policy: request.policy.clone(),
        ..CheckRequest::default()
    };
    Ok((
        HotIndex::load(sources, &then)?,
        check(sources, &check_request)?,
    ))
}

/// The runs that a baseline is, by its name or as a revision.
fn baseline(sources: &Sources, since: &Baseline, candidate: &Named) -> Result<Named, QueryError> {
    let name = match since {
        Baseline::Any(named) => return Ok(named.clone()),
        Baseline::OfCandidate(name) => name,
    };
    let runs = |name: &str| -> Result<Named, QueryError> {
        let of_candidate = sources::Baseline::OfCandidate(name);
        let [found, _] = sources.sides(&of_candidate, candidate, None)?;
        let runs = found.selection.profiles.iter().map(|run| run.id);
        Ok(match found.is_stored {
            true => Named::Runs(runs.collect()),
            false => name.into(),
        })
    };
    match runs(name) {
        Err(nothing @ QueryError::NothingNamed { .. }) => match runs(&format!("git:{name}")) {
            Err(QueryError::NoRevision { .. }) => Err(nothing),
            of_revision => of_revision,
        },
        named => named,
    }
}

/// A file or folder that somebody named.
struct Place {
    named: PathBuf,
    /// Without symbolic links.
    real: PathBuf,
    /// The work tree that it is in.
    root: PathBuf,
}

/// Files of a work tree, each with those of the profiles that it is.
type Files = BTreeMap<PathBuf, Vec<FileNo>>;

impl Place {
    fn of(named: &Path, surroundings: &dyn Surroundings) -> Result<Place, SourceError> {
        let real = named.canonicalize().map_err(|source| SourceError::File {
            path: named.to_owned(),
            source,
        })?;
        let work_tree = surroundings.source_folder();
        let work_tree = work_tree.and_then(|folder| folder.canonicalize().ok());
        let root = match (work_tree, real.parent()) {
            (Some(work_tree), _) if real.starts_with(&work_tree) => work_tree,
            (_, Some(folder)) if !real.is_dir() => folder.to_owned(),
            _ => real.clone(),
        };
        Ok(Place {
            named: named.to_owned(),
            real,
            root,
        })
    }

    /// The source files of an index that are here, and those that may be. Of several candidates, the only one that is here
    /// is meant: that is how a user says which.
    fn files(
        &self,
        index: &HotIndex,
        chosen: &BTreeMap<String, PathBuf>,
    ) -> (Files, Vec<(FileNo, Vec<PathBuf>)>) {
        let tree = SourceTree::of(&self.root, index.files().map(|file| file.path));
        let is_here = |path: &&Path| path.starts_with(&self.real);
        let mut files = Files::new();
        let mut doubtful = Vec::new();
        let placed = index.placed(&tree, chosen);
        for (file, path) in placed.paths().filter(|(_, path)| is_here(path)) {
            files.entry(path.to_owned()).or_default().push(file);
        }
        for (file, candidates) in placed.doubtful() {
            let here = candidates.iter().filter(|path| is_here(&path.as_path()));
            match &here.collect::<Vec<_>>()[..] {
                [] => {}
                [only] => files.entry((*only).clone()).or_default().push(*file),
                _ => doubtful.push((*file, candidates.clone())),
            }
        }
        (files, doubtful)
    }

    /// A file as whoever named this would open it.
    fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.real).unwrap_or(path);
        let shown = match below.as_os_str().is_empty() {
            true => self.named.clone(),
            false if self.named == Path::new(".") => below.to_owned(),
            false => self.named.join(below),
        };
        shown.display().to_string()
    }
}

fn text_of(path: &Path) -> Result<String, SourceError> {
    let read = read(path).map_err(|source| SourceError::File {
        path: path.to_owned(),
        source,
    });
    Ok(read?.text)
}

/// What is found in a file as it is, and whether its text is known that was built.
fn in_text(
    index: &HotIndex,
    surroundings: &dyn Surroundings,
    path: &Path,
    files: &[FileNo],
    text: &str,
) -> (InText, bool) {
    let built = index.text_when_built(surroundings, path, files);
    (
        index.in_text(files, built.as_deref(), text),
        built.is_some(),
    )
}
