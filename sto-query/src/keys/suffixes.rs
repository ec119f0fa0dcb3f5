//! Removes suffixes of symbols: markers of clones, hashes and versions.

use super::{Rule, is_name};
use std::borrow::Cow;

/// The number after a marker.
#[derive(Clone, Copy)]
enum Number {
    Decimal,
    Hexadecimal,
    /// A decimal number, or no number.
    Optional,
}

/// Markers that compilers append, separated by dots.
const MARKS: [(&str, Number, Rule); 10] = [
    (".constprop", Number::Decimal, Rule::Clone),
    (".isra", Number::Decimal, Rule::Clone),
    (".part", Number::Decimal, Rule::Clone),
    (".cold", Number::Optional, Rule::Clone),
    (".warm", Number::Optional, Rule::Clone),
    (".localalias", Number::Optional, Rule::Clone),
    (".llvm", Number::Hexadecimal, Rule::LocalSymbol),
    (".lto_priv", Number::Decimal, Rule::LocalSymbol),
    (".__uniq", Number::Decimal, Rule::LocalSymbol),
    (".abi0", Number::Optional, Rule::GoAbi),
];

/// Suffix of a stub that calls a function of another file, which is not a copy of that function.
const PLT: &str = "@plt";

/// Removes suffixes repeatedly. `@plt` stays at the end.
pub(super) fn without_suffixes<'a>(
    name: Cow<'a, str>,
    note: &mut impl FnMut(Rule, &str, &str),
) -> Cow<'a, str> {
    let function = name.strip_suffix(PLT).unwrap_or(&name);
    let kept = kept(function, note).len();
    if kept == function.len() {
        return name;
    }
    let is_stub = function.len() < name.len();
    match name {
        _ if is_stub => Cow::Owned(name[..kept].to_owned() + PLT),
        Cow::Borrowed(name) => Cow::Borrowed(&name[..kept]),
        Cow::Owned(mut name) => {
            name.truncate(kept);
            Cow::Owned(name)
        }
    }
}

fn kept<'a>(name: &'a str, note: &mut impl FnMut(Rule, &str, &str)) -> &'a str {
    let mut rest = name;
    if let Some(before) = before_version(rest) {
        note(Rule::SymbolVersion, &rest[before.len()..], "");
        rest = before;
    }
    while let Some((before, rule)) = before_suffix(rest) {
        note(rule, &rest[before.len()..], "");
        rest = before;
    }
    rest
}

/// Returns the part before `@` or `@@` in `memcpy@@GLIBC_2.14`, if only a version follows.
///
/// Paths (of scripts in a folder with `@`) and names in the Microsoft mangling are not changed.
fn before_version(name: &str) -> Option<&str> {
    let (before, version) = name.split_once('@')?;
    let version = version.trim_start_matches('@');
    let is_version = version.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && version
            .bytes()
            .all(|b| is_name(b) || matches!(b, b'.' | b'-' | b'+'));
    let is_symbol = !before.is_empty() && !before.starts_with('?') && !before.contains('/');
    (is_version && is_symbol).then_some(before)
}

fn before_suffix(name: &str) -> Option<(&str, Rule)> {
    in_demangler_brackets(name)
        .or_else(|| before_mark(name))
        .or_else(|| before_rust_hash(name).map(|before| (before, Rule::RustHash)))
        .or_else(|| before_dotnet_tier(name).map(|before| (before, Rule::DotnetTier)))
        .or_else(|| before_method_value(name).map(|before| (before, Rule::GoMethodValue)))
}

/// Returns the part before the brackets in `foo() [clone .isra.0]` and `foo() (.llvm.123)`, if they
/// contain only markers.
fn in_demangler_brackets(name: &str) -> Option<(&str, Rule)> {
    let (before, inside) = match name.strip_suffix(']') {
        Some(open) => open.rsplit_once(" [clone ")?,
        None => name.strip_suffix(')')?.rsplit_once(" (")?,
    };
    let (mut marks, rule) = before_mark(inside)?;
    while let Some((before, _)) = before_mark(marks) {
        marks = before;
    }
    marks.is_empty().then_some((before.trim_end(), rule))
}

fn before_mark(name: &str) -> Option<(&str, Rule)> {
    // Searching for the last dot would read the whole name if there is none.
    let before = name.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let last = &name[before.len()..];
    let before = before.strip_suffix('.')?;
    let is_decimal = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    let is_hexadecimal = !last.is_empty() && last.bytes().all(|b| b.is_ascii_hexdigit());
    MARKS.iter().find_map(|&(mark, number, rule)| {
        let numbered = match number {
            Number::Decimal | Number::Optional => is_decimal,
            Number::Hexadecimal => is_hexadecimal,
        };
        if numbered && let Some(before) = before.strip_suffix(mark) {
            return Some((before, rule));
        }
        let is_bare = matches!(number, Number::Optional) && mark[1..] == *last;
        is_bare.then_some((before, rule))
    })
}

/// Matches `app::run::h0123456789abcdef`.
fn before_rust_hash(name: &str) -> Option<&str> {
    let (before, hash) = name.split_at_checked(name.len().checked_sub(16)?)?;
    let is_hash = hash.bytes().all(|b| b.is_ascii_hexdigit());
    before.strip_suffix("::h").filter(|_| is_hash)
}

/// Matches `instance int32 [App] Cart::Total()[OptimizedTier1]`.
///
/// Source: `GetJitOptimizationTierStr` and `PerfMap::LogPreCompiledMethod` in the runtime.
fn before_dotnet_tier(name: &str) -> Option<&str> {
    const TIERS: [&str; 9] = [
        "MinOptJitted",
        "Optimized",
        "QuickJitted",
        "OptimizedTier1",
        "OptimizedTier1OSR",
        "InstrumentedTier",
        "InstrumentedTierOptimized",
        "PreJIT",
        "ReadyToRun",
    ];
    let open = name.strip_suffix(']')?;
    let before = open.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let is_tier = TIERS.contains(&&open[before.len()..]);
    before.strip_suffix('[').filter(|_| is_tier)
}

/// Matches `main.(*Cart).Add-fm`, the function of the method value `cart.Add`, which runs that
/// method.
fn before_method_value(name: &str) -> Option<&str> {
    let before = name.strip_suffix("-fm")?;
    // The dot after the package is near the end, unless this is not a Go name.
    let is_go = before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        && !before.ends_with("-fm")
        && before.rfind('.').is_some();
    is_go.then_some(before)
}
