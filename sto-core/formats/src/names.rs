//! Rules for names: the kind and module of a frame if the format has none, and the unit of an
//! event.

use crate::recording::{Built, LocationIx, Module, ModuleKind, RecordingBuilder, text_prefix};
use crate::wire::text::base_name;
use std::borrow::Cow;
use sto_model::normalize_source_path;
use sto_model::units::Unit;
use sto_model::{Frame, FrameKind, GnuBuildId};

/// A function as named in a file; empty texts are unknown.
#[derive(Clone, Copy, Default)]
pub(super) struct NamedFrame<'b> {
    pub(super) symbol: &'b [u8],
    pub(super) module: &'b [u8],
    pub(super) file: &'b [u8],
    pub(super) line: u32,
    /// The kind, if the file has it.
    pub(super) kind: Option<FrameKind>,
}

impl NamedFrame<'_> {
    pub(super) fn add(self, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let symbol = builder.text(match self.symbol {
            b"" => b"[unknown]",
            symbol => symbol,
        });
        let (module, file) = (builder.text(self.module), builder.text(self.file));
        builder.frame(Frame {
            kind: self.kind.unwrap_or_else(|| kind_by_names(&symbol, &module)),
            symbol: &symbol,
            module: &module,
            file: &normalize_source_path(&file),
            line: self.line,
        })
    }
}

/// Guesses the kind of a frame from its names: unresolved if the symbol stands for an address,
/// kernel or JIT-compiled if perf gives the module such a name, otherwise user.
pub fn kind_by_names(symbol: &str, module: &str) -> FrameKind {
    match module {
        _ if is_unresolved(symbol.as_bytes()) => FrameKind::Unresolved,
        "[jit]" => FrameKind::Jit,
        _ => kind_by_module(module.as_bytes()),
    }
}

/// Suffixes of a function's system name in pprof that state its kind, in the order of
/// [`FrameKind::ALL`].
///
/// Viewers show the name without the suffix; only the system name has it. Other tools write no
/// suffix; their functions are inlined if they share a location with another line, otherwise
/// [`kind_by_names`] decides.
pub const PPROF_SYSTEM_NAME_SUFFIXES: [&str; FrameKind::ALL.len()] = [
    "_[u]", "_[k]", "_[i]", "_[j]", "_[0]", "_[?]", "_[1]", "_[w]",
];

/// Returns `true` if a name stands for an address without a symbol: `[unknown]`, `[libc.so.6]`,
/// `[libc.so.6+0x1234]`, `0x7f00deadbeef`, `??`.
pub(super) fn is_unresolved(name: &[u8]) -> bool {
    match name {
        b"??" => true,
        [b'[', inside @ .., b']'] => !inside.iter().any(u8::is_ascii_whitespace),
        name => is_address(name),
    }
}

/// Returns `true` for `0x7f00deadbeef`.
pub(super) fn is_address(name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"0x").unwrap_or_default();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
}

/// The kind of code in the file or pseudo file with this path.
pub(super) fn kind_by_module(path: &[u8]) -> FrameKind {
    if is_jit(path) {
        FrameKind::Jit
    } else if is_kernel(path) {
        FrameKind::Kernel
    } else {
        FrameKind::User
    }
}

/// The module name of a file or pseudo file, as perf prints it; empty if unknown.
pub(super) fn module_name(path: &[u8]) -> &[u8] {
    match path {
        b"[unknown]" | b"inlined" => b"",
        b"[kernel]" | b"[kernel.kallsyms]" | b"[kernel.vmlinux]" => b"[kernel]",
        _ if is_jit(path) => b"[jit]",
        path => base_name(path.strip_suffix(b" (deleted)").unwrap_or(path)),
    }
}

/// Makes the module of a path; `file` is its kind if the path is of a regular file.
pub(super) fn module_of_path(
    path: &[u8],
    file: ModuleKind,
    build_id: Option<GnuBuildId>,
    builder: &mut RecordingBuilder,
) -> Module {
    let name = builder.text(module_name(text_prefix(path))).into_owned();
    let kind = match kind_by_names("function", &name) {
        FrameKind::Kernel if name == "[kernel]" => ModuleKind::Kernel,
        FrameKind::Kernel => ModuleKind::KernelModule,
        _ if matches!(path.first(), None | Some(b'[')) || path.starts_with(b"//anon") => {
            ModuleKind::Anonymous
        }
        _ => file,
    };
    Module {
        path: if kind == file {
            builder.text(path).into_owned()
        } else {
            name
        },
        kind,
        build_id,
        inode: None,
        text_address: None,
        alias: None,
    }
}

