//! Queries git about the work tree that contains the working directory.
//!
//! Somebody else may have made that work tree, for example by packing it into an archive: its `.git/config` can
//! name programs for git to run. All of them are disabled here. Whether git reads a work tree of another
//! user at all is decided by its `safe.directory` setting.

mod log;
mod notes;
mod repository;
mod worktree;

pub(crate) use log::Shown;
pub(crate) use repository::{GitError, Repository};
pub(crate) use worktree::{Between, Worktree};

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sto_core::limits::{MAX_COMMIT_PARENTS, MAX_USER_STRING};
use sto_core::model::{Commit, CommitHash};
use sto_core::units::UnixSeconds;
use sto_query::select;

/// Runs git in a folder and returns its trimmed output; `None` if git fails, for example outside of a work tree, or prints
/// nothing.
pub(crate) fn trimmed_output(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = output(folder, arguments)?;
    let trimmed = output.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Like [`trimmed_output`], but the output may be empty.
fn output(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = git(folder).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.into_owned())
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(folder)
        .arg("--no-pager")
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "log.showSignature=false"])
        // Do not write, for example to refresh the index, which would run a hook.
        .env("GIT_OPTIONAL_LOCKS", "0")
        // Do not fetch missing objects with any program.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    git
}

/// The revision of the work tree that contains a folder, as `git describe` prints it with the full id of the commit, and with
/// `-dirty` if its files were changed; `None` without git or a work tree.
///
/// Changes within submodules are ignored, because git would look for them with the submodules' own settings: so
/// this is not `git describe --dirty`.
pub(crate) fn revision_of(folder: &Path) -> Option<String> {
    let revision = trimmed_output(folder, &DESCRIBE)?;
    let dirty = if is_dirty(folder)? { "-dirty" } else { "" };
    Some(format!("{revision}{dirty}"))
}

const DESCRIBE: [&str; 5] = ["describe", "--always", "--tags", "--long", "--abbrev=40"];

/// A revision in the form that is stored with a build, and its commit.
#[derive(Clone)]
pub(crate) struct Described {
    pub(crate) revision: String,
    pub(crate) commit: Option<Commit>,
}

impl Described {
    fn new(folder: &Path, revision: String) -> Described {
        Described {
            commit: CommitHash::from_revision(&revision)
                .and_then(|hash| commit_of(folder, hash, Commit::is_dirty(&revision))),
            revision,
        }
    }
}

/// The current state of the work tree that contains the working directory.
pub(crate) fn describe_work_tree() -> Option<Described> {
    let revision = revision_of(here())?;
    Some(Described::new(here(), revision))
}

/// A revision of the repository of the working directory, without uncommitted changes; `None` if git does not
/// know it.
pub(crate) fn describe(revision: &str) -> Option<Described> {
    let id = id_of(revision)?;
    let revision = trimmed_output(here(), &[&DESCRIBE[..], &[id.as_str()]].concat())?;
    Some(Described::new(here(), revision))
}

/// The name of a commit of the repository of the working directory: `v1.2-3-g0123456789ab`.
pub(crate) fn short_name(commit: &str) -> Option<String> {
    trimmed_output(
        here(),
        &["describe", "--always", "--tags", "--abbrev=12", commit],
    )
}

/// Reads a commit. Its parents include commits that a shallow clone lacks.
fn commit_of(folder: &Path, hash: CommitHash, dirty: bool) -> Option<Commit> {
    let id = hash.to_string();
    let log = [
        "log",
        "-1",
        "--no-color",
        "--no-show-signature",
        "--encoding=UTF-8",
    ];
    let raw = trimmed_output(folder, &[&log[..], &["--format=raw", &id, "--"]].concat())?;
    let (head, message) = raw.split_once("\n\n").unwrap_or((&raw, ""));
    let fields = |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
    let parents = fields("parent ").map(str::parse).collect::<Result<_, _>>();
    // `Ann Author <ann@example.org> 1700000000 +0100`
    let author = fields("author ").next()?.rsplit(' ').nth(1)?;
    let subject = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty());
    let mut subject = subject.collect::<Vec<_>>().join(" ");
    subject.truncate(subject.floor_char_boundary(MAX_USER_STRING));
    let commit = Commit {
        hash,
        parents: parents.ok()?,
        // git itself writes no times before 1970.
        author_time: UnixSeconds(author.parse().unwrap_or(0)),
        subject,
        dirty,
    };
    (commit.parents.len() <= MAX_COMMIT_PARENTS).then_some(commit)
}

