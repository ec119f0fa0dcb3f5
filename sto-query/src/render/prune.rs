//! What went from a store.

use crate::prune::Pruned;
use crate::text::{Style, bytes, counted, printable};
use std::fmt::Write;
use sto_core::Hint;

/// The report as text: a line a build, then the sizes.
pub fn text(report: &Pruned, style: Style) -> String {
    let mut text = String::new();
    for build in &report.builds {
        let count = counted(build.profiles.len() as u64, "profile");
        let left = match build.profiles_left {
            0 => "all it has".to_owned(),
            left => format!("{left} left"),
        };
        let told = format!("  {count}, {left}");
        let name = printable(&build.executable) + "@" + printable(&build.version);
        let _ = writeln!(text, "{}{told}", style.fit(&name, told.len()));
    }
    for build in &report.kept_by_tag {
        let name = printable(&build.executable) + "@" + printable(&build.version);
        let tags = printable(&build.tags.join(", ")).into_owned();
        let _ = writeln!(text, "{name}  stays, as it is tagged {tags}");
    }
    let verb = if report.dry_run {
        "would go"
    } else {
        "removed"
    };
    let _ = writeln!(
        text,
        "{} {verb}, {} left",
        counted(report.profiles as u64, "profile"),
        report.profiles_left,
    );
    let _ = writeln!(
        text,
        "the store's file: {} -> {}{}",
        bytes(report.bytes_before),
        bytes(report.bytes_after),
        if report.dry_run {
            "; nothing was changed"
        } else {
            ""
        },
    );
    if report.in_place {
        text += "the disk has no room for a compacted copy: profiles were taken out of the file as it is";
        let stacks = " removes the stacks that no profile has any more once there is room";
        text += &style.words.within(";\n", Hint::Compact, stacks);
        text.push('\n');
    }
    if report.fits == Some(false) {
        text.push_str("this is still more than asked for: nothing else may go\n");
    }
    text
}
