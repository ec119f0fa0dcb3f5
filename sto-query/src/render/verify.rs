//! What verifying a store found, as text.

use super::ls::short_id;
use crate::maintain::{DamageReport, VerifyReport};
use crate::text::Style;
use crate::text::numbers::counted;
use crate::text::numbers::grouped;
use crate::text::paragraph::paragraph;
use std::fmt::Write;

/// Profiles that are named at a damage; JSON has all.
const MAX_PROFILES: usize = 4;

/// The report as text: one sentence where all is well, else each damage and whom it concerns.
pub fn text(report: &VerifyReport, style: Style) -> String {
    let checked = &report.checked;
    let profiles = counted(checked.profiles, "profile");
    if report.sound {
        let sentence = format!(
            "The store is sound: {profiles} of {}, with {} of {}.",
            counted(checked.builds, "build"),
            counted(checked.nodes, "node"),
            counted(checked.frames, "frame"),
        );
        return paragraph(style, "", &sentence, 0);
    }
    let places = counted(report.damages.len() as u64, "place");
    let mut text = style.bold(&format!("The store is damaged in {places}.")) + "\n";
    for damage in &report.damages {
        text.push('\n');
        text += &paragraph(style, "", &damage.place, 0);
        text += &paragraph(style, "  ", &damage.what, 2);
        text += &paragraph(style, "  ", &concerns(damage), 2);
    }
    let sound = grouped(report.sound_profiles);
    let _ = writeln!(text, "\n{sound} of {profiles} are sound.");
    text
}

fn concerns(damage: &DamageReport) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    match damage.concerns {
        "everything" => "This concerns everything in the store.".to_owned(),
        "executable" => format!("This concerns all of {}.", name(&damage.executable)),
        "build" => format!(
            "This concerns {}@{} as a whole.",
            name(&damage.executable),
            name(&damage.version)
        ),
        "profiles" => {
            let ids = damage.profiles.iter().take(MAX_PROFILES);
            let ids: Vec<&str> = ids.map(|id| short_id(id)).collect();
            let more = damage.profiles.len().saturating_sub(MAX_PROFILES);
            let and_more = match more {
                0 => String::new(),
                more => format!(" and {}", counted(more as u64, "more profile")),
            };
            let plural = if damage.profiles.len() == 1 { "" } else { "s" };
            format!(
                "This concerns profile{plural} {}{and_more}.",
                ids.join(", ")
            )
        }
        _ => "This concerns no profile that is there.".to_owned(),
    }
}