/// The full id of a revision's commit.
fn id_of(revision: &str) -> Option<String> {
    let commit = format!("{revision}^{{commit}}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ];
    trimmed_output(here(), &arguments)
}

/// The commit of a revision, for finding its builds.
pub(crate) fn commit(revision: &str) -> Option<select::Commit> {
    let id = id_of(revision)?;
    let tags = trimmed_output(here(), &["tag", "--points-at", &id]).unwrap_or_default();
    let tags = tags.lines().map(str::to_owned).collect();
    Some(select::Commit { id, tags })
}

/// The commits of a range of revisions such as `v1.2..HEAD`, newest first, for finding their builds.
pub(crate) fn commits(range: &str) -> Option<Vec<select::Commit>> {
    let listed = output(here(), &["rev-list", "--end-of-options", range, "--"])?;
    let named = "--format=%(objectname) %(*objectname) %(refname:strip=2)";
    let tags = output(here(), &["for-each-ref", named, "refs/tags"]).unwrap_or_default();
    let mut of_commit: HashMap<&str, Vec<String>> = HashMap::new();
    for line in tags.lines() {
        // The second field is the commit that an annotated tag points to; it is empty for other tags.
        if let [tag, commit, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] {
            let commit = if commit.is_empty() { tag } else { commit };
            of_commit.entry(commit).or_default().push(name.to_owned());
        }
    }
    let commits = listed.lines().map(|id| select::Commit {
        id: id.to_owned(),
        tags: of_commit.remove(id).unwrap_or_default(),
    });
    Some(commits.collect())
}

/// The text of a file of a work tree at a revision. Filters that the repository configures are not applied.
pub(crate) fn text_at(path: &Path, revision: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let id = CommitHash::from_revision(revision)?;
    output(
        path.parent()?,
        &["cat-file", "blob", &format!("{id}:./{name}")],
    )
}

/// Whether files of the work tree were changed; `None` if that cannot be determined without running a program
/// that the repository configures.
fn is_dirty(folder: &Path) -> Option<bool> {
    let mut diff = git(folder);
    for setting in filters(folder)? {
        diff.arg("-c").arg(setting + "=");
    }
    diff.args(["diff", "--quiet", "--no-ext-diff", "--no-textconv"])
        .args(["--ignore-submodules=dirty", "HEAD"]);
    // In a bare repository, which has no work tree, this fails.
    Some(diff.stdout(Stdio::null()).status().ok()?.code() == Some(1))
}

/// The filters that the repository itself configures, which git would run to see whether a file was
/// changed. Filters of the user (such as Git LFS) stay enabled. `None` if one cannot be disabled.
fn filters(folder: &Path) -> Option<Vec<String>> {
    let list = ["config", "--show-scope", "--name-only", "-z"];
    let listed = git(folder)
        .args(list)
        .args(["--get-regexp", r"^filter\."])
        .output()
        .ok()?;
    // Status 1 means that there are no filters, any other that this version of git lacks an option.
    if !matches!(listed.status.code(), Some(0 | 1)) {
        return None;
    }
    let listed = String::from_utf8_lossy(&listed.stdout);
    let mut settings = Vec::new();
    // Scopes and names alternate, each ended by a NUL.
    let mut fields = listed.split('\0');
    while let (Some(scope), Some(name)) = (fields.next(), fields.next()) {
        if scope == "local" || scope == "worktree" {
            // An argument `-c NAME=VALUE` ends the name at its first `=`.
            settings.push((!name.contains('=')).then(|| name.to_owned())?);
        }
    }
    Some(settings)
}

/// The top of the git work tree that contains a folder.
pub(crate) fn work_tree(folder: &Path) -> Option<PathBuf> {
    let mut folders = folder.ancestors();
    folders
        .find(|folder| folder.join(".git").exists())
        .map(Path::to_owned)
}

/// The working directory.
fn here() -> &'static Path {
    Path::new(".")
}
