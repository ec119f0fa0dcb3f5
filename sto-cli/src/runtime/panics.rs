//! What is printed of panics.

use std::panic;

/// Keeps panics of redb off the terminal: it panics on damaged files, which the library turns into errors.
/// Others are printed as before.
pub(crate) fn hide_those_of_redb() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_of_redb = panic
            .location()
            .is_some_and(|at| at.file().contains("/redb-"));
        if !is_of_redb {
            print(panic);
        }
    }));
}
