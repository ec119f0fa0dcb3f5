//! Files that get their name when they are complete.
//!
//! Until then they have a random name beside it, which nobody can take before, and only the user may
//! open them where they are to replace a file. All of them go when the program that is asked to end
//! [abandons](Temporaries::abandon) them.

use super::acl::Acl;
use super::folder::{Folder, Rights};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with};
use rustix::io::{Errno, retry_on_intr};
use rustix::rand::{GetRandomFlags, getrandom};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::mem;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The temporary files that a program works on, by their names, which are random: for it to remove them when it is
/// asked to end. Clones are of the same files.
#[derive(Clone, Debug, Default)]
pub struct Temporaries(Arc<Mutex<BTreeMap<OsString, Arc<Folder>>>>);

/// A file that is removed when this is dropped, unless it was given another name.
#[derive(Debug)]
pub struct Temporary {
    folder: Arc<Folder>,
    name: OsString,
    file: File,
    among: Temporaries,
}

impl Temporaries {
    /// A new, empty file with a name that begins so. Its mode follows the umask.
    ///
    /// # Errors
    /// Where the system does not let this user make one.
    pub fn new_in(&self, folder: &Arc<Folder>, start: &OsStr) -> io::Result<Temporary> {
        self.create(folder, start, 0o666)
    }

    /// The same, which only this user may open.
    ///
    /// # Errors
    /// As [`Temporaries::new_in`].
    pub fn private_in(&self, folder: &Arc<Folder>, start: &OsStr) -> io::Result<Temporary> {
        self.create(folder, start, 0o600)
    }

    fn create(&self, folder: &Arc<Folder>, start: &OsStr, mode: u32) -> io::Result<Temporary> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let mut files = self.files();
        loop {
            let name = random_name(start)?;
            match retry_on_intr(|| openat(folder, &name, flags, mode)) {
                Ok(file) => {
                    files.insert(name.clone(), Arc::clone(folder));
                    return Ok(Temporary {
                        folder: Arc::clone(folder),
                        name,
                        file: file.into(),
                        among: self.clone(),
                    });
                }
                // Of 2^64 names; another one is free.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<OsString, Arc<Folder>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes those that other threads work on, for who is about to end the process (say, on Ctrl-C). Those
    /// threads may wait for ever then.
    pub fn abandon(&self) {
        abandon(self.files());
    }

    /// The same for who may not wait: where a thread is just making one, they are left to who finds them later.
    pub fn try_abandon(&self) {
        if let Ok(files) = self.0.try_lock() {
            abandon(files);
        }
    }
}

fn abandon(files: MutexGuard<'_, BTreeMap<OsString, Arc<Folder>>>) {
    for (name, folder) in files.iter() {
        let _ = folder.remove(name);
    }
    // No thread is to make another one.
    mem::forget(files);
}

impl Temporary {
    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The file's path until it is complete.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The file without its name: it goes with the process, however that ends.
    ///
    /// # Errors
    /// Where the name cannot be removed.
    #[doc(hidden)]
    pub fn into_nameless(self) -> io::Result<File> {
        match self.folder.remove(&self.name) {
            // Another process may have taken it for one that was left over.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.file.try_clone(),
        }
    }

    /// Gives it this name, in place of the file that has it now, whose owner, group and mode it gets as far
    /// as the system lets; who could not open that file cannot open this one either.
    ///
    /// # Errors
    /// Where the system refuses, or another user put something else in place of this file. Then that
    /// user may write to the folder, and what has the name now is not what was written.
    pub fn replace(self, name: &OsStr, old: Rights) -> io::Result<()> {
        self.take(old)?;
        self.replace_with_own_mode(name)
    }

    /// The same where there is no file to replace: the mode stays.
    ///
    /// # Errors
    /// As [`Temporary::replace`].
    pub fn replace_with_own_mode(self, name: &OsStr) -> io::Result<()> {
        self.check_is(&self.name)?;
        retry_on_intr(|| renameat(&self.folder, &self.name, &self.folder, name))?;
        self.check_is(name)
    }

    /// Gives it this name, unless something has that already.
    ///
    /// # Errors
    /// Where the name is taken ([`io::ErrorKind::AlreadyExists`]), and as [`Temporary::replace`].
    pub fn publish(self, name: &OsStr) -> io::Result<()> {
        self.check_is(&self.name)?;
        let (folder, own) = (&self.folder, &self.name);
        match retry_on_intr(|| linkat(folder, own, folder, name, AtFlags::empty())) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(Errno::EXIST.into()),
            // Some file systems have no hard links, or cannot rename without replacing.
            Err(_) => match renameat_with(folder, own, folder, name, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS) => renameat(folder, own, folder, name)?,
                renamed => renamed?,
            },
        }
        self.check_is(name)
    }

    /// Only root may give a file away; others may give it to a group of theirs. Where the group or a list of
    /// others cannot be kept, the group gets no more than everybody has.
    fn take(&self, old: Rights) -> io::Result<()> {
        let is_given = fchown(&self.file, Some(old.user), Some(old.group));
        let is_kept = is_given.or_else(|_| fchown(&self.file, None, Some(old.group)));
        let mode = match (is_kept, &old.acl) {
            (Ok(()), Acl::None) => old.mode,
            _ => old.mode & (0o707 | (old.mode & 0o007) << 3),
        };
        self.file.set_permissions(Permissions::from_mode(mode))?;
        let own = self.file.metadata()?;
        if (own.uid(), own.gid()) == (old.user, old.group) {
            old.acl.give(&self.file);
        }
        Ok(())
    }

