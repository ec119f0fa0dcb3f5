//! Bytes and counts of a store's parts.
//!
//! See [the manual](crate::manual::sizes).

use crate::codec::{BuildRecord, CHECKSUM_LEN, ExecutableRecord, ProfileRecord};
use crate::error::Result;
use crate::numbers::{NodeNo, TypeNo};
use crate::read::rows::{RecordWithLocation, Rows};
use crate::tables::{Column, Record};
use hashbrown::HashMap;
use rayon::prelude::*;
use redb::{Database, ReadableDatabase};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_model::id::RecordingDigest;
use sto_model::units::Bytes;

/// Bytes and counts of a store's parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StoreStats {
    /// Size of the file. For a store in memory, the approximate size that a file would have.
    #[serde(rename = "file_bytes")]
    pub file: Bytes,
    /// The parts of the file, largest first. They add up to its size.
    pub parts: Vec<StorePart>,
    /// Number of builds.
    pub builds: u64,
    /// Number of profiles.
    pub profiles: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of strings in packs of frames; a string counts once in each pack that has it.
    pub strings: u64,
    /// Number of nodes of all executables.
    pub nodes: u64,
    /// Number of packs of frames and of nodes.
    pub packs: u64,
    /// Packed bytes of nodes per node; `None` without nodes.
    pub bytes_per_node: Option<f64>,
    /// Packed bytes of profiles' own data per profile; `None` without profiles.
    pub bytes_per_profile: Option<f64>,
    /// Number of distinct recordings that the profiles were read from.
    pub recordings: u64,
    /// Size of these recordings, each counted once.
    #[serde(rename = "source_bytes")]
    pub source: Bytes,
    /// Ratio of the recordings' size to the file's size; `None` without recordings.
    pub saving: Option<f64>,
    /// The executables, in order of name.
    pub executables: Vec<ExecutableStats>,
}

/// A part of a store's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StorePart {
    /// The part's name: a kind of packed columns (`frames`, `nodes`, `costs`, `lines`, `modules`, `sums`, `slices`,
    /// `metrics`, `calls`, `kept calls`), a kind of records (`profile records`), `keys`, `checksums`, `free pages`, ...
    pub part: String,
    /// Number of columns, records, entries or pages; 0 if the part has no such number.
    pub count: u64,
    /// Number of bytes.
    pub bytes: Bytes,
    /// Fraction of the file.
    pub share: f64,
}

/// An executable in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExecutableStats {
    /// The executable's name.
    #[serde(rename = "executable")]
    pub name: String,
    /// Number of builds.
    pub builds: u64,
    /// Number of profiles.
    pub profiles: u64,
    /// Number of nodes.
    pub nodes: u64,
    /// Packed bytes of the nodes, without checksums.
    pub node_bytes: Bytes,
    /// Packed bytes of the profiles' own costs, lines and records, and of the sums of
    /// builds.
    pub profile_bytes: Bytes,
}

/// Length in bytes of the keys of records, columns and segments in redb.
const RECORD_KEY: u64 = 1 + 16;
const COLUMN_KEY: u64 = 1 + 4 + 4;
const SEGMENT_KEY: u64 = COLUMN_KEY + 4;

