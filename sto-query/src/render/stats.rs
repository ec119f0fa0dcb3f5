//! Where the bytes of a store are, as a table.

use super::header::counted;
use super::numbers::{bytes, grouped, percent, saving};
use super::paragraph::paragraph;
use super::{Style, printable};
use crate::report::StatsReport;
use std::fmt::Write;

/// The report as text: the parts of the file, most bytes first, then how much it holds.
pub fn text(report: &StatsReport, style: Style) -> String {
    let mut text = String::new();
    let heading = format!(
        "  {:>9}  {:>7}  {:>9}  {}",
        "bytes", "share", "count", "what"
    );
    let _ = writeln!(text, "{}", style.dim(&heading));
    for part in &report.parts {
        let count = match part.count {
            0 => String::new(),
            count => grouped(count),
        };
        let (size, share) = (bytes(part.bytes), percent(part.share));
        let _ = writeln!(text, "  {size:>9}  {share:>7}  {count:>9}  {}", part.part);
    }
    let (size, share) = (bytes(report.file_bytes), percent(1.0));
    let _ = writeln!(text, "  {size:>9}  {share:>7}  {:>9}  the file\n", "");

    if report.executables.len() > 1 {
        let heading = format!(
            "  {:>6}  {:>8}  {:>11}  {:>9}  {:>11}  {}",
            "builds", "profiles", "nodes", "in", "profiles in", "executable"
        );
        let _ = writeln!(text, "{}", style.dim(&heading));
        for executable in &report.executables {
            let _ = writeln!(
                text,
                "  {:>6}  {:>8}  {:>11}  {:>9}  {:>11}  {}",
                grouped(executable.builds),
                grouped(executable.profiles),
                grouped(executable.nodes),
                bytes(executable.node_bytes),
                bytes(executable.profile_bytes),
                style.fit(&printable(&executable.executable), 57),
            );
        }
        text.push('\n');
    }

    let held = format!(
        "{} and {}, {} of {} with {}, in {}",
        counted(report.builds, "build"),
        counted(report.profiles, "profile"),
        counted(report.nodes, "node"),
        counted(report.frames, "frame"),
        counted(report.strings, "string"),
        counted(report.packs, "pack"),
    );
    text += &paragraph(style, "", &held, 0);
    if let (Some(node), Some(profile)) = (report.bytes_per_node, report.bytes_per_profile) {
        let profile = bytes(profile.round() as u64);
        let _ = writeln!(text, "{node:.2} bytes a node, {profile} a profile");
    }
    if let Some(factor) = report.saving {
        let _ = writeln!(
            text,
            "{} of {} in a file of {}, {} smaller",
            bytes(report.source_bytes),
            counted(report.recordings, "recording"),
            bytes(report.file_bytes),
            saving(factor),
        );
    }
    text
}
