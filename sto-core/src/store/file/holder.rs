//! Who has a file locked.

#[cfg(target_os = "linux")]
use crate::files::{User, user_of_process};
use std::path::Path;

/// The processes that hold a lock on a file, as far as the system says: `process 123 (sto)`,
/// and of which user where that is another one.
///
/// Linux lists them in `/proc/locks` (proc_locks(5)), by the file's device and inode.
#[cfg(target_os = "linux")]
pub(in crate::store) fn holders(path: &Path) -> Option<String> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(path).ok()?;
    let (dev, inode) = (file.dev(), file.ino());
    let major = ((dev >> 32) & !0xfff) | ((dev >> 8) & 0xfff);
    let minor = ((dev >> 12) & !0xff) | (dev & 0xff);
    let name = format!("{major:02x}:{minor:02x}:{inode}");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut holders: Vec<u32> = locks
        .lines()
        .filter(|lock| lock.split_ascii_whitespace().any(|field| field == name))
        // 1: FLOCK ADVISORY WRITE 123 fd:00:4567 0 EOF; a lock of one open file has -1.
        .filter_map(|lock| lock.split_ascii_whitespace().nth(4)?.parse().ok())
        .collect();
    holders.sort_unstable();
    holders.dedup();
    let others: Vec<String> = holders
        .into_iter()
        .filter(|&pid| pid != std::process::id())
        .map(|pid| {
            let command = fs::read_to_string(format!("/proc/{pid}/comm"));
            let command = command.map_or_else(
                |_| String::new(),
                |command| format!(" ({})", command.trim_end().escape_debug()),
            );
            let user = user_of_process(pid).filter(|&user| user != User::of_this_process());
            let user = user.map_or_else(String::new, |user| format!(" of {user}"));
            format!("process {pid}{command}{user}")
        })
        .collect();
    (!others.is_empty()).then(|| others.join(", "))
}

/// Other systems do not say.
#[cfg(not(target_os = "linux"))]
pub(in crate::store) fn holders(_: &Path) -> Option<String> {
    None
}
