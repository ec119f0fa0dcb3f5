//! Symbolization: the search for files, the frames, and the messages if nothing is found.

pub(crate) mod compile;
mod debuginfod;
mod hostile;
mod kernel;
mod kernel_modules;
mod later;
mod names;
mod native;
pub(crate) mod recording;
mod search;

use rustix::fs::{CWD, Mode, mkfifoat};
use std::path::Path;

fn make_pipe(path: &Path) {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

fn link_to_endless(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).unwrap();
}
