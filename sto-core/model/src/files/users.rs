//! Users, by the number that the system has for them.

use rustix::param::clock_ticks_per_second;
use rustix::process::geteuid;
use std::fmt;
use std::fs;
use std::time::SystemTime;

/// A user of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(pub u32);

impl User {
    /// The superuser, who can do anything anyway.
    pub const ROOT: User = User(0);

    /// The user whose rights this process has.
    pub fn of_this_process() -> User {
        User(geteuid().as_raw())
    }
}

impl fmt::Display for User {
    /// `user 1000`: what a name stands for may differ in a container.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.0)
    }
}

/// The user whose rights a running process has; `None` where there is none of this number, or the system
/// does not say.
///
/// That is the second number of `Uid:` in `/proc/PID/status` (proc_pid_status(5)).
pub fn user_of_process(pid: u32) -> Option<User> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()
        .map(User)
}

/// The same of a process that runs since this time or longer: numbers of processes come again.
///
/// The time it began, in ticks since the machine did, is the field 22 of `/proc/PID/stat`
/// (proc_pid_stat(5)); when the machine began is `btime` of `/proc/stat`.
#[doc(hidden)]
pub fn user_of_process_since(pid: u32, time: SystemTime) -> Option<User> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name, which may have anything in it; the third comes after its bracket.
    let after_name = &stat[stat.rfind(')')? + 1..];
    let ticks: u64 = after_name.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let boot = machine
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let began = boot.trim().parse::<u64>().ok()? + ticks / clock_ticks_per_second();
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    (began <= since).then(|| user_of_process(pid)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn this_process_is_of_its_user_since_it_began() {
        let own = Some(User::of_this_process());
        let pid = std::process::id();
        assert_eq!(user_of_process(pid), own);
        let now = SystemTime::now();
        assert_eq!(
            user_of_process_since(pid, now + Duration::from_secs(2)),
            own
        );
        let before = now - Duration::from_secs(86_400);
        assert_eq!(user_of_process_since(pid, before), None);
        // More than the kernel's `PID_MAX_LIMIT`.
        assert_eq!(user_of_process(4_194_305), None);
    }
}
