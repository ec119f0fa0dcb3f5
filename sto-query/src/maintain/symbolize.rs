//! Names of functions that were found after profiles went in.

use super::FoundSymbols;
use super::ingest::found_symbols;
use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::Notice;
use sto_core::id::ProfileId;
use sto_core::ingest::Symbolized;
use sto_core::store::{StoredBuild, StoredProfile};

/// What looking for names of functions again came to.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolizedProfiles {
    /// The profiles of which addresses are kept, as they were, in the order of their builds.
    pub profiles: Vec<SymbolizedProfile>,
    /// Number of other profiles that were meant.
    pub without_addresses: usize,
    /// The files that the addresses are in, each once: most unresolved samples first, equals by path.
    pub modules: Vec<FoundSymbols>,
}

impl Answer for SymbolizedProfiles {
    const SCHEMA: &'static str = "sto.symbolize/1";
}

/// What became of the addresses of a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolizedProfile {
    /// Name of the executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// The profile as it was.
    pub profile: ProfileId,
    /// The profile that stands in its place now; none where nothing was found.
    pub became: Option<ProfileId>,
    /// Packed size of what was written for that.
    pub stored_bytes: u64,
    /// Addresses that had no name.
    pub unresolved: usize,
    /// Number of files that these are in.
    pub modules: usize,
    /// How many of them have a name now.
    pub resolved: usize,
    /// Addresses that had a name, and have another source file, or inlined functions, now.
    pub more_detailed: usize,
}

impl SymbolizedProfiles {
    /// Adds what became of a profile.
    pub(crate) fn add(
        &mut self,
        build: &StoredBuild,
        stored: &StoredProfile,
        symbolized: &Symbolized,
        say: &dyn Fn(&Notice) -> String,
    ) {
        self.profiles.push(SymbolizedProfile {
            executable: build.build.executable.clone(),
            version: build.build.version.clone(),
            profile: stored.id,
            became: symbolized.replaced_by.map(|(id, _)| id),
            stored_bytes: symbolized.replaced_by.map_or(0, |(_, stored)| stored.0),
            unresolved: symbolized.unresolved,
            modules: symbolized.modules,
            resolved: symbolized.named,
            more_detailed: symbolized.detailed,
        });
        let found = symbolized.found.iter();
        self.modules
            .extend(found.map(|module| found_symbols(module, &say)));
    }

    /// Makes one of what was found of one file for several profiles.
    pub(crate) fn finish(&mut self) {
        let mut files: BTreeMap<_, FoundSymbols> = BTreeMap::new();
        for module in self.modules.drain(..) {
            let key = (
                module.path.clone(),
                module.symbols.clone(),
                module.problem.clone(),
            );
            match files.get_mut(&key) {
                None => drop(files.insert(key, module)),
                Some(known) => {
                    known.locations += module.locations;
                    known.unresolved += module.unresolved;
                    let samples = &mut known.unresolved_samples;
                    *samples = samples.saturating_add(module.unresolved_samples);
                }
            }
        }
        self.modules = files.into_values().collect();
        self.modules
            .sort_by_key(|module| std::cmp::Reverse(module.unresolved_samples));
    }
}
