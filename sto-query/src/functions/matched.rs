//! Which function a frame is of.

use super::{KeyOptions, key_symbol};
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameKind};

/// A module as all builds of a program know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ModuleKey<'a> {
    /// The profiled executable, whose file may be `app-1.0` in one build and `app-1.1` in another.
    MainProgram,
    /// Any other file: its name, version and all.
    Named(&'a str),
}

/// What frames of one function have in common, whatever their kind, file and line: a function may be
/// inlined in one build and called in the other, and lines shift with every edit.
pub(crate) type FunctionKey<'a> = (Cow<'a, str>, ModuleKey<'a>);

/// Offsets shift from build to build: what has no symbol is one function a module.
pub(crate) const UNRESOLVED: &str = "[unresolved]";

/// What a frame's function is called where builds are matched.
pub(crate) fn key_of(frame: Frame<'_>, options: KeyOptions) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::Unresolved => Cow::Borrowed(UNRESOLVED),
        _ => key_symbol(frame.symbol, options),
    }
}

/// Which function a frame is of; `main` has the names of the program's own file
/// ([`main_modules`](crate::select::main_modules)).
pub(crate) fn function_key<'a>(
    frame: Frame<'a>,
    main: &BTreeSet<&str>,
    options: KeyOptions,
) -> FunctionKey<'a> {
    let module = match main.contains(frame.module) {
        true => ModuleKey::MainProgram,
        false => ModuleKey::Named(frame.module),
    };
    (key_of(frame, options), module)
}
