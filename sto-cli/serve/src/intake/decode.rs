//! From the bytes of a sender to profiles.

use super::{Origin, Received, TimeRange};
use crate::clock::{now, since_1970};
use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_core::formats::{Format, FormatError, read_bytes};
use sto_core::id::{RecordingDigest, RecordingHasher};
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, Prepared, prepare};
use sto_core::store::Store;
use sto_core::tree::ProfileSum;
use sto_core::units::{self, Nanoseconds, UnixSeconds};

/// The name of a body in messages.
const NAME: &str = "profile";

/// The build of a profile of a service that neither its sender nor its main module names.
const NO_VERSION: &str = "unversioned";

/// Stores a run. If neither the sender nor the recording tells its time, it is the time of arrival.
pub(super) fn ingest_run(
    store: &Store,
    received: Received,
    max_decoded: units::Bytes,
) -> Result<IngestOutcome, Problem> {
    let origin = &received.origin;
    let options = IngestOptions {
        metrics: origin.metrics.clone(),
        slices: received.slices,
        recorded: origin.recorded.or(received.range.map(TimeRange::start)),
        ..options(origin, received.format, max_decoded)
    };
    let input = (Path::new(NAME), &received.body[..]);
    let mut prepared = prepare(input, &options, &mut |_| {}).map_err(problem)?;
    prepared.set_unknown_times(now());
    prepared
        .store(&mut store.writer(), &mut |_| {})
        .map_err(problem)
}

impl TimeRange {
    fn start(self) -> UnixSeconds {
        UnixSeconds(self.from.0 / 1_000_000_000)
    }
}

fn options(origin: &Origin, format: Option<Format>, max_decoded: units::Bytes) -> IngestOptions {
    IngestOptions {
        executable: origin.program.clone(),
        version: origin.build.clone(),
        revision: origin.revision.clone(),
        benchmark: origin.benchmark.clone(),
        labels: origin.labels.clone(),
        recorded: origin.recorded,
        format,
        max_input: Some(max_decoded),
        ..IngestOptions::default()
    }
}

/// Bytes in memory that cannot be read are the sender's fault.
fn problem(error: IngestError) -> Problem {
    let is_unreadable = matches!(error, IngestError::Format(_));
    let problem = Problem::from(error);
    if is_unreadable && problem.status >= 500 {
        return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, problem.detail);
    }
    problem
}

/// A profile of a service as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) header: Header,
    pub(super) body: Bytes,
}

/// The part of a record that describes the body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    origin: Origin,
    range: Option<TimeRange>,
    /// Length of the earlier reading at the beginning of the body, which is subtracted.
    earlier: usize,
    /// The word of the format, if the sender told it.
    format: Option<String>,
    /// Time of arrival in nanoseconds since 1970, so that every arrival is another one.
    arrived: u64,
}

/// The profiles of an arrival.
pub(super) struct Decoded {
    pub(super) profiles: Vec<Prepared>,
    /// Identifies the arrival: a sender that sends it again, because it got no answer, sends the same one.
    pub(super) source: RecordingDigest,
}

/// Seconds that a sender's clock may be ahead. Later times are replaced by the time of arrival, because a window in the
/// future would never become old.
const MAX_AHEAD: u64 = 600;

impl Arrival {
    pub(super) fn now(received: Received) -> Arrival {
        let body = match &received.earlier {
            Some(earlier) => [&earlier[..], &received.body].concat().into(),
            None => received.body,
        };
        Arrival {
            header: Header {
                origin: received.origin,
                range: received.range,
                earlier: received.earlier.map_or(0, |earlier| earlier.len()),
                format: received.format.map(Format::word),
                arrived: since_1970().as_nanos() as u64,
            },
            body,
        }
    }

    pub(super) fn time(&self) -> UnixSeconds {
        UnixSeconds(self.header.arrived / 1_000_000_000)
    }

