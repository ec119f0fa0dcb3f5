//! What just-in-time compilers write as the name of a function.

use sto_model::FrameKind;

/// A function that was made at run time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JitName<'a> {
    pub(super) kind: FrameKind,
    pub(super) symbol: &'a str,
    /// As it is written: not yet without what differs between machines.
    pub(super) file: &'a str,
}

/// V8's name of a function without one.
const ANONYMOUS: &str = "(anonymous)";

/// Splits a name: those of CPython (`py::f:/dir/a.py`) and V8 (`JS:*f /dir/a.js:1:14`) carry
/// the file, and how the code was made. Any other is one of compiled code, whole.
pub(super) fn parse(name: &str) -> JitName<'_> {
    let whole = JitName {
        kind: match name {
            // HotSpot's name of the code that runs bytecode.
            "Interpreter" => FrameKind::Interpreted,
            _ => FrameKind::Jit,
        },
        symbol: name,
        file: "",
    };
    python(name).or_else(|| v8(name)).unwrap_or(whole)
}

/// `Objects/perf_trampoline.c` of CPython: the interpreter runs the function, below a jump of its own.
fn python(name: &str) -> Option<JitName<'_>> {
    let (symbol, file) = name.strip_prefix("py::")?.split_once(':')?;
    Some(JitName {
        kind: FrameKind::Interpreted,
        symbol,
        file,
    })
}

/// `JSFunction` names of V8's `src/logging/log.cc`, with the marks of `ComputeMarker`: `~` for
/// Ignition, `^` for Sparkplug, `+` for Maglev, `*` for TurboFan, and `'` where it makes code for
/// another thread's later use.
fn v8(name: &str) -> Option<JitName<'_>> {
    let kinds = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];
    let function = kinds.iter().find_map(|kind| name.strip_prefix(kind))?;
    let kind = match function.as_bytes().first()? {
        b'~' => FrameKind::Interpreted,
        b'^' | b'+' => FrameKind::JitBaseline,
        _ => FrameKind::Jit,
    };
    let function = function.trim_start_matches(['~', '^', '+', '*', '\'']);
    let position = without_number(without_number(function));
    let (symbol, file) = position.split_once(' ').unwrap_or((position, ""));
    Some(JitName {
        kind,
        symbol: if symbol.is_empty() { ANONYMOUS } else { symbol },
        file,
    })
}

/// Without `:12` at the end.
fn without_number(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((rest, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            rest
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FrameKind::{Interpreted, Jit, JitBaseline};

    #[test]
    fn names_are_taken_apart_as_their_makers_put_them_together() {
        let cases = [
            ("py::leaf:/w/work.py", Interpreted, "leaf", "/w/work.py"),
            (
                "py::<module>:/a b/w.py",
                Interpreted,
                "<module>",
                "/a b/w.py",
            ),
            ("JS:*leaf /w/fib.js:1:14", Jit, "leaf", "/w/fib.js"),
            (
                "JS:~ file:///w/fib.js:1:1",
                Interpreted,
                "(anonymous)",
                "file:///w/fib.js",
            ),
            (
                "JS:^get node:internal/util:9:3",
                JitBaseline,
                "get",
                "node:internal/util",
            ),
            (
                "LazyCompile:+run /w/a.js:2:3",
                JitBaseline,
                "run",
                "/w/a.js",
            ),
            ("JS:*", Jit, "(anonymous)", ""),
            ("JS:", Jit, "JS:", ""),
            ("Interpreter", Interpreted, "Interpreter", ""),
            ("Builtin:ArrayMap", Jit, "Builtin:ArrayMap", ""),
            ("Lcom/Foo;::bar", Jit, "Lcom/Foo;::bar", ""),
        ];
        for (name, kind, symbol, file) in cases {
            assert_eq!(parse(name), JitName { kind, symbol, file }, "{name}");
        }
    }
}
