//! Records panics in this process, even if they are caught.

use std::sync::{Mutex, Once, PoisonError};

/// The source files that panicked.
static FILES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Installs a panic hook that records the source files of all later panics.
pub(crate) fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |at| at.file());
            let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
            files.push(file.to_owned());
            drop(files);
            previous(panic);
        }));
    });
}

/// Returns the source files that panicked and have one of these parts in their paths.
pub(crate) fn panicked(parts: &[&str]) -> Vec<String> {
    let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_of = |file: &&String| parts.iter().any(|part| file.contains(part));
    files.iter().filter(is_of).cloned().collect()
}
