//! The functions of the library.

use crate::boundary::{call, hand_over, json_or_default, text};
use crate::error::StoError;
use crate::store::{self, StoStore};
use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr::{null_mut, without_provenance_mut};
use std::slice;
use sto_core::Store;

/// Returns the version of the library, such as `0.1.0`. It belongs to the library.
#[unsafe(no_mangle)]
pub extern "C" fn sto_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Opens the store at a path: its folder, or its file. If it is missing, the first recording that is stored creates it.
///
/// Close it with `sto_close`. Other processes may use the store at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_open(path: *const c_char, error: *mut *mut StoError) -> *mut StoStore {
    let open = || {
        // SAFETY: the caller follows the rules of text arguments.
        let path = Path::new(unsafe { text("path", path)? });
        Ok(store::open(Store::open_or_create(path)?))
    };
    // SAFETY: the caller follows the rules of errors.
    unsafe { call(error, open) }.map_or(null_mut(), without_provenance_mut)
}

/// Opens an empty store in memory. Close it with `sto_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_open_in_memory(error: *mut *mut StoError) -> *mut StoStore {
    let open = || Ok(store::open(Store::in_memory()?));
    // SAFETY: the caller follows the rules of errors.
    unsafe { call(error, open) }.map_or(null_mut(), without_provenance_mut)
}

/// Closes a store. Calls that use it in other threads end as usual.
#[unsafe(no_mangle)]
pub extern "C" fn sto_close(store: *mut StoStore) {
    store::close(store.addr());
}

/// Reads a recording in a file of any supported format, finds its symbols, and stores it.
///
/// `options` is `NULL` or a JSON object with any of these members:
///
/// - `program`, `build`, `revision`, `benchmark`: names, as text. By default, the program is the recorded one, and
///   the build is named after its GNU build id.
/// - `labels`: an object of texts. `metrics`: an object of numbers.
/// - `recorded`: the time of the recording in seconds since 1970.
/// - `slices`: also keep costs by thread and label, in this number of slices of time.
/// - `format`: the name of the format, if it is not detected.
/// - `split_programs`: store each program of the recording as a profile of its own.
/// - `allow_truncated`: read a truncated file as far as possible.
/// - `strict`: refuse recordings of low quality.
///
/// Returns a report as JSON, like `sto ingest --report json`, with warnings and symbols that were not found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_ingest_file(
    store: *mut StoStore,
    path: *const c_char,
    options: *const c_char,
    error: *mut *mut StoError,
) -> *mut c_char {
    let ingest = || {
        let store = store::find(store.addr())?;
        // SAFETY: the caller follows the rules of text arguments.
        let path = Path::new(unsafe { text("path", path)? });
        // SAFETY: as above.
        let about = unsafe { json_or_default("options", options)? };
        store.ingest(path, None, about)
    };
    // SAFETY: the caller follows the rules of errors.
    hand_over(unsafe { call(error, ingest) })
}

/// Like `sto_ingest_file`, for the contents of a file in memory. `name` stands for the path in messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_ingest_bytes(
    store: *mut StoStore,
    name: *const c_char,
    bytes: *const c_void,
    length: usize,
    options: *const c_char,
    error: *mut *mut StoError,
) -> *mut c_char {
    let ingest = || {
        let store = store::find(store.addr())?;
        if bytes.is_null() {
            return Err(StoError::invalid("`bytes` is NULL"));
        }
        if isize::try_from(length).is_err() {
            return Err(StoError::invalid(format!(
                "`length` is {length}, which is more than memory has"
            )));
        }
        // SAFETY: the caller follows the rules of text arguments.
        let name = Path::new(unsafe { text("name", name)? });
        // SAFETY: as above.
        let about = unsafe { json_or_default("options", options)? };
        // SAFETY: `bytes` has `length` bytes.
        let bytes = unsafe { slice::from_raw_parts(bytes.cast(), length) };
        store.ingest(name, Some(bytes), about)
    };
    // SAFETY: the caller follows the rules of errors.
    hand_over(unsafe { call(error, ingest) })
}

/// Answers a question, such as
///
/// ```json
/// { "question": "top", "named": "v2", "limit": 10 }
/// { "question": "check", "baseline": { "any": "v1" }, "candidate": { "file": "perf.data" } }
/// ```
///
/// A build is named as in commands: `v2`, `server@v2`, `@newest`, a tag, or the path of a recording, which need not be
/// stored. `sto serve` lists all questions with their members at `/api/v1/openapi.json`.
///
/// Returns the answer as JSON; its member `schema` has the name and version of its schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_ask(
    store: *mut StoStore,
    question: *const c_char,
    error: *mut *mut StoError,
) -> *mut c_char {
    let ask = || {
        // SAFETY: the caller follows the rules of text arguments.
        store::find(store.addr())?.ask(unsafe { text("question", question)? })
    };
    // SAFETY: the caller follows the rules of errors.
    hand_over(unsafe { call(error, ask) })
}

/// Runs one statement of SQL on the tables of a store, which `sto sql .schema` lists.
///
/// On success, sets `*rows` to a stream of one batch, which the caller releases. It does not depend on the store any
/// more. A column has the narrowest type that all of its cells have: null (`n`), integer (`l`), floating point (`g`),
/// bytes (`Z`) or text (`U`). On failure, sets `rows->release` to `NULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_sql(
    store: *mut StoStore,
    query: *const c_char,
    rows: *mut FFI_ArrowArrayStream,
    error: *mut *mut StoError,
) -> bool {
    let run = || {
        if rows.is_null() {
            return Err(StoError::invalid("`rows` is NULL"));
        }
        // SAFETY: a stream can be written to `rows`, whatever is there.
        unsafe { rows.write(FFI_ArrowArrayStream::empty()) };
        let store = store::find(store.addr())?;
        // SAFETY: the caller follows the rules of text arguments.
        let batch = store.query(unsafe { text("query", query)? })?;
        let schema = batch.schema();
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        // SAFETY: as above.
        unsafe { rows.write(FFI_ArrowArrayStream::new(Box::new(batches))) };
        Ok(())
    };
    // SAFETY: the caller follows the rules of errors.
    unsafe { call(error, run) }.is_some()
}

/// Cancels all calls that use this store now, in any thread: they fail with the class `STO_CLASS_CANCELLED` at their
/// next check. Later calls are not affected. May not be called by a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn sto_cancel(store: *mut StoStore) {
    if let Ok(store) = store::find(store.addr()) {
        store.cancel();
    }
}

/// Frees text that a function returned as `char *`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sto_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: `hand_over` made it of a `CString`, and the caller frees it once.
        drop(unsafe { CString::from_raw(text) });
    }
}
