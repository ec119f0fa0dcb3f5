//! Adds metadata of commits that revisions name.

use crate::codec::{CommitRecord, ProfileRecord};
use crate::error::Result;
use crate::read::commits::{Commits, address};
use crate::read::rows::{NewRows, RecordWithLocation, Rows};
use crate::tables::Record;
use crate::{Store, StoreError};
use sto_model::Build;

/// Adds the metadata of a build's commit, unless it is stored already.
pub(super) fn plan(rows: &Rows, new: &mut NewRows, build: &Build) -> Result<()> {
    if let Some(commit) = &build.commit {
        add(rows, new, &CommitRecord::from_commit(commit))?;
    }
    Ok(())
}

fn add(rows: &Rows, new: &mut NewRows, commit: &CommitRecord) -> Result<bool> {
    let address = address(&commit.hash);
    if rows.has_record(Record::Commit, address)? {
        return Ok(false);
    }
    new.record(Record::Commit, address, commit)?;
    Ok(true)
}

impl Store {
    /// Adds another store's metadata of commits that profiles of this store name, in one transaction.
    pub(crate) fn add_commits(&self, there: Commits) -> Result<(), StoreError> {
        self.change(
            |rows| {
                let profiles: Vec<RecordWithLocation<ProfileRecord>> =
                    rows.records(Record::Profile)?;
                let revisions = profiles
                    .iter()
                    .filter_map(|found| found.record.revision.as_ref());
                let mut new = NewRows::new(rows.contents);
                let mut is_changed = false;
                for commit in there.find_named(revisions) {
                    is_changed |= add(rows, &mut new, commit)?;
                }
                Ok(((), is_changed.then_some(new)))
            },
            |transaction, new| new.write(transaction),
            |new| Some(new.bytes()),
        )
    }
}
