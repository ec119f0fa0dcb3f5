//! What writing a store anew came to.

use crate::maintain::{CompactReport, ExportedStore};
use crate::text::numbers::bytes;
use crate::text::numbers::counted;
use crate::text::{Style, printable};

/// A compacted store as text.
pub fn compact_text(report: &CompactReport, _: Style) -> String {
    format!(
        "the store's file: {} -> {}\n",
        bytes(report.bytes_before),
        bytes(report.bytes_after)
    )
}

/// An exported file as text.
pub fn export_text(report: &ExportedStore, _: Style) -> String {
    format!(
        "wrote {} to {} ({})\n",
        counted(report.profiles as u64, "profile"),
        printable(&report.path),
        bytes(report.bytes)
    )
}
