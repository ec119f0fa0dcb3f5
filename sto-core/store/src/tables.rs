//! Every name, key, magic number and version of the store's file, in one place.

use super::numbers::{BuildNo, ExecutableNo, FrameNo, ModulesNo, NodeNo, ProfileNo, TypeNo};
use redb::TableDefinition;
use std::fmt;

/// Name of the redb file inside the store's folder.
pub(crate) const FILE_NAME: &str = "store.redb";

/// First bytes of every redb file.
pub(crate) const REDB_MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// The format version; it goes up with every change of the layout below that would mislead a reader of this one.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Facts about the whole store, by name.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// In [`META`]: the format version, 4 bytes, little-endian. Its key and form never change.
pub(crate) const META_VERSION: &str = "version";

/// In [`META`]: how much the store holds, a [`super::codec::Contents`] with its checksum.
pub(crate) const META_CONTENTS: &str = "contents";

/// In [`META`], where there are any: the tags of builds, a list of [`super::Tag`] with its checksum.
pub(crate) const META_TAGS: &str = "tags";

/// In [`META`], if there are any: names of additions to this format version that a reader has to know, an ascending
/// list with its checksum. Version 1 has no additions yet.
pub(crate) const META_FEATURES: &str = "features";

/// Small records, by kind and content address; what listing a store reads.
pub(crate) const RECORDS: TableDefinition<RecordKey, &[u8]> = TableDefinition::new("records");

/// What packed columns begin with: segments that fill a page each.
pub(crate) const COLUMNS: TableDefinition<SegmentKey, &[u8]> = TableDefinition::new("columns");

/// What is left of each packed column, less than a segment: side by side, these share pages.
pub(crate) const ENDS: TableDefinition<ColumnKey, &[u8]> = TableDefinition::new("ends");

/// Kind (a [`Record`]) and content address.
pub(crate) type RecordKey = (u8, [u8; 16]);

/// Kind, and two numbers that depend on it: owner, part. [`Column`] says what they are.
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
    /// By reading id: which profile stands for it, and where that came from.
    Reading = 4,
    /// By digest of the commit's id: what is known of it.
    Commit = 5,
    /// By the id of a profile that is gone: the profile that stands in its place, with names found later.
    Replaced = 6,
}

/// A packed column: what is in it, and of what. Errors name it by its kind, owner and part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Column {
    /// Frames, from this one on.
    Frames(FrameNo),
    /// Nodes of an executable, from this one on.
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
    /// Every call of a profile: 0 is what the pieces have in common, from 1 on are these.
    CallTrees(ProfileNo, u32),
    /// Calls of a profile by what they were called with.
    Arguments(ProfileNo),
    /// Digests of a profile's source files.
    Sources(ProfileNo),
    /// Addresses of a profile whose names may be found later.
    Addresses(ProfileNo),
}

/// Bytes of a packed column that one entry of [`COLUMNS`] takes: with redb's 4 bytes a page,
/// 4 a value and the 13 of the key, one entry then fills a page of 4096 bytes. redb would round a
/// larger value up to a power of two of pages.
pub(crate) const SEGMENT: usize = 4096 - 4 - 4 - 13;

/// Most frames in one pack.
pub(crate) const MOST_FRAMES: u32 = 1 << 16;

/// Most nodes in one pack.
pub(crate) const MOST_NODES: u32 = 1 << 18;

/// Most columns of a build's profiles that stand beside a sum, to be added up by who reads it. So a
/// build of few runs takes no space for sums, and they are written anew at every fifth run.
pub(crate) const MOST_SEPARATE: usize = 4;

/// Memory for redb's page cache; its own default is 1 GiB.
pub(crate) const CACHE_BYTES: usize = 64 << 20;

/// Compression level of columns: above it, time grows much faster than size shrinks.
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
    /// The key that it stands under: what has no owner or part has zero there.
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

    /// The column that stands under this key, if one can.
    pub(crate) fn of(key: ColumnKey) -> Option<Column> {
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

    /// The first of each kind of columns that belong to this profile alone.
    pub(crate) fn first_of(profile: ProfileNo) -> [Column; 9] {
        let first = TypeNo(0);
        [
            Column::Costs(profile, first),
            Column::Lines(profile, first),
            Column::Slices(profile),
            Column::Metrics(profile),
            Column::Calls(profile),
            Column::CallTrees(profile, 0),
            Column::Arguments(profile),
            Column::Sources(profile),
            Column::Addresses(profile),
        ]
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
