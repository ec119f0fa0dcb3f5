//! Selects builds by the git revision that they were made of: `git:HEAD~1`.

use super::error::{NoBuildOfCommit, SelectError};
use super::{MAX_NAMED, Selection, Selector, full_name, select_whole_build};
use sto_core::model::Build;
use sto_core::store::{StoredBuild, StoredProfile};

/// Prefix of a selector that names a revision, after the name of a program if there is one.
pub(super) const PREFIX: &str = "git:";

/// A commit that a revision was resolved to.
///
/// The library does not run git: the caller resolves `git:HEAD~1`, and sets the commit with
/// [`Selector::with_commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedCommit {
    /// The commit's id in hexadecimal, or its first digits.
    pub id: String,
    /// The tags of the commit: `git describe` may have named a build only by its tag.
    pub tags: Vec<String>,
}

/// A revision as `git describe` writes it: `v1.2-3-gabc1234-dirty`, `abc1234` or `v1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Described<'a> {
    /// The last tag before the commit.
    pub(crate) tag: Option<&'a str>,
    /// Number of commits since the tag.
    pub(crate) since_tag: u64,
    /// The commit's id, or its first digits.
    pub(crate) commit: Option<&'a str>,
    /// Whether the working tree had uncommitted changes.
    pub(crate) is_dirty: bool,
}

/// Number of digits of a commit's id in text output.
const SHOWN_DIGITS: usize = 12;

fn is_hex(text: &str) -> bool {
    text.len() >= super::MIN_PREFIX && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl<'a> Described<'a> {
    /// Parses a revision that is stored with a build.
    pub(crate) fn parse(revision: &'a str) -> Self {
        let clean = revision.strip_suffix("-dirty");
        let (name, is_dirty) = (clean.unwrap_or(revision), clean.is_some());
        let since = |head: &'a str| {
            let (tag, count) = head.rsplit_once('-')?;
            Some((tag, count.parse().ok()?))
        };
        let (tag, since_tag, commit) = match name.rsplit_once("-g") {
            Some((head, id)) if is_hex(id) && since(head).is_some() => {
                let (tag, count) = since(head).unwrap_or((head, 0));
                (Some(tag), count, Some(id))
            }
            // A tag may look like this, too, but git describe writes at least 7 digits of a commit.
            _ if is_hex(name) && name.len() >= 7 => (None, 0, Some(name)),
            _ => (Some(name), 0, None),
        };
        Described {
            tag,
            since_tag,
            commit,
            is_dirty,
        }
    }

    /// Whether both are the same commit: by id, the first digits of it, or tag.
    pub(crate) fn is_same_commit(&self, other: &Described<'_>) -> bool {
        match (self.commit, other.commit) {
            (Some(a), Some(b)) => a.starts_with(b) || b.starts_with(a),
            _ => (self.tag, self.since_tag) == (other.tag, other.since_tag),
        }
    }

    /// Whether it has all digits of a commit's id.
    pub(super) fn is_whole(&self) -> bool {
        self.commit.is_some_and(|id| matches!(id.len(), 40 | 64))
    }

    /// Whether the working tree was at this commit, regardless of uncommitted changes.
    pub(super) fn is_at_commit(&self, commit: &TaggedCommit) -> bool {
        match (self.commit, self.tag) {
            (Some(id), _) => commit.id.starts_with(id) || id.starts_with(&commit.id),
            (None, tag) => commit.tags.iter().any(|known| Some(known.as_str()) == tag),
        }
    }
}

/// Returns the revision with a shortened commit id, and without it at a tag.
pub(crate) fn shortened(revision: &str) -> String {
    let described = Described::parse(revision);
    let dirty = if described.is_dirty { "-dirty" } else { "" };
    let short = |id: &'_ str| id.get(..SHOWN_DIGITS).unwrap_or(id).to_owned();
    match (described.tag, described.commit) {
        (Some(tag), Some(_)) if described.since_tag == 0 => format!("{tag}{dirty}"),
        (Some(tag), Some(id)) => format!("{tag}-{}-g{}{dirty}", described.since_tag, short(id)),
        (None, Some(id)) => format!("{}{dirty}", short(id)),
        _ => revision.to_owned(),
    }
}

