//! The settings of services that are profiled continuously, in the configuration file.

use serde::Deserialize;
use std::collections::BTreeMap;

/// How long windows are retained. Builds with tags are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Retention {
    /// Number of days after which windows are removed; by default, never.
    pub days: Option<u32>,
    /// Size of the store's file in MiB above which the oldest windows are removed; by default, no limit.
    pub store_mib: Option<u32>,
}

/// A program whose profiles are fetched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Scrape {
    /// The program.
    pub program: String,
    /// Its build, or version.
    pub build: String,
    /// The address of its profiles, such as `http://shop-1:6060/debug/pprof`.
    pub url: String,
    /// The fetched profiles.
    #[serde(default = "ScrapeType::usual")]
    pub types: Vec<ScrapeType>,
    /// Time between two fetches in seconds, 2 or more.
    #[serde(default = "usual_interval")]
    pub interval_seconds: u32,
    /// Labels of the profiles. By default, `instance` is the host and port of the address.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// A kind of profile of a Go program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ScrapeType {
    /// CPU time.
    Cpu,
    /// Allocations.
    Allocs,
    /// Waiting for channels and locks.
    Block,
    /// Holding locks that others wait for.
    Mutex,
    /// Memory in use.
    Heap,
    /// Goroutines.
    Goroutine,
}

fn usual_interval() -> u32 {
    15
}

impl ScrapeType {
    fn usual() -> Vec<ScrapeType> {
        vec![ScrapeType::Cpu, ScrapeType::Allocs]
    }

    pub(crate) fn is_counter(self) -> bool {
        matches!(
            self,
            ScrapeType::Allocs | ScrapeType::Block | ScrapeType::Mutex
        )
    }

    /// The address below the URL. Profiles of CPU time take this number of seconds.
    pub(crate) fn path(self, seconds: u32) -> String {
        match self {
            ScrapeType::Cpu => return format!("profile?seconds={seconds}"),
            ScrapeType::Allocs => "allocs",
            ScrapeType::Block => "block",
            ScrapeType::Mutex => "mutex",
            ScrapeType::Heap => "heap",
            ScrapeType::Goroutine => "goroutine",
        }
        .to_owned()
    }
}
