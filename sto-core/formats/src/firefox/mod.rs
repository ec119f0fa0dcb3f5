//! Processed profiles of the Firefox Profiler, also written by samply and other tools.
//!
//! ```text
//! slabs      slabs      JSON with inserted columns
//!   |
//! JSON       schema     columns
//!   |        frames     frames by name, or by address if not symbolicated
//!   v
//! threads    samples    weights, CPU times, allocations
//! counters   counters   metrics over time
//! ```
//!
//! Source: `docs-developer/processed-profile-format.md` and `src/types/profile.ts` of
//! <https://github.com/firefox-devtools/profiler>.

mod counters;
mod frames;
mod samples;
mod schema;
mod slabs;

use crate::error::{DecodeError, Decoded};
use crate::json::add_thread;
use crate::recording::RecordingBuilder;
use crate::source::{Head, ReadOptions};
use crate::wire::json::{entry, parse};
use frames::{Tree, modules};
use json_slabs::MAGIC;
use samples::Samples;
use schema::Profile;
use sto_model::units::UnixSeconds;

/// Returns `true` if a file begins like a profile in JSON or in slabs.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let is_json = || {
        head.keys().contains(&&b"meta"[..])
            && memchr::memmem::find(head.bytes, b"\"preprocessedProfileVersion\"").is_some()
    };
    head.bytes.starts_with(&MAGIC) || is_json()
}

/// The newest known version.
const NEWEST_VERSION: u32 = 80;

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    if !bytes.starts_with(&MAGIC) {
        return parts_of(parse(bytes)?, options);
    }
    let json = slabs::json(bytes)?;
    let profile = parse(&json).map_err(|error| error.in_part("the JSON that its slabs make"));
    parts_of(profile?, options)
}

/// Moves the libraries of threads to the profile, as in newer versions.
fn gather_libs(profile: &mut Profile<'_>) -> Decoded<()> {
    for (ix, thread) in profile.threads.iter_mut().enumerate() {
        let first = profile.libs.len() as i64;
        let table = thread.resource_table.as_mut();
        let libs = table.into_iter().flat_map(|table| &mut table.lib).flatten();
        for lib in libs.filter(|lib| **lib >= 0 && !thread.libs.is_empty()) {
            let at = || format!("threads[{ix}].resourceTable.lib");
            entry(&thread.libs, *lib, "the thread's libs", at)?;
            *lib += first;
        }
        profile.libs.append(&mut thread.libs);
    }
    Ok(())
}

fn parts_of(mut profile: Profile<'_>, options: &ReadOptions) -> Decoded<RecordingBuilder> {
    gather_libs(&mut profile)?;
    let profile = &profile;
    let version = profile.meta.preprocessed_profile_version;
    if version > NEWEST_VERSION {
        return Err(DecodeError::new(
            "meta.preprocessedProfileVersion",
            format!("{version}; profiles up to version {NEWEST_VERSION} are read"),
        ));
    }
    let mut builder = options.builder();
    let modules = modules(profile, &mut builder);
    let mut samples = Samples::new(&profile.meta);
    let mut shared = None;
    for (ix, thread) in profile.threads.iter().enumerate() {
        let at = format!("threads[{ix}]");
        let thread_ix = add_thread(
            &mut builder,
            (&thread.pid, &thread.process_name),
            (&thread.tid, &thread.name),
        );
        let mut own;
        let is_shared = thread.stack_table.is_none();
        let tree = match &mut shared {
            Some(tree) if is_shared => tree,
            shared if is_shared => {
                shared.insert(Tree::new(profile, thread, &at, &modules, &mut builder)?)
            }
            _ => {
                own = Tree::new(profile, thread, &at, &modules, &mut builder)?;
                &mut own
            }
        };
        samples.add(thread, &at, thread_ix, tree, &mut builder)?;
    }
    let left_out = counters::add(profile, &mut builder);
    builder.warnings.extend(left_out);
    let start = profile.meta.start_time / 1000.0;
    builder.origin.recorded = (start >= 1.0).then_some(UnixSeconds(start as u64));
    builder.modules = modules;
    Ok(builder)
}
