//! Costs of source lines.

use crate::QueryError;
use crate::check::{Baseline, Check, CheckRequest, check};
use crate::hot::{
    Blame, DoubtfulFile, EarlierBuild, FileNo, HotChanges, HotIndex, HotRequest, HotSpots,
    TextCosts,
};
use crate::policy::Policy;
use crate::source::{SourceError, SourceTree, read};
use crate::sources::{BuildRef, Environment, Sources};
use crate::tree::{Order, Prune};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Request for the most expensive lines of source files.
///
/// It is an error if the path or a source file cannot be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HotSpotsRequest {
    /// The build.
    pub of: HotRequest,
    /// A source file, or a folder with source files.
    pub path: PathBuf,
    /// Choices between several files of the work tree, by path in the profiles.
    pub chosen: BTreeMap<String, PathBuf>,
    /// The cost by which lines are ordered.
    pub order: Order,
    /// Share of the total below which lines are left out.
    pub min_share: f64,
    /// Maximum number of lines; unlimited if `None`.
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

/// Lists the most expensive lines of a source file, or of the files in a folder, at their current
/// positions.
pub(super) fn hot(sources: &Sources, request: &HotSpotsRequest) -> Result<HotSpots, QueryError> {
    sources.check_reads_files(&request.path)?;
    let environment = sources.environment();
    let place = Place::new(&request.path, environment)?;
    let index = HotIndex::load(sources, &request.of)?;
    let (files, doubtful) = place.files(&index, &request.chosen);
    let (mut spots, mut edited) = (Vec::new(), Vec::new());
    for (path, mut files) in files {
        files.retain(|&file| index.has_share(file, request.min_share));
        if files.is_empty() {
            continue;
        }
        let text = text_of(&path)?;
        let (found, text_known) = in_text(&index, environment, &path, &files, &text);
        let shown = place.shown(&path);
        let of_file = index.spots(&shown, &found, &text);
        spots.extend(of_file.filter(|spot| spot.costs.total.share >= request.min_share));
        if !text_known {
            edited.push(shown);
        }
    }
    let spots = HotSpots::top(&index, spots, request.order, request.limit);
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

/// Request for the cost of each line of a source file.
///
/// It is an error if the file cannot be read, or the builds cannot be compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BlameRequest {
    /// The build.
    pub of: HotRequest,
    /// The source file.
    pub path: PathBuf,
    /// Choices between several files of the work tree, by path in the profiles.
    pub chosen: BTreeMap<String, PathBuf>,
    /// The baseline. A text that names no build is parsed as a revision.
    pub since: Option<Baseline>,
    /// The policy of the comparison.
    pub policy: Policy,
}

