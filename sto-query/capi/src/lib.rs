//! libsto, the library of `sto` for C and for languages that call C.
//!
//! Its functions store recordings of programs, and answer the questions of `sto-query`: in JSON by one function, or in
//! SQL as a stream of the [Arrow C data interface](https://arrow.apache.org/docs/format/CStreamInterface.html). The
//! header `sto.h` is made from this crate, and `examples/top.c` in the repository is a program with it.
//!
//! ```c
//! sto_error *error;
//! sto_store *store = sto_open("profiles", &error);
//! char *report = sto_ingest_file(store, "perf.data", "{\"build\": \"v2\"}", &error);
//! if (!report) {
//!     fprintf(stderr, "%s\n", sto_error_message(error));
//!     sto_error_free(error);
//! }
//! sto_text_free(report);
//! sto_close(store);
//! ```
//!
//! # Rules of all functions
#![doc = include_str!("rules.md")]
//!
//! # Linking
//!
//! `make install` installs `libsto.so`, `libsto.a`, `sto.h` and a file for `pkg-config`. The static library contains
//! SQLite and Zstandard: a program that links these, too, links the shared library instead, which hides them.
//!
//! # Stability
//!
//! Functions may be added in any version. Until version 1.0, minor versions may change them: the shared library of 0.1 is
//! `libsto.so.0.1`.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]
#![expect(
    clippy::missing_safety_doc,
    reason = "the rules above hold for all functions, and the documentation of functions is for C"
)]

mod boundary;
mod calls;
mod columns;
mod error;
mod store;

pub use calls::{
    sto_ask, sto_cancel, sto_close, sto_ingest_bytes, sto_ingest_file, sto_open,
    sto_open_in_memory, sto_sql, sto_text_free, sto_version,
};
pub use error::{
    StoClass, StoError, sto_error_class, sto_error_free, sto_error_message, sto_error_path,
    sto_error_place,
};
pub use store::StoStore;
