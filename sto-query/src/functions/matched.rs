//! Assigns frames to functions.

use super::{KeyOptions, key_symbol};
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameKind};

/// A module, identified across builds of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ModuleKey<'a> {
    /// The profiled executable, whose file may be called `app-1.0` in one build and `app-1.1` in
    /// another.
    MainProgram,
    /// Any other file, by its full name including the version.
    Named(&'a str),
}

/// The identity of a function: all frames with the same key and module, whatever their kind, file
/// and line. A function may be inlined in one build and called in the other, and lines shift with
/// every edit.
pub(crate) type FunctionKey<'a> = (Cow<'a, str>, ModuleKey<'a>);

/// Key of frames without a symbol. Their offsets shift from build to build, so there is one such
/// function per module.
pub(crate) const UNRESOLVED: &str = "[unresolved]";

/// Returns the key of a frame's function, by which builds are matched.
pub(crate) fn key_of(frame: Frame<'_>, options: KeyOptions) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::Unresolved => Cow::Borrowed(UNRESOLVED),
        _ => key_symbol(frame.symbol, options),
    }
}

/// Returns the function of a frame. `main` has the names of the program's own file
/// ([`main_modules`](crate::select::main_modules)).
pub(crate) fn function_key<'a>(
    frame: Frame<'a>,
    main: &BTreeSet<&str>,
    options: KeyOptions,
) -> FunctionKey<'a> {
    (key_of(frame, options), module_key(frame, main))
}

/// Returns the module of a frame. `main` has the names of the program's own file.
pub(crate) fn module_key<'a>(frame: Frame<'a>, main: &BTreeSet<&str>) -> ModuleKey<'a> {
    if main.contains(frame.module) {
        ModuleKey::MainProgram
    } else {
        ModuleKey::Named(frame.module)
    }
}