/// Returns `true` for kernel code of the host or a guest: the kernel, `[a_module]` or its file, and
/// BPF programs.
fn is_kernel(path: &[u8]) -> bool {
    const USER: [&[u8]; 7] = [
        b"[unknown]",
        b"[vdso]",
        b"[vdso32]",
        b"[vdsox32]",
        b"[vsyscall]",
        b"[heap]",
        b"[stack]",
    ];
    let name = module_name(path);
    let bracketed = name.starts_with(b"[") && name.ends_with(b"]");
    let module_file = [&b".ko"[..], b".ko.gz", b".ko.xz", b".ko.zst"]
        .iter()
        .any(|suffix| name.ends_with(suffix));
    module_file
        || name.starts_with(b"bpf_prog_")
        || (bracketed && !USER.contains(&name) && !name.starts_with(b"[anon"))
}

/// Returns `true` for `/tmp/perf-PID.map`, in which just-in-time compilers write symbols for perf,
/// and `jitted-PID-N.so`, which `perf inject --jit` makes. Such a name identifies only the process.
fn is_jit(path: &[u8]) -> bool {
    let name = base_name(path);
    let between = |prefix: &[u8], suffix: &[u8]| name.strip_prefix(prefix)?.strip_suffix(suffix);
    let number = between(b"perf-", b".map").or_else(|| between(b"jitted-", b".so"));
    number.is_some_and(|number| {
        number.iter().any(u8::is_ascii_digit)
            && number
                .iter()
                .all(|&byte| byte.is_ascii_digit() || byte == b'-')
    })
}

/// Completes the demangling of Rust symbols that macOS or DTrace show half demangled: removes
/// escapes (`_$LT$impl$u20$`), the hash, and suffixes of LLVM.
pub(super) fn without_rust_mangling(symbol: &[u8]) -> Cow<'_, [u8]> {
    let Ok(symbol) = std::str::from_utf8(text_prefix(symbol)) else {
        return symbol.into();
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let suffix = symbol.rsplit_once(" (.llvm.");
    let symbol = match suffix.and_then(|(name, suffix)| Some((name, suffix.strip_suffix(')')?))) {
        Some((name, number)) if is_digits(number) => name,
        _ => symbol,
    };
    let is_hash = |part: &str| {
        let hash = part.strip_prefix('h').filter(|hash| hash.len() == 16);
        hash.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let has_hash = symbol
        .rsplit_once("::")
        .is_some_and(|(_, last)| is_hash(last));
    if !has_hash && !symbol.contains("_$LT$") {
        return symbol.as_bytes().into();
    }
    let parts = symbol
        .split("::")
        .map(|part| format!("{}{part}", part.len()));
    let mangled = format!("_ZN{}E", parts.collect::<String>());
    match rustc_demangle::try_demangle(&mangled) {
        Ok(name) => format!("{name:#}").into_bytes().into(),
        Err(_) => symbol.as_bytes().into(),
    }
}

pub(super) fn nanoseconds_in(unit: &[u8]) -> Option<u64> {
    Some(match unit {
        b"nanoseconds" | b"nanosecond" | b"ns" => 1,
        b"microseconds" | b"microsecond" | b"us" => 1_000,
        b"milliseconds" | b"millisecond" | b"ms" => 1_000_000,
        b"seconds" | b"second" | b"s" => 1_000_000_000,
        _ => return None,
    })
}

/// The unit of an event's period: nanoseconds for perf's software clocks (`cpu-clock`,
/// `task-clock`, with or without modifiers as in `cpu-clock:u`), number of events otherwise.
///
/// Source: the kernel's `kernel/events/core.c`, which runs these two from a high-resolution timer
/// whose period is in nanoseconds.
pub(crate) fn units_of_event(event: &str) -> Unit {
    match event.split([':', '/']).next() {
        Some("cpu-clock" | "task-clock" | "offcpu-time") => Unit::Nanoseconds,
        _ => Unit::Events,
    }
}
