//! Runs of commits: each is built when it is first measured.

use crate::commands::record::{Built, Checkouts, Program, Session};
use crate::runtime::error::status_of;
use crate::runtime::{CliError, Outcome};
use std::ffi::OsString;
use sto_core::model::CommitHash;

/// Work trees that are kept for another run of their commits, of which the end needs several.
const KEPT: usize = 4;

/// Builds and measures commits.
pub(super) struct Lab<'a> {
    checkouts: Checkouts<'a>,
    session: Session<'a>,
    command: &'a [OsString],
    /// Commits that are built, with the number of their program, the one that was measured last at the end.
    built: Vec<(CommitHash, Built<'a>, usize)>,
}

/// What became of a run.
pub(super) enum Measured {
    /// It is in the store.
    Stored,
    /// It cannot be made.
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

    /// Records a run of a commit; `executable` is what the program is called in the store.
    pub(super) fn measure(
        &mut self,
        commit: &CommitHash,
        executable: Option<&String>,
    ) -> Result<Measured, CliError> {
        let known = self.built.iter().position(|(known, ..)| known == commit);
        let entry = match known {
            Some(known) => self.built.remove(known),
            None => match self.build(commit, executable) {
                // What was interrupted failed for that.
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
        if self.built.len() > KEPT {
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
        let program = match Program::of_commit(self.command, built.place()) {
            Ok(program) => program,
            // As where it has another name there.
            Err(error) => return Ok(Err(error.to_string())),
        };
        let which = self.session.add(program, executable);
        Ok(Ok((commit.clone(), built, which)))
    }

    fn interrupted(&self) -> Option<Outcome> {
        self.checkouts.perf.interrupted()
    }

    /// Says what there is to warn of.
    pub(super) fn finish(self) {
        self.session.finish();
    }
}
