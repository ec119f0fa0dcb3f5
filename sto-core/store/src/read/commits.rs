//! Metadata of commits that revisions name, stored once for all profiles.

use crate::codec::CommitRecord;
use crate::error::Result;
use crate::read::rows::{RecordWithLocation, Rows};
use crate::tables::Record;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use sto_model::{Commit, CommitHash};

/// The record id of a commit.
pub(crate) fn address(hash: &CommitHash) -> [u8; 16] {
    let mut address = [0; 16];
    address.copy_from_slice(&blake3::hash(hash.as_bytes()).as_bytes()[..16]);
    address
}

/// Metadata of commits, by commit id.
#[derive(Default)]
pub(crate) struct Commits(HashMap<CommitHash, CommitRecord>);

impl Commits {
    /// Reads all commits, except those that exceed the format's limits.
    pub(crate) fn read(rows: &Rows) -> Result<Self> {
        let records = rows.records(Record::Commit)?.into_iter();
        let commits = records.filter_map(
            |RecordWithLocation { record, .. }: RecordWithLocation<CommitRecord>| {
                let hash = record.hash.clone();
                record.is_within_limits().then_some((hash, record))
            },
        );
        Ok(Commits(commits.collect()))
    }

    /// The commit that a revision names, if its metadata is known.
    pub(crate) fn find_by_revision(&self, revision: Option<&String>) -> Option<Commit> {
        let revision = revision?;
        let record = self.0.get(&CommitHash::from_revision(revision)?)?;
        Some(record.clone().with_revision(revision))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The commits that revisions name, in the order of their ids.
    pub(crate) fn find_named<'a>(
        &self,
        revisions: impl Iterator<Item = &'a String>,
    ) -> impl Iterator<Item = &CommitRecord> {
        let hashes = revisions.filter_map(|revision| CommitHash::from_revision(revision));
        let hashes: BTreeSet<CommitHash> = hashes.collect();
        hashes.into_iter().filter_map(|hash| self.0.get(&hash))
    }
}
