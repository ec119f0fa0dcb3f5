//! Reports of pushes and pulls, as text.

use super::merge::{write_left_out, write_rest};
use crate::exchange::{Pulled, Pushed};
use crate::text::{Style, bytes, format_count};

/// Returns the report of a push: `sent 12 profiles (84 kB) to /srv/profiles; 38 were there`, then the profiles that
/// were not sent. A dry run's says what would be sent, without a size.
pub fn push(report: &Pushed, style: Style) -> String {
    let (place, there) = (&report.place, report.already_there);
    let profiles = format_count(report.sent.len() as u64, "profile");
    let mut text = match (report.sent.len(), report.dry_run) {
        (0, _) if report.left_out.is_empty() => {
            format!("nothing to send to {place}; {} there\n", of_all(there))
        }
        (0, _) => format!("nothing to send to {place}; {there} are there\n"),
        (_, true) => format!("would send {profiles} to {place}; {there} are there\n"),
        (_, false) => {
            let size = bytes(report.bytes.0);
            format!("sent {profiles} ({size}) to {place}; {there} were there\n")
        }
    };
    write_left_out(&mut text, &report.left_out, style);
    text
}

/// Returns the report of a pull: `took 12 profiles (84 kB) from /srv/profiles; 38 were here`, then
/// the profiles that were not taken.
pub fn pull(report: &Pulled, style: Style) -> String {
    let (place, here) = (&report.place, report.merged.already_stored);
    let profiles = format_count(report.merged.added.len() as u64, "profile");
    let size = bytes(report.received_bytes.0);
    let mut text = match (report.merged.profiles - here, report.dry_run) {
        (0, _) => format!("nothing to take from {place}; {} here\n", of_all(here)),
        (_, true) => format!("would take {profiles} ({size}) from {place}; {here} are here\n"),
        (_, false) => format!("took {profiles} ({size}) from {place}; {here} were here\n"),
    };
    write_rest(&mut text, &report.merged, style);
    text
}

fn of_all(profiles: usize) -> String {
    match profiles {
        0 => "no profile is".to_owned(),
        1 => "the only profile is".to_owned(),
        _ => format!("all {profiles} profiles are"),
    }
}
