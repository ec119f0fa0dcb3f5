//! What writing a store anew came to.

use crate::maintain::ExportedStore;
use crate::text::{Style, bytes, counted, printable};
use sto_core::store::Rewritten;

/// A compacted store as text.
pub fn compact_text(report: &Rewritten, _: Style) -> String {
    format!(
        "the store's file: {} -> {}\n",
        bytes(report.before.0),
        bytes(report.after.0)
    )
}

/// An exported file as text.
pub fn export_text(report: &ExportedStore, _: Style) -> String {
    format!(
        "wrote {} to {} ({})\n",
        counted(report.profiles as u64, "profile"),
        printable(&report.path),
        bytes(report.bytes.0)
    )
}
