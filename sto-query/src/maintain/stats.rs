//! Where the bytes of a store are.

use crate::listing::saving;
use serde::Serialize;
use sto_core::store::{ExecutableStats, PartKind, StorePart, StoreStats};

/// Where the bytes of a store are, and how much it holds; schema `sto.stats/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatsReport {
    /// `sto.stats/1`.
    pub schema: &'static str,
    /// Size of the file.
    pub file_bytes: u64,
    /// Where its bytes are, most first; they add up to its size.
    pub parts: Vec<PartReport>,
    /// Number of builds.
    pub builds: u64,
    /// Number of profiles.
    pub profiles: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of strings that packs of frames have.
    pub strings: u64,
    /// Number of nodes, of all executables.
    pub nodes: u64,
    /// Number of packs of frames and of nodes.
    pub packs: u64,
    /// Packed bytes of nodes for each node; `None` without nodes.
    pub bytes_per_node: Option<f64>,
    /// Packed bytes of what profiles have for themselves, for each profile; `None` without profiles.
    pub bytes_per_profile: Option<f64>,
    /// Number of distinct recordings that the profiles were read from.
    pub recordings: u64,
    /// Size of these recordings, each counted once.
    pub source_bytes: u64,
    /// How many times smaller the whole file is; `None` without recordings.
    pub saving: Option<f64>,
    /// The executables, by name.
    pub executables: Vec<ExecutableReport>,
}

/// A kind of bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartReport {
    /// What they are.
    pub part: &'static str,
    /// How many columns, records, entries or pages they are in; 0 where there is no number.
    pub count: u64,
    /// How many they are.
    pub bytes: u64,
    /// Share of the file.
    pub share: f64,
}

/// An executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExecutableReport {
    /// Its name.
    pub executable: String,
    /// Number of its builds.
    pub builds: u64,
    /// Number of their profiles.
    pub profiles: u64,
    /// Number of its nodes.
    pub nodes: u64,
    /// Packed bytes of its nodes.
    pub node_bytes: u64,
    /// Packed bytes of its profiles' own data, and of the sums of its builds.
    pub profile_bytes: u64,
}

/// Reports where the bytes of a store are.
pub fn stats(stats: &StoreStats) -> StatsReport {
    let per = |bytes: u64, count: u64| (count > 0).then(|| bytes as f64 / count as f64);
    let sum = |bytes: fn(&ExecutableStats) -> u64| stats.executables.iter().map(bytes).sum();
    let part = |part: &StorePart| PartReport {
        part: name(part.kind),
        count: part.count,
        bytes: part.bytes.0,
        share: part.bytes.0 as f64 / stats.file.0.max(1) as f64,
    };
    let executable = |executable: &ExecutableStats| ExecutableReport {
        executable: executable.name.clone(),
        builds: executable.builds,
        profiles: executable.profiles,
        nodes: executable.nodes,
        node_bytes: executable.node_bytes.0,
        profile_bytes: executable.profile_bytes.0,
    };
    StatsReport {
        schema: "sto.stats/1",
        file_bytes: stats.file.0,
        parts: stats.parts.iter().map(part).collect(),
        builds: stats.builds,
        profiles: stats.profiles,
        frames: stats.frames,
        strings: stats.strings,
        nodes: stats.nodes,
        packs: stats.packs,
        bytes_per_node: per(sum(|executable| executable.node_bytes.0), stats.nodes),
        bytes_per_profile: per(sum(|executable| executable.profile_bytes.0), stats.profiles),
        recordings: stats.recordings,
        source_bytes: stats.source.0,
        saving: saving(stats.source.0, stats.file.0),
        executables: stats.executables.iter().map(executable).collect(),
    }
}

fn name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Column(name) => name,
        PartKind::Record("executable") => "executable records",
        PartKind::Record("build") => "build records",
        PartKind::Record("profile") => "profile records",
        PartKind::Record(_) => "module list records",
        PartKind::Meta => "version and contents",
        PartKind::Checksums => "checksums",
        PartKind::Keys => "keys",
        PartKind::Tree => "redb: trees",
        PartKind::Slack => "redb: space in pages",
        PartKind::Redb => "redb: its own",
        PartKind::Free => "free pages",
    }
}
