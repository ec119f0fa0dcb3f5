//! Names, keys, magic numbers and versions of the store's file.

use super::numbers::{BuildNo, ExecutableNo, FrameNo, ModulesNo, NodeNo, ProfileNo, TypeNo};
use redb::TableDefinition;
use std::fmt;
use std::ops::RangeInclusive;

/// Name of the redb file inside the store's folder.
pub(crate) const FILE_NAME: &str = "store.redb";

/// First bytes of every redb file.
pub(crate) const REDB_MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// The format version. Every layout change that would mislead an older reader increments it.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Values about the whole store, by name.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// In [`META`]: the format version, 4 bytes, little-endian. Its key and form never change.
pub(crate) const META_VERSION: &str = "version";

/// In [`META`]: the number of things in the store, as [`super::codec::Contents`] with its checksum.
pub(crate) const META_CONTENTS: &str = "contents";

/// In [`META`], if any: the tags of builds, a list of [`super::Tag`] with its checksum.
pub(crate) const META_TAGS: &str = "tags";

/// In [`META`], if any: names of additions to this format version that a reader must know, an ascending
/// list with its checksum. Version 1 has no additions yet.
pub(crate) const META_FEATURES: &str = "features";

/// Small records, by kind and content address; listing a store reads only these.
pub(crate) const RECORDS: TableDefinition<RecordKey, &[u8]> = TableDefinition::new("records");

/// The whole segments of packed columns; each fills a page.
pub(crate) const COLUMNS: TableDefinition<SegmentKey, &[u8]> = TableDefinition::new("columns");

/// The rest of each packed column, shorter than a segment. Several share a page.
pub(crate) const ENDS: TableDefinition<ColumnKey, &[u8]> = TableDefinition::new("ends");

/// Kind (a [`Record`]) and content address.
pub(crate) type RecordKey = (u8, [u8; 16]);

/// Kind, owner and part; [`Column`] lists them for each kind.
pub(crate) type ColumnKey = (u8, u32, u32);

/// Kind, owner, part, segment.
pub(crate) type SegmentKey = (u8, u32, u32, u32);

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Record {
    /// By executable id.
    Executable = 0,
    /// By build id.
    Build = 1,
    /// By profile id.
    Profile = 2,
    /// By digest of the packed list: its number in [`Column::Modules`].
    ModuleList = 3,
    /// By reading id: the profile of that reading and its origin.
    Reading = 4,
    /// By digest of the commit id: the commit's metadata.
    Commit = 5,
    /// By the id of a removed profile: the profile that replaced it when names were found later.
    Replaced = 6,
}

/// A packed column: its kind and owner. Errors name it by kind, owner and part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Column {
    /// Frames, starting with this one.
    Frames(FrameNo),
    /// Nodes of an executable, starting with this one.
    Nodes(ExecutableNo, NodeNo),
    /// Self costs of a profile.
    Costs(ProfileNo, TypeNo),
    /// Line costs of a profile.
    Lines(ProfileNo, TypeNo),
    /// Files that a profile's code was loaded from.
    Modules(ModulesNo),
    /// Self costs summed over the profiles of a build.
    Sums(BuildNo, TypeNo),
    /// Costs of a profile by context and slice of time.
    Slices(ProfileNo),
    /// Metrics over time of a profile.
    Metrics(ProfileNo),
    /// Calls over time of a profile.
    Calls(ProfileNo),
    /// All calls of a profile: part 0 is common to the pieces, which follow from 1.
    CallTrees(ProfileNo, u32),
    /// Calls of a profile by their arguments.
    Arguments(ProfileNo),
    /// Digests of a profile's source files.
    Sources(ProfileNo),
    /// Addresses of a profile whose names may be found later.
    Addresses(ProfileNo),
}

/// Bytes of a packed column in one entry of [`COLUMNS`]. With redb's 4 bytes per page, 4 per value
/// and the key's 13, an entry fills a page of 4096 bytes. redb would round a larger value up to a
/// power of two of pages.
pub(crate) const SEGMENT: usize = 4096 - 4 - 4 - 13;

/// Maximum number of frames in a pack.
pub(crate) const MAX_PACK_FRAMES: u32 = 1 << 16;

/// Maximum number of nodes in a pack.
pub(crate) const MAX_PACK_NODES: u32 = 1 << 18;

/// Maximum number of profile columns that are not in a build's sum and that readers add up. So
/// builds of few runs take no space for sums, and every fifth run rewrites them.
pub(crate) const MAX_SEPARATE_COLUMNS: usize = 4;

/// Memory for redb's page cache; its own default is 1 GiB.
#[cfg(not(test))]
pub(crate) const CACHE_BYTES: usize = 64 << 20;

/// Tests read every page from the file, so that a page that was overwritten is noticed.
#[cfg(test)]
pub(crate) const CACHE_BYTES: usize = 0;

