//! Demangling of C++, Rust and D symbols.

mod dlang;
mod itanium;

use std::fmt::{self, Write};
use sto_model::limits::{MAX_NAME, truncate_name, truncate_text};

/// Length limit in bytes to mangled names. Template libraries reach 20,000.
const MAX_MANGLED: usize = 1 << 16;

/// The part of a name that is looked at. Many symbols may share the end of a long name, so longer
/// names are cut and no longer demangled.
pub fn name_prefix(raw: &[u8]) -> &[u8] {
    &raw[..raw.len().min(MAX_MANGLED + 1)]
}

/// Returns the readable name of a symbol; names that are not mangled stay unchanged.
///
/// Invalid UTF-8 is replaced, and a name longer than 4096 bytes is cut and ends in `…`.
pub fn demangle(raw: &[u8]) -> String {
    let raw = name_prefix(raw);
    let mangled = std::str::from_utf8(raw).ok();
    mangled
        .and_then(demangled)
        .unwrap_or_else(|| truncate_name(&String::from_utf8_lossy(raw)))
}

/// Demangles a name; returns `None` if it is not mangled.
///
/// Rust names (legacy and v0) lose their hash; C++ names keep their template arguments, but not
/// their parameters and result, as in `perf report`; D names likewise. Suffixes that compilers and linkers add to a
/// mangled name (`.cold`, `.llvm.123`, `@plt`) are kept. A name of more than
/// 4096 bytes is cut and ends in `…`.
///
/// ```
/// # use sto_formats as sto_core;
/// use sto_core::demangled;
/// assert_eq!(demangled("_ZN4shop4Cart3addEi.cold").as_deref(), Some("shop::Cart::add.cold"));
/// assert_eq!(demangled("main"), None);
/// ```
pub fn demangled(mangled: &str) -> Option<String> {
    let mut name = Capped::default();
    let is_written = mangled.len() <= MAX_MANGLED
        && (write_rust(mangled, &mut name)
            || write_cpp(mangled, &mut name)
            || write_d(mangled, &mut name));
    is_written.then(|| name.finish())
}

fn write_rust(mangled: &str, out: &mut Capped) -> bool {
    if !(mangled.starts_with("_R") || mangled.starts_with("_ZN")) {
        return false;
    }
    // rustc_demangle drops this suffix but keeps all others.
    let (mangled, llvm) = match mangled.find(".llvm.") {
        Some(at) => mangled.split_at(at),
        None => (mangled, ""),
    };
    // A C++ name of the form `_ZN...E` is a variable, not code.
    let Ok(demangled) = rustc_demangle::try_demangle(mangled) else {
        return false;
    };
    out.try_write(|out| write!(out, "{demangled:#}{llvm}"))
}

fn write_cpp(mangled: &str, out: &mut Capped) -> bool {
    if !mangled.starts_with("_Z") {
        return false;
    }
    let (mangled, suffix) = split_suffix(mangled);
    out.try_write(|out| {
        itanium::write(mangled.as_bytes(), out)?;
        out.write_str(suffix)
    })
}

fn write_d(mangled: &str, out: &mut Capped) -> bool {
    if !mangled.starts_with("_D") {
        return false;
    }
    let (mangled, suffix) = split_suffix(mangled);
    out.try_write(|out| {
        dlang::write(mangled, out)?;
        out.write_str(suffix)
    })
}

/// Splits off what compilers and linkers add to a mangled name.
fn split_suffix(mangled: &str) -> (&str, &str) {
    mangled.split_at(mangled.find(['.', '@']).unwrap_or(mangled.len()))
}

/// A string of at most [`MAX_NAME`] bytes; a mangled name of a few bytes can stand for gigabytes.
#[derive(Default)]
struct Capped {
    text: String,
    full: bool,
}

impl Capped {
    /// Returns `true` if `write` wrote a name, even a cut one; otherwise nothing was written.
    fn try_write(&mut self, write: impl FnOnce(&mut Capped) -> fmt::Result) -> bool {
        let written = write(self).is_ok() || self.full;
        if !written {
            self.text.clear();
        }
        written
    }

    fn is_full(&self) -> bool {
        self.full
    }

    fn finish(self) -> String {
        self.text
    }
}

impl Write for Capped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.full {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        if self.text.len() > MAX_NAME {
            truncate_text(&mut self.text, MAX_NAME);
            self.full = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demangles_names() {
        let cases = [
            // Rust, legacy mangling: the hash is dropped, suffixes stay.
            (
                "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
                "core::fmt::Write::write_fmt",
            ),
            (
                "_ZN51_$LT$app..Cart$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE.cold",
                "<app::Cart as core::ops::drop::Drop>::drop.cold",
            ),
            (
                "_ZN3app4work17h0123456789abcdefE.llvm.12345678901234567890",
                "app::work.llvm.12345678901234567890",
            ),
            // Rust, v0 mangling.
            ("_RNvNtCs1234_3app4shop5total", "app::shop::total"),
            (
                "_RNvNtCs1234_3app4shop5total.llvm.42",
                "app::shop::total.llvm.42",
            ),
            // C++.
            ("_ZN4shop4Cart3addEiPKc", "shop::Cart::add"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back",
            ),
            ("_Z4workl.constprop.0.isra.1", "work.constprop.0.isra.1"),
            ("_Z3maxIlET_S0_S0_", "max<long>"),
            ("_ZdlPv@plt", "operator delete@plt"),
            // D.
            (
                "_D3std4conv__T6toImplTiTxkZQnFNaNfxkZi",
                "std.conv.toImpl!(int, const(uint))",
            ),
            ("_D1a6Circle4areaMFZd.cold", "a.Circle.area.cold"),
            ("_Dmain", "D main"),
            // Everything else.
            ("_DYNAMIC", "_DYNAMIC"),
            ("main", "main"),
            ("do_execveat_common.isra.0", "do_execveat_common.isra.0"),
            ("memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14"),
            ("_Zed", "_Zed"),
            ("_R", "_R"),
            ("_ZN", "_ZN"),
            ("", ""),
        ];
        for (raw, expected) in cases {
            assert_eq!(demangle(raw.as_bytes()), expected, "{raw}");
        }
    }

