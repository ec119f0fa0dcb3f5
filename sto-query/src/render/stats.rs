//! The sizes of the parts of a store, as a table.

use crate::text::{
    Cell, Column, Style, Table, bytes, compression_ratio, format_count, group_digits, paragraph,
    percent,
};
use sto_core::store::StoreStats;

/// Column at which tables begin.
const INDENT: usize = 2;

/// Returns the report as text: the parts of the file, largest first, then the number of objects.
pub fn text(report: &StoreStats, style: Style) -> String {
    let mut parts = Table::new(vec![
        Column::number("bytes"),
        Column::number("share").with_drop_rank(2),
        Column::number("count").with_drop_rank(1),
        Column::text("what"),
    ])
    .with_indent(INDENT);
    for part in &report.parts {
        let count = match part.count {
            0 => String::new(),
            count => group_digits(count),
        };
        parts.add_row(vec![
            Cell::from(bytes(part.bytes.0)),
            Cell::from(percent(part.share)),
            Cell::from(count),
            Cell::from(&part.part),
        ]);
    }
    parts.add_row(vec![
        Cell::from(bytes(report.file.0)),
        Cell::from(percent(1.0)),
        Cell::from(""),
        Cell::from("the file"),
    ]);
    let mut text = parts.render(style) + "\n";

    if report.executables.len() > 1 {
        let mut executables = Table::new(vec![
            Column::number("builds").with_drop_rank(1),
            Column::number("profiles"),
            Column::number("nodes").with_drop_rank(4),
            Column::number("in").with_drop_rank(2),
            Column::number("profiles in").with_drop_rank(3),
            Column::text("executable"),
        ])
        .with_indent(INDENT);
        for executable in &report.executables {
            executables.add_row(vec![
                Cell::from(group_digits(executable.builds)),
                Cell::from(group_digits(executable.profiles)),
                Cell::from(group_digits(executable.nodes)),
                Cell::from(bytes(executable.node_bytes.0)),
                Cell::from(bytes(executable.profile_bytes.0)),
                Cell::from(&executable.name),
            ]);
        }
        text += &(executables.render(style) + "\n");
    }

    let held = format!(
        "{} and {}, {} of {} with {}, in {}",
        format_count(report.builds, "build"),
        format_count(report.profiles, "profile"),
        format_count(report.nodes, "node"),
        format_count(report.frames, "frame"),
        format_count(report.strings, "string"),
        format_count(report.packs, "pack"),
    );
    text += &paragraph(style, "", &held, 0);
    if let (Some(node), Some(profile)) = (report.bytes_per_node, report.bytes_per_profile) {
        let profile = bytes(profile.round() as u64);
        let each = format!("{node:.2} bytes a node, {profile} a profile");
        text += &paragraph(style, "", &each, 0);
    }
    if let Some(factor) = report.saving {
        let saved = format!(
            "{} of {} in a file of {}, {} smaller",
            bytes(report.source.0),
            format_count(report.recordings, "recording"),
            bytes(report.file.0),
            compression_ratio(factor),
        );
        text += &paragraph(style, "", &saved, 0);
    }
    text
}
