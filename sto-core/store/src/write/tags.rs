//! Tags: names for builds, in one list for the whole store.

use crate::codec::{self, with_checksum};
use crate::error::{InternalError, StoreError, packing_error};
use crate::read::builds::builds;
use crate::read::rows::Rows;
use crate::tables::{META, META_TAGS, Record};
use crate::{Store, StoredBuild};
use redb::WriteTransaction;
use serde::{Deserialize, Serialize};
use std::fmt;
use sto_model::id::{BuildId, ExecutableId};
use sto_model::limits::MAX_USER_STRING;

/// A name for a build. Within an executable, a name refers to one build and can be moved to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tag {
    /// The executable.
    pub executable: String,
    /// The name.
    #[serde(rename = "tag")]
    pub name: String,
    /// The version of the tagged build.
    #[serde(rename = "build")]
    pub version: String,
}

/// The result of setting a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tagged {
    /// The tag is new.
    New,
    /// The build already had this tag; nothing was changed.
    Unchanged,
    /// The tag was moved from the build of this version.
    Moved(String),
    /// The tag belongs to the build of this version, and moving was not allowed; nothing was changed.
    Taken(String),
}

impl fmt::Display for Tag {
    /// Writes `EXE@TAG`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.executable, self.name)
    }
}

impl Tag {
    /// The id of the tagged build.
    pub fn build(&self) -> BuildId {
        BuildId::new(ExecutableId::from_name(&self.executable), &self.version)
    }

    fn key(&self) -> (&str, &str) {
        (&self.executable, &self.name)
    }

    /// Whether a tag can have this name: 1 to 4096 bytes without white space, control characters
    /// and `@`, not starting with `-`.
    pub fn is_name(name: &str) -> bool {
        let is_taken = |c: char| c.is_whitespace() || c.is_control() || c == '@';
        (1..=MAX_USER_STRING).contains(&name.len())
            && !name.starts_with('-')
            && !name.contains(is_taken)
    }
}

impl StoredBuild {
    /// The build's tags, in order of name.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.tags.iter().map(|name| Tag {
            executable: self.build.executable.clone(),
            name: name.clone(),
            version: self.build.version.clone(),
        })
    }
}

impl Store {
    /// Gives a build a tag, in one transaction. A tag of another build of the executable is only
    /// moved if `may_move`.
    ///
    /// # Errors
    /// Returns an error if the build does not exist, the name [is not allowed](Tag::is_name), or the file
    /// cannot be written. The store is then unchanged.
    pub fn tag(&self, tag: &Tag, may_move: bool) -> Result<Tagged, StoreError> {
        self.change_tags(|rows| plan(rows, tag, may_move))
    }

    /// Like [`Store::tag`], with a build chosen in the same transaction, so that it cannot be removed in between.
    /// `choose` receives all builds and may be called several times; the result contains its last choice. If it
    /// returns an error, nothing is changed.
    ///
    /// # Errors
    /// Like [`Store::tag`].
    pub fn tag_chosen<E>(
        &self,
        choose: impl Fn(&[StoredBuild]) -> Result<Tag, E>,
        may_move: bool,
    ) -> Result<Result<(Tag, Tagged), E>, StoreError> {
        self.change_tags(|rows| match choose(&builds(rows)?) {
            Ok(tag) => {
                let (tagged, tags) = plan(rows, &tag, may_move)?;
                Ok((Ok((tag, tagged)), tags))
            }
            Err(error) => Ok((Err(error), None)),
        })
    }

    /// Removes a tag that is chosen in the same transaction, as for [`Store::tag_chosen`]. Does nothing if the tag
    /// does not exist.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or the file cannot be written. The store is then unchanged.
    pub fn untag_chosen<E>(
        &self,
        choose: impl Fn(&[StoredBuild]) -> Result<Tag, E>,
    ) -> Result<Result<Tag, E>, StoreError> {
        self.change_tags(|rows| match choose(&builds(rows)?) {
            Ok(tag) => {
                let all = rows.tags()?;
                let left: Vec<Tag> = all.iter().filter(|other| **other != tag).cloned().collect();
                Ok((Ok(tag), (left.len() < all.len()).then_some(left)))
            }
            Err(error) => Ok((Err(error), None)),
        })
    }

    /// Adds the tags whose name is free and whose build exists.
    pub(crate) fn add_tags(&self, new: &[Tag]) -> Result<Vec<Tag>, StoreError> {
        self.change_tags(|rows| {
            let mut tags = rows.tags()?;
            let mut added = Vec::new();
            for tag in new {
                let found = tags.binary_search_by(|other| other.key().cmp(&tag.key()));
                if let Err(index) = found
                    && rows.has_record(Record::Build, tag.build().0)?
                {
                    tags.insert(index, tag.clone());
                    added.push(tag.clone());
                }
            }
            let is_changed = !added.is_empty();
            Ok((added, is_changed.then_some(tags)))
        })
    }

    fn change_tags<T>(
        &self,
        plan: impl Fn(&Rows) -> Result<(T, Option<Vec<Tag>>), InternalError>,
    ) -> Result<T, StoreError> {
        self.change(
            plan,
            |transaction, tags| write(transaction, tags),
            |_| Some(TAGS_BYTES),
        )
    }
}

/// Returns the result of setting a tag, and all tags after that if they change.
fn plan(
    rows: &Rows,
    tag: &Tag,
    may_move: bool,
) -> Result<(Tagged, Option<Vec<Tag>>), InternalError> {
    let build = tag.build();
    if !Tag::is_name(&tag.name) {
        return Err(InternalError::Refused(
            "a tag's name has 1 to 4096 bytes, no white space, control character or `@`, \
             and does not begin with `-`",
        ));
    }
    if !rows.has_record(Record::Build, build.0)? {
        return Err(InternalError::NoBuild(build));
    }
    let mut tags = rows.tags()?;
    let found = tags.binary_search_by(|other| other.key().cmp(&tag.key()));
    let tagged = match found {
        Err(index) => {
            tags.insert(index, tag.clone());
            Tagged::New
        }
        Ok(index) if tags[index].version == tag.version => Tagged::Unchanged,
        Ok(index) if may_move => {
            let before = std::mem::replace(&mut tags[index], tag.clone());
            Tagged::Moved(before.version)
        }
        Ok(index) => Tagged::Taken(tags[index].version.clone()),
    };
    let is_changed = matches!(tagged, Tagged::New | Tagged::Moved(_));
    Ok((tagged, is_changed.then_some(tags)))
}

/// Disk space to check for before tags are written. They usually take much less.
const TAGS_BYTES: u64 = 64 << 10;

impl Rows {
    /// All tags, by executable and name.
    pub(crate) fn tags(&self) -> Result<Vec<Tag>, InternalError> {
        let tags: Vec<Tag> = self.meta(META_TAGS)?.unwrap_or_default();
        if !tags.is_sorted_by(|a, b| a.key() < b.key()) {
            return Err(InternalError::damaged(
                "table meta, tags",
                "they are out of order, or one occurs twice",
            ));
        }
        Ok(tags)
    }
}

/// Replaces the stored tags by these, which must be sorted.
pub(crate) fn write(transaction: &WriteTransaction, tags: &[Tag]) -> Result<(), InternalError> {
    let mut meta = transaction.open_table(META)?;
    if tags.is_empty() {
        meta.remove(META_TAGS)?;
        return Ok(());
    }
    let body = codec::pack(&tags).map_err(packing_error)?;
    meta.insert(
        META_TAGS,
        with_checksum(META_TAGS.as_bytes(), body).as_slice(),
    )?;
    Ok(())
}
