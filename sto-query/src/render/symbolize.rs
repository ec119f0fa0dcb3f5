//! Symbols that were found for stored profiles, as text.

use super::ingest::write_modules;
use super::ls::short_id;
use crate::answer::InStore;
use crate::maintain::{FoundSymbols, SymbolizedProfile, SymbolizedProfiles};
use crate::text::{Style, bytes, format_count, group_digits, printable};
use std::fmt::Write;

/// Returns the report as text: a line or two per profile, then the modules that still have no
/// symbols.
pub fn text(report: &InStore<SymbolizedProfiles>, style: Style) -> String {
    let SymbolizedProfiles {
        profiles, modules, ..
    } = &report.answer;
    let mut text = String::new();
    for profile in profiles.iter().filter(|profile| has_news(profile)) {
        write_profile(&mut text, profile, style);
    }
    if text.is_empty() {
        text += match report.answer.without_addresses {
            0 if profiles.is_empty() => "There is no profile.\n",
            _ => "Nothing to do: all stored addresses have names.\n",
        };
    }
    let unresolved: Vec<&FoundSymbols> = modules
        .iter()
        .filter(|module| module.unresolved > 0)
        .collect();
    write_modules(&mut text, &unresolved, style);
    text + &format!("The store is {}.\n", printable(&report.store))
}

fn addresses(count: usize) -> String {
    match count {
        1 => "1 address".to_owned(),
        _ => format!("{} addresses", group_digits(count as u64)),
    }
}

fn has_news(profile: &SymbolizedProfile) -> bool {
    profile.unresolved > 0 || profile.became.is_some()
}

fn write_profile(text: &mut String, profile: &SymbolizedProfile, style: Style) {
    let build = format!("{}@{}", profile.executable, profile.version);
    let build = style.bold(&printable(&build));
    let of = format!(
        "{} in {}",
        addresses(profile.unresolved),
        format_count(profile.modules as u64, "module"),
    );
    let named = match (profile.resolved, profile.unresolved) {
        (0, 0) => "all addresses had names".to_owned(),
        (0, _) => format!("none of {of} has a name yet"),
        (resolved, _) => format!("{} of {of} now have names", group_digits(resolved as u64)),
    };
    let detailed = match profile.more_detailed {
        0 => String::new(),
        more => format!(
            "; source files or inlined functions of {} more were found",
            addresses(more)
        ),
    };
    let _ = writeln!(text, "{build}: {named}{detailed}");
    if let Some(became) = &profile.became {
        let _ = writeln!(
            text,
            "  profile {} in place of {}, stored in {}",
            short_id(became),
            short_id(&profile.profile),
            bytes(profile.stored_bytes),
        );
    }
}
