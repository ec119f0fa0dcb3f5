//! Builds commits, each in a work tree of its own.

use super::work_folder::WorkFolder;
use crate::runtime::git::{self, Repository, Worktree};
use crate::runtime::perf::Perf;
use crate::runtime::{CliError, error::status_of};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use sto_core::model::CommitHash;
use sto_query::sources::DescribedRevision;

/// Builds commits.
pub(crate) struct Checkouts<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) perf: &'a Perf,
    pub(crate) work: &'a WorkFolder,
    /// The shell command that builds a commit; `None` if there is nothing to build.
    pub(crate) build: Option<&'a str>,
}

/// A commit that was built in a work tree of its own.
pub(crate) struct Built<'a> {
    worktree: Worktree<'a>,
    place: Place,
}

/// The folder where a program runs, and the commit that it was built from.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// The commit's name, as git describes it.
    pub(crate) name: String,
    pub(crate) described: DescribedRevision,
}

/// The reason why a commit could not be built, such as `its build ended with status 2`.
pub(crate) type NotBuilt = String;

/// Number of characters to show of the last line that a build printed.
const SHOWN_CHARACTERS: usize = 120;

impl Built<'_> {
    /// The place where the commit's program runs.
    pub(crate) fn place(&self) -> Place {
        debug_assert_eq!(self.worktree.path, self.place.folder);
        self.place.clone()
    }
}

impl<'a> Checkouts<'a> {
    /// Checks out commits and builds them, `jobs` at a time. The result has a reason for each commit that cannot be
    /// built. It is shorter than `commits` if the process is asked to end.
    pub(crate) fn build(
        &self,
        commits: &[CommitHash],
        jobs: usize,
    ) -> Result<Vec<Result<Built<'a>, NotBuilt>>, CliError> {
        let mut checked_out = Vec::with_capacity(commits.len());
        // git locks the files that it writes for this, so check out one commit after another.
        for commit in commits {
            if self.perf.interrupted().is_some() {
                break;
            }
            checked_out.push(self.check_out(commit)?);
        }
        let folders: Vec<PathBuf> = checked_out.iter().map(|b| b.place.folder.clone()).collect();
        let next = AtomicUsize::new(0);
        let failed: Vec<Mutex<Option<NotBuilt>>> =
            checked_out.iter().map(|_| Mutex::default()).collect();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let (Some(folder), Some(failed)) = (folders.get(at), failed.get(at)) else {
                    return;
                };
                if let (Err(why), Ok(mut failed)) = (self.build_in(folder), failed.lock()) {
                    *failed = Some(why);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..jobs.min(checked_out.len()) {
                scope.spawn(work);
            }
            work();
        });
        let failed = failed
            .into_iter()
            .map(|why| why.into_inner().ok().flatten());
        let built = checked_out.into_iter().zip(failed);
        Ok(built
            .map(|(built, why)| why.map_or(Ok(built), Err))
            .collect())
    }

    fn check_out(&self, commit: &CommitHash) -> Result<Built<'a>, CliError> {
        let id = commit.to_string();
        let folder = self.work.path.join("commits");
        fs::create_dir_all(&folder).map_err(|source| CliError::WriteFile {
            path: folder.clone(),
            source,
        })?;
        let folder = folder.join(&id[..12]);
        let known = git::here().describe_revision(&id);
        Ok(Built {
            worktree: self.repository.worktree(commit, &folder)?,
            place: Place {
                folder,
                name: git::short_name(&id).unwrap_or_else(|| id[..12].to_owned()),
                described: known.unwrap_or(DescribedRevision {
                    revision: id,
                    commit: None,
                }),
            },
        })
    }

    /// Runs the build command, with its output in a log file.
    fn build_in(&self, folder: &Path) -> Result<(), NotBuilt> {
        let Some(line) = self.build else {
            return Ok(());
        };
        let log = folder.with_extension("log");
        let status = File::create(&log).and_then(|file| self.perf.build(line, folder, &file));
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                let output =
                    String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
                let mut lines = output
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty());
                let last = lines.next_back().unwrap_or_default();
                let last: String = last.chars().take(SHOWN_CHARACTERS).collect();
                let colon = if last.is_empty() { "" } else { ": " };
                Err(format!(
                    "its build ended with status {}{colon}{last}",
                    status_of(status)
                ))
            }
            Err(error) => Err(format!("its build could not be run: {error}")),
        }
    }
}
