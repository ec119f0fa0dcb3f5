//! Files that get their final name when they are complete.
//!
//! Until then they have a random name in the same folder, which nobody can guess. Files that will replace
//! another file can only be opened by their user until then. A program that is asked to exit removes its
//! temporary files with [`TemporaryFiles::remove_all_at_exit`].

use super::folder::Folder;
use crate::system::{AccessRights, copy_access_rights, file_id, random_number};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The temporary files of a program, which it can remove when it is asked to exit. Clones share the files.
#[derive(Clone, Debug, Default)]
pub struct TemporaryFiles(Arc<Mutex<BTreeMap<OsString, Arc<Folder>>>>);

/// A temporary file, which is removed on drop unless it got its final name.
#[derive(Debug)]
pub struct TemporaryFile {
    folder: Arc<Folder>,
    name: OsString,
    file: File,
    all: TemporaryFiles,
}

impl TemporaryFiles {
    /// Creates an empty file with a random name after `prefix`. Its mode follows the umask.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the file.
    pub fn new_in(&self, folder: &Arc<Folder>, prefix: &OsStr) -> io::Result<TemporaryFile> {
        self.create(folder, prefix, 0o666)
    }

    /// Like [`TemporaryFiles::new_in`], for a file that only this user may open.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the file.
    pub fn new_private_in(
        &self,
        folder: &Arc<Folder>,
        prefix: &OsStr,
    ) -> io::Result<TemporaryFile> {
        self.create(folder, prefix, 0o600)
    }

