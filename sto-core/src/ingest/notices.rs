//! What a user should know of a profile that went in.

use sto_formats::recording::Recording;
use sto_formats::{excerpt, excerpts};
use sto_model::Build;
use sto_model::id::ProfileId;
use sto_model::{Hint, Notice};
use sto_store::CameFrom;

pub(super) const STORED_WITHOUT_SLICES: &str = "It was stored before without slices, and stays so; to have \
    them, ingest it into another store.";

/// Says that a recording is of another file than the runs that its build has already.
pub(super) fn of_other_code(known: &Build, new: &Build) -> Option<Notice> {
    let (known_id, new_id) = (known.gnu_build_id.as_ref()?, new.gnu_build_id.as_ref()?);
    (known_id != new_id).then(|| {
        let text = format!(
            "It is of a file with the GNU build id {new_id}, but build {} of {} has runs of \
             {known_id}: they may differ in more than chance. It was stored as a run of that build \
             all the same; builds of other code should get other names.",
            excerpt(new.version.as_bytes()),
            excerpt(new.executable.as_bytes()),
        );
        Notice::new(text, Hint::NameBuild)
    })
}

/// Says that a profile of another store is gone.
pub(super) fn in_its_place((gone, from): &(ProfileId, CameFrom)) -> String {
    let from = match from {
        CameFrom::Store(path) => format!("came from {}", excerpt(path.as_bytes())),
        CameFrom::Exported | CameFrom::ReadHere => "came with this store".to_owned(),
    };
    format!(
        "Profile {} of the same recording, which {from}, had other content: it is gone, as a run counts \
         once, and what is read here counts more than what another store says of it.",
        &gone.to_string()[..12],
    )
}

/// Says that a build has a recording twice, read with different options.
pub(super) fn of_the_same_recording(build: &Build, other: ProfileId) -> Notice {
    let text = format!(
        "Build {} of {} has the same recording already, read with other options, as profile {}: its samples \
         count twice there. To compare the two, ingest one of them under another build.",
        excerpt(build.version.as_bytes()),
        excerpt(build.executable.as_bytes()),
        &other.to_string()[..12],
    );
    Notice::new(text, Hint::NameBuild)
}

/// Names the labels of samples that are gone without slices.
pub(super) fn labels_not_kept(recording: &Recording) -> Option<Notice> {
    let labels = recording.threads.iter().flat_map(|thread| &*thread.labels);
    let keys = excerpts(&labels.map(|label| label.key.as_bytes()).collect())?;
    let text = format!("Labels of samples are kept with slices of time alone: {keys}.");
    Some(Notice::new(text, Hint::KeepSlices))
}
