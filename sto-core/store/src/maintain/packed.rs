//! Single profiles for transfer between stores, each as a separate store, compressed by zstd.
//!
//! A profile with the same metrics and commit has the same bytes, whichever store it comes from.

use crate::error::{InternalError, StoreError};
use crate::file::reading::{OpenForReading, ReadState};
use crate::guard::guarded;
use crate::maintain::replace::write_file;
use crate::read::rows::Rows;
use crate::tables::REDB_MAGIC;
use crate::{ProfileOrigin, Snapshot, Store, StoredProfile, write};
use hashbrown::HashMap;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use sto_model::Build;
use sto_model::files::MemoryFile;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::memory::{self, MemoryLimitExceeded};
use sto_model::tree::ProfileData;
use sto_model::units::Bytes;

/// Compression level. Higher levels take more time than they save in transfer.
const ZSTD_LEVEL: i32 = 9;

/// An unpacked store has at most `FREE + MAX_RATIO * packed size` bytes. A small store consists mostly of empty
/// pages.
const FREE: u64 = 64 << 20;
const MAX_RATIO: u64 = 256;

impl Snapshot {
    /// Packs profiles of one build for [`Snapshot::unpack`], without tags, and passes each to `work`, like
    /// [`Snapshot::load_each`].
    ///
    /// # Errors
    /// Like [`Snapshot::load_each`]; also returns an error if a profile's content does not match its id.
    pub fn pack_each<E: From<StoreError> + Send>(
        &self,
        build: &Build,
        profiles: &[&StoredProfile],
        work: impl Fn(ProfileId, Vec<u8>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let ids: Vec<ProfileId> = profiles.iter().map(|stored| stored.id).collect();
        let stored: HashMap<_, _> = profiles.iter().map(|&stored| (stored.id, stored)).collect();
        let executable = ExecutableId::from_name(&build.executable);
        let replaced = self.read(Rows::replaced)?;
        self.load_each(executable, &ids, |id, interned| {
            let replaced = replaced.get(&id).map_or(&[][..], Vec::as_slice);
            work(id, self.packed(build, stored[&id], &interned, replaced)?)
        })
    }

    /// A profile by itself, in a store without a path.
    fn packed(
        &self,
        build: &Build,
        stored: &StoredProfile,
        interned: &ProfileData,
        replaced: &[ProfileId],
    ) -> Result<Vec<u8>, StoreError> {
        let build = Build {
            gnu_build_id: stored.gnu_build_id.clone(),
            revision: stored.revision.clone(),
            commit: stored.commit.clone(),
            ..build.clone()
        };
        let profile = &stored.profile;
        write::check_stored(stored.id, &build, profile, interned)
            .map_err(|error| error.at(self.path(), "read"))?;
        let alone = Store::in_memory_for(self.path())?;
        let from = (ProfileOrigin::ReadHere, replaced);
        let mut writer = alone.writer();
        writer.add_checked(stored.id, &build, profile, interned, from)?;
        drop(writer);
        alone.snapshot()?.read(|rows| {
            let store = MemoryFile::new()?;
            write_file(rows, &|_| true, true, store.file())?;
            let mut file = store.file();
            file.rewind()?;
            Ok(zstd::stream::encode_all(file, ZSTD_LEVEL)?)
        })
    }

    /// Unpacks a store; errors refer to it by `name`. Its content is not checked here, but when it is
    /// [merged](Store::merge).
    ///
    /// # Errors
    /// Returns an error if the bytes are not a packed store, or it would take too much memory.
    pub fn unpack(bytes: &[u8], name: &Path) -> Result<Snapshot, StoreError> {
        let not_a_store = |found: String| StoreError::NotAStore {
            path: name.to_owned(),
            found,
        };
        let most = FREE + bytes.len() as u64 * MAX_RATIO;
        let expand = || -> io::Result<(MemoryFile, u64)> {
            let store = MemoryFile::new()?;
            let mut expanded = zstd::stream::read::Decoder::new(bytes)?.take(most + 1);
            let size = io::copy(&mut expanded, &mut store.file())?;
            Ok((store, size))
        };
        let (store, size) = expand().map_err(|error| not_a_store(error.to_string()))?;
        if size > most {
            return Err(not_a_store(format!("it expands to more than {most} bytes")));
        }
        memory::check_limit(Bytes(size))
            .map_err(|error: MemoryLimitExceeded| InternalError::from(error).at(name, "read"))?;
        let mut magic = Vec::new();
        let mut file = store.file();
        let start = file.rewind().and_then(|()| {
            let mut start = file.take(REDB_MAGIC.len() as u64);
            start.read_to_end(&mut magic)
        });
        if start.is_err() || magic != REDB_MAGIC {
            return Err(not_a_store("it is not a redb file".to_owned()));
        }
        let read = || {
            let state = ReadState::of_file(OpenForReading::open(&store.path())?)?;
            Ok(Snapshot::new(
                Arc::new(state),
                (name, Bytes(size)),
                Arc::default(),
            ))
        };
        guarded(read).map_err(|error| error.at(name, "read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tag;
    use crate::test_profiles::add;
    use std::sync::Mutex;

    /// The first profile of a store, and its packed bytes.
    fn packed(store: &Store) -> (ProfileId, Vec<u8>) {
        let snapshot = store.snapshot().unwrap();
        let mut builds = snapshot.builds().unwrap();
        builds.retain(|build| build.build.version == "v1");
        let first = &builds[0].profiles[0];
        let bytes = Mutex::default();
        let keep = |_, pack| -> Result<(), StoreError> {
            *bytes.lock().unwrap() = pack;
            Ok(())
        };
        snapshot
            .pack_each(&builds[0].build, &[first], keep)
            .unwrap();
        (first.id, bytes.into_inner().unwrap())
    }

    #[test]
    fn packed_profile_does_not_depend_on_its_store_and_round_trips() {
        let [one, two, back] = [(); 3].map(|()| Store::in_memory().unwrap());
        add(&one, "main;a 3\n", "v1");
        add(&two, "main;b 4\n", "v2");
        add(&two, "main;a 3\n", "v1");
        let tag = Tag {
            executable: "demo".to_owned(),
            name: "good".to_owned(),
            version: "v1".to_owned(),
        };
        two.tag(&tag, false).unwrap();
        let (id, bytes) = packed(&one);
        assert_eq!((id, &bytes), (packed(&two).0, &packed(&two).1));
        let unpacked = Snapshot::unpack(&bytes, Path::new("there")).unwrap();
        let merged = back.merge(&unpacked, &mut |_| Ok(())).unwrap();
        assert_eq!(merged.added, [id]);
        assert_eq!(packed(&back), (id, bytes));
    }

    #[test]
    fn rejects_bytes_that_are_not_a_packed_store() {
        let store = Store::in_memory().unwrap();
        add(&store, "main;a 3\n", "v1");
        let (_, packed) = packed(&store);
        let expanded = zstd::stream::decode_all(&packed[..]).unwrap();
        let zeros = zstd::stream::encode_all(io::repeat(0).take(FREE + (1 << 20)), 1).unwrap();
        let text = zstd::bulk::compress(b"text", 1).unwrap();
        let half = zstd::bulk::compress(&expanded[..20_000], 1).unwrap();
        for bytes in [
            &[][..],
            b"text",
            &text,
            &half,
            &packed[..packed.len() / 2],
            &zeros,
        ] {
            let error = Snapshot::unpack(bytes, Path::new("there")).err().unwrap();
            assert!(error.to_string().starts_with("there: "), "{error}");
        }
    }
}
