//! Waits: calls in which a thread stood still, by the names of their functions.

use super::calls::{LongCall, Wait};
use super::paths::{PathNo, Paths};
use std::cmp::Reverse;

/// How many of the longest waits of a run are kept, beside the longest of each stack.
const MOST: usize = 256;

/// System calls, and what libraries name like these, in which a thread waits for other threads or processes.
const CALLS: &[&str] = &[
    "accept",
    "connect",
    "epoll_pwait",
    "epoll_wait",
    "flock",
    "futex",
    "gopark",
    "lockf",
    "mq_receive",
    "mq_send",
    "msgrcv",
    "msgsnd",
    "pause",
    "poll",
    "ppoll",
    "pselect",
    "pthread_join",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "select",
    "semacquire",
    "semop",
    "semtimedop",
    "wait4",
    "waitid",
    "waitpid",
];

/// The same for time to pass, or for a processor.
const TIME: &[&str] = &[
    "clock_nanosleep",
    "io_schedule",
    "nanosleep",
    "sched_yield",
    "schedule",
    "schedule_timeout",
    "sleep",
    "usleep",
];

/// The same for input and output.
const IO: &[&str] = &[
    "fallocate",
    "fdatasync",
    "fsync",
    "ftruncate",
    "io_getevents",
    "io_uring_enter",
    "msync",
    "pread",
    "preadv",
    "pwrite",
    "pwritev",
    "read",
    "readv",
    "send",
    "sendfile",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "splice",
    "sync",
    "sync_file_range",
    "syncfs",
    "write",
    "writev",
];

/// What names of system calls begin with beside underscores, and what they end in.
const PREFIXES: &[&str] = &[
    "x64_sys_",
    "arm64_sys_",
    "se_sys_",
    "do_sys_",
    "ksys_",
    "SyS_",
    "sys_",
    "GI_",
    "libc_",
];
const SUFFIXES: &[&str] = &["_nocancel", "64", "v2"];

/// Words that say that a function waits wherever they are in its name.
const ANYWHERE: &[&str] = &[
    "await",
    "futex",
    "park",
    "sleep",
    "timedwait",
    "usleep",
    "wait",
    "waiting",
    "waits",
];

/// Words that say so where the name begins with them, or ends in them.
const FIRST: &[&str] = &["lock", "rdlock", "wrlock"];
const LAST: &[&str] = &[
    "acquire",
    "lock",
    "rdlock",
    "timedlock",
    "timedrdlock",
    "timedwrlock",
    "wrlock",
];

/// Words of functions that are about waiting, and do not wait.
const NOT_WITH: &[&str] = &[
    "broadcast",
    "destroy",
    "free",
    "has",
    "init",
    "is",
    "new",
    "no",
    "notify",
    "nowait",
    "try",
    "trylock",
    "tryrdlock",
    "trywrlock",
    "unlock",
    "unpark",
    "wake",
    "without",
];

/// Words of functions that do something beside waiting, such as `beforeSleep`.
const BESIDE: &[&str] = &["after", "before"];

/// Words of functions that end the waiting of others.
const WAKES: &[&str] = &[
    "broadcast",
    "notify",
    "post",
    "release",
    "signal",
    "unlock",
    "unpark",
    "wake",
    "wakeup",
];

/// System calls that end the waiting of who reads.
const SENDS: &[&str] = &["send", "sendmsg", "sendto", "write", "writev"];

/// What a function waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Other threads or processes: a lock, a condition, something to do.
    Others,
    /// Time to pass, or a processor: its caller takes that time.
    Time,
    /// Input or output.
    Io,
}

/// Whether a function of this name waits: for a lock, for a condition, for input or output. SPEC.md has the rule.
pub fn is_wait_function(name: &str) -> bool {
    waits_for(name).is_some()
}

/// What a function of this name waits for, if it waits.
pub(crate) fn waits_for(name: &str) -> Option<WaitsFor> {
    let base = base_name(name);
    let words = words(base);
    let is_one = |of: &[&str], word: &String| of.contains(&&**word);
    if words.iter().any(|word| is_one(BESIDE, word)) {
        return None;
    }
    if IO.contains(&system_call(base)) {
        return Some(WaitsFor::Io);
    }
    let sleeps = words.iter().any(|word| is_one(&["sleep", "usleep"], word));
    if TIME.contains(&system_call(base)) || sleeps {
        return Some(WaitsFor::Time);
    }
    let is_call = CALLS.contains(&system_call(base));
    let is_about = words.iter().any(|word| is_one(NOT_WITH, word));
    let joins = words.last().is_some_and(|word| word == "join");
    let waits = words.iter().any(|word| is_one(ANYWHERE, word))
        || words.first().is_some_and(|word| is_one(FIRST, word))
        || words.last().is_some_and(|word| is_one(LAST, word))
        || joins && name.to_ascii_lowercase().contains("thread");
    (is_call || waits && !is_about).then_some(WaitsFor::Others)
}

/// Whether a function of this name ends the waiting of other threads: it unlocks, signals, or writes.
pub(crate) fn is_wake_function(name: &str) -> bool {
    let base = base_name(name);
    let words = words(base);
    let waits = words.iter().any(|word| ANYWHERE.contains(&&**word));
    let wakes = !waits && words.iter().any(|word| WAKES.contains(&&**word));
    wakes || SENDS.contains(&system_call(base))
}

