//! Finding waits, which are recognised by the names of functions.

use super::calls::{LongCall, Wait};
use super::paths::{CallPathIx, CallPaths};
use std::cmp::Reverse;

/// Number of longest waits of a run to keep, besides the longest wait of each stack.
const MAX_WAITS: usize = 256;

/// System calls, and library functions with similar names, that wait for other threads or processes.
const WAIT_CALLS: &[&str] = &[
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

/// Functions that wait for time to pass, or for a processor.
const TIME_CALLS: &[&str] = &[
    "clock_nanosleep",
    "io_schedule",
    "nanosleep",
    "sched_yield",
    "schedule",
    "schedule_timeout",
    "sleep",
    "usleep",
];

/// System calls that wait for input or output.
const IO_CALLS: &[&str] = &[
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

/// Prefixes and suffixes of names of system calls, besides underscores.
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

/// Words that mean that a function waits, at any position in its name.
const WAIT_WORDS: &[&str] = &[
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

/// Words that mean that a function waits if its name begins with them, or ends in them.
const FIRST_WORDS: &[&str] = &["lock", "rdlock", "wrlock"];
const LAST_WORDS: &[&str] = &[
    "acquire",
    "lock",
    "rdlock",
    "timedlock",
    "timedrdlock",
    "timedwrlock",
    "wrlock",
];

/// Words of functions that are related to waiting but do not wait.
const NO_WAIT_WORDS: &[&str] = &[
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

/// Words of functions that run before or after a wait, such as `beforeSleep`.
const ADJACENT_WORDS: &[&str] = &["after", "before"];

/// Words of functions that wake other threads.
const WAKE_WORDS: &[&str] = &[
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

/// System calls that wake a thread that reads.
const SEND_CALLS: &[&str] = &["send", "sendmsg", "sendto", "write", "writev"];

/// What a function waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Other threads or processes: a lock, a condition, a task.
    Others,
    /// Time to pass, or a processor. The time counts as time of the caller.
    Time,
    /// Input or output.
    Io,
}

/// Returns `true` if a function of this name waits for a lock, a condition, time, or input or output, by the rules in
/// the module's documentation.
pub fn is_wait_function(name: &str) -> bool {
    waits_for(name).is_some()
}

/// Returns what a function with this name waits for, or `None` if it does not wait.
pub(crate) fn waits_for(name: &str) -> Option<WaitsFor> {
    let base = base_name(name);
    let system_call = system_call(base);
    let words = words(base);
    let is_in = |list: &[&str], word: &String| list.contains(&&**word);
    let has_any = |list: &[&str]| words.iter().any(|word| is_in(list, word));
    if has_any(ADJACENT_WORDS) {
        return None;
    }
    if IO_CALLS.contains(&system_call) {
        return Some(WaitsFor::Io);
    }
    if TIME_CALLS.contains(&system_call) || has_any(&["sleep", "usleep"]) {
        return Some(WaitsFor::Time);
    }
    let joins = words.last().is_some_and(|word| word == "join");
    let waits_by_words = has_any(WAIT_WORDS)
        || words.first().is_some_and(|word| is_in(FIRST_WORDS, word))
        || words.last().is_some_and(|word| is_in(LAST_WORDS, word))
        || joins && name.to_ascii_lowercase().contains("thread");
    (WAIT_CALLS.contains(&system_call) || waits_by_words && !has_any(NO_WAIT_WORDS))
        .then_some(WaitsFor::Others)
}

/// Whether a function of this name wakes other threads: it unlocks, signals, or writes.
pub(crate) fn is_wake_function(name: &str) -> bool {
    let base = base_name(name);
    let words = words(base);
    let has_any = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    !has_any(WAIT_WORDS) && has_any(WAKE_WORDS) || SEND_CALLS.contains(&system_call(base))
}

/// The name of a function without types, modules and parameters.
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

/// The lower-case words of a name. `WaitForLock`, `wait_for_lock` and `__wait_for_lock` have the same words.
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

/// Removes the prefixes and suffixes of system calls from a name.
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

/// For each path, whether one of its callers waits. `waits` has what the function of each path waits for.
pub(crate) fn callers_wait(paths: &CallPaths, waits: &[Option<WaitsFor>]) -> Vec<bool> {
    let mut callers = vec![false; paths.path_count()];
    for path in paths.iter() {
        let caller = paths.caller(path).map(CallPathIx::get);
        callers[path.get()] =
            caller.is_some_and(|caller| waits[caller].is_some() || callers[caller]);
    }
    callers
}

/// Selects waits from the longest calls of each thread: the longest wait of each stack, and the longest waits of
/// the run. They are ordered by duration, longest first. [`Wait::ended_by`] is left empty.
pub(crate) fn waits(
    longest: &[Vec<LongCall<CallPathIx>>],
    paths: &CallPaths,
    is_wait: impl Fn(CallPathIx) -> bool,
) -> Vec<Wait<CallPathIx>> {
    let mut all: Vec<(u32, LongCall<CallPathIx>)> = Vec::new();
    for (thread, calls) in (0..).zip(longest) {
        let waiting = calls.iter().filter(|call| is_wait(call.stack));
        all.extend(waiting.map(|&call| (thread, call)));
    }
    all.sort_by_key(|&(thread, call)| {
        (
            Reverse(call.end.0 - call.begin.0),
            call.begin,
            thread,
            call.stack,
        )
    });
    let mut is_first_of_stack = vec![true; paths.path_count()];
    let mut rank = 0;
    all.retain(|(_, call)| {
        rank += 1;
        std::mem::take(&mut is_first_of_stack[call.stack.get()]) || rank <= MAX_WAITS
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
    fn recognises_functions_that_wait_or_wake() {
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
    fn splits_names_of_any_case_into_words() {
        assert_eq!(words("__wait_for_lock"), ["wait", "for", "lock"]);
        assert_eq!(words("WaitForLock"), ["wait", "for", "lock"]);
        assert_eq!(words("LWLockAcquire"), ["lw", "lock", "acquire"]);
        assert_eq!(words("ioURingEnter"), ["io", "u", "ring", "enter"]);
    }
}
