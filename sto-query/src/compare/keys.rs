//! Function keys: what two builds have in common of a function's symbol.
//!
//! Compilers put into symbols what changes from build to build although the function does not:
//! hashes of the crate, numbers of clones and closures. A key is the symbol without those. Both
//! demangled and mangled spellings are read, as a symbol may have come through either way.
//!
//! Sources: GCC, `gcc/cgraphclones.cc` (`.constprop`, `.isra`, `.part`), `gcc/lto` (`.lto_priv`);
//! LLVM, `getUniqueInternalLinkageName` and ThinLTO promotion (`.llvm.`); the Rust RFC 2603 on
//! symbol mangling (crate disambiguators, `{closure#0}`) and its legacy form before (`::h` and 16
//! hexadecimal digits); the demanglers of libiberty (`[clone .isra.0]`, `{lambda()#1}`) and LLVM
//! (`'lambda0'()`, `$_0`).

use std::borrow::Cow;

/// Version of the rules of [`key_symbol`]; it changes whenever a symbol's key does.
pub const RULES_VERSION: u32 = 1;

/// The symbol without what compilers change from build to build.
///
/// A symbol of which nothing would be left keeps its name.
///
/// ```
/// use sto_query::compare::key_symbol;
/// assert_eq!(key_symbol("parse.constprop.0.isra.1"), "parse");
/// assert_eq!(key_symbol("app::run::{{closure}}::h0123456789abcdef"), "app::run::{closure}");
/// ```
pub fn key_symbol(symbol: &str) -> Cow<'_, str> {
    let bare = without_suffixes(symbol);
    if bare.is_empty() {
        return Cow::Borrowed(symbol);
    }
    if bare.contains(['{', '\'', '$', '[']) {
        Cow::Owned(without_numbers(bare))
    } else {
        Cow::Borrowed(bare)
    }
}

/// Marks that compilers append to the symbol of a clone, with a number behind them.
const CLONE_MARKS: [&str; 6] = [
    ".constprop",
    ".isra",
    ".part",
    ".cold",
    ".llvm",
    ".lto_priv",
];

/// Takes marks off the end, also in the demanglers' spelling, until none is left.
fn without_suffixes(symbol: &str) -> &str {
    let mut rest = symbol;
    loop {
        let marked = in_demangler_brackets(rest).or_else(|| without_mark(rest));
        match marked {
            Some(shorter) => rest = shorter.trim_end(),
            None => return rest,
        }
    }
}

/// `foo() [clone .isra.0]` and `foo() (.llvm.123)`: the part before, where the brackets hold
/// nothing but marks.
fn in_demangler_brackets(symbol: &str) -> Option<&str> {
    let (before, inside) = match symbol.strip_suffix(']') {
        Some(open) => open.rsplit_once(" [clone ")?,
        None => symbol.strip_suffix(')')?.rsplit_once(" (")?,
    };
    (inside.starts_with('.') && without_suffixes(inside).is_empty()).then_some(before)
}

fn without_mark(symbol: &str) -> Option<&str> {
    let is_hexadecimal = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some(before) = symbol.strip_suffix(".cold") {
        return Some(before);
    }
    if let Some((before, hash)) = symbol.split_at_checked(symbol.len().saturating_sub(16))
        && is_hexadecimal(hash)
        && let Some(before) = before.strip_suffix("::h")
    {
        return Some(before);
    }
    let (clone, number) = symbol.rsplit_once('.')?;
    if number.is_empty() || !is_hexadecimal(number) {
        return None;
    }
    CLONE_MARKS.iter().find_map(|mark| clone.strip_suffix(mark))
}

/// Takes the numbers out of closures, lambdas and unnamed types, and the disambiguators out of
/// crate names, wherever they stand.
fn without_numbers(symbol: &str) -> String {
    let mut key = String::with_capacity(symbol.len());
    let mut rest = symbol;
    while let Some(at) = rest.find(['{', '#', '\'', '$', '[']) {
        key.push_str(&rest[..at]);
        let tail = &rest[at..];
        let (taken, written) = rule_at(tail);
        key.push_str(written);
        rest = &tail[taken..];
    }
    key.push_str(rest);
    key
}

/// What stands at the beginning of `tail`: how many bytes are read, and what is written instead.
fn rule_at(tail: &str) -> (usize, &str) {
    if tail.starts_with("{{closure}}") {
        return ("{{closure}}".len(), "{closure}");
    }
    // `#3}`: the number of a closure, lambda, impl block, shim or unnamed type.
    if let Some(digits) = numbered(tail, "#", u8::is_ascii_digit)
        && tail[1 + digits..].starts_with('}')
    {
        return (1 + digits, "");
    }
    // `'lambda3'(int)`.
    if let Some(digits) = numbered(tail, "'lambda", u8::is_ascii_digit)
        && tail["'lambda".len() + digits..].starts_with('\'')
    {
        return ("'lambda".len() + digits, "'lambda");
    }
    // `$_3`.
    if let Some(digits) = numbered(tail, "$_", u8::is_ascii_digit) {
        return ("$_".len() + digits, "$_");
    }
    // `core[846817f741e54dfd]`: 64 bits without leading zeros, so nearly always 13 digits or more.
    if let Some(digits) = numbered(tail, "[", u8::is_ascii_hexdigit)
        && (13..=16).contains(&digits)
        && tail[1 + digits..].starts_with(']')
    {
        return (digits + 2, "");
    }
    // The characters that are searched for are one byte long.
    (1, &tail[..1])
}

/// Number of digits behind a prefix; `None` without the prefix or without a digit.
fn numbered(tail: &str, prefix: &str, is_digit: impl Fn(&u8) -> bool) -> Option<usize> {
    let after = tail.strip_prefix(prefix)?;
    let digits = after.bytes().take_while(is_digit).count();
    (digits > 0).then_some(digits)
}
