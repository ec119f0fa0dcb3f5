//! The way from C to Rust and back: arguments, failures and panics.

use crate::error::{StoError, c_text};
use serde::Deserialize;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Does the work of a call. Returns `None` if it fails or panics, and sets `*error` to the reason or null.
///
/// # Safety
///
/// `error` is null, or a pointer can be written to it.
pub(crate) unsafe fn call<T>(
    error: *mut *mut StoError,
    work: impl FnOnce() -> Result<T, StoError>,
) -> Option<T> {
    // Shared values are behind mutexes, which are unlocked by a panic.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let outcome = outcome.unwrap_or_else(|panic| Err(StoError::from_panic(&*panic)));
    let (done, failure) = match outcome {
        Ok(done) => (Some(done), None),
        Err(failure) => (None, Some(failure)),
    };
    if !error.is_null() {
        let failure = failure.map_or(null_mut(), |failure| Box::into_raw(Box::new(failure)));
        // SAFETY: the caller of this function guarantees it.
        unsafe { error.write(failure) };
    }
    done
}

/// Reads a text argument.
///
/// # Safety
///
/// `argument` is null, or text that ends with a zero byte and outlives `'a`.
pub(crate) unsafe fn text<'a>(name: &str, argument: *const c_char) -> Result<&'a str, StoError> {
    if argument.is_null() {
        return Err(StoError::invalid(format!("`{name}` is NULL")));
    }
    // SAFETY: the caller of this function guarantees it.
    let text = unsafe { CStr::from_ptr(argument) };
    text.to_str()
        .map_err(|error| StoError::invalid(format!("`{name}` is not UTF-8: {error}")))
}

/// Reads an argument with options in JSON, which may be null.
///
/// # Safety
///
/// Like [`text`].
pub(crate) unsafe fn json_or_default<'a, T: Default + Deserialize<'a>>(
    name: &str,
    argument: *const c_char,
) -> Result<T, StoError> {
    if argument.is_null() {
        return Ok(T::default());
    }
    // SAFETY: the caller of this function guarantees it.
    let json = unsafe { text(name, argument)? };
    serde_json::from_str(json).map_err(|error| StoError::from_json(name, &error))
}

/// Hands text over to the caller, who frees it with `sto_text_free`. Returns null for `None`.
pub(crate) fn hand_over(text: Option<String>) -> *mut c_char {
    text.map_or(null_mut(), |text| c_text(text).into_raw())
}