    fn create(&self, folder: &Arc<Folder>, prefix: &OsStr, mode: u32) -> io::Result<TemporaryFile> {
        let mut files = self.files();
        loop {
            let name = random_name(prefix);
            match folder.handle.create_new(&name, mode) {
                Ok(file) => {
                    files.insert(name.clone(), Arc::clone(folder));
                    return Ok(TemporaryFile {
                        folder: Arc::clone(folder),
                        name,
                        file,
                        all: self.clone(),
                    });
                }
                // Try another of the 2^64 names.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<OsString, Arc<Folder>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the temporary files of all threads before the process exits, for example on Ctrl-C.
    ///
    /// Afterwards, threads that create or drop a temporary file block forever.
    pub fn remove_all_at_exit(&self) {
        remove_all(self.files());
    }

    /// Like [`TemporaryFiles::remove_all_at_exit`], without waiting: if a thread is creating or removing a temporary file,
    /// all files stay.
    pub fn try_remove_all_at_exit(&self) {
        if let Ok(files) = self.0.try_lock() {
            remove_all(files);
        }
    }
}

fn remove_all(files: MutexGuard<'_, BTreeMap<OsString, Arc<Folder>>>) {
    for (name, folder) in files.iter() {
        let _ = folder.handle.remove(name);
    }
    // Keep the lock, so that no thread creates another file.
    mem::forget(files);
}

impl TemporaryFile {
    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The temporary path of the file.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Unlinks the file, so that it is deleted when the process exits for any reason.
    ///
    /// # Errors
    /// Returns an error if the file cannot be unlinked.
    #[doc(hidden)]
    pub fn into_unlinked(self) -> io::Result<File> {
        match self.folder.handle.remove(&self.name) {
            // Another process may have removed it as a leftover.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.file.try_clone(),
        }
    }

    /// Renames the file, replacing a file with these access rights. The file gets the same owner, group, mode and
    /// ACL as far as the system permits, and never grants more access than the old file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be renamed, or if another user with write access to the folder
    /// replaced the temporary file. In the second case, the file with the final name is not this file.
    pub fn replace(self, name: &OsStr, old: AccessRights) -> io::Result<()> {
        copy_access_rights(&self.file, &old)?;
        self.persist(name)
    }

    /// Renames the file and keeps its access rights.
    ///
    /// # Errors
    /// Returns the same errors as [`TemporaryFile::replace`].
    pub fn persist(self, name: &OsStr) -> io::Result<()> {
        self.check_is_at(&self.name)?;
        self.folder.handle.rename(&self.name, name)?;
        self.check_is_at(name)
    }

    /// Renames the file unless the name exists.
    ///
    /// # Errors
    /// Returns an error with the kind [`io::ErrorKind::AlreadyExists`] if the name exists, and the same errors as
    /// [`TemporaryFile::replace`].
    pub fn persist_noclobber(self, name: &OsStr) -> io::Result<()> {
        self.check_is_at(&self.name)?;
        self.folder.handle.rename_noclobber(&self.name, name)?;
        self.check_is_at(name)
    }

    /// Checks that this file has the name.
    fn check_is_at(&self, name: &OsStr) -> io::Result<()> {
        if file_id(&self.file.metadata()?) == self.folder.handle.file_id(name)? {
            return Ok(());
        }
        Err(io::Error::other(
            "another user replaced the file while it was written; use a folder that only you may write to",
        ))
    }
}

impl Folder {
    /// Returns `true` if the folder has a [temporary file](Temporary) with this prefix.
    #[doc(hidden)]
    pub fn has_temporary_file(&self, prefix: &OsStr) -> bool {
        self.temporaries(prefix).next().is_some()
    }

    /// Removes temporary files with this prefix that are no longer in use. Errors are ignored.
    #[doc(hidden)]
    pub fn remove_temporary_files(&self, prefix: &OsStr) {
        for name in self.temporaries(prefix) {
            let _ = self.handle.remove(&name);
        }
    }

    /// Regular files with this prefix and a random name.
    fn temporaries(&self, prefix: &OsStr) -> impl Iterator<Item = OsString> {
        // The names are then looked up in the open folder, even if the path is another folder by now.
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let is_file = |name: &OsStr| {
            self.access_rights(name)
                .is_ok_and(|rights| rights.is_some())
        };
        names.filter(move |name| is_random_name(name, prefix) && is_file(name))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let mut files = self.all.files();
        // Fails if the file was renamed. Other errors do no harm.
        let _ = self.folder.handle.remove(&self.name);
        files.remove(&self.name);
    }
}

/// Creates a name that nobody can guess: the prefix and 16 random hexadecimal digits.
pub fn random_name(prefix: &OsStr) -> OsString {
    let mut name = prefix.to_owned();
    name.push(format!("{:016x}", random_number()));
    name
}

/// Whether [`random_name`] could have created the name with this prefix.
fn is_random_name(name: &OsStr, prefix: &OsStr) -> bool {
    name.as_encoded_bytes()
        .strip_prefix(prefix.as_encoded_bytes())
        .is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::linux::Acl;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    fn folder(path: &Path) -> Arc<Folder> {
        Arc::new(Folder::open(path).unwrap())
    }

    fn written(folder: &Arc<Folder>, text: &str) -> TemporaryFile {
        let new = TemporaryFiles::default().new_private_in(folder, OsStr::new(".new-"));
        let new = new.unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new
    }

    fn path_of(new: &TemporaryFile) -> std::path::PathBuf {
        new.folder.path().join(&new.name)
    }

    fn rights(folder: &Folder) -> AccessRights {
        folder.access_rights(OsStr::new("file")).unwrap().unwrap()
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn replaced_file_keeps_its_mode() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        for wanted in [0o600, 0o640, 0o666, 0o400] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
            let new = written(&folder(temp.path()), "new");
            assert_eq!(mode(&path_of(&new)), 0o600);
            new.replace(OsStr::new("file"), rights(&folder(temp.path())))
                .unwrap();
            assert_eq!(
                (fs::read(&path).unwrap(), mode(&path)),
                (b"new".to_vec(), wanted)
            );
            fs::remove_file(&path).unwrap();
        }
    }

    /// The ACL user::rw, user:1:rw, group::---, mask::rw, other::--- in the format of linux/posix_acl_xattr.h.
    fn acl_with_second_user() -> Vec<u8> {
        let entry = |tag: u16, perm: u16, id: u32| {
            [
                &tag.to_le_bytes()[..],
                &perm.to_le_bytes(),
                &id.to_le_bytes(),
            ]
            .concat()
        };
        let none = u32::MAX;
        let version = 2u32.to_le_bytes().to_vec();
        let entries = [
            entry(1, 6, none),
            entry(2, 6, 1),
            entry(4, 0, none),
            entry(16, 6, none),
            entry(32, 0, none),
        ];
        [version, entries.concat()].concat()
    }

    #[test]
    fn replaced_file_keeps_its_acl() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        let folder = folder(temp.path());
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let list = Acl::List(acl_with_second_user());
        list.apply_to(&File::options().write(true).open(&path).unwrap());
        if rights(&folder).acl != list {
            eprintln!("skipped: the file system has no access control lists");
            return;
        }
        assert_eq!(mode(&path), 0o660, "the ACL's mask");
        written(&folder, "new")
            .replace(OsStr::new("file"), rights(&folder))
            .unwrap();
        assert_eq!(rights(&folder).acl, list);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // If the ACL is unknown, the group does not get the rights of the mask.
        let unknown = AccessRights {
            acl: Acl::Unknown,
            ..rights(&folder)
        };
        written(&folder, "new")
            .replace(OsStr::new("file"), unknown)
            .unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn refuses_a_link_in_place_of_the_temporary_file() {
        let temp = tempfile::tempdir().unwrap();
        let [secret, path] = ["secret", "file"].map(|name| temp.path().join(name));
        for path in [&secret, &path] {
            fs::write(path, "old").unwrap();
        }
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        let new = written(&folder(temp.path()), "new");
        fs::remove_file(path_of(&new)).unwrap();
        symlink(&secret, path_of(&new)).unwrap();
        let error = new.replace(OsStr::new("file"), rights(&folder(temp.path())));
        assert!(error.unwrap_err().to_string().contains("another user"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(
            (fs::read(&secret).unwrap(), mode(&secret)),
            (b"old".to_vec(), 0o600)
        );
    }

    #[test]
    fn removes_only_temporary_files_with_the_prefix() {
        let temp = tempfile::tempdir().unwrap();
        let mut others = [
            ".new-0123456789abcde",
            ".new-0123456789abcdeg",
            ".new-",
            ".old-0123456789abcdef",
            ".new-2026-11-21",
        ];
        for name in others {
            fs::write(temp.path().join(name), "").unwrap();
        }
        let folder = folder(temp.path());
        let start = OsStr::new(".new-");
        mem::forget(written(&folder, "left over"));
        fs::create_dir(temp.path().join(".new-0123456789abcdef")).unwrap();
        assert!(folder.has_temporary_file(start));
        folder.remove_temporary_files(start);
        assert!(!folder.has_temporary_file(start));
        let entries = fs::read_dir(temp.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<_> = names
            .filter(|name| name != ".new-0123456789abcdef")
            .collect();
        left.sort();
        others.sort_unstable();
        assert_eq!(left, others);
    }

    #[test]
    fn publish_does_not_replace_files() {
        let temp = tempfile::tempdir().unwrap();
        let folder = folder(temp.path());
        written(&folder, "first")
            .persist_noclobber(OsStr::new("file"))
            .unwrap();
        let error = written(&folder, "second").persist_noclobber(OsStr::new("file"));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"first");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn writes_to_the_open_folder_after_it_was_moved() {
        let temp = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| temp.path().join(name));
        for path in [&own, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "old").unwrap();
        }
        let new = written(&folder(&own), "new");
        fs::rename(&own, temp.path().join("moved")).unwrap();
        symlink(&other, &own).unwrap();
        new.persist(OsStr::new("file")).unwrap();
        assert_eq!(fs::read(other.join("file")).unwrap(), b"old");
        assert_eq!(fs::read(temp.path().join("moved/file")).unwrap(), b"new");
    }
}
