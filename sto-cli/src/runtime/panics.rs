//! Panic handling.

use super::error::CliError;
use std::panic::{self, AssertUnwindSafe};

/// Hides panics of redb and parquet on damaged files, which the library turns into errors.
/// Other panics are printed as before.
pub(crate) fn hide_reader_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_of = |reader| {
            panic
                .location()
                .is_some_and(|at| at.file().contains(reader))
        };
        if !is_of("/redb-") && !is_of("/parquet-") {
            print(panic);
        }
    }));
}

/// Calls `run`, and returns a panic as an error, because the message of the panic may have been hidden.
pub(crate) fn catch<T>(run: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(CliError::Panicked {
            text: text.unwrap_or("no message").to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        let index = std::hint::black_box(1);
        let result = catch(|| {
            let _ = [0][index];
            Ok(())
        });
        let error = result.err().unwrap().to_string();
        assert!(
            error.ends_with("the len is 1 but the index is 1"),
            "{error}"
        );
    }
}
