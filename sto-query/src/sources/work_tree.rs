//! A git work tree, about which `git` is asked.
//!
//! Somebody else may have made that work tree, for example by packing it into an archive: its `.git/config` can
//! name programs for git to run. All of them are disabled here. Whether git reads a work tree of another
//! user at all is decided by its `safe.directory` setting.

use super::file_changes::FileChanges;
use crate::select;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sto_core::limits::{MAX_COMMIT_PARENTS, MAX_USER_STRING};
use sto_core::model::{Commit, CommitHash};
use sto_core::units::UnixSeconds;

/// The git work tree that contains a folder. Outside of work trees and without git, nothing is known.
#[derive(Clone, Debug)]
pub struct WorkTree {
    folder: PathBuf,
}

/// A revision in the form that is stored with a build, and its commit.
#[derive(Clone, Debug)]
pub struct DescribedRevision {
    /// The revision as `git describe` prints it with the full id of the commit, and with `-dirty` if files were changed.
    pub revision: String,
    /// The commit, if git could read it.
    pub commit: Option<Commit>,
}

impl WorkTree {
    /// The work tree that contains a folder. Runs nothing.
    pub fn containing(folder: impl Into<PathBuf>) -> WorkTree {
        WorkTree {
            folder: folder.into(),
        }
    }

    /// The folder of source files: the top of the work tree, or the folder itself outside of work trees.
    pub fn source_folder(&self) -> PathBuf {
        let folder = std::path::absolute(&self.folder).unwrap_or_default();
        let mut folders = folder.ancestors();
        let top = folders.find(|folder| folder.join(".git").exists());
        top.unwrap_or(&folder).to_owned()
    }

    /// The current revision with its commit.
    pub fn describe(&self) -> Option<DescribedRevision> {
        Some(self.described(self.revision()?))
    }

    /// A revision such as `HEAD~1` with its commit, without uncommitted changes; `None` if git does not know it.
    pub fn describe_revision(&self, revision: &str) -> Option<DescribedRevision> {
        let id = self.id_of(revision)?;
        let revision = self.trimmed_output(&[&DESCRIBE[..], &[id.as_str()]].concat())?;
        Some(self.described(revision))
    }

    fn described(&self, revision: String) -> DescribedRevision {
        DescribedRevision {
            commit: CommitHash::from_revision(&revision)
                .and_then(|hash| self.read_commit(hash, Commit::is_dirty(&revision))),
            revision,
        }
    }

    /// The current revision as `git describe` prints it with the full id of the commit, and with `-dirty` if files were
    /// changed.
    ///
    /// Changes within submodules are ignored, because git would look for them with the submodules' own settings: so
    /// this is not `git describe --dirty`.
    pub fn revision(&self) -> Option<String> {
        let revision = self.trimmed_output(&DESCRIBE)?;
        let dirty = if self.is_dirty()? { "-dirty" } else { "" };
        Some(format!("{revision}{dirty}"))
    }

    /// Whether files of the work tree were changed; `None` if that cannot be determined without running a program
    /// that the repository configures.
    pub fn is_dirty(&self) -> Option<bool> {
        let mut diff = self.git();
        for setting in self.filters()? {
            diff.arg("-c").arg(setting + "=");
        }
        diff.args(["diff", "--quiet", "--no-ext-diff", "--no-textconv"])
            .args(["--ignore-submodules=dirty", "HEAD"]);
        // In a bare repository, which has no work tree, this fails.
        Some(diff.stdout(Stdio::null()).status().ok()?.code() == Some(1))
    }

    /// Reads a commit. Its parents include commits that a shallow clone lacks.
    fn read_commit(&self, hash: CommitHash, dirty: bool) -> Option<Commit> {
        let id = hash.to_string();
        let log = [
            "log",
            "-1",
            "--no-color",
            "--no-show-signature",
            "--encoding=UTF-8",
        ];
        let raw = self.trimmed_output(&[&log[..], &["--format=raw", &id, "--"]].concat())?;
        let (head, message) = raw.split_once("\n\n").unwrap_or((&raw, ""));
        let fields =
            |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
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

    /// The filters that the repository itself configures, which git would run to see whether a file was
    /// changed. Filters of the user (such as Git LFS) stay enabled. `None` if one cannot be disabled.
    fn filters(&self) -> Option<Vec<String>> {
        let list = ["config", "--show-scope", "--name-only", "-z"];
        let listed = self
            .git()
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

    /// The full id of a revision's commit.
    fn id_of(&self, revision: &str) -> Option<String> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        self.trimmed_output(&arguments)
    }

    /// The commit of a revision, for finding its builds.
    pub fn commit(&self, revision: &str) -> Option<select::TaggedCommit> {
        let id = self.id_of(revision)?;
        let tags = self
            .trimmed_output(&["tag", "--points-at", &id])
            .unwrap_or_default();
        let tags = tags.lines().map(str::to_owned).collect();
        Some(select::TaggedCommit { id, tags })
    }

    /// The commits of a range of revisions such as `v1.2..HEAD`, newest first, for finding their builds.
    pub fn commits(&self, range: &str) -> Option<Vec<select::TaggedCommit>> {
        let listed = self.output(&["rev-list", "--end-of-options", range, "--"])?;
        let named = "--format=%(objectname) %(*objectname) %(refname:strip=2)";
        let tags = self
            .output(&["for-each-ref", named, "refs/tags"])
            .unwrap_or_default();
        let mut of_commit: HashMap<&str, Vec<String>> = HashMap::new();
        for line in tags.lines() {
            // The second field is the commit that an annotated tag points to; it is empty for other tags.
            if let [tag, commit, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                let commit = if commit.is_empty() { tag } else { commit };
                of_commit.entry(commit).or_default().push(name.to_owned());
            }
        }
        let commits = listed.lines().map(|id| select::TaggedCommit {
            id: id.to_owned(),
            tags: of_commit.remove(id).unwrap_or_default(),
        });
        Some(commits.collect())
    }

    /// The text of a file at a revision. Filters that the repository configures are not applied.
    pub(crate) fn text_at(path: &Path, revision: &str) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let id = CommitHash::from_revision(revision)?;
        let blob = format!("{id}:./{name}");
        WorkTree::containing(path.parent()?).output(&["cat-file", "blob", &blob])
    }

    /// When files were last changed before a run was recorded.
    pub(crate) fn changes(&self, recorded: Option<UnixSeconds>) -> FileChanges {
        FileChanges::read(recorded, |arguments| self.trimmed_output(arguments))
    }

    /// Runs git and returns its trimmed output; `None` if git fails, for example outside of a work tree, or prints nothing.
    #[doc(hidden)]
    pub fn trimmed_output(&self, arguments: &[&str]) -> Option<String> {
        let output = self.output(arguments)?;
        let trimmed = output.trim();
        (!trimmed.is_empty()).then(|| trimmed.to_owned())
    }

    /// Like [`WorkTree::trimmed_output`], but the output may be empty.
    fn output(&self, arguments: &[&str]) -> Option<String> {
        let output = self.git().args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        output.status.success().then(|| text.into_owned())
    }

    /// A command of git in this work tree, without its arguments. By default it writes nothing, and runs no program that
    /// the repository configures.
    #[doc(hidden)]
    pub fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(&self.folder)
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
}

const DESCRIBE: [&str; 5] = ["describe", "--always", "--tags", "--long", "--abbrev=40"];
