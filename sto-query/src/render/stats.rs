//! The sizes of the parts of a store, as a table.

use crate::text::{
    Cell, Column, Style, Table, bytes, counted, grouped, paragraph, percent, saving,
};
use sto_core::store::StoreStats;

/// Column at which tables begin.
const INDENT: usize = 2;

/// Returns the report as text: the parts of the file, largest first, then the number of objects.
pub fn text(report: &StoreStats, style: Style) -> String {
    let mut parts = Table::new(vec![
        Column::number("bytes"),
        Column::number("share").dispensable(2),
        Column::number("count").dispensable(1),
        Column::text("what"),
    ])
    .indented(INDENT);
    for part in &report.parts {
        let count = match part.count {
            0 => String::new(),
            count => grouped(count),
        };
        parts.row(vec![
            Cell::from(bytes(part.bytes.0)),
            Cell::from(percent(part.share)),
            Cell::from(count),
            Cell::from(&part.part),
        ]);
    }
    parts.row(vec![
        Cell::from(bytes(report.file.0)),
        Cell::from(percent(1.0)),
        Cell::from(""),
        Cell::from("the file"),
    ]);
    let mut text = parts.render(style) + "\n";

    if report.executables.len() > 1 {
        let mut executables = Table::new(vec![
            Column::number("builds").dispensable(1),
            Column::number("profiles"),
            Column::number("nodes").dispensable(4),
            Column::number("in").dispensable(2),
            Column::number("profiles in").dispensable(3),
            Column::text("executable"),
        ])
        .indented(INDENT);
        for executable in &report.executables {
            executables.row(vec![
                Cell::from(grouped(executable.builds)),
                Cell::from(grouped(executable.profiles)),
                Cell::from(grouped(executable.nodes)),
                Cell::from(bytes(executable.node_bytes.0)),
                Cell::from(bytes(executable.profile_bytes.0)),
                Cell::from(&executable.name),
            ]);
        }
        text += &(executables.render(style) + "\n");
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
        let each = format!("{node:.2} bytes a node, {profile} a profile");
        text += &paragraph(style, "", &each, 0);
    }
    if let Some(factor) = report.saving {
        let saved = format!(
            "{} of {} in a file of {}, {} smaller",
            bytes(report.source.0),
            counted(report.recordings, "recording"),
            bytes(report.file.0),
            saving(factor),
        );
        text += &paragraph(style, "", &saved, 0);
    }
    text
}
