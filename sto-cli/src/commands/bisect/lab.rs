//! Builds each commit when it is first measured, and records runs of it.

use crate::commands::record::{Built, Checkouts, Combination, Program, Session};
use crate::runtime::error::status_of;
use crate::runtime::{CliError, Outcome};
use std::ffi::OsString;
use sto_core::model::CommitHash;

/// Number of work trees that are kept for further runs: at its end, a bisection needs several runs of a few commits.
const MAX_WORK_TREES: usize = 4;

/// Builds and measures commits.
pub(super) struct Lab<'a> {
    checkouts: Checkouts<'a>,
    session: Session<'a>,
    command: &'a [OsString],
    /// Built commits with the number of their program in the session, most recently measured last.
    built: Vec<(CommitHash, Built<'a>, usize)>,
}

/// The result of measuring a commit.
pub(super) enum Measured {
    /// The run is in the store.
    Stored,
    /// The commit cannot be measured, for this reason.
    Failed(String),
    /// This process was asked to end.
    Interrupted(Outcome),
}

impl<'a> Lab<'a> {
    pub(super) fn new(
        checkouts: Checkouts<'a>,
        session: Session<'a>,
        command: &'a [OsString],
    ) -> Lab<'a> {
        Lab {
            checkouts,
            session,
            command,
            built: Vec::new(),
        }
    }

    /// Records a run of a commit. `executable` is the program's name in the store.
    pub(super) fn measure(
        &mut self,
        commit: &CommitHash,
        executable: Option<&String>,
    ) -> Result<Measured, CliError> {
        let known = self.built.iter().position(|(known, ..)| known == commit);
        let entry = match known {
            Some(known) => self.built.remove(known),
            None => match self.build(commit, executable) {
                // An interrupted build fails, too.
                Err(_) | Ok(Err(_)) if self.interrupted().is_some() => {
                    return Ok(self
                        .interrupted()
                        .map_or(Measured::Stored, Measured::Interrupted));
                }
                built => match built? {
                    Ok(built) => built,
                    Err(why) => return Ok(Measured::Failed(why)),
                },
            },
        };
        let which = entry.2;
        self.built.push(entry);
        if self.built.len() > MAX_WORK_TREES {
            self.built.remove(0);
        }
        Ok(match self.session.record_next(which)? {
            Outcome::Clean => Measured::Stored,
            outcome @ Outcome::Interrupted(_) => Measured::Interrupted(outcome),
            Outcome::Command(status) => {
                Measured::Failed(format!("its run ended with status {}", status_of(status)))
            }
            _ => Measured::Failed("its run failed".to_owned()),
        })
    }

    fn build(
        &mut self,
        commit: &CommitHash,
        executable: Option<&String>,
    ) -> Result<Result<(CommitHash, Built<'a>, usize), String>, CliError> {
        let built = self.checkouts.build(std::slice::from_ref(commit), 1)?;
        let built = match built.into_iter().next() {
            Some(Ok(built)) => built,
            Some(Err(why)) => return Ok(Err(why)),
            None => return Ok(Err("it was not built".to_owned())),
        };
        let program =
            match Program::from_commit(self.command, Combination::default(), built.place()) {
                Ok(program) => program,
                // The program may have another name in that commit.
                Err(error) => return Ok(Err(error.to_string())),
            };
        let which = self.session.add(program, executable);
        Ok(Ok((commit.clone(), built, which)))
    }

    fn interrupted(&self) -> Option<Outcome> {
        self.checkouts.perf.interrupted()
    }

    /// Prints the collected warnings.
    pub(super) fn finish(self) {
        self.session.finish();
    }
}
