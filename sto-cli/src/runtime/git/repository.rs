//! A git repository that a command needs, with errors for the user.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sto_query::sources::WorkTree;
use sto_query::text::printable;

/// An error from git.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("cannot find `git`")]
    NoGit,
    #[error("cannot run git")]
    Run(#[source] io::Error),
    #[error("{}: not a git repository, or git does not trust it: {}", folder.display(), printable(message))]
    NoRepository { folder: PathBuf, message: String },
    #[error("git knows no commit `{}` here", printable(revision))]
    NoRevision {
        revision: String,
        /// Whether the repository lacks older history.
        is_shallow: bool,
    },
    #[error(
        "`{}` is not a descendant of `{}`: {}",
        printable(bad),
        printable(good),
        base.as_ref().map_or("they have no common ancestor".to_owned(), |base| format!("their last common commit is {base}"))
    )]
    Unrelated {
        good: String,
        bad: String,
        base: Option<String>,
        is_shallow: bool,
    },
    #[error(
        "the work tree has uncommitted changes, which would not be part of any commit that is built"
    )]
    Dirty,
    #[error("git {what}: {}", printable(message))]
    Failed { what: String, message: String },
}

impl GitError {
    /// A hint for the user.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            GitError::NoGit => Some("install it: `apt install git` on Debian and Ubuntu"),
            GitError::NoRepository { .. } => Some("run this in the work tree of the program"),
            GitError::NoRevision {
                is_shallow: true, ..
            }
            | GitError::Unrelated {
                is_shallow: true, ..
            } => Some(
                "this clone is shallow and lacks older commits: `git fetch --unshallow` fetches them",
            ),
            GitError::Unrelated { .. } => Some(
                "name a good commit that is an ancestor of the bad one, such as their last common commit",
            ),
            GitError::Dirty => Some("`git stash` sets them aside, `git commit` commits them"),
            _ => None,
        }
    }
}

/// A git repository.
pub(crate) struct Repository {
    folder: PathBuf,
}

/// Writes the standard input of a git command.
type Writing<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

impl Repository {
    /// The repository of the working directory.
    pub(crate) fn here() -> Result<Repository, GitError> {
        Repository::containing(Path::new("."))
    }

    /// The repository that contains a folder.
    pub(crate) fn containing(folder: &Path) -> Result<Repository, GitError> {
        let repository = Repository {
            folder: folder.to_owned(),
        };
        let mut command = repository.git();
        command.args(["rev-parse", "--git-dir"]);
        match repository.run(command) {
            Ok(_) => Ok(repository),
            Err(GitError::Failed { message, .. }) => Err(GitError::NoRepository {
                folder: folder.to_owned(),
                message,
            }),
            Err(error) => Err(error),
        }
    }

    /// A command of git in this repository, without its arguments.
    pub(super) fn git(&self) -> Command {
        WorkTree::containing(&self.folder).git()
    }

    /// Runs a git command and returns its output.
    pub(super) fn run(&self, command: Command) -> Result<String, GitError> {
        self.run_with(command, None)
    }

    /// Like [`Repository::run`], for a command that reads standard input.
    pub(super) fn run_with(
        &self,
        mut command: Command,
        write: Option<Writing>,
    ) -> Result<String, GitError> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.spawn().and_then(|mut git| {
            if let (Some(write), Some(mut stdin)) = (write, git.stdin.take()) {
                write(&mut stdin)?;
            }
            git.wait_with_output()
        });
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => GitError::NoGit,
            _ => GitError::Run(error),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = stderr.trim().trim_start_matches("fatal: ");
        // Name the failure by the subcommand.
        let mut words = command.get_args().map(|word| word.to_string_lossy());
        let what = words.find(|word| COMMANDS.contains(&word.as_ref()));
        Err(GitError::Failed {
            what: what.unwrap_or_default().into_owned(),
            message: message.lines().next().unwrap_or_default().to_owned(),
        })
    }

    /// Whether this folder is the top of the work tree.
    pub(crate) fn is_top(&self) -> bool {
        let mut command = self.git();
        command.args(["rev-parse", "--show-prefix"]);
        self.run(command)
            .is_ok_and(|prefix| prefix.trim().is_empty())
    }

    /// Whether the repository lacks older history.
    pub(super) fn is_shallow(&self) -> bool {
        let mut command = self.git();
        command.args(["rev-parse", "--is-shallow-repository"]);
        self.run(command)
            .is_ok_and(|output| output.trim() == "true")
    }

    /// The error for an unknown revision.
    pub(super) fn no_revision(&self, revision: &str) -> GitError {
        GitError::NoRevision {
            revision: revision.to_owned(),
            is_shallow: self.is_shallow(),
        }
    }

    /// Returns an error if the work tree has uncommitted changes.
    pub(crate) fn check_clean(&self) -> Result<(), GitError> {
        match WorkTree::containing(&self.folder).is_dirty() {
            Some(true) => Err(GitError::Dirty),
            _ => Ok(()),
        }
    }
}

/// The git subcommands in use, by which failures are named.
const COMMANDS: [&str; 6] = [
    "log",
    "rev-list",
    "rev-parse",
    "merge-base",
    "worktree",
    "notes",
];
