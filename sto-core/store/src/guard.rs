//! Panics of redb on damaged files, turned into errors.
//!
//! redb checks its pages' checksums only when it repairs a file. From a damaged page it reads
//! lengths and offsets that it trusts, and panics where they lead outside of the page (as of 4.4).

use super::error::{InternalError, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does work with a file that may be damaged.
///
/// What a panic leaves behind is not used any more: the caller closes the file, and redb recovers
/// it when it is opened again. The panic hook is the program's: it is called before.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let what = format!("redb cannot read it: {}", text.unwrap_or("it panics"));
        Err(InternalError::damaged("the redb file", what))
    })
}