    #[test]
    fn replaces_invalid_utf8() {
        assert_eq!(demangle(b"work\xff\xfe"), "work\u{fffd}\u{fffd}");
    }

    #[test]
    fn leaves_names_with_exponential_parse_time_mangled() {
        let shapes = [
            ("_Z3fooIX", "dl"),
            ("_Z3fooIX", "da"),
            ("_Z3fooIX", "nw"),
            ("_Z3fooIX", "nadl"),
            ("_Z3fooIX", "gsdl"),
            ("_Z3fooIXsr", "T_I"),
            ("_Z", "cv"),
            ("_Z3foo", "Ul"),
            ("_Z3foo", "CI1"),
            ("_Z3foo", "SaI"),
            ("_Z3fooIi", "S_I"),
            ("_Z3fooI", "T_I"),
            ("_ZN3foocv", "T_I"),
            ("_Z3fooIXcv", "fLU3fooI"),
            // A number that is not the length of an identifier hides nothing.
            ("_Z3fooILi80E", "XdlLi80E"),
            ("_Z3fooIXLi90EE", "Xdl"),
        ];
        for (start, part) in shapes {
            for times in [20, 40, 80] {
                let name = start.to_owned() + &part.repeat(times);
                assert_eq!(demangle(name.as_bytes()), name);
                let ended = name + &"E".repeat(times);
                assert!(!demangle(ended.as_bytes()).is_empty());
            }
        }
    }

    /// Symbols of a parser that uses Boost.Spirit, as in issue 207 of cpp_demangle, and their names by `c++filt -p` of
    /// binutils 2.40.
    #[test]
    fn demangles_deeply_nested_names_like_libiberty() {
        let mangled = include_str!("demangle/boost-spirit.txt").lines();
        let names = include_str!("demangle/boost-spirit-names.txt").lines();
        let mut compared = 0;
        for (mangled, name) in mangled.zip(names) {
            // libiberty writes literals with other casts.
            let name = ["0", "1", "2"].iter().fold(name.to_owned(), |name, digit| {
                name.replace(&format!(" {digit}l>"), &format!(" (long){digit}>"))
            });
            assert_eq!(demangle(mangled.as_bytes()), name);
            compared += 1;
        }
        assert_eq!(compared, 5);
    }

    #[test]
    fn demangles_any_depth_without_overflowing_the_stack() {
        let shapes = [
            ("_Z1f", "P", "i", ""),
            ("_Z1fI", "N1aI", "i", "EE"),
            ("_Z1f", "PF", "v", "iE"),
            ("_Z1fIX", "pl", "Li1E", "Li1E"),
            ("_Z1fIX", "cl", "1a", "E"),
            ("_Z1fIX", "dtfp_", "1a", ""),
            ("_Z", "Z1fvE", "1a", ""),
            ("_Z1fIJ", "J", "i", "E"),
            ("_Z1f", "DTng", "1aE", "E"),
            ("_Z1fIX", "tl1a", "1c", "E"),
            ("_Z1fI1aIiE", "NS_I", "i", "EE"),
            ("_Z1fI1aIiE", "NKT_I", "i", "EE"),
            ("_Z1fI1aIiE", "aNS_I", "i", "EE"),
            ("_Z1fIX", "aNT_I", "Li1E", "E"),
            ("_Z1fIX", "aNS0_NT_I", "Li1E", "EE"),
        ];
        for (start, open, inner, close) in shapes {
            for times in [10, 30, 60, 100, 170, 400, 1000] {
                let nested = open.repeat(times) + inner + &close.repeat(times);
                for end in ["", "E", "Ev", "EEv"] {
                    let name = format!("{start}{nested}{end}");
                    assert!(!demangle(name.as_bytes()).is_empty(), "{name}");
                }
            }
        }
    }

    #[test]
    fn cuts_long_names() {
        // A small bomb: each type contains the previous one twice.
        let mut bomb = "_Z1fISt4pairIiiE".to_owned();
        for ix in "0123456789ABCDEF".chars() {
            bomb.push_str(&format!("S_IS{ix}_S{ix}_E"));
        }
        bomb.push_str("Evv");
        let long = format!("_Z5000{}v", "a".repeat(5000));
        let mangled_long = "_ZN".repeat(100_000);
        for (raw, start) in [
            (bomb, "f<std::pair<int, int>, "),
            (long, "aaaa"),
            (mangled_long, "_ZN_ZN"),
            ("é".repeat(4000), "éé"),
        ] {
            let name = demangle(raw.as_bytes());
            assert!(name.len() <= MAX_NAME && name.len() > MAX_NAME - 4);
            assert!(name.starts_with(start) && name.ends_with('…'), "{name}");
        }
    }
}
