//! Layout of profiles at a place.

use super::ExchangeError;
use super::{LAYOUT, VERSION};
use crate::places::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use sto_model::id::ProfileId;
use sto_model::units::Bytes;
use sto_store::{Snapshot, StoreError};

/// Name of the file with layout and version.
pub const MANIFEST: &str = "manifest.json";

/// Maximum size of a manifest.
const MANIFEST_BYTES: Bytes = Bytes(1 << 16);

/// Name of the folder of profiles.
pub const PROFILES: &str = "profiles";

/// Extension of profile files.
const ENDING: &str = ".sto.zst";

/// Length of the seal at the end of a profile file.
const SEAL_LEN: usize = 40;

/// Maximum size of a profile file.
const PROFILE_BYTES: Bytes = Bytes(1 << 30);

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
}

/// Profiles at a place, in the known layout and version.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    place: &'a Place,
}

impl<'a> Exchange<'a> {
    /// Opens the profiles at a place; `None` if it is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the place has other files, if its layout or version is unknown, or if it cannot be read.
    pub fn open(place: &'a Place) -> Result<Option<Exchange<'a>>, ExchangeError> {
        let mut manifest = place.read(MANIFEST, MANIFEST_BYTES)?;
        if manifest.is_none() {
            if place.is_empty()? {
                return Ok(None);
            }
            // Another process may have just created it.
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

    /// Initialises an empty place, unless another process has just done so.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Exchange::open`], and an error if the place cannot be written.
    pub fn create(place: &'a Place) -> Result<Exchange<'a>, ExchangeError> {
        if place.create(MANIFEST, manifest().as_bytes())? {
            Ok(Exchange { place })
        } else {
            Exchange::open(place)?.ok_or_else(|| ExchangeError::Nothing {
                place: place.to_string(),
            })
        }
    }

    /// Returns the profiles with their file sizes.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be read.
    pub fn profiles(&self) -> Result<BTreeMap<ProfileId, Bytes>, ExchangeError> {
        let files = self.place.list(PROFILES)?.into_iter();
        Ok(files
            .filter_map(|file| Some((profile_of(&file.name)?, file.size)))
            .collect())
    }

    /// Adds a [packed](Snapshot::pack_each) profile unless there is a file of its name. Returns the size of the file if
    /// it was added.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be written.
    pub fn add(&self, profile: ProfileId, packed: &[u8]) -> Result<Option<Bytes>, ExchangeError> {
        let file = sealed(profile, packed);
        let is_new = self.place.create(&path(profile), &file)?;
        Ok(is_new.then_some(Bytes(file.len() as u64)))
    }

    /// Checks that the file of a profile's name is that profile. In a local folder, the seal is sufficient, without its
    /// digest, so that not all of the file is read.
    ///
    /// # Errors
    ///
    /// Returns a message if it is not, or cannot be read.
    pub fn check(&self, profile: ProfileId) -> Result<(), String> {
        if let Ok(Some(end)) = self.place.read_end(&path(profile), SEAL_LEN)
            && is_seal_of(profile, &end)
        {
            return Ok(());
        }
        match self.get(profile) {
            Ok(Some(file)) => self.unpack(profile, &file).map(drop),
            Ok(None) => Err(format!("{}/{}: it is missing", self.place, path(profile))),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the contents of a profile's file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be read, or if the file is too large.
    pub fn get(&self, profile: ProfileId) -> Result<Option<Vec<u8>>, ExchangeError> {
        Ok(self.place.read(&path(profile), PROFILE_BYTES)?)
    }

    /// Unpacks a profile's file into a store that contains only this profile.
    ///
    /// # Errors
    ///
    /// Returns a message if the file is invalid, does not match its seal, or contains other profiles.
    pub fn unpack(&self, profile: ProfileId, file: &[u8]) -> Result<Snapshot, String> {
        let name = format!("{}/{}", self.place, path(profile));
        unpack(profile, file, name.as_ref())
    }

    /// The place.
    pub fn place(&self) -> &'a Place {
        self.place
    }
}

/// Returns the manifest of the known layout and version.
pub fn manifest() -> String {
    format!("{{\"layout\":\"{LAYOUT}\",\"version\":{VERSION}}}\n")
}

/// Returns the file of a [packed](Snapshot::pack_each) profile.
pub fn sealed(profile: ProfileId, packed: &[u8]) -> Vec<u8> {
    [packed, &seal(profile, packed)].concat()
}

/// Unpacks a profile's file into a store that contains only this profile. `name` is for messages.
///
/// # Errors
///
/// Returns a message if the file is invalid, does not match its seal, or contains other profiles.
pub fn unpack(profile: ProfileId, file: &[u8], name: &Path) -> Result<Snapshot, String> {
    let (packed, end) = file.split_at(file.len().saturating_sub(SEAL_LEN));
    if is_seal_of(profile, end) && end != seal(profile, packed) {
        return Err(format!(
            "{}: it differs from the file that was sent",
            name.display()
        ));
    }
    let unpack = || -> Result<_, StoreError> {
        let store = Snapshot::unpack(file, name)?;
        let ids = store.builds()?;
        let ids = ids.iter().flat_map(|build| &build.profiles);
        let ids: Vec<ProfileId> = ids.map(|stored| stored.id).collect();
        Ok((store, ids))
    };
    match unpack() {
        Ok((store, ids)) if ids == [profile] => Ok(store),
        Ok(_) => Err(format!(
            "{}: it contains other profiles than its name says",
            name.display()
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// The end of a profile's file: a frame that zstd skips (RFC 8878, 3.1.2), with the profile's id and the digest of the
/// bytes before the frame.
fn seal(profile: ProfileId, packed: &[u8]) -> Vec<u8> {
    let digest = blake3::hash(packed);
    [&seal_without_digest(profile), &digest.as_bytes()[..16]].concat()
}

fn seal_without_digest(profile: ProfileId) -> Vec<u8> {
    const MAGIC: u32 = 0x184D_2A50;
    const CONTENT_LEN: u32 = SEAL_LEN as u32 - 8;
    [
        &MAGIC.to_le_bytes()[..],
        &CONTENT_LEN.to_le_bytes(),
        &profile.0,
    ]
    .concat()
}

/// Whether the end of a file is a seal of this profile, with any digest.
fn is_seal_of(profile: ProfileId, end: &[u8]) -> bool {
    end.len() == SEAL_LEN && end.starts_with(&seal_without_digest(profile))
}

/// Returns the profile whose file has this name; `None` if it is another file.
pub fn profile_of(name: &str) -> Option<ProfileId> {
    let id = name
        .rsplit('/')
        .next()?
        .strip_suffix(ENDING)?
        .parse()
        .ok()?;
    (name == path(id)).then_some(id)
}

/// Returns the name of a profile's file.
pub fn path(profile: ProfileId) -> String {
    format!("{PROFILES}/{profile}{ENDING}")
}