/// Returns a source file with the cost of each line, at its current position.
pub(super) fn blame(sources: &Sources, request: &BlameRequest) -> Result<Blame, QueryError> {
    sources.check_reads_files(&request.path)?;
    let environment = sources.environment();
    let text = text_of(&request.path)?;
    let place = Place::new(&request.path, environment)?;
    let index = HotIndex::load(sources, &request.of)?;
    let of_file = |index: &HotIndex| {
        let (mut files, _) = place.files(index, &request.chosen);
        files.remove(&place.real).unwrap_or_default()
    };
    let files = of_file(&index);
    let (found, text_known) = in_text(&index, environment, &place.real, &files, &text);
    let before = request.since.as_ref().map(|since| {
        let (then, check) = compared(sources, request, &index, since)?;
        let files = of_file(&then);
        let (found, text_known) = in_text(&then, environment, &place.real, &files, &text);
        Ok::<_, QueryError>(EarlierBuild {
            changes: HotChanges::from_comparison(&index, &check.comparisons[0]),
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

/// Returns the index of the baseline, and the comparison with it.
fn compared(
    sources: &Sources,
    request: &BlameRequest,
    index: &HotIndex,
    since: &Baseline,
) -> Result<(HotIndex, Check), QueryError> {
    let newest = || BuildRef::Runs(index.subject().profiles.clone());
    let candidate = request.of.named.clone().unwrap_or_else(newest);
    let baseline = baseline(sources, since, &candidate)?;
    let then = HotRequest {
        named: Some(baseline.clone()),
        filter: request.of.filter.clone(),
    };
    let check_request = CheckRequest {
        baseline: Some(Baseline::Any(baseline)),
        candidate,
        benchmarks: request.of.filter.benchmarks.clone(),
        event: request.of.filter.event.clone(),
        policy: request.policy.clone(),
        ..CheckRequest::default()
    };
    Ok((
        HotIndex::load(sources, &then)?,
        check(sources, &check_request)?,
    ))
}

/// Returns the runs of a baseline, given its name or a revision.
fn baseline(
    sources: &Sources,
    since: &Baseline,
    candidate: &BuildRef,
) -> Result<BuildRef, QueryError> {
    let name = match since {
        Baseline::Any(named) => return Ok(named.clone()),
        Baseline::OfCandidate(name) => name,
    };
    let runs = |name: &str| -> Result<BuildRef, QueryError> {
        let of_candidate = Baseline::OfCandidate(name.to_owned());
        let [found, _] = sources.sides(&of_candidate, candidate, None)?;
        let runs = found.selection.profiles.iter().map(|run| run.id);
        Ok(if found.is_stored {
            BuildRef::Runs(runs.collect())
        } else {
            name.into()
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

/// A file or folder that the user named.
struct Place {
    named: PathBuf,
    /// The path without symbolic links.
    real: PathBuf,
    /// The work tree that contains it.
    root: PathBuf,
}

/// Files of a work tree, each with the matching files of the profiles.
type Files = BTreeMap<PathBuf, Vec<FileNo>>;

impl Place {
    fn new(named: &Path, environment: &dyn Environment) -> Result<Place, SourceError> {
        let real = named.canonicalize().map_err(|source| SourceError::File {
            path: named.to_owned(),
            source,
        })?;
        let work_tree = environment.source_folder();
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

    /// Returns the source files of an index that are in this place, and those that are ambiguous.
    /// If only one of several candidates is in this place, it is chosen: naming a folder resolves
    /// ambiguities.
    fn files(
        &self,
        index: &HotIndex,
        chosen: &BTreeMap<String, PathBuf>,
    ) -> (Files, Vec<(FileNo, Vec<PathBuf>)>) {
        let tree = SourceTree::scan(&self.root, index.files().map(|file| file.path));
        let is_here = |path: &&Path| path.starts_with(&self.real);
        let mut files = Files::new();
        let mut doubtful = Vec::new();
        let placed = index.place_files(&tree, chosen);
        for (file, path) in placed.paths().filter(|(_, path)| is_here(path)) {
            files.entry(path.to_owned()).or_default().push(file);
        }
        for (file, candidates) in placed.ambiguous_files() {
            let here = candidates.iter().filter(|path| is_here(&path.as_path()));
            match &here.collect::<Vec<_>>()[..] {
                [] => {}
                [only] => files.entry((*only).clone()).or_default().push(*file),
                _ => doubtful.push((*file, candidates.clone())),
            }
        }
        (files, doubtful)
    }

    /// Returns the path of a file relative to the path that the user named.
    fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.real).unwrap_or(path);
        let shown = if below.as_os_str().is_empty() {
            self.named.clone()
        } else if self.named == Path::new(".") {
            below.to_owned()
        } else {
            self.named.join(below)
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

/// Locates costs in the current text of a file, and returns whether the text at build time is
/// known.
fn in_text(
    index: &HotIndex,
    environment: &dyn Environment,
    path: &Path,
    files: &[FileNo],
    text: &str,
) -> (TextCosts, bool) {
    let built = index.text_when_built(environment, path, files);
    (
        index.map_to_text(files, built.as_deref(), text),
        built.is_some(),
    )
}