/// Returns the runs of the build of the commit that the selector names: all of them, or only those
/// of this commit if builds of several commits have the same name, as with the same program.
///
/// Builds of a working tree with uncommitted changes do not count.
pub(super) fn select(
    builds: &[&StoredBuild],
    selector: &Selector,
    revision: &str,
) -> Result<Selection, SelectError> {
    let commit = match &selector.commit {
        Some(commit) => commit.clone(),
        None if is_hex(revision) => TaggedCommit {
            id: revision.to_ascii_lowercase(),
            tags: Vec::new(),
        },
        None => {
            return Err(SelectError::UnresolvedRevision {
                revision: revision.to_owned(),
            });
        }
    };
    let executable = selector.executable.as_ref();
    let mut of_commit = Vec::new();
    let mut known = Vec::new();
    let mut with_changes = Vec::new();
    for build in builds {
        if executable.is_some_and(|executable| *executable != build.build.executable) {
            continue;
        }
        let name = full_name(&build.build);
        let mut is_changed = false;
        let of_this = select_runs(build, |revision| {
            let described = Described::parse(revision);
            let is_of = described.is_at_commit(&commit);
            is_changed |= is_of && described.is_dirty;
            is_of && !described.is_dirty
        });
        match (of_this, &build.build.revision) {
            (Some(selection), _) => of_commit.push(selection),
            (None, _) if is_changed => with_changes.push(name),
            (None, Some(revision)) => {
                known.push(format!("{name} ({})", shortened(revision)));
            }
            (None, None) => {}
        }
    }
    match <[_; 1]>::try_from(of_commit) {
        Ok([selection]) => Ok(selection),
        Err(none) if none.is_empty() => {
            Err(SelectError::NoBuildOfCommit(Box::new(NoBuildOfCommit {
                revision: revision.to_owned(),
                commit: shortened(&commit.id),
                more: known.len().saturating_sub(MAX_NAMED),
                known: {
                    known.truncate(MAX_NAMED);
                    known
                },
                with_changes,
            })))
        }
        Err(several) => Err(SelectError::SeveralOfCommit {
            revision: revision.to_owned(),
            candidates: several
                .iter()
                .map(|selection| full_name(&selection.build))
                .collect(),
        }),
    }
}

/// Returns the runs of a build whose revision satisfies a condition, with the revision and commit
/// of these runs; `None` if no run does.
pub(crate) fn select_runs(
    build: &StoredBuild,
    mut is_meant: impl FnMut(&str) -> bool,
) -> Option<Selection> {
    let Selection { build, profiles } = select_whole_build(build);
    let of_build = build.revision.clone();
    let mut of_run = |stored: &StoredProfile| {
        let revision = stored.revision.as_deref().or(of_build.as_deref());
        revision.is_some_and(&mut is_meant)
    };
    let profiles: Vec<_> = profiles.into_iter().filter(|run| of_run(run)).collect();
    let first = profiles.iter().find(|run| run.revision.is_some());
    let (revision, commit) = match first {
        Some(run) => (run.revision.clone(), run.commit.clone()),
        None => (build.revision.clone(), build.commit.clone()),
    };
    (!profiles.is_empty()).then_some(Selection {
        build: Build {
            revision,
            commit,
            ..build
        },
        profiles,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_git_describe_output() {
        let parse = |text: &'static str| {
            let described = Described::parse(text);
            (
                described.tag,
                described.since_tag,
                described.commit,
                described.is_dirty,
            )
        };
        assert_eq!(
            parse("v1.2-3-gabc1234"),
            (Some("v1.2"), 3, Some("abc1234"), false)
        );
        assert_eq!(
            parse("v1.2-3-gabc1234-dirty"),
            (Some("v1.2"), 3, Some("abc1234"), true)
        );
        assert_eq!(
            parse("a-b-0-gabc1234"),
            (Some("a-b"), 0, Some("abc1234"), false)
        );
        assert_eq!(parse("abc1234"), (None, 0, Some("abc1234"), false));
        assert_eq!(parse("v1.2-dirty"), (Some("v1.2"), 0, None, true));
        assert_eq!(parse("big-gabbed"), (Some("big-gabbed"), 0, None, false));
    }

    #[test]
    fn shortens_revisions() {
        let id = "0123456789012345678901234567890123456789";
        assert_eq!(shortened(&format!("v1.2-0-g{id}")), "v1.2");
        assert_eq!(shortened(&format!("v1.2-0-g{id}-dirty")), "v1.2-dirty");
        assert_eq!(
            shortened(&format!("v1.2-13-g{id}")),
            "v1.2-13-g012345678901"
        );
        assert_eq!(shortened(id), "012345678901");
        assert_eq!(shortened("r1841"), "r1841");
    }
}
