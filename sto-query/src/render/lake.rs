//! What a dataset of Parquet files got.

use crate::lake::Added;
use crate::text::{counted, printable};
use std::path::Path;

/// A line of how many profiles were written to the folder, and how many it had.
pub fn text(folder: &Path, added: &Added) -> String {
    let had = match added.kept {
        0 => String::new(),
        1 => "; 1 was there".to_owned(),
        kept => format!("; {kept} were there"),
    };
    let profiles = counted(added.added as u64, "profile");
    let folder = folder.display().to_string();
    format!("wrote {profiles} to {}{had}\n", printable(&folder))
}
