//! Users of this machine and of its processes.

use crate::system::{clock_ticks_per_second, current_user, owner};
use std::fmt;
use std::fs::{self, Metadata};
use std::time::SystemTime;

/// A user id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(pub u32);

impl User {
    /// The superuser.
    pub const ROOT: User = User(0);

    /// The user who owns a file.
    pub fn owner_of(file: &Metadata) -> User {
        User(owner(file))
    }

    /// The effective user of this process.
    pub fn current() -> User {
        User(current_user())
    }
}

impl fmt::Display for User {
    /// Formats the user by number, `user 1000`, because names may differ in a container.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.0)
    }
}

/// The effective user of a running process, or `None` if there is no such process or its user is not known.
///
/// This is the second number of `Uid:` in `/proc/PID/status` (proc_pid_status(5)).
pub fn user_of_process(pid: u32) -> Option<User> {
    let users = status_numbers(pid, "Uid:")?;
    users.get(1).copied().map(User)
}

/// Like [`user_of_process`], for a process that was already running at this time, because process ids are reused.
///
/// The start of the process, in clock ticks since boot, is field 22 of `/proc/PID/stat`
/// (proc_pid_stat(5)); the time of the boot is `btime` of `/proc/stat`.
#[doc(hidden)]
pub fn user_of_process_since(pid: u32, time: SystemTime) -> Option<User> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses, which may contain any character.
    let after_name = &stat[stat.rfind(')')? + 1..];
    let ticks: u64 = after_name.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let system = fs::read_to_string("/proc/stat").ok()?;
    let boot = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let start = boot.trim().parse::<u64>().ok()? + ticks / clock_ticks_per_second();
    let time = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    (start <= time).then(|| user_of_process(pid)).flatten()
}

/// The id by which a running process knows itself: in a container, it differs from the id on the outside.
///
/// This is the last number of `NSpid:` in `/proc/PID/status` (proc_pid_status(5)).
pub fn own_id_of_process(pid: u32) -> Option<u32> {
    status_numbers(pid, "NSpid:")?.last().copied()
}

/// The numbers in a line of `/proc/PID/status`.
fn status_numbers(pid: u32, name: &str) -> Option<Vec<u32>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let numbers = line
        .split_ascii_whitespace()
        .map(|number| number.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn finds_the_user_of_a_process_since_its_start() {
        let own = Some(User::current());
        let pid = std::process::id();
        assert_eq!(user_of_process(pid), own);
        let now = SystemTime::now();
        assert_eq!(
            user_of_process_since(pid, now + Duration::from_secs(2)),
            own
        );
        let before = now - Duration::from_secs(86_400);
        assert_eq!(user_of_process_since(pid, before), None);
        // Greater than the kernel's `PID_MAX_LIMIT`.
        assert_eq!(user_of_process(4_194_305), None);
    }
}
