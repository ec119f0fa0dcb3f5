//! How much memory a command may take, and its end where that is not enough.
//!
//! Whatever a file or store makes a command hold, it asks for it here. So the limit holds for all there
//! is, libraries included, and a command that meets it ends with a sentence and a status, where the
//! kernel would end it without, or another process in its place. What was not committed to a store is not in
//! it, and temporary files are removed: it is the end that `kill -9` gives, but for what is said.

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
use sto_core::memory::{self, Size};
use sto_core::units::Bytes;

#[global_allocator]
static COUNTED: Counted = Counted;

/// The system's allocator, and how much it gave.
struct Counted;

/// What all threads have together, but for less than [`STEP`] of each.
static TAKEN: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
static ENDS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread took, or gave back, since it last said so.
    static UNSAID: Cell<i64> = const { Cell::new(0) };
}

/// What a thread takes before it says so: a counter that every thread writes to is slow.
const STEP: i64 = 256 << 10;

/// The file or store that the command works on, for the sentence.
static SUBJECT: Mutex<String> = Mutex::new(String::new());

// SAFETY: everything is the system allocator's work; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the same promise.
        given(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        take(-(layout.size() as i64));
        // SAFETY: the caller keeps the same promise.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn take(bytes: i64) {
    let said = UNSAID.try_with(|unsaid| {
        let sum = unsaid.get() + bytes;
        let is_much = sum.abs() >= STEP;
        unsaid.set(if is_much { 0 } else { sum });
        is_much.then_some(sum)
    });
    if let Some(sum) = said.unwrap_or(Some(bytes)) {
        say(sum);
    }
}

#[cold]
fn say(bytes: i64) {
    let taken = TAKEN.fetch_add(bytes, Relaxed) + bytes;
    if bytes > 0 && taken > LIMIT.load(Relaxed) {
        end(format_args!(
            "needs more than {}, which is all the memory that it may take",
            Size(LIMIT.load(Relaxed).unsigned_abs())
        ));
    }
}

#[inline]
fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end(format_args!(
            "needs more memory than the system gives it; it has {}",
            Size(TAKEN.load(Relaxed).unsigned_abs())
        ));
    }
    memory
}

/// Ends the process. Nothing is allocated, and nobody waited for: another thread may hold any lock.
#[cold]
fn end(why: std::fmt::Arguments<'_>) -> ! {
    if ENDS.swap(true, Relaxed) {
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

/// Takes the limit of this process: what the user says, else a quarter of the machine's memory; none where the
/// system does not say how much there is.
pub(crate) fn set_limit(given: Option<Bytes>) {
    let Some(Bytes(limit)) = given.or_else(default_limit) else {
        return;
    };
    LIMIT.store(limit.try_into().unwrap_or(i64::MAX), Relaxed);
    // What is known to be too much is not begun.
    memory::set_limit(Bytes(limit));
}

/// Says what the command works on now.
pub(crate) fn works_on(path: &Path) {
    if let Ok(mut subject) = SUBJECT.lock() {
        *subject = sto_query::text::printable(&path.display().to_string()).into_owned();
    }
}

/// A quarter of what there is, but no less than 1 GiB of it: a small container does one thing.
fn default_limit() -> Option<Bytes> {
    let all = of_machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let all = of_container().map_or(all, |of_container| all.min(of_container));
    Some(Bytes((all / 4).max(all.min(1 << 30))))
}

/// `MemTotal` of proc_meminfo(5).
fn of_machine(meminfo: &str) -> Option<u64> {
    let total = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The least `memory.max` of this process' cgroup and those above it (cgroups(7), version 2).
fn of_container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let limit = |group: &Path| {
        let file = PathBuf::from("/sys/fs/cgroup")
            .join(group)
            .join("memory.max");
        // Where there is none, it says `max`.
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    Path::new(group).ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_machine_is_what_proc_meminfo_has() {
        let meminfo = "MemTotal:       24688964 kB\nMemFree:        1 kB\n";
        assert_eq!(of_machine(meminfo), Some(24_688_964 << 10));
        assert_eq!(of_machine("MemTotal: much\n"), None);
    }

    #[test]
    fn what_is_given_back_counts_no_more() {
        let before = TAKEN.load(Relaxed);
        for _ in 0..64 {
            drop(std::hint::black_box(vec![1u8; 1 << 20]));
        }
        // Other tests of this process take some, too.
        assert!(TAKEN.load(Relaxed) - before < 32 << 20);
        let kept = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(TAKEN.load(Relaxed) - before > 48 << 20, "{}", kept.len());
    }
}
