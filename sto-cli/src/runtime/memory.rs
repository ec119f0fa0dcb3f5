//! Memory limit of a command.
//!
//! The global allocator counts all memory, including what libraries allocate. A command that reaches the limit ends with
//! a message and an exit status, instead of being killed by the kernel, possibly along with other processes. Uncommitted
//! changes to a store are lost and temporary files are removed, as after `kill -9`, except that the
//! reason is printed.

use crate::runtime::error::{FAILURE, MORE_MEMORY};
use crate::runtime::interrupt;
use signal_hook::low_level::exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::time::Duration;
use std::{fs, thread};
use sto_core::memory::{self, HumanBytes};
use sto_core::units::Bytes;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The system's allocator; counts the allocated bytes.
struct CountingAllocator;

/// Bytes that all threads have allocated, except for less than [`STEP`] per thread.
static TAKEN: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Bytes that this thread has allocated or freed since it last updated [`TAKEN`].
    static UNREPORTED: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that a thread allocates before it updates the shared counter, which is slow to write to.
const STEP: i64 = 256 << 10;

/// The file or store that the command works on, for the message.
static SUBJECT: Mutex<String> = Mutex::new(String::new());

// SAFETY: the system allocator does all of the work; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        checked(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the same promise.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn count(bytes: i64) {
    let due = UNREPORTED.try_with(|unreported| {
        let sum = unreported.get() + bytes;
        let is_due = sum.abs() >= STEP;
        unreported.set(if is_due { 0 } else { sum });
        is_due.then_some(sum)
    });
    if let Some(sum) = due.unwrap_or(Some(bytes)) {
        add_to_total(sum);
    }
}

#[cold]
fn add_to_total(bytes: i64) {
    let taken = TAKEN.fetch_add(bytes, Relaxed) + bytes;
    if bytes > 0 && taken > LIMIT.load(Relaxed) {
        end(format_args!(
            "needs more than its memory limit of {}",
            HumanBytes(LIMIT.load(Relaxed).unsigned_abs())
        ));
    }
}

#[inline]
fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end(format_args!(
            "needs more memory than the system provides; it already uses {}",
            HumanBytes(TAKEN.load(Relaxed).unsigned_abs())
        ));
    }
    memory
}

/// Ends the process without allocating or waiting, because another thread may hold any lock.
#[cold]
fn end(why: std::fmt::Arguments<'_>) -> ! {
    if IS_ENDING.swap(true, Relaxed) {
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    LIMIT.store(i64::MAX, Relaxed);
    interrupt::try_abandon_temporaries();
    let mut text = [0; 2048];
    let mut left = &mut text[..];
    let is_terminal = io::stderr().is_terminal();
    let line = if is_terminal { "\r\x1b[K" } else { "" };
    let subject = SUBJECT.try_lock().ok();
    let subject = subject.as_deref().map_or("", String::as_str);
    let subject = &subject[..subject.floor_char_boundary(1024)];
    let colon = if subject.is_empty() { "" } else { ": " };
    let _ = write!(
        left,
        "{line}error: {subject}{colon}this command {why}\nhint: "
    );
    let _ = writeln!(left, "{MORE_MEMORY}");
    let rest = left.len();
    let written = text.len() - rest;
    let _ = rustix::io::write(io::stderr().as_fd(), &text[..written]);
    exit(FAILURE.into())
}

/// Sets the memory limit of this process: `given`, otherwise a quarter of the machine's memory. If the size of memory is
/// unknown, there is no limit.
pub(crate) fn set_limit(given: Option<Bytes>) {
    let Some(Bytes(limit)) = given.or_else(default_limit) else {
        return;
    };
    LIMIT.store(limit.try_into().unwrap_or(i64::MAX), Relaxed);
    // Let the libraries refuse work that is known to need more.
    memory::set_limit(Bytes(limit));
}

/// Bytes that this process has allocated.
#[cfg(feature = "serve")]
pub(crate) fn in_use() -> Bytes {
    Bytes(TAKEN.load(Relaxed).try_into().unwrap_or_default())
}

/// Sets the file or store that the command works on.
pub(crate) fn set_subject(path: &Path) {
    if let Ok(mut subject) = SUBJECT.lock() {
        *subject = sto_query::text::printable(&path.display().to_string()).into_owned();
    }
}

/// A quarter of the available memory, but at least 1 GiB, or all of it if there is less: a small container runs one program.
fn default_limit() -> Option<Bytes> {
    let all = machine_memory(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let all = container_limit().map_or(all, |limit| all.min(limit));
    Some(Bytes((all / 4).max(all.min(1 << 30))))
}

/// Parses `MemTotal` of proc_meminfo(5).
fn machine_memory(meminfo: &str) -> Option<u64> {
    let total = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest `memory.max` of this process's cgroup and its ancestors (cgroups(7), version 2).
fn container_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let limit = |group: &Path| {
        let file = PathBuf::from("/sys/fs/cgroup")
            .join(group)
            .join("memory.max");
        // Without a limit, the file contains `max`.
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    Path::new(group).ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_memory_of_the_machine_from_proc_meminfo() {
        let meminfo = "MemTotal:       24688964 kB\nMemFree:        1 kB\n";
        assert_eq!(machine_memory(meminfo), Some(24_688_964 << 10));
        assert_eq!(machine_memory("MemTotal: much\n"), None);
    }

    #[test]
    fn freed_memory_is_not_counted() {
        let before = TAKEN.load(Relaxed);
        for _ in 0..64 {
            drop(std::hint::black_box(vec![1u8; 1 << 20]));
        }
        // Other tests in this process allocate, too.
        assert!(TAKEN.load(Relaxed) - before < 32 << 20);
        let kept = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(TAKEN.load(Relaxed) - before > 48 << 20, "{}", kept.len());
    }
}