    /// Decodes and symbolizes the body.
    ///
    /// # Errors
    ///
    /// Returns an error if the body is malformed, or nothing names its build.
    pub(super) fn decode(&self, max_decoded: units::Bytes) -> Result<Decoded, Problem> {
        let body = self.body.split_at_checked(self.header.earlier);
        let (earlier, body) = body.unwrap_or((&[], &self.body));
        let (mut profiles, has_own_time) = self.read(body, max_decoded).map_err(problem)?;
        if !earlier.is_empty() {
            let (earlier, _) = self.read(earlier, max_decoded).map_err(problem)?;
            for (profile, earlier) in profiles.iter_mut().zip(earlier) {
                subtract(profile, earlier);
            }
        }
        profiles.retain(|prepared| {
            prepared
                .interned
                .costs
                .iter()
                .any(|costs| !costs.is_empty())
        });
        let range = self.header.range;
        let latest = UnixSeconds(self.time().0 + MAX_AHEAD);
        for prepared in &mut profiles {
            let origin = &mut prepared.profile.origin;
            let recorded = origin.recorded.or(range.map(TimeRange::start));
            let recorded = recorded.filter(|time| *time <= latest);
            origin.recorded = Some(recorded.unwrap_or(self.time()));
            let length = range.map(|range| range.until.0.saturating_sub(range.from.0));
            origin.duration = origin.duration.or(length.map(Nanoseconds));
        }
        Ok(Decoded {
            source: self.source(has_own_time),
            profiles,
        })
    }

    /// Returns the profiles of some bytes, and whether these have a time of their own.
    fn read(
        &self,
        body: &[u8],
        max_decoded: units::Bytes,
    ) -> Result<(Vec<Prepared>, bool), IngestError> {
        let Header { origin, format, .. } = &self.header;
        let format = format.as_deref().and_then(|word| word.parse().ok());
        let mut options = IngestOptions {
            // Agents send all programs of a machine at once.
            split_processes: origin.program.is_none(),
            ..options(origin, format, max_decoded)
        };
        let path = Path::new(NAME);
        let read = |options: &IngestOptions| {
            let recording = read_bytes(path, body, &options.read_options())?;
            let has_own_time = recording.origin.recorded.is_some();
            let prepared = prepare((path, recording), options, &mut |_| {})?;
            Ok((prepared.into_profiles(), has_own_time))
        };
        match read(&options) {
            Err(IngestError::NoBuildName { .. }) => {
                options.version = Some(NO_VERSION.to_owned());
                read(&options)
            }
            // Nothing happened in this time.
            Err(IngestError::Format(FormatError::NoSamples { .. })) => Ok((Vec::new(), false)),
            read => read,
        }
    }

    /// Bodies without a time of their own are told apart by their arrival: two idle processes may send the same.
    fn source(&self, has_own_time: bool) -> RecordingDigest {
        let mut source = RecordingHasher::new();
        let Header {
            origin,
            range,
            earlier,
            format,
            arrived,
        } = &self.header;
        source.update(format!("{origin:?} {range:?} {earlier} {format:?} ").as_bytes());
        if !has_own_time {
            source.update(&arrived.to_le_bytes());
        }
        source.update(&self.body);
        source.finish()
    }
}

/// Subtracts an earlier reading of counters, unless the program was started again since then. Memory in use is no
/// counter, and is left out.
fn subtract(profile: &mut Prepared, mut earlier: Prepared) {
    keep_counters(profile);
    keep_counters(&mut earlier);
    if profile.profile.sample_types != earlier.profile.sample_types {
        return;
    }
    let mut left = ProfileSum::new(profile.interned.costs.len(), None);
    let is_known = left.add(&profile.interned, Nanoseconds(0)).is_ok();
    if !is_known || !left.subtract(&earlier.interned) {
        return;
    }
    profile.interned = left.finish();
    let (quality, before) = (&mut profile.profile.quality, &earlier.profile.quality);
    for (count, before) in [
        (&mut quality.samples, before.samples),
        (&mut quality.unresolved, before.unresolved),
        (&mut quality.truncated, before.truncated),
        (&mut quality.without_stack, before.without_stack),
    ] {
        *count = count.saturating_sub(before);
    }
}

fn keep_counters(profile: &mut Prepared) {
    let types = &profile.profile.sample_types;
    let is_counter: Vec<bool> = types
        .iter()
        .map(|sample_type| !sample_type.event.starts_with("inuse_"))
        .collect();
    retain(&mut profile.profile.sample_types, &is_counter);
    retain(&mut profile.interned.costs, &is_counter);
    retain(&mut profile.interned.line_costs, &is_counter);
}

fn retain<T>(columns: &mut Vec<T>, is_retained: &[bool]) {
    let mut next = is_retained.iter();
    columns.retain(|_| next.next() == Some(&true));
}