    fn check_is(&self, name: &OsStr) -> io::Result<()> {
        let (own, found) = (self.file.metadata()?, self.folder.look(name)?);
        if (own.dev(), own.ino()) == (found.st_dev, found.st_ino) {
            return Ok(());
        }
        Err(io::Error::other(
            "another user put something else in place of what was written; use a folder that only you may write to",
        ))
    }
}

impl Folder {
    /// Whether a [temporary file](Temporary) in it has a name that begins so.
    #[doc(hidden)]
    pub fn has_temporary(&self, start: &OsStr) -> bool {
        self.temporaries(start).next().is_some()
    }

    /// Removes the temporary files whose names begin so, for who knows that nobody needs them any more;
    /// what cannot be removed stays.
    #[doc(hidden)]
    pub fn remove_temporaries(&self, start: &OsStr) {
        for name in self.temporaries(start) {
            let _ = self.remove(&name);
        }
    }

    /// Regular files with random names that begin so.
    fn temporaries(&self, start: &OsStr) -> impl Iterator<Item = OsString> {
        // What is found is used in the folder that is open, whatever has its path now.
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let is_file = |name: &OsStr| self.rights(name).is_ok_and(|rights| rights.is_some());
        names.filter(move |name| is_random_name(name, start) && is_file(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut files = self.among.files();
        // Gone already where it was renamed; one that cannot be removed does no harm.
        let _ = self.folder.remove(&self.name);
        files.remove(&self.name);
    }
}

/// A name that nobody can guess: this start, and 16 hexadecimal digits.
///
/// # Errors
/// Where the system gives no random numbers.
pub fn random_name(start: &OsStr) -> io::Result<OsString> {
    let mut random = [0; 8];
    retry_on_intr(|| getrandom(&mut random, GetRandomFlags::empty()))?;
    let mut name = start.to_owned();
    name.push(format!("{:016x}", u64::from_le_bytes(random)));
    Ok(name)
}

/// Whether [`random_name`] may have made a name with this start.
fn is_random_name(name: &OsStr, start: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.strip_prefix(start.as_encoded_bytes())
        .is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn folder(path: &Path) -> Arc<Folder> {
        Arc::new(Folder::open(path).unwrap())
    }

    fn written(folder: &Arc<Folder>, text: &str) -> Temporary {
        let new = Temporaries::default().private_in(folder, OsStr::new(".new-"));
        let new = new.unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new
    }

    fn path_of(new: &Temporary) -> std::path::PathBuf {
        new.folder.path().join(&new.name)
    }

    fn rights(folder: &Folder) -> Rights {
        folder.rights(OsStr::new("file")).unwrap().unwrap()
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_file_keeps_its_mode_when_it_is_replaced() {
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

    /// The list of user::rw, user:1:rw, group::---, mask::rw, other::---, as linux/posix_acl_xattr.h has it.
    fn list_for_another_user() -> Vec<u8> {
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
    fn a_file_keeps_its_access_control_list_when_it_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        let folder = folder(temp.path());
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let list = Acl::List(list_for_another_user());
        list.give(&File::options().write(true).open(&path).unwrap());
        if rights(&folder).acl != list {
            crate::missing::skip("the file system has no access control lists");
            return;
        }
        assert_eq!(
            mode(&path),
            0o660,
            "the most that the list gives to anybody"
        );
        written(&folder, "new")
            .replace(OsStr::new("file"), rights(&folder))
            .unwrap();
        assert_eq!(rights(&folder).acl, list);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // Where it cannot be given, the group gets no more than it had.
        let unknown = Rights {
            acl: Acl::Unknown,
            ..rights(&folder)
        };
        written(&folder, "new")
            .replace(OsStr::new("file"), unknown)
            .unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_in_the_place_of_a_temporary_file_is_neither_followed_nor_renamed() {
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
    fn only_temporary_files_of_the_same_start_are_removed() {
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
        assert!(folder.has_temporary(start));
        folder.remove_temporaries(start);
        assert!(!folder.has_temporary(start));
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
    fn what_is_published_replaces_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let folder = folder(temp.path());
        written(&folder, "first")
            .publish(OsStr::new("file"))
            .unwrap();
        let error = written(&folder, "second").publish(OsStr::new("file"));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"first");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_was_moved_away_is_still_the_one_that_is_written_to() {
        let temp = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| temp.path().join(name));
        for path in [&own, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "old").unwrap();
        }
        let new = written(&folder(&own), "new");
        fs::rename(&own, temp.path().join("moved")).unwrap();
        symlink(&other, &own).unwrap();
        new.replace_with_own_mode(OsStr::new("file")).unwrap();
        assert_eq!(fs::read(other.join("file")).unwrap(), b"old");
        assert_eq!(fs::read(temp.path().join("moved/file")).unwrap(), b"new");
    }
}
