//! Tags: names that users give to builds, one list for the whole store.

use crate::codec::{self, with_checksum};
use crate::error::{InternalError, StoreError, refused};
use crate::read::builds::builds;
use crate::read::rows::Rows;
use crate::tables::{META, META_TAGS, Record};
use crate::{Store, StoredBuild};
use redb::WriteTransaction;
use serde::{Deserialize, Serialize};
use std::fmt;
use sto_model::id::{BuildId, ExecutableId};
use sto_model::limits::MAX_GIVEN_NAME;

/// A name for a build. Of one executable, a name stands for one build; it can be moved to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tag {
    /// The executable.
    pub executable: String,
    /// The name.
    #[serde(rename = "tag")]
    pub name: String,
    /// The version of the build that it stands for.
    #[serde(rename = "build")]
    pub version: String,
}

/// What became of a tag that was to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tagged {
    /// It is new.
    New,
    /// It stood for this build already: nothing was changed.
    Unchanged,
    /// It stood for the build of this version before.
    Moved(String),
    /// It stands for the build of this version, and was not to be moved: nothing was changed.
    Taken(String),
}

impl fmt::Display for Tag {
    /// `EXE@TAG`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.executable, self.name)
    }
}

impl Tag {
    /// The content address of the build that it stands for.
    pub fn build(&self) -> BuildId {
        BuildId::of(ExecutableId::of(&self.executable), &self.version)
    }

    fn key(&self) -> (&str, &str) {
        (&self.executable, &self.name)
    }

    /// Whether a tag may be called like this: 1 to 4096 bytes without white space, control
    /// characters and `@`, which do not begin with `-`.
    pub fn is_name(name: &str) -> bool {
        let is_taken = |c: char| c.is_whitespace() || c.is_control() || c == '@';
        (1..=MAX_GIVEN_NAME).contains(&name.len())
            && !name.starts_with('-')
            && !name.contains(is_taken)
    }
}

impl StoredBuild {
    /// Its tags, in the order of their names.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.tags.iter().map(|name| Tag {
            executable: self.build.executable.clone(),
            name: name.clone(),
            version: self.build.version.clone(),
        })
    }
}

impl Store {
    /// Gives a build a tag, in one transaction. Where the tag stands for another build of the
    /// executable, it is moved only if `may_move`.
    ///
    /// # Errors
    /// Where the store has no such build, the name [cannot be a tag's](Tag::is_name), or the file
    /// cannot be written: the store is then as it was.
    pub fn tag(&self, tag: &Tag, may_move: bool) -> Result<Tagged, StoreError> {
        self.change_tags(|rows| plan(rows, tag, may_move))
    }

    /// Gives a build a tag as [`Store::tag`] does, and chooses the build in the same transaction, so that it is
    /// not gone by then. Who chooses is given all that is stored, maybe several times, and is answered with what was
    /// chosen last; where that is an error, nothing is changed.
    ///
    /// # Errors
    /// As [`Store::tag`].
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

    /// Takes a tag away, which is chosen in the same transaction, as for [`Store::tag_chosen`]. One that is not
    /// there is passed over.
    ///
    /// # Errors
    /// Where the store is damaged, or the file cannot be written: the store is then as it was.
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

    /// Adds these tags where there is none of their name, and their build is here.
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

/// What becomes of a tag that is to be set, and all tags then, where that changes them.
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

/// Room that is asked for before tags are written: they mostly take much less.
const TAGS_BYTES: u64 = 64 << 10;

impl Rows {
    /// Every tag, by executable and name.
    pub(crate) fn tags(&self) -> Result<Vec<Tag>, InternalError> {
        let tags: Vec<Tag> = self.meta(META_TAGS)?.unwrap_or_default();
        if !tags.is_sorted_by(|a, b| a.key() < b.key()) {
            return Err(InternalError::damaged(
                "table meta, tags",
                "they are out of order, or one stands twice",
            ));
        }
        Ok(tags)
    }
}

/// Writes the tags, sorted, in place of those that there were.
pub(crate) fn write(transaction: &WriteTransaction, tags: &[Tag]) -> Result<(), InternalError> {
    let mut meta = transaction.open_table(META)?;
    if tags.is_empty() {
        meta.remove(META_TAGS)?;
        return Ok(());
    }
    let body = codec::pack(&tags).map_err(refused)?;
    meta.insert(
        META_TAGS,
        with_checksum(META_TAGS.as_bytes(), body).as_slice(),
    )?;
    Ok(())
}
