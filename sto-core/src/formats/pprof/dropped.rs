//! Frames that a profile says are not to be shown.

use super::damage::Damage;
use super::schema::Profile;
use regex_lite::Regex;

/// The functions that a profile drops, with all that they call: allocators in a profile of
/// allocations, the profiler's own signal handler.
///
/// Their cost is their caller's. The rule is that of `Profile.Prune` in pprof's `prune.go`.
pub(super) struct Dropped {
    patterns: Option<(Regex, Option<Regex>)>,
}

impl Dropped {
    pub(super) fn of(profile: &Profile<'_>) -> Result<Dropped, Damage> {
        let drop = pattern(profile.text(profile.drop_frames)?)?;
        let keep = pattern(profile.text(profile.keep_frames)?)?;
        Ok(Dropped {
            patterns: drop.map(|drop| (drop, keep)),
        })
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        let Some((drop, keep)) = &self.patterns else {
            return false;
        };
        let name = String::from_utf8_lossy(name);
        let name = without_parameters(&name);
        drop.is_match(name) && !keep.as_ref().is_some_and(|keep| keep.is_match(name))
    }
}

/// A pattern for whole names; `None` for an empty one.
fn pattern(text: &[u8]) -> Result<Option<Regex>, Damage> {
    if text.is_empty() {
        return Ok(None);
    }
    let compiled = std::str::from_utf8(text)
        .map_err(|error| error.to_string())
        .and_then(|text| Regex::new(&format!("^(?:{text})$")).map_err(|error| error.to_string()));
    compiled.map(Some).map_err(|problem| {
        let problem = format!(
            "the frames to drop are no regular expression: {problem}; write the profile anew \
             without them: `go tool pprof -proto FILE`"
        );
        Damage::new(0, problem)
    })
}

/// A name up to its parameters, without the dot that PowerPC puts before it.
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

#[cfg(test)]
mod tests {
    use super::without_parameters;

    #[test]
    fn parameters_are_no_part_of_a_name() {
        assert_eq!(
            without_parameters("tcmalloc::alloc(int (*)())"),
            "tcmalloc::alloc"
        );
        assert_eq!(
            without_parameters("(anonymous namespace)::f()"),
            "(anonymous namespace)::f"
        );
        assert_eq!(without_parameters("A::operator()(int)"), "A::operator()");
        assert_eq!(without_parameters(".f"), "f");
    }
}
