//! Profiles that were added to a dataset of Parquet files, as text.

use crate::exchange::AddedToLake;
use crate::text::{bytes, format_count};

/// Returns one line with the number and size of the added profiles, and the number that the dataset
/// already had.
pub fn text(added: &AddedToLake) -> String {
    let had = match added.kept {
        0 => String::new(),
        1 => "; 1 was there".to_owned(),
        kept => format!("; {kept} were there"),
    };
    let profiles = format_count(added.added.len() as u64, "profile");
    let size = match added.added.values().map(|bytes| bytes.0).sum() {
        0 => String::new(),
        size => format!(" ({})", bytes(size)),
    };
    format!("wrote {profiles}{size} to {}{had}\n", added.place)
}
