//! How profiles lie at a place.

use super::ExchangeError;
use super::{LAYOUT, VERSION};
use crate::places::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use sto_model::id::ProfileId;
use sto_model::units::Bytes;
use sto_store::{Snapshot, StoreError};

/// Where layout and version stand.
const MANIFEST: &str = "manifest.json";

/// Most bytes of a manifest.
const MANIFEST_BYTES: Bytes = Bytes(1 << 16);

/// The folder of profiles.
const PROFILES: &str = "profiles";

/// How the name of a profile's file ends.
const ENDING: &str = ".sto.zst";

/// Most bytes of a profile's file.
const PROFILE_BYTES: Bytes = Bytes(1 << 30);

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
}

/// Profiles at a place, of the layout and version that is known.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    place: &'a Place,
}

impl<'a> Exchange<'a> {
    /// The profiles at a place; `None` where it is empty.
    ///
    /// # Errors
    /// Where the place has something else, or another layout or version, or cannot be read.
    pub fn open(place: &'a Place) -> Result<Option<Exchange<'a>>, ExchangeError> {
        let mut manifest = place.read(MANIFEST, MANIFEST_BYTES)?;
        if manifest.is_none() {
            if place.is_empty()? {
                return Ok(None);
            }
            // Somebody may just have begun.
            manifest = place.read(MANIFEST, MANIFEST_BYTES)?;
        }
        let name = place.to_string();
        let Some(manifest) = manifest else {
            return Err(ExchangeError::NoExchange { place: name });
        };
        match serde_json::from_slice(&manifest) {
            Ok(Manifest { layout, version }) if layout == LAYOUT && version == VERSION => {
                Ok(Some(Exchange { place }))
            }
            Ok(Manifest { layout, version }) => Err(ExchangeError::OtherVersion {
                place: name,
                layout,
                version,
            }),
            Err(source) => Err(ExchangeError::NoManifest {
                place: name,
                source,
            }),
        }
    }

    /// Makes an empty place one for profiles, unless somebody else just did.
    ///
    /// # Errors
    /// As [`Exchange::open`], and where the place cannot be written.
    pub fn create(place: &'a Place) -> Result<Exchange<'a>, ExchangeError> {
        let manifest = format!("{{\"layout\":\"{LAYOUT}\",\"version\":{VERSION}}}\n");
        match place.create(MANIFEST, manifest.as_bytes())? {
            true => Ok(Exchange { place }),
            false => Exchange::open(place)?.ok_or_else(|| ExchangeError::Nothing {
                place: place.to_string(),
            }),
        }
    }

    /// The profiles that are there, with the sizes of their files.
    ///
    /// # Errors
    /// Where the place cannot be read.
    pub fn profiles(&self) -> Result<BTreeMap<ProfileId, Bytes>, ExchangeError> {
        let files = self.place.list(PROFILES)?.into_iter();
        let profile = |name: &str| {
            let id: ProfileId = name
                .rsplit('/')
                .next()?
                .strip_suffix(ENDING)?
                .parse()
                .ok()?;
            (name == path(id)).then_some(id)
        };
        Ok(files
            .filter_map(|file| Some((profile(&file.name)?, file.size)))
            .collect())
    }

    /// Adds a profile as it was [packed](Snapshot::pack_each), unless it is there.
    ///
    /// # Errors
    /// Where the place cannot be written.
    pub fn add(&self, profile: ProfileId, packed: &[u8]) -> Result<bool, ExchangeError> {
        Ok(self.place.create(&path(profile), packed)?)
    }

    /// The bytes of a profile's file; `None` where it is gone.
    ///
    /// # Errors
    /// Where the place cannot be read, or the file is longer than it may be.
    pub fn get(&self, profile: ProfileId) -> Result<Option<Vec<u8>>, ExchangeError> {
        Ok(self.place.read(&path(profile), PROFILE_BYTES)?)
    }

    /// The store that these bytes of a profile's file are: of this profile, and no other.
    ///
    /// # Errors
    /// Where they are none, in a sentence.
    pub fn unpack(&self, profile: ProfileId, packed: &[u8]) -> Result<Snapshot, String> {
        let name = PathBuf::from(format!("{}/{}", self.place, path(profile)));
        let unpack = || -> Result<_, StoreError> {
            let store = Snapshot::unpack(packed, &name)?;
            let ids = store.builds()?;
            let ids = ids.iter().flat_map(|build| &build.profiles);
            let ids: Vec<ProfileId> = ids.map(|stored| stored.id).collect();
            Ok((store, ids))
        };
        match unpack() {
            Ok((store, ids)) if ids == [profile] => Ok(store),
            Ok(_) => Err(format!(
                "{}: it has other profiles than its name says",
                name.display()
            )),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The place.
    pub fn place(&self) -> &'a Place {
        self.place
    }
}

fn path(profile: ProfileId) -> String {
    format!("{PROFILES}/{profile}{ENDING}")
}
