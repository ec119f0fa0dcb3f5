//! Which symbols are one function.

use sto_query::compare::key_symbol;

#[test]
fn what_compilers_change_from_build_to_build_is_taken_out() {
    let cases = [
        // GCC clones, alone and stacked, with and without numbers.
        ("parse.constprop.0", "parse"),
        ("parse.isra.12", "parse"),
        ("parse.part.3", "parse"),
        ("parse.cold", "parse"),
        ("parse.cold.7", "parse"),
        ("parse.lto_priv.0", "parse"),
        ("parse.part.0.constprop.1.cold", "parse"),
        // The demanglers' spelling of the same.
        ("app::parse(int) [clone .isra.0]", "app::parse(int)"),
        (
            "app::parse(int) [clone .part.0] [clone .constprop.1]",
            "app::parse(int)",
        ),
        ("app::parse(int) (.cold)", "app::parse(int)"),
        // ThinLTO.
        ("parse.llvm.1234567890123456789", "parse"),
        ("app::parse(int) (.llvm.123)", "app::parse(int)"),
        // Rust: legacy hash, v0 crate hash, closures of both.
        ("app::run::h0123456789abcdef", "app::run"),
        (
            "app::run::{{closure}}::h0123456789abcdef",
            "app::run::{closure}",
        ),
        ("app::run::{closure#3}", "app::run::{closure}"),
        (
            "app[846817f741e54dfd]::run::{closure#0}::{closure#1}",
            "app::run::{closure}::{closure}",
        ),
        (
            "<app::{impl#2} as core::ops::Drop>::drop",
            "<app::{impl} as core::ops::Drop>::drop",
        ),
        // C++ lambdas: GCC, then Clang.
        (
            "run()::{lambda(int)#1}::operator()(int) const",
            "run()::{lambda(int)}::operator()(int) const",
        ),
        (
            "run()::'lambda2'(int)::operator()(int) const",
            "run()::'lambda'(int)::operator()(int) const",
        ),
        (
            "run()::$_4::operator()() const",
            "run()::$_::operator()() const",
        ),
    ];
    for (symbol, key) in cases {
        assert_eq!(key_symbol(symbol), key, "{symbol}");
        assert_eq!(key_symbol(key), key, "a key is its own key");
    }
}

#[test]
fn what_looks_alike_but_is_part_of_a_name_stays() {
    let names = [
        "partition",
        "is.particular.3",
        "parse.part",
        "parse.part.",
        "parse.cold_path",
        "make::hash",
        "app::h0123456789abcdef0",
        "app::h0123",
        "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
        "operator() (.)",
        "map<T[16]>",
        "run()::'lambda'(int)",
        "printf@@GLIBC_2.2.5",
        "main.func1",
        "price$",
        "#1",
        "",
    ];
    for name in names {
        assert_eq!(key_symbol(name), name);
    }
}

#[test]
fn a_symbol_that_is_nothing_but_a_mark_keeps_its_name() {
    assert_eq!(key_symbol(".cold"), ".cold");
    assert_eq!(key_symbol(".isra.0"), ".isra.0");
    assert_eq!(key_symbol("::h0123456789abcdef"), "::h0123456789abcdef");
}

#[test]
fn hostile_symbols_are_read_in_time_that_grows_with_their_length() {
    for part in [
        ".cold",
        "{{closure}}",
        "#1}",
        " [clone .isra.0]",
        "(.llvm.1)",
        "'lambda",
        "[aaaaaaaaaaaaaaaa]",
        "☃'",
    ] {
        let symbol = part.repeat(100_000);
        assert!(key_symbol(&symbol).len() <= symbol.len());
    }
}
