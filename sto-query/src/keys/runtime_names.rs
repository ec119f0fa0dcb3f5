//! Names that OCaml's compiler and PHP's just-in-time compiler build around the name of a function.

use super::Rule;

/// Returns the name that the source has; `None` if the symbol is neither OCaml's nor PHP's.
pub(super) fn source_name(name: &str, note: &mut impl FnMut(Rule, &str, &str)) -> Option<String> {
    let (rule, source) = match ocaml_name(name) {
        Some(source) => (Rule::OcamlStamp, source),
        None => (Rule::PhpTrace, php_name(name)?.to_owned()),
    };
    note(rule, name, &source);
    Some(source)
}

/// Returns `Stdlib.List.map` for `camlStdlib__List__map_236` and `camlStdlib__List.map_236`, as
/// perf prints it, but without the stamp: the number of the identifier in its file.
fn ocaml_name(name: &str) -> Option<String> {
    let path = name.strip_prefix("caml")?;
    let is_module = path.starts_with(|c: char| c.is_ascii_uppercase());
    if !is_module || !(path.contains("__") || path.contains('.')) {
        return None;
    }
    let path = without_stamp(path);
    let mut source = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find(['_', '$']) {
        source.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("__") {
            source.push('.');
            rest = after;
        } else if let Some((escaped, after)) = escape(rest) {
            source.push(escaped);
            rest = after;
        } else {
            source.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    source.push_str(rest);
    Some(source)
}

/// Removes the stamp of `leaf_88`, and the two numbers of `leaf_0_4_code` (Flambda 2).
pub(crate) fn without_stamp(name: &str) -> &str {
    if let Some(code) = name.strip_suffix("_code") {
        let once = without_number(code);
        return without_number(once);
    }
    without_number(name)
}

fn without_number(name: &str) -> &str {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match before.strip_suffix('_') {
        // `A._1`, and `A__1`, a constant without a name.
        Some(before) if before.len() + 1 < name.len() && !before.ends_with(['_', '.']) => before,
        _ => name,
    }
}

/// Reads `$5e`, a character that is not allowed in symbols.
fn escape(rest: &str) -> Option<(char, &str)> {
    let digits = rest.strip_prefix('$')?.get(..2)?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    byte.is_ascii_graphic()
        .then(|| (char::from(byte), &rest[3..]))
}

/// Returns `Shop::total` for `TRACE-12$Shop::total$7`, a trace with its number and its first line,
/// and for `JIT$Shop::total`.
fn php_name(name: &str) -> Option<&str> {
    if let Some(function) = name.strip_prefix("JIT$") {
        return Some(function);
    }
    let (number, function) = name.strip_prefix("TRACE-")?.split_once('$')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(number) {
        return None;
    }
    match function.rsplit_once('$') {
        Some((function, line)) if is_number(line) => Some(function),
        _ => Some(function),
    }
}
