//! Runs by the commits that they are of.

use super::Selection;
use super::revision::runs_where;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Commit, CommitHash};
use sto_core::store::StoredBuild;

/// The builds that were made of each commit, in the order of the builds, each with those of its runs that are of
/// the commit. What was made of a work tree with changes that were not committed is of none, and so is what does
/// not name its commit by all digits.
pub(crate) fn by_commit(builds: &[StoredBuild]) -> BTreeMap<CommitHash, Vec<Selection>> {
    let clean = |revision: &str| -> Option<CommitHash> {
        CommitHash::of_revision(revision).filter(|_| !Commit::is_dirty(revision))
    };
    let mut found: BTreeMap<CommitHash, Vec<Selection>> = BTreeMap::new();
    for build in builds {
        let of_runs = build.profiles.iter().map(|run| run.revision.as_ref());
        let revisions = of_runs.chain([build.build.revision.as_ref()]).flatten();
        let commits: BTreeSet<CommitHash> = revisions.filter_map(|r| clean(r)).collect();
        for commit in commits {
            if let Some(runs) =
                runs_where(build, |revision| clean(revision).as_ref() == Some(&commit))
            {
                found.entry(commit).or_default().push(runs);
            }
        }
    }
    found
}
