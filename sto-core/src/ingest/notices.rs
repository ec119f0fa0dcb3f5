//! Notices to the user about a profile that was stored.

use sto_formats::recording::Recording;
use sto_formats::{excerpt, excerpts};
use sto_model::Build;
use sto_model::id::ProfileId;
use sto_model::{Hint, Notice};
use sto_store::ProfileOrigin;

pub(super) const STORED_WITHOUT_SLICES: &str = "The profile is already stored without slices of time, and stays so; \
    to store it with them, use another store.";

/// Warns if a recording has another build id than the runs that its build already has.
pub(super) fn other_build_id(known: &Build, new: &Build) -> Option<Notice> {
    let (known_id, new_id) = (known.gnu_build_id.as_ref()?, new.gnu_build_id.as_ref()?);
    (known_id != new_id).then(|| {
        let text = format!(
            "The program has GNU build id {new_id}, but build {} of {} has runs with GNU build id \
             {known_id}, so its runs may differ by more than noise. The profile was stored as a run of that build \
             nevertheless; builds of different code should have different names.",
            excerpt(new.version.as_bytes()),
            excerpt(new.executable.as_bytes()),
        );
        Notice::new(text, Hint::NameBuild)
    })
}

/// Reports that a profile from another store was replaced.
pub(super) fn replaced_profile((replaced, from): &(ProfileId, ProfileOrigin)) -> String {
    let from = match from {
        ProfileOrigin::Store(path) => format!("came from {}", excerpt(path.as_bytes())),
        _ => "came with this store".to_owned(),
    };
    format!(
        "This profile replaces profile {} of the same recording, which {from} and had other contents: \
         a recording is stored once, and reading it here takes precedence.",
        &replaced.to_string()[..12],
    )
}

/// Warns that a build has a recording twice, read with different options.
pub(super) fn same_recording_twice(build: &Build, other: ProfileId) -> Notice {
    let text = format!(
        "Build {} of {} already has this recording, read with other options, as profile {}, so its samples \
         count twice. To compare the two, ingest one of them as another build.",
        excerpt(build.version.as_bytes()),
        excerpt(build.executable.as_bytes()),
        &other.to_string()[..12],
    );
    Notice::new(text, Hint::NameBuild)
}

/// Warns about labels of samples, which are not stored without slices.
pub(super) fn labels_not_stored(recording: &Recording) -> Option<Notice> {
    let labels = recording.threads.iter().flat_map(|thread| &*thread.labels);
    let keys = excerpts(&labels.map(|label| label.key.as_bytes()).collect())?;
    let text = format!("Labels of samples are only stored together with slices of time: {keys}.");
    Some(Notice::new(text, Hint::KeepSlices))
}
