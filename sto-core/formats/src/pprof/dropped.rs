//! Frames that a profile declares as not to be shown.

use super::schema::Profile;
use crate::error::{DecodeError, Decoded};
use crate::recording::text_prefix;
use hashbrown::HashMap;
use regex_lite::{Regex, RegexBuilder};

/// The functions that a profile drops together with everything they call, such as allocators in an
/// allocation profile, or the profiler's signal handler.
///
/// Their cost goes to their caller. The rule is the same as in `Profile.Prune` in pprof's `prune.go`.
pub(super) struct DroppedFunctions {
    patterns: Option<(Regex, Option<Regex>)>,
    /// Upper bound on simultaneous states of both patterns, for the work of comparing a name.
    states: usize,
    work: u64,
    /// Results by index of the name in the string table.
    known: HashMap<u64, bool>,
}

/// Limit to the work of comparing names with patterns, which is proportional to the length of both.
/// The pattern of tcmalloc has 1,400 bytes.
const MAX_WORK: u64 = 1 << 32;
/// Limit to the size of a compiled pattern in bytes, and the number of states that this allows.
const MAX_PATTERN: usize = 1 << 18;
const MAX_STATES: usize = MAX_PATTERN / 32;
const WITHOUT_THEM: &str = "write the profile again without them: `go tool pprof -proto FILE`";

impl DroppedFunctions {
    pub(super) fn new(profile: &Profile<'_>) -> Decoded<DroppedFunctions> {
        let texts = (
            profile.text(profile.drop_frames)?,
            profile.text(profile.keep_frames)?,
        );
        let (drop, keep) = (pattern(texts.0)?, pattern(texts.1)?);
        Ok(DroppedFunctions {
            patterns: drop.map(|drop| (drop, keep)),
            states: match texts.0.contains(&b'{') || texts.1.contains(&b'{') {
                true => 2 * MAX_STATES,
                false => texts.0.len() + texts.1.len(),
            },
            work: 0,
            known: HashMap::new(),
        })
    }

    /// Returns `true` if the function with this name is dropped; `ix` is the name's index in the
    /// string table.
    pub(super) fn contains(&mut self, ix: u64, name: &[u8]) -> Decoded<bool> {
        let Some((drop, keep)) = &self.patterns else {
            return Ok(false);
        };
        if let Some(&known) = self.known.get(&ix) {
            return Ok(known);
        }
        let name = String::from_utf8_lossy(text_prefix(name));
        let name = without_parameters(&name);
        self.work += (name.len() * self.states) as u64;
        if self.work > MAX_WORK {
            let problem = format!(
                "patterns for the frames to drop that take more than {MAX_WORK} steps to compare with all \
                 functions; {WITHOUT_THEM}"
            );
            return Err(DecodeError::new(0, problem));
        }
        let is_dropped =
            drop.is_match(name) && !keep.as_ref().is_some_and(|keep| keep.is_match(name));
        self.known.insert(ix, is_dropped);
        Ok(is_dropped)
    }
}

/// Compiles a pattern for whole names; `None` if it is empty.
fn pattern(text: &[u8]) -> Decoded<Option<Regex>> {
    if text.is_empty() {
        return Ok(None);
    }
    let compiled = std::str::from_utf8(text)
        .map_err(|error| error.to_string())
        .and_then(|text| {
            RegexBuilder::new(&format!("^(?:{text})$"))
                .size_limit(MAX_PATTERN)
                .build()
                .map_err(|error| error.to_string())
        });
    compiled.map(Some).map_err(|problem| {
        let problem = format!(
            "the frames to drop are not a valid regular expression: {problem}; {WITHOUT_THEM}"
        );
        DecodeError::new(0, problem)
    })
}

/// The name up to its parameters, without the leading dot of PowerPC symbols.
fn without_parameters(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    let is_part_of_name = |at: usize| {
        name[at..].starts_with("(anonymous namespace)")
            || name[..at].ends_with("operator") && name[at..].starts_with("()")
    };
    let end = name
        .match_indices('(')
        .map(|(at, _)| at)
        .find(|&at| !is_part_of_name(at));
    &name[..end.unwrap_or(name.len())]
}
