//! Parses the names that just-in-time compilers write for functions.

use sto_model::FrameKind;

/// The parsed name of a generated function.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JitName<'a> {
    pub(super) kind: FrameKind,
    pub(super) symbol: &'a str,
    /// The path as written, not normalized.
    pub(super) file: &'a str,
}

/// V8's name for an anonymous function.
const ANONYMOUS: &str = "(anonymous)";

/// Parses a name. Names of CPython (`py::f:/dir/a.py`) and V8 (`JS:*f /dir/a.js:1:14`) have the file and the kind of
/// code in them; any other is the name of compiled code.
pub(super) fn parse(name: &str) -> JitName<'_> {
    let whole = JitName {
        kind: match name {
            // HotSpot's name for its bytecode interpreter.
            "Interpreter" => FrameKind::Interpreted,
            _ => FrameKind::Jit,
        },
        symbol: name,
        file: "",
    };
    python(name).or_else(|| v8(name)).unwrap_or(whole)
}

/// Parses a name by CPython's `Objects/perf_trampoline.c`: a generated trampoline calls the interpreter, which runs the
/// function.
fn python(name: &str) -> Option<JitName<'_>> {
    let (symbol, file) = name.strip_prefix("py::")?.split_once(':')?;
    Some(JitName {
        kind: FrameKind::Interpreted,
        symbol,
        file,
    })
}

/// Parses a `JSFunction` name by V8's `src/logging/log.cc`, with the marks of `ComputeMarker`: `~` for Ignition, `^` for
/// Sparkplug, `+` for Maglev, `*` for TurboFan, and `'` after the mark for context-specialized code.
fn v8(name: &str) -> Option<JitName<'_>> {
    let kinds = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];
    let function = kinds.iter().find_map(|kind| name.strip_prefix(kind))?;
    let kind = match function.as_bytes().first()? {
        b'~' => FrameKind::Interpreted,
        b'^' | b'+' => FrameKind::JitBaseline,
        _ => FrameKind::Jit,
    };
    let function = function.trim_start_matches(['~', '^', '+', '*', '\'']);
    let without_position = strip_number(strip_number(function));
    // `get sum` is the getter of `sum`.
    let accessor = ["get ", "set "].iter().find_map(|kind| {
        let (_, file) = without_position.strip_prefix(kind)?.split_once(' ')?;
        let symbol = without_position.strip_suffix(file)?.trim_end_matches(' ');
        Some((symbol, file))
    });
    let (symbol, file) = accessor
        .or_else(|| without_position.split_once(' '))
        .unwrap_or((without_position, ""));
    Some(JitName {
        kind,
        symbol: if symbol.is_empty() { ANONYMOUS } else { symbol },
        file,
    })
}

/// Removes a number with its colon (`:12`) from the end.
fn strip_number(text: &str) -> &str {
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
    fn parses_names_of_cpython_v8_and_hotspot() {
        let cases = [
            ("py::leaf:/w/work.py", Interpreted, "leaf", "/w/work.py"),
            (
                "py::<module>:/a b/w.py",
                Interpreted,
                "<module>",
                "/a b/w.py",
            ),
            ("JS:*leaf /w/fib.js:1:14", Jit, "leaf", "/w/fib.js"),
            ("JS:*get sum /w/fib.js:1:14", Jit, "get sum", "/w/fib.js"),
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
