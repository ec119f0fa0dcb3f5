//! The kind of a frame, where the format does not tell it.

use super::perf_script::kind_by_module;
use crate::model::FrameKind;

/// The kind that a frame is taken for where its format does not tell: unresolved where its name
/// stands for an address, kernel or compiled just in time where its module is called as perf calls
/// the like, else user.
pub fn kind_by_names(symbol: &str, module: &str) -> FrameKind {
    match module {
        _ if is_unresolved(symbol.as_bytes()) => FrameKind::Unresolved,
        "[jit]" => FrameKind::Jit,
        _ => kind_by_module(module.as_bytes()),
    }
}

/// Whether a name stands for an address without a symbol: `[unknown]`, `[libc.so.6]`,
/// `[libc.so.6+0x1234]`, `0x7f00deadbeef`, `??`.
pub(super) fn is_unresolved(name: &[u8]) -> bool {
    match name {
        b"??" => true,
        [b'[', inside @ .., b']'] => !inside.iter().any(u8::is_ascii_whitespace),
        [b'0', b'x', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}
