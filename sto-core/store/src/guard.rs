//! Turns panics of redb on damaged files into errors.
//!
//! redb only verifies the checksums of its pages when it repairs a file. It trusts the lengths and
//! offsets in a damaged page and panics if they lead outside of the page (as of 4.4).

use super::error::{InternalError, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs work on a file that may be damaged and turns a panic into an error.
///
/// After a panic, the caller must close the file; redb recovers it at the next open. The program's
/// panic hook is still called.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let what = format!("redb cannot read it: {}", text.unwrap_or("unknown error"));
        Err(InternalError::damaged("the redb file", what))
    })
}
