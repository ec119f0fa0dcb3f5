//! Windows of time: exact sums of the profiles that belong together.

use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{RecordingDigest, RecordingHasher};
use sto_core::ingest::Prepared;
use sto_core::model::{Granularity, ModuleRef, Origin};
use sto_core::store::NewProfile;
use sto_core::tree::{ProfileData, ProfileSum, SliceCount, SliceGrid, SumOverflow};
use sto_core::units::{Nanoseconds, SampleType, UnixSeconds};
use sto_core::{Build, Profile};

/// The properties that all profiles of a window share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Series {
    executable: String,
    version: String,
    benchmark: Option<String>,
    host: Option<String>,
    labels: BTreeMap<String, String>,
    granularity: Granularity,
    sample_types: Vec<SampleType>,
}

impl Series {
    pub(super) fn new(build: &Build, profile: &Profile) -> Series {
        Series {
            executable: build.executable.clone(),
            version: build.version.clone(),
            benchmark: profile.benchmark.clone(),
            host: profile.origin.host.clone(),
            labels: profile.labels.clone(),
            granularity: profile.granularity,
            sample_types: profile.sample_types.clone(),
        }
    }
}

/// Length of windows, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step(pub(super) u64);

impl Step {
    /// The windows in which profiles are stored first.
    pub(super) const FIRST: Step = Step(10);

    /// The start of the window at this time.
    pub(super) fn start(self, time: UnixSeconds) -> UnixSeconds {
        UnixSeconds(time.0 - time.0 % self.0)
    }

    /// A window's division of time into slices of this length.
    pub(super) fn slices(self, slice: Step) -> Option<SliceGrid> {
        let count = u32::try_from(self.0 / slice.0).ok()?;
        let last = Nanoseconds(self.0 * 1_000_000_000 - 1);
        SliceGrid::new(Nanoseconds(0), last, SliceCount::new(count)?)
    }
}

/// The sum of profiles of one series and step.
pub(super) struct Window {
    build: Build,
    profile: Profile,
    modules: BTreeSet<ModuleRef>,
    sum: ProfileSum,
    /// Digests of the profiles' sources.
    sources: Vec<RecordingDigest>,
}

impl Window {
    /// An empty window that begins at this time, for profiles like this one.
    pub(super) fn new(
        build: &Build,
        like: &Profile,
        start: UnixSeconds,
        grid: Option<SliceGrid>,
    ) -> Window {
        let mut profile = Profile {
            format: Profile::WINDOW.to_owned(),
            origin: Origin {
                recorded: Some(start),
                ..like.origin.clone()
            },
            modules: [].into(),
            metrics: BTreeMap::new(),
            ..like.clone()
        };
        profile.origin.duration = Some(Nanoseconds(0));
        profile.source_bytes.0 = 0;
        profile.quality = Default::default();
        Window {
            build: build.clone(),
            sum: ProfileSum::new(like.sample_types.len(), grid),
            profile,
            modules: BTreeSet::new(),
            sources: Vec::new(),
        }
    }

    /// Adds a profile. `source` identifies it.
    ///
    /// # Errors
    ///
    /// Returns an error, and leaves the window unchanged, if its counts would overflow.
    pub(super) fn add(
        &mut self,
        source: RecordingDigest,
        build: &Build,
        profile: &Profile,
        data: &ProfileData,
    ) -> Result<(), SumOverflow> {
        let start = self.profile.origin.recorded.map_or(0, |start| start.0);
        let recorded = profile.origin.recorded.map_or(start, |time| time.0);
        let offset = Nanoseconds(recorded.saturating_sub(start) * 1_000_000_000);
        self.sum.add(data, offset)?;
        self.sources.push(source);
        if self.build.gnu_build_id != build.gnu_build_id {
            self.build.gnu_build_id = None;
        }
        if self.build.revision != build.revision {
            self.build.revision = None;
        }
        let own = &mut self.profile;
        own.source_bytes.0 += profile.source_bytes.0;
        let (sum, part) = (&mut own.quality, &profile.quality);
        for (sum, part) in [
            (&mut sum.samples, part.samples),
            (&mut sum.unresolved, part.unresolved),
            (&mut sum.truncated, part.truncated),
            (&mut sum.without_stack, part.without_stack),
            (&mut sum.lost, part.lost),
        ] {
            *sum = sum.saturating_add(part);
        }
        let (own, part) = (&mut own.origin, &profile.origin);
        own.duration = own
            .duration
            .zip(part.duration)
            .map(|(sum, part)| Nanoseconds(sum.0.saturating_add(part.0)));
        for (own, part) in [
            (&mut own.kernel, &part.kernel),
            (&mut own.arch, &part.arch),
            (&mut own.cpu, &part.cpu),
            (&mut own.command, &part.command),
        ] {
            if own != part {
                *own = None;
            }
        }
        self.modules.extend(profile.modules.iter().cloned());
        Ok(())
    }

    /// A measure of the window's memory.
    pub(super) fn stack_count(&self) -> usize {
        self.sum.stack_count()
    }

    /// Makes the profile. Its source is a digest of the sorted digests of all added sources, and of the series.
    pub(super) fn finish(mut self) -> NewProfile {
        self.sources.sort_unstable();
        let mut source = RecordingHasher::new();
        source.update(b"sto.window.v1");
        let series = Series::new(&self.build, &self.profile);
        source.update(format!("{series:?}").as_bytes());
        for part in &self.sources {
            source.update(&part.0);
        }
        NewProfile {
            sum_of: Vec::new(),
            build: self.build,
            profile: Profile {
                source: source.finish(),
                modules: self.modules.into_iter().collect(),
                ..self.profile
            },
            data: self.sum.finish(),
        }
    }
}

/// The windows that are not in the store yet.
#[derive(Default)]
pub(super) struct Windows {
    open: BTreeMap<(Series, UnixSeconds), Window>,
    /// Windows whose counts would overflow with one more profile.
    full: Vec<Window>,
}

impl Windows {
    /// Adds a profile to its window. `source` identifies it.
    pub(super) fn add(
        &mut self,
        source: RecordingDigest,
        prepared: &Prepared,
        arrived: UnixSeconds,
    ) {
        let Prepared {
            build,
            profile,
            interned,
            ..
        } = prepared;
        let start = Step::FIRST.start(profile.origin.recorded.unwrap_or(arrived));
        let new = || Window::new(build, profile, start, None);
        let key = (Series::new(build, profile), start);
        let window = self.open.entry(key).or_insert_with(new);
        if window.add(source, build, profile, interned).is_err() {
            self.full.push(std::mem::replace(window, new()));
            let added = window.add(source, build, profile, interned);
            added.expect("a profile whose counts fit into 64 bits");
        }
    }

    /// A measure of the windows' memory.
    pub(super) fn stack_count(&self) -> usize {
        let all = self.open.values().chain(&self.full);
        all.map(Window::stack_count).sum()
    }

    /// Makes the profiles of all windows.
    pub(super) fn finish(self) -> Vec<NewProfile> {
        let all = self.open.into_values().chain(self.full);
        all.map(Window::finish).collect()
    }
}
