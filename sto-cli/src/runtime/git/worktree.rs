//! Work trees of single commits, and the commits between two.

use super::log::ancestry;
use super::{GitError, Repository, Shown};
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::model::CommitHash;
use sto_query::questions::ShownCommit;
use sto_query::select::Ancestry;

/// The commits after a good one, up to a bad one.
pub(crate) struct Between {
    /// The ancestry of these commits, from the bad one to the good one.
    pub(crate) ancestry: Ancestry,
    /// The commits without the good one, with their messages.
    pub(crate) commits: Vec<ShownCommit>,
}

/// A work tree of one commit, which is removed when this is dropped.
pub(crate) struct Worktree<'a> {
    repository: &'a Repository,
    pub(crate) path: PathBuf,
}

impl Repository {
    /// The commits of a range, parents before children.
    pub(crate) fn oldest_first(&self, range: &str) -> Result<Vec<CommitHash>, GitError> {
        let mut command = self.git();
        command.args(["rev-list", "--topo-order", "--reverse", "--end-of-options"]);
        command.args([range, "--"]);
        let listed = self.run(command).map_err(|error| match error {
            GitError::Failed { .. } => self.no_revision(range),
            error => error,
        })?;
        Ok(listed.lines().filter_map(|id| id.parse().ok()).collect())
    }

    /// The commits after `good` up to `bad`, which must be a descendant of it.
    pub(crate) fn between(&self, good: &str, bad: &str) -> Result<Between, GitError> {
        let [good_id, bad_id] = [self.commit(good)?, self.commit(bad)?];
        let mut command = self.git();
        command.args(["merge-base", &good_id, &bad_id]);
        let base = self.run(command).unwrap_or_default().trim().to_owned();
        if base != good_id {
            return Err(GitError::Unrelated {
                good: good.to_owned(),
                bad: bad.to_owned(),
                base: (!base.is_empty()).then(|| base.chars().take(12).collect()),
                is_shallow: self.is_shallow(),
            });
        }
        let range = format!("{good_id}..{bad_id}");
        let mut command = self.git();
        command.args(["rev-list", "--topo-order", "--parents", &range, "--"]);
        let listed = self.run(command)?;
        Ok(Between {
            ancestry: ancestry(&format!("{listed}{good_id}\n")),
            commits: self.log(&Shown {
                commits: &range,
                path: None,
                limit: None,
            })?,
        })
    }

    /// The full id of a revision's commit.
    fn commit(&self, revision: &str) -> Result<String, GitError> {
        let mut command = self.git();
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        command.arg(format!("{revision}^{{commit}}"));
        match self.run(command) {
            Ok(id) => Ok(id.trim().to_owned()),
            Err(GitError::Failed { .. }) => Err(self.no_revision(revision)),
            Err(error) => Err(error),
        }
    }

    /// Checks out a commit into a new folder.
    pub(crate) fn worktree(
        &self,
        commit: &CommitHash,
        path: &Path,
    ) -> Result<Worktree<'_>, GitError> {
        // Constructed first, so that it is cleaned up if git fails halfway.
        let worktree = Worktree {
            repository: self,
            path: path.to_owned(),
        };
        let mut command = self.git();
        command.args(["worktree", "add", "--quiet", "--detach"]);
        command.arg(path).arg(commit.to_string());
        self.run(command)?;
        Ok(worktree)
    }
}

impl Drop for Worktree<'_> {
    fn drop(&mut self) {
        let mut command = self.repository.git();
        command.args(["worktree", "remove", "--force", "--force"]);
        command.arg(&self.path);
        if self.repository.run(command).is_err() {
            // A folder that cannot be removed stays until the temporary folder is cleaned.
            let _ = fs::remove_dir_all(&self.path);
            let mut command = self.repository.git();
            command.args(["worktree", "prune"]);
            let _ = self.repository.run(command);
        }
    }
}
