//! Results of symbolising stored profiles again.

use super::FoundSymbols;
use super::ingest::found_symbols;
use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::Notice;
use sto_core::id::ProfileId;
use sto_core::ingest::Symbolized;
use sto_core::store::{StoredBuild, StoredProfile};

/// Result of symbolising stored profiles again.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolizedProfiles {
    /// Profiles with stored addresses, before the change, in the order of their builds.
    pub profiles: Vec<SymbolizedProfile>,
    /// Number of other selected profiles.
    pub without_addresses: usize,
    /// Files with the addresses: most unresolved samples first, equal ones by path.
    pub modules: Vec<FoundSymbols>,
}

impl Answer for SymbolizedProfiles {
    const SCHEMA: &'static str = "sto.symbolize/1";
}

/// Result of symbolising a profile again.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolizedProfile {
    /// Name of the executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// Id of the original profile.
    pub profile: ProfileId,
    /// Id of the profile that replaces it; `None` if nothing was found.
    pub became: Option<ProfileId>,
    /// Packed size of the data written for it.
    pub stored_bytes: u64,
    /// Number of addresses without a name before.
    pub unresolved: usize,
    /// Number of files with such addresses.
    pub modules: usize,
    /// Number of these addresses that now have a name.
    pub resolved: usize,
    /// Number of addresses with a name that now have another source file or inlined functions.
    pub more_detailed: usize,
}

impl SymbolizedProfiles {
    /// Adds the result of a profile.
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

    /// Combines the results for the same file in several profiles.
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
