//! Panics of redb on damaged files, turned into errors.
//!
//! redb checks its pages' checksums only when it repairs a file. From a damaged page it reads
//! lengths and offsets that it trusts, and panics where they lead outside of the page (as of 4.4).

use super::error::Fault;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Does work with a file that may be damaged.
///
/// What a panic leaves behind is not used any more: the caller closes the file, and redb recovers
/// it when it is opened again.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    silence_guarded_panics();
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let what = format!("redb cannot read it: {}", text.unwrap_or("it panics"));
        Err(Fault::damaged("the redb file", what))
    })
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the panic hook from printing what becomes an error; every other panic goes to the hook
/// that was set before.
fn silence_guarded_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                previous(panic);
            }
        }));
    });
}
