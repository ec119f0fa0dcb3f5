//! Every name, key, magic number and version of the store's file, in one place.

use redb::TableDefinition;

/// Name of the redb file inside the store's folder.
pub(super) const FILE_NAME: &str = "store.redb";

/// First bytes of every redb file.
pub(super) const REDB_MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// The format version that this code writes; it goes up with every change of the layout below.
pub(super) const FORMAT_VERSION: u32 = 5;

/// The oldest format version that this code reads.
pub(super) const OLDEST_READABLE: u32 = 5;

/// For each version that is no longer read, the last release that reads it.
pub(super) const RETIRED: [(u32, &str); 5] = [
    (0, "an unreleased development build"),
    (1, "an unreleased development build"),
    (2, "an unreleased development build"),
    (3, "an unreleased development build"),
    (4, "an unreleased development build"),
];

/// Facts about the whole store, by name.
pub(super) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// In [`META`]: the format version, 4 bytes, little-endian. Its place and form never change.
pub(super) const META_VERSION: &str = "version";

/// In [`META`]: how much the store holds, a [`super::codec::Contents`] with its checksum.
pub(super) const META_CONTENTS: &str = "contents";

/// In [`META`], where there are any: the tags of builds, a list of [`super::Tag`] with its checksum.
pub(super) const META_TAGS: &str = "tags";

/// In [`META`], where there are any: names of what a reader has to know beyond this format version, an
/// ascending list with its checksum. What is only added to the layout gets a name here, and no other version.
pub(super) const META_FEATURES: &str = "features";

/// The features that this code knows.
pub(super) const KNOWN_FEATURES: [&str; 0] = [];

/// Small records, by kind and content address; what listing a store reads.
pub(super) const RECORDS: TableDefinition<RecordKey, &[u8]> = TableDefinition::new("records");

/// What packed columns begin with: segments that fill a page each.
pub(super) const COLUMNS: TableDefinition<SegmentKey, &[u8]> = TableDefinition::new("columns");

/// What is left of each packed column, less than a segment: side by side, these share pages.
pub(super) const ENDS: TableDefinition<ColumnKey, &[u8]> = TableDefinition::new("ends");

/// Kind (a [`Record`]) and content address.
pub(super) type RecordKey = (u8, [u8; 16]);

/// Kind (a [`Column`]), and two numbers that depend on it: owner, part.
pub(super) type ColumnKey = (u8, u32, u32);

/// Kind, owner, part, segment.
pub(super) type SegmentKey = (u8, u32, u32, u32);

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Record {
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
}

/// Kinds of packed columns, with what owner and part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Column {
    /// Frames: zero, number of the first.
    Frames = 0,
    /// Nodes: executable, number of the first.
    Nodes = 1,
    /// Self costs: profile, sample type.
    Costs = 2,
    /// Line costs: profile, sample type.
    Lines = 3,
    /// Files that a profile's code was loaded from: list, zero.
    Modules = 4,
    /// Self costs summed over the profiles of a build: build, sample type.
    Sums = 5,
    /// Costs by context and slice of time: profile, zero.
    Slices = 6,
}

/// Bytes of a packed column that one entry of [`COLUMNS`] takes: with redb's 4 bytes a page,
/// 4 a value and the 13 of the key, one entry then fills a page of 4096 bytes. redb would round a
/// larger value up to a power of two of pages.
pub(super) const SEGMENT: usize = 4096 - 4 - 4 - 13;

/// Most frames in one pack.
pub(super) const MOST_FRAMES: u32 = 1 << 16;

/// Most nodes in one pack.
pub(super) const MOST_NODES: u32 = 1 << 18;

/// Most columns of a build's profiles that stand beside a sum, to be added up by who reads it. So a
/// build of few runs takes no space for sums, and they are written anew at every fifth run.
pub(super) const MOST_APART: usize = 4;

/// Memory for redb's page cache; its own default is 1 GiB.
pub(super) const CACHE_BYTES: usize = 64 << 20;

/// Compression level of columns: above it, time grows much faster than size shrinks.
pub(super) const ZSTD_LEVEL: i32 = 9;

impl Record {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [Record; 5] = [
        Record::Executable,
        Record::Build,
        Record::Profile,
        Record::ModuleList,
        Record::Reading,
    ];

    /// The kind with this number.
    pub(super) fn from_number(number: u8) -> Option<Record> {
        Record::ALL.get(usize::from(number)).copied()
    }

    /// The name that errors show.
    pub(super) fn name(self) -> &'static str {
        match self {
            Record::Executable => "executable",
            Record::Build => "build",
            Record::Profile => "profile",
            Record::ModuleList => "module list",
            Record::Reading => "reading",
        }
    }
}

impl Column {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [Column; 7] = [
        Column::Frames,
        Column::Nodes,
        Column::Costs,
        Column::Lines,
        Column::Modules,
        Column::Sums,
        Column::Slices,
    ];

    /// The kind with this number.
    pub(super) fn from_number(number: u8) -> Option<Column> {
        Column::ALL.get(usize::from(number)).copied()
    }

    /// Whether its columns belong to one profile alone.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Column::Costs | Column::Lines | Column::Slices)
    }

    /// The name that errors show.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Frames => "frames",
            Column::Nodes => "nodes",
            Column::Costs => "costs",
            Column::Lines => "lines",
            Column::Modules => "modules",
            Column::Sums => "sums",
            Column::Slices => "slices",
        }
    }
}
