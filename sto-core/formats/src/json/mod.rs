//! Shared code of the JSON formats.
//!
//! See [the manual](crate::manual::json).

mod nested;
mod spans;
mod tree;

pub(super) use nested::walk;
pub(super) use spans::Spans;
pub(super) use tree::{CallTree, Caller};

use crate::recording::{RecordingBuilder, ThreadIx};
use crate::wire::json::{Id, Text};

/// Adds a thread, and its process if that is new, by the names and ids that viewers use.
pub(super) fn add_thread(
    builder: &mut RecordingBuilder,
    (pid, program): (&Id, &Text<'_>),
    (tid, name): (&Id, &Text<'_>),
) -> ThreadIx {
    let (program, name) = (builder.text(&program.0), builder.text(&name.0));
    let process = builder.process(pid.number(), &program);
    builder.new_thread(process, tid.number(), &name)
}
