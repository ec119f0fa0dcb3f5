//! When, how long and where exports were recorded, by what their profiles tell.

use super::schema::Profile;
use crate::model::Origin;
use crate::recording::RecordingBuilder;
use crate::units::{Nanoseconds, UnixSeconds};

/// What profiles tell of the recording that they are of.
#[derive(Default)]
pub(super) struct About<'b> {
    /// Nanoseconds since 1970.
    start: Option<u64>,
    end: u64,
    longest: u64,
    host: &'b [u8],
    architecture: &'b [u8],
}

impl<'b> About<'b> {
    pub(super) fn add(&mut self, profile: &Profile<'b>) {
        let &Profile { time, duration, .. } = profile;
        // 0 says that it was never set.
        if time > 0 {
            self.start = Some(self.start.map_or(time, |start| start.min(time)));
            self.end = self.end.max(time.saturating_add(duration));
        }
        self.longest = self.longest.max(duration);
        for (known, told) in [
            (&mut self.host, profile.whose.host),
            (&mut self.architecture, profile.whose.architecture),
        ] {
            if known.is_empty() {
                *known = told;
            }
        }
    }

    pub(super) fn finish(self, texts: &mut RecordingBuilder) -> Origin {
        let spanned = self.start.map_or(0, |start| self.end - start);
        let duration = self.longest.max(spanned);
        let mut text = |name: &[u8]| (!name.is_empty()).then(|| texts.text(name).into_owned());
        Origin {
            recorded: self.start.map(|time| UnixSeconds(time / 1_000_000_000)),
            duration: (duration > 0).then_some(Nanoseconds(duration)),
            host: text(self.host),
            arch: text(self.architecture),
            ..Origin::default()
        }
    }
}