/// The name of a function alone: without the types or modules that it is of, without parameters.
fn base_name(name: &str) -> &str {
    let (mut begin, mut end, mut depth) = (0, name.len(), 0_u32);
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'(' | b'@' if depth == 0 && at > begin => return &name[begin..end.min(at)],
            b'<' | b'(' | b'{' | b'[' => {
                if depth == 0 && at > begin {
                    end = at;
                }
                depth += 1;
            }
            b'>' | b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b':' | b'.' | b'/' | b' ' | b'$' if depth == 0 => (begin, end) = (at + 1, name.len()),
            _ => {}
        }
    }
    &name[begin..end]
}

/// The words of a name in small letters: `WaitForLock`, `wait_for_lock` and `__wait_for_lock` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = '_';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins =
            c.is_uppercase() && (!last.is_uppercase() || next_is_small) || !last.is_alphanumeric();
        if c.is_alphanumeric() {
            if begins || words.is_empty() {
                words.push(String::new());
            }
            let word = words.last_mut();
            word.into_iter()
                .for_each(|word| word.extend(c.to_lowercase()));
        }
        last = c;
    }
    words
}

/// The system call that a name is of, if it is of one.
fn system_call(base: &str) -> &str {
    let mut name = base.trim_start_matches('_');
    for prefix in PREFIXES {
        name = name.strip_prefix(prefix).unwrap_or(name);
        name = name.trim_start_matches('_');
    }
    for suffix in SUFFIXES {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    name
}

/// For each path, whether any of its callers waits, where `waits` says for what its function waits itself.
pub(crate) fn callers_wait(paths: &Paths, waits: &[Option<WaitsFor>]) -> Vec<bool> {
    let mut callers = vec![false; paths.path_count()];
    for path in paths.iter() {
        let caller = paths.caller(path).map(PathNo::get);
        callers[path.get()] =
            caller.is_some_and(|caller| waits[caller].is_some() || callers[caller]);
    }
    callers
}

/// The longest of these calls: of every stack the longest, and of all the longest, longest first. What ended them is
/// not said yet.
pub(crate) fn waits(
    longest: &[Vec<LongCall<PathNo>>],
    paths: &Paths,
    is_wait: impl Fn(PathNo) -> bool,
) -> Vec<Wait<PathNo>> {
    let threads = longest.iter().enumerate();
    let of_thread = |(thread, calls): (usize, &'_ Vec<LongCall<PathNo>>)| {
        let waiting = calls.iter().copied().filter(|call| is_wait(call.stack));
        waiting
            .map(|call| (thread as u32, call))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<(u32, LongCall<PathNo>)> = threads.flat_map(of_thread).collect();
    all.sort_by_key(|&(thread, call)| {
        (
            Reverse(call.end.0 - call.begin.0),
            call.begin,
            thread,
            call.stack,
        )
    });
    let mut is_first = vec![true; paths.path_count()];
    let mut number = 0;
    all.retain(|(_, call)| {
        number += 1;
        std::mem::take(&mut is_first[call.stack.get()]) || number <= MOST
    });
    let waits = all.into_iter().map(|(thread, call)| Wait {
        thread,
        call,
        ended_by: None,
    });
    waits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_wait_are_known_by_their_names() {
        for name in [
            "__wt_cond_wait_signal",
            "pthread_cond_timedwait@@GLIBC_2.3.2",
            "pthread_mutex_lock",
            "__pthread_rwlock_rdlock",
            "__lll_lock_wait",
            "futex_wait_queue_me",
            "rocksdb::port::CondVar::Wait()",
            "rocksdb::WriteThread::BlockingAwaitState(rocksdb::WriteThread::Writer*, unsigned char)",
            "std::mutex::lock()",
            "std::unique_lock<std::mutex>::lock()",
            "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock",
            "parking_lot::raw_mutex::RawMutex::lock_slow",
            "std::thread::JoinHandle<T>::join",
            "std::thread::park",
            "sync.(*WaitGroup).Wait",
            "sync.(*Mutex).Lock",
            "time.Sleep",
            "runtime.gopark",
            "java.util.concurrent.locks.LockSupport.park",
            "LWLockAcquire",
            "Semaphore.acquire",
            "read",
            "__GI___libc_read",
            "__libc_pwrite64",
            "__x64_sys_fsync",
            "epoll_wait",
            "usleep",
            "waitpid",
            "__poll_nocancel",
        ] {
            assert!(is_wait_function(name), "{name}");
        }
        for name in [
            "pthread_mutex_unlock",
            "pthread_mutex_trylock",
            "pthread_mutex_init",
            "std::mutex::try_lock()",
            "lock_free_push",
            "is_waiting",
            "block_write",
            "__wt_block_read_off",
            "read_config",
            "deadlock_check",
            "clock_gettime",
            "DBImpl::WriteToWAL",
            "String::join",
            "main",
            "",
            "Clock::now",
            "pthread_cond_signal",
            "take_lock_and_run",
            "beforeSleep",
            "after_wait",
        ] {
            assert!(!is_wait_function(name), "{name}");
        }
        for name in [
            "pthread_cond_broadcast",
            "Mutex::Unlock",
            "sem_post",
            "notify_one",
        ] {
            assert!(is_wake_function(name), "{name}");
        }
        assert!(!is_wake_function("__wt_cond_wait_signal"));
    }

    #[test]
    fn the_words_of_a_name_are_the_same_in_every_case() {
        assert_eq!(words("__wait_for_lock"), ["wait", "for", "lock"]);
        assert_eq!(words("WaitForLock"), ["wait", "for", "lock"]);
        assert_eq!(words("LWLockAcquire"), ["lw", "lock", "acquire"]);
        assert_eq!(words("ioURingEnter"), ["io", "u", "ring", "enter"]);
    }
}
