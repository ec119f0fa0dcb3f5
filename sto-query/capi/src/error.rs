//! Errors of calls, and the functions that read them.

use std::any::Any;
use std::error::Error;
use std::ffi::{CString, c_char};
use std::ptr::null;
use sto_core::ingest::IngestError;
use sto_core::store::StoreError;
use sto_query::QueryError;
use sto_query::error::ErrorClass;
use sto_query::tables::SqlError;

/// The class of an error: whose fault it is, and whether another attempt may succeed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoClass {
    /// No error: the argument was `NULL`.
    None,
    /// Nothing has the name in the request: no build, function, event, label or file.
    NotFound,
    /// The request, or a file that it names, contradicts itself or the data.
    Invalid,
    /// The caller may not do this: SQL can only read.
    Forbidden,
    /// Another process holds the store. The same call may succeed later.
    Busy,
    /// The answer would take too much memory or space.
    TooLarge,
    /// This library cannot do it: the data were written by a newer version, or a feature was left out.
    Unsupported,
    /// `sto_cancel` was called.
    Cancelled,
    /// The system failed, stored data are damaged, or the library has a defect.
    Internal,
}

/// The reason why a call failed.
#[derive(Debug)]
pub struct StoError {
    class: StoClass,
    message: CString,
    path: Option<CString>,
    place: Option<CString>,
}

impl StoError {
    /// Creates an error that is not about a file.
    pub(crate) fn new(class: StoClass, message: impl Into<String>) -> StoError {
        StoError {
            class,
            message: c_text(message.into()),
            path: None,
            place: None,
        }
    }

    /// Creates an error of an invalid argument.
    pub(crate) fn invalid(message: impl Into<String>) -> StoError {
        StoError::new(StoClass::Invalid, message)
    }

    /// Creates an error with the message of a panic.
    pub(crate) fn from_panic(panic: &(dyn Any + Send)) -> StoError {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.unwrap_or("a panic without a message");
        StoError::new(
            StoClass::Internal,
            format!("internal error (please report it): {message}"),
        )
    }

    fn with_place(self, place: impl Into<String>) -> StoError {
        StoError {
            place: Some(c_text(place.into())),
            ..self
        }
    }

    /// Creates an error of JSON in an argument.
    pub(crate) fn from_json(argument: &str, error: &serde_json::Error) -> StoError {
        let place = format!("line {} column {}", error.line(), error.column());
        StoError::invalid(format!("`{argument}`: {error}")).with_place(place)
    }
}

impl From<QueryError> for StoError {
    fn from(error: QueryError) -> StoError {
        let place = error.place();
        StoError {
            path: place.map(|place| c_text(place.path.display().to_string())),
            place: place.and_then(|place| place.at).map(c_text),
            ..StoError::new(error.class().into(), with_causes(&error))
        }
    }
}

impl From<StoreError> for StoError {
    fn from(error: StoreError) -> StoError {
        QueryError::from(error).into()
    }
}

impl From<IngestError> for StoError {
    fn from(error: IngestError) -> StoError {
        QueryError::from(error).into()
    }
}

impl From<SqlError> for StoError {
    fn from(error: SqlError) -> StoError {
        let class = match error {
            SqlError::Question(error) => return (*error).into(),
            SqlError::ReadOnly => StoClass::Forbidden,
            SqlError::OutOfMemory => StoClass::TooLarge,
            SqlError::Cancelled(_) => StoClass::Cancelled,
            _ => StoClass::Invalid,
        };
        let failed = StoError::new(class, error.to_string());
        match error {
            SqlError::Syntax { place, .. } => failed.with_place(place.join("\n")),
            _ => failed,
        }
    }
}

impl From<ErrorClass> for StoClass {
    fn from(class: ErrorClass) -> StoClass {
        match class {
            ErrorClass::NotFound => StoClass::NotFound,
            ErrorClass::Invalid => StoClass::Invalid,
            ErrorClass::Forbidden => StoClass::Forbidden,
            ErrorClass::Busy => StoClass::Busy,
            ErrorClass::TooLarge => StoClass::TooLarge,
            ErrorClass::Unsupported => StoClass::Unsupported,
            ErrorClass::Cancelled => StoClass::Cancelled,
            _ => StoClass::Internal,
        }
    }
}

/// The error, and the causes that its message does not contain already.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    for cause in std::iter::successors(error.source(), |&cause| cause.source()) {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    message
}

/// Converts text for C, which ends at the first zero byte: zero bytes become replacement characters.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    let text = text.into();
    let text = CString::new(text).or_else(|error| {
        let bytes = error.into_vec();
        CString::new(String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}"))
    });
    text.unwrap_or_default()
}

/// Returns the class of an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_error_class(error: *const StoError) -> StoClass {
    // SAFETY: the caller passes null or an error of this library that was not freed.
    unsafe { error.as_ref() }.map_or(StoClass::None, |error| error.class)
}

/// Returns the message of an error, which names the path and the place, and often the remedy. It belongs to the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_error_message(error: *const StoError) -> *const c_char {
    // SAFETY: as in `sto_error_class`.
    unsafe { error.as_ref() }.map_or(null(), |error| error.message.as_ptr())
}

/// Returns the path of the file or folder that an error is about, or `NULL`. It belongs to the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_error_path(error: *const StoError) -> *const c_char {
    // SAFETY: as in `sto_error_class`.
    let path = unsafe { error.as_ref() }.and_then(|error| error.path.as_ref());
    path.map_or(null(), |path| path.as_ptr())
}

/// Returns the place in the file, the JSON or the SQL that an error is about, such as `line 12`, or `NULL`. In SQL it
/// is the line, and a line with a caret below it. It belongs to the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_error_place(error: *const StoError) -> *const c_char {
    // SAFETY: as in `sto_error_class`.
    let place = unsafe { error.as_ref() }.and_then(|error| error.place.as_ref());
    place.map_or(null(), |place| place.as_ptr())
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_error_free(error: *mut StoError) {
    if !error.is_null() {
        // SAFETY: `call` made it of a box, and the caller frees it once.
        drop(unsafe { Box::from_raw(error) });
    }
}
