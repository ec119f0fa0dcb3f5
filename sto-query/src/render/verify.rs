//! The result of verifying a store, as text.

use super::ls::short_id;
use crate::answer::InStore;
use crate::text::{Style, format_count, group_digits, paragraph};
use std::fmt::Write;
use sto_core::store::{Concerns, Verification};

/// Maximum number of profiles to name for one damage; JSON lists all.
const MAX_PROFILES: usize = 4;

/// Returns the report as text: one sentence if the store is sound, otherwise each damage and the
/// profiles that it affects.
pub fn text(report: &InStore<Verification>, style: Style) -> String {
    let report = &report.answer;
    let checked = &report.checked;
    let profiles = format_count(checked.profiles, "profile");
    if report.sound {
        let sentence = format!(
            "The store is sound: {profiles} of {}, with {} of {}.",
            format_count(checked.builds, "build"),
            format_count(checked.nodes, "node"),
            format_count(checked.frames, "frame"),
        );
        return paragraph(style, "", &sentence, 0);
    }
    let places = format_count(report.damages.len() as u64, "place");
    let mut text = style.bold(&format!("The store is damaged in {places}.")) + "\n";
    for damage in &report.damages {
        text.push('\n');
        text += &paragraph(style, "", &damage.location, 0);
        text += &paragraph(style, "  ", &damage.what, 2);
        text += &paragraph(style, "  ", &sentence(&damage.concerns), 2);
    }
    let sound = group_digits(report.sound_profiles);
    let _ = writeln!(text, "\n{sound} of {profiles} are sound.");
    text
}

fn sentence(concerns: &Concerns) -> String {
    match concerns {
        Concerns::Executable { executable } => format!("This concerns all of {executable}."),
        Concerns::Build {
            executable,
            version,
        } => format!("This concerns {executable}@{version} as a whole."),
        Concerns::Profiles { profiles } => {
            let ids = profiles.iter().take(MAX_PROFILES).map(short_id);
            let ids: Vec<String> = ids.collect();
            let and_more = match profiles.len().saturating_sub(MAX_PROFILES) {
                0 => String::new(),
                more => format!(" and {}", format_count(more as u64, "more profile")),
            };
            let plural = if profiles.len() == 1 { "" } else { "s" };
            format!(
                "This concerns profile{plural} {}{and_more}.",
                ids.join(", ")
            )
        }
        Concerns::Nothing => "This concerns no profile that is there.".to_owned(),
        _ => "This concerns everything in the store.".to_owned(),
    }
}
