//! A repository of git that a command needs: what is wrong with it is said.

use super::{git, is_dirty};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sto_query::text::printable;

/// Why git could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("there is no program `git` here")]
    NoGit,
    #[error("cannot run git")]
    Run(#[source] io::Error),
    #[error("{}: there is no git repository here, or git does not trust it: {}", folder.display(), printable(said))]
    NoRepository { folder: PathBuf, said: String },
    #[error("git knows no commit `{}` here", printable(revision))]
    NoRevision {
        revision: String,
        /// Whether the repository has only the newest part of its history.
        is_shallow: bool,
    },
    #[error(
        "`{}` does not follow `{}`: {}",
        printable(bad),
        printable(good),
        base.as_ref().map_or("they have no commit in common".to_owned(), |base| format!("the last commit that both have is {base}"))
    )]
    Unrelated {
        good: String,
        bad: String,
        base: Option<String>,
        is_shallow: bool,
    },
    #[error(
        "the work tree has changes that are not committed, and no commit that is built would have them"
    )]
    Dirty,
    #[error("git {what}: {}", printable(said))]
    Failed { what: String, said: String },
}

impl GitError {
    /// What can be done about it.
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
                "this clone is shallow, and has no commits before some: `git fetch --unshallow` gets them",
            ),
            GitError::Unrelated { .. } => {
                Some("name a good commit that the bad one follows, such as the one that both have")
            }
            GitError::Dirty => {
                Some("`git stash` puts them aside, and `git commit` makes a commit of them")
            }
            _ => None,
        }
    }
}

/// The repository that a folder is in.
pub(crate) struct Repository {
    folder: PathBuf,
}

/// Writes what a command of git reads.
type Writing<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

impl Repository {
    /// That of the working directory.
    pub(crate) fn here() -> Result<Repository, GitError> {
        Repository::of(Path::new("."))
    }

    /// That of a folder.
    pub(crate) fn of(folder: &Path) -> Result<Repository, GitError> {
        let repository = Repository {
            folder: folder.to_owned(),
        };
        let mut command = repository.git();
        command.args(["rev-parse", "--git-dir"]);
        match repository.run(command) {
            Ok(_) => Ok(repository),
            Err(GitError::Failed { said, .. }) => Err(GitError::NoRepository {
                folder: folder.to_owned(),
                said,
            }),
            Err(error) => Err(error),
        }
    }

    /// A command of git in this repository, without its arguments.
    pub(super) fn git(&self) -> Command {
        git(&self.folder)
    }

    /// What a command of git prints, where it succeeds.
    pub(super) fn run(&self, command: Command) -> Result<String, GitError> {
        self.run_with(command, None)
    }

    /// The same, of one that reads what is written to it.
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
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("fatal: ");
        // The first word that is no option is what was asked of it.
        let mut words = command.get_args().map(|word| word.to_string_lossy());
        let what = words.find(|word| COMMANDS.contains(&word.as_ref()));
        Err(GitError::Failed {
            what: what.unwrap_or_default().into_owned(),
            said: said.lines().next().unwrap_or_default().to_owned(),
        })
    }

    /// Whether this folder is the top of the work tree.
    pub(crate) fn is_top(&self) -> bool {
        let mut command = self.git();
        command.args(["rev-parse", "--show-prefix"]);
        self.run(command)
            .is_ok_and(|prefix| prefix.trim().is_empty())
    }

    /// Whether only the newest part of its history is here.
    pub(super) fn is_shallow(&self) -> bool {
        let mut command = self.git();
        command.args(["rev-parse", "--is-shallow-repository"]);
        self.run(command).is_ok_and(|said| said.trim() == "true")
    }

    /// That there is no such commit.
    pub(super) fn no_revision(&self, revision: &str) -> GitError {
        GitError::NoRevision {
            revision: revision.to_owned(),
            is_shallow: self.is_shallow(),
        }
    }

    /// Sees whether all files of the work tree are as they were committed.
    pub(crate) fn check_clean(&self) -> Result<(), GitError> {
        match is_dirty(&self.folder) {
            Some(true) => Err(GitError::Dirty),
            _ => Ok(()),
        }
    }
}

/// What is asked of git, by which its failures are named.
const COMMANDS: [&str; 6] = [
    "log",
    "rev-list",
    "rev-parse",
    "merge-base",
    "worktree",
    "notes",
];
