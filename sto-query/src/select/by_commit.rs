//! Groups runs by commit.

use super::Selection;
use super::revision::select_runs;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Commit, CommitHash};
use sto_core::store::StoredBuild;

/// Returns the builds of each commit, in the order of the builds, with their runs of that commit.
/// Builds of a working tree with uncommitted changes have no commit, and neither have those that do
/// not store the full hash.
pub(crate) fn group_by_commit(builds: &[StoredBuild]) -> BTreeMap<CommitHash, Vec<Selection>> {
    let clean = |revision: &str| -> Option<CommitHash> {
        CommitHash::from_revision(revision).filter(|_| !Commit::is_dirty(revision))
    };
    let mut found: BTreeMap<CommitHash, Vec<Selection>> = BTreeMap::new();
    for build in builds {
        let of_runs = build.profiles.iter().map(|run| run.revision.as_ref());
        let revisions = of_runs.chain([build.build.revision.as_ref()]).flatten();
        let commits: BTreeSet<CommitHash> = revisions.filter_map(|r| clean(r)).collect();
        for commit in commits {
            if let Some(runs) =
                select_runs(build, |revision| clean(revision).as_ref() == Some(&commit))
            {
                found.entry(commit).or_default().push(runs);
            }
        }
    }
    found
}