/// Computes the statistics of a store; `file` is the size of its file.
///
/// redb traverses all pages without detecting cycles, so they must have been checked.
pub(crate) fn stats(database: &Database, file: Option<Bytes>) -> Result<StoreStats> {
    let transaction = database.begin_write()?;
    let redb = transaction.stats()?;
    transaction.abort()?;
    let rows = Rows::open(&database.begin_read()?)?;

    let mut parts = Parts::default();
    // Number of columns and bytes by kind and owner.
    let mut columns: HashMap<(u8, u32), (u64, u64)> = HashMap::new();
    rows.each_segment(|(kind, owner, ..), bytes| {
        parts.add("keys", 1, SEGMENT_KEY);
        columns.entry((kind, owner)).or_default().1 += bytes.len() as u64;
    })?;
    rows.each_end(|(kind, owner, _), bytes| {
        parts.add("keys", 1, COLUMN_KEY);
        let (count, of_owner) = columns.entry((kind, owner)).or_default();
        *count += 1;
        *of_owner += bytes.len() as u64;
    })?;
    // Bytes by the first column of each kind and owner.
    let mut packed: HashMap<Column, u64> = HashMap::new();
    let mut packs = 0;
    for ((kind, owner), (count, bytes)) in columns {
        let checksums = count * CHECKSUM_LEN as u64;
        parts.add("checksums", count, checksums);
        if let Some(column) = Column::from_key((kind, owner, 0)) {
            let bytes = bytes.saturating_sub(checksums);
            parts.add(column.name(), count, bytes);
            packed.insert(column, bytes);
            packs += count * u64::from(matches!(column, Column::Frames(_) | Column::Nodes(..)));
        }
    }
    rows.each_record(|(kind, _), stored| {
        parts.add("keys", 1, RECORD_KEY);
        parts.add("checksums", 1, CHECKSUM_LEN as u64);
        if let Some(record) = Record::from_number(kind) {
            let bytes = (stored.len() as u64).saturating_sub(CHECKSUM_LEN as u64);
            let part = match record {
                Record::Executable => "executable records",
                Record::Build => "build records",
                Record::Profile => "profile records",
                Record::ModuleList => "module list records",
                Record::Reading => "reading records",
                Record::Commit => "commits",
                Record::Replaced => "replaced records",
            };
            parts.add(part, 1, bytes);
        }
    })?;
    rows.each_meta(|key, value| {
        parts.add("keys", 1, key.len() as u64);
        parts.add("version and contents", 1, value.len() as u64);
    })?;

    let page = redb.page_size() as u64;
    let used = redb.allocated_pages() * page;
    // The file is a header page of redb, followed by used and free pages.
    let in_trees = redb.stored_bytes() + redb.metadata_bytes() + redb.fragmented_bytes();
    let file = file.map_or(in_trees.max(used + page), |file| file.0);
    let free = file.saturating_sub(used + page);
    parts.add("free pages", free / page, free);
    parts.add(
        "redb: space in pages",
        0,
        redb.fragmented_bytes().saturating_sub(free),
    );
    parts.add("redb: trees", redb.branch_pages(), redb.metadata_bytes());
    let redb_own = file.saturating_sub(parts.bytes());
    parts.add("redb: its own", 0, redb_own);

    let strings = rows
        .packs(rows.contents.frames, Column::Frames)?
        .par_iter()
        .map(|pack| Ok(pack.frames()?.string_count() as u64))
        .sum::<Result<u64>>()?;
    let profiles: Vec<RecordWithLocation<ProfileRecord>> = rows.records(Record::Profile)?;
    let executables = executables(&rows, &profiles, &packed)?;
    let recordings: HashMap<RecordingDigest, Bytes> = profiles
        .iter()
        .map(|found| {
            (
                found.record.profile.source,
                found.record.profile.source_bytes,
            )
        })
        .collect();
    let sources = recordings.values().map(|bytes| bytes.0);
    let source = sources.fold(0, u64::saturating_add);
    let nodes = executables.iter().map(|executable| executable.nodes).sum();
    let per = |bytes: fn(&ExecutableStats) -> Bytes, count: u64| {
        let bytes: u64 = executables
            .iter()
            .map(|executable| bytes(executable).0)
            .sum();
        (count > 0).then(|| bytes as f64 / count as f64)
    };
    Ok(StoreStats {
        file: Bytes(file),
        parts: parts.sorted(file),
        bytes_per_node: per(|executable| executable.node_bytes, nodes),
        bytes_per_profile: per(|executable| executable.profile_bytes, profiles.len() as u64),
        saving: Bytes(file).compression_ratio(Bytes(source)),
        builds: rows.contents.builds.into(),
        profiles: profiles.len() as u64,
        frames: rows.contents.frames.0.into(),
        strings,
        nodes,
        packs,
        executables,
        recordings: recordings.len() as u64,
        source: Bytes(source),
    })
}

/// All executables by name, with the bytes of their nodes and profiles.
fn executables(
    rows: &Rows,
    profiles: &[RecordWithLocation<ProfileRecord>],
    packed: &HashMap<Column, u64>,
) -> Result<Vec<ExecutableStats>> {
    let packed = |column| packed.get(&column).copied().unwrap_or(0);
    let records: Vec<RecordWithLocation<ExecutableRecord>> = rows.records(Record::Executable)?;
    let stats = records.into_iter().map(|found| {
        let executable = ExecutableStats {
            builds: 0,
            profiles: 0,
            nodes: found.record.nodes.0.into(),
            node_bytes: Bytes(packed(Column::Nodes(found.record.number, NodeNo(0)))),
            profile_bytes: Bytes(0),
            name: found.record.name,
        };
        (executable.name.clone(), executable)
    });
    let mut stats: BTreeMap<String, ExecutableStats> = stats.collect();
    let builds: Vec<RecordWithLocation<BuildRecord>> = rows.records(Record::Build)?;
    let mut names: HashMap<[u8; 16], &str> = HashMap::new();
    for RecordWithLocation { id, record, .. } in &builds {
        names.insert(*id, &record.executable);
        if let Some(executable) = stats.get_mut(&record.executable) {
            executable.builds += 1;
            executable.profile_bytes.0 += packed(Column::Sums(record.number, TypeNo(0)));
        }
    }
    for RecordWithLocation { record, bytes, .. } in profiles {
        let name = names.get(&record.profile.build.0).copied();
        if let Some(executable) = name.and_then(|name| stats.get_mut(name)) {
            executable.profiles += 1;
            let own: u64 = Column::first_of(record.number).map(packed).sum();
            executable.profile_bytes.0 += own + bytes - CHECKSUM_LEN as u64;
        }
    }
    Ok(stats.into_values().collect())
}

/// Counts and bytes by part.
#[derive(Default)]
struct Parts(BTreeMap<&'static str, (u64, u64)>);

impl Parts {
    fn add(&mut self, kind: &'static str, count: u64, bytes: u64) {
        let part = self.0.entry(kind).or_default();
        part.0 += count;
        part.1 += bytes;
    }

    fn bytes(&self) -> u64 {
        self.0.values().map(|(_, bytes)| bytes).sum()
    }

    fn sorted(self, file: u64) -> Vec<StorePart> {
        let parts = self.0.into_iter().filter(|&(_, (_, bytes))| bytes > 0);
        let parts = parts.map(|(part, (count, bytes))| StorePart {
            part: part.to_owned(),
            count,
            bytes: Bytes(bytes),
            share: bytes as f64 / file.max(1) as f64,
        });
        let mut parts: Vec<StorePart> = parts.collect();
        // Stable, so parts of equal size stay in order of name.
        parts.sort_by_key(|part| Reverse(part.bytes));
        parts
    }
}