/// Compression level of columns. Above it, time grows much faster than the size shrinks.
pub(crate) const ZSTD_LEVEL: i32 = 9;

impl Record {
    /// All kinds, in the order of their numbers.
    pub(crate) const ALL: [Record; 7] = [
        Record::Executable,
        Record::Build,
        Record::Profile,
        Record::ModuleList,
        Record::Reading,
        Record::Commit,
        Record::Replaced,
    ];

    /// The kind with this number.
    pub(crate) fn from_number(number: u8) -> Option<Record> {
        Record::ALL.get(usize::from(number)).copied()
    }

    /// The name that errors show.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Record::Executable => "executable",
            Record::Build => "build",
            Record::Profile => "profile",
            Record::ModuleList => "module list",
            Record::Reading => "reading",
            Record::Commit => "commit",
            Record::Replaced => "replaced",
        }
    }
}

impl Column {
    /// The column's key; owner and part are zero if it has none.
    pub(crate) fn key(self) -> ColumnKey {
        match self {
            Column::Frames(first) => (0, 0, first.0),
            Column::Nodes(executable, first) => (1, executable.0, first.0),
            Column::Costs(profile, sample_type) => (2, profile.0, sample_type.0),
            Column::Lines(profile, sample_type) => (3, profile.0, sample_type.0),
            Column::Modules(list) => (4, list.0, 0),
            Column::Sums(build, sample_type) => (5, build.0, sample_type.0),
            Column::Slices(profile) => (6, profile.0, 0),
            Column::Metrics(profile) => (7, profile.0, 0),
            Column::Calls(profile) => (8, profile.0, 0),
            Column::CallTrees(profile, part) => (9, profile.0, part),
            Column::Arguments(profile) => (10, profile.0, 0),
            Column::Sources(profile) => (11, profile.0, 0),
            Column::Addresses(profile) => (12, profile.0, 0),
        }
    }

    /// The column with this key, if the key is valid.
    pub(crate) fn from_key(key: ColumnKey) -> Option<Column> {
        let (kind, owner, part) = key;
        let column = match kind {
            0 => Column::Frames(FrameNo(part)),
            1 => Column::Nodes(ExecutableNo(owner), NodeNo(part)),
            2 => Column::Costs(ProfileNo(owner), TypeNo(part)),
            3 => Column::Lines(ProfileNo(owner), TypeNo(part)),
            4 => Column::Modules(ModulesNo(owner)),
            5 => Column::Sums(BuildNo(owner), TypeNo(part)),
            6 => Column::Slices(ProfileNo(owner)),
            7 => Column::Metrics(ProfileNo(owner)),
            8 => Column::Calls(ProfileNo(owner)),
            9 => Column::CallTrees(ProfileNo(owner), part),
            10 => Column::Arguments(ProfileNo(owner)),
            11 => Column::Sources(ProfileNo(owner)),
            12 => Column::Addresses(ProfileNo(owner)),
            _ => return None,
        };
        (column.key() == key).then_some(column)
    }

    /// Whether the column belongs to one profile.
    fn is_of_profile(self) -> bool {
        match self {
            Column::Costs(..)
            | Column::Lines(..)
            | Column::Slices(_)
            | Column::Metrics(_)
            | Column::Calls(_)
            | Column::CallTrees(..)
            | Column::Arguments(_)
            | Column::Sources(_)
            | Column::Addresses(_) => true,
            Column::Frames(_) | Column::Nodes(..) | Column::Modules(_) | Column::Sums(..) => false,
        }
    }

    /// The first column of each kind, of owner 0.
    pub(crate) fn kinds() -> impl Iterator<Item = Column> {
        (0..).map_while(|kind| Column::from_key((kind, 0, 0)))
    }

    /// The first column of each kind that belongs to this profile only.
    pub(crate) fn first_of(profile: ProfileNo) -> impl Iterator<Item = Column> {
        Column::kinds()
            .filter(|column| column.is_of_profile())
            .filter_map(move |column| Column::from_key((column.key().0, profile.0, 0)))
    }

    /// The keys of all columns with the kind and owner of this one.
    pub(crate) fn all_parts(self) -> RangeInclusive<ColumnKey> {
        let (kind, owner, _) = self.key();
        (kind, owner, 0)..=(kind, owner, u32::MAX)
    }

    /// The name of its kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Column::Frames(_) => "frames",
            Column::Nodes(..) => "nodes",
            Column::Costs(..) => "costs",
            Column::Lines(..) => "lines",
            Column::Modules(_) => "modules",
            Column::Sums(..) => "sums",
            Column::Slices(_) => "slices",
            Column::Metrics(_) => "metrics",
            Column::Calls(_) => "calls",
            Column::CallTrees(..) => "kept calls",
            Column::Arguments(_) => "arguments",
            Column::Sources(_) => "sources",
            Column::Addresses(_) => "addresses",
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, owner, part) = self.key();
        write!(f, "table columns, {} {owner}/{part}", self.name())
    }
}
