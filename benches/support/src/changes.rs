//! Changes of files, as the system reports them, for tests that wait for another thread or process.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::path::Path;

/// Seconds without a change after which a test has failed.
const PATIENCE: i64 = 60;

/// Changes of the files in some folders.
pub struct Changes(OwnedFd);

impl Changes {
    /// Watches the files in folders, which must exist.
    pub fn watch(folders: &[&Path]) -> Changes {
        let changes = inotify::init(CreateFlags::CLOEXEC).unwrap();
        let kinds = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MODIFY | WatchFlags::MOVE;
        for folder in folders {
            inotify::add_watch(&changes, *folder, kinds).unwrap();
        }
        Changes(changes)
    }

    /// Waits until a check of the files returns something. The check runs at once, and after each change.
    ///
    /// # Panics
    ///
    /// Panics if there is no further change for a minute.
    pub fn wait_for<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(found) = check() {
                return found;
            }
            let patience = Timespec {
                tv_sec: PATIENCE,
                tv_nsec: 0,
            };
            let mut changes = [PollFd::new(&self.0, PollFlags::IN)];
            let changed = poll(&mut changes, Some(&patience)).unwrap();
            assert!(
                changed > 0,
                "still missing after {PATIENCE} s without a change"
            );
            rustix::io::read(&self.0, &mut [0; 4096]).unwrap();
        }
    }
}
