//! The tags: with their checksum, in order, and of builds that exist.

use super::damages::{Concerns, Damages};
use crate::store::guard::guarded;
use crate::store::read::rows::Rows;
use crate::store::tables::Record;

/// Checks the list of tags. It has no part in any profile.
pub(super) fn check(rows: &Rows, damages: &mut Damages) {
    let tags = damages.keep(guarded(|| rows.tags()), Concerns::Nothing);
    for tag in tags.into_iter().flatten() {
        let exists = guarded(|| rows.has_record(Record::Build, tag.build().0));
        if damages.keep(exists, Concerns::Nothing) == Some(false) {
            let place = format!("table meta, tag {} of {}", tag.name, tag.executable);
            damages.add(place, "its build does not exist", Concerns::Nothing);
        }
    }
}
