//! Tests of the demangler of D names.

use super::*;

fn demangle(mangled: &str) -> Option<String> {
    let mut name = String::new();
    write(mangled, &mut name).ok().map(|()| name)
}

#[test]
fn demangles_names() {
    let cases = [
        ("_Dmain", "D main"),
        // Functions, methods and nested functions.
        ("_D1a5totalFACQl5ShapeZd", "a.total"),
        ("_D1a5Shape4areaMFZd", "a.Shape.area"),
        ("_D1a4mainFAAyaZ6nestedMFNaNbNiNfiZv", "a.main.nested"),
        ("_D1a6Circle6__ctorMFdZCQvQv", "a.Circle.this"),
        ("_D1a6Circle6__dtorMFZv", "a.Circle.~this"),
        (
            "_D3std3uni8Grapheme10__postblitMFNaNbNiNeZv",
            "std.uni.Grapheme.this(this)",
        ),
        (
            "_D3std3net4curl4Curl6onSendMFNdDFAvZmZ9__lambda2MQr",
            "std.net.curl.Curl.onSend.__lambda2",
        ),
        ("_D3gen3dupFiZ4__S11D1aMFZv", "gen.dup.D.a"),
        ("_D1a001gFZv", "a.g"),
        // Data.
        ("_D3gen6globali", "gen.global"),
        ("_D1a5Shape6__initZ", "initializer for a.Shape"),
        ("_D1a5Shape6__vtblZ", "vtable for a.Shape"),
        ("_D1a5Shape7__ClassZ", "ClassInfo for a.Shape"),
        ("_D3gen1I11__InterfaceZ", "Interface for gen.I"),
        ("_D1a12__ModuleInfoZ", "ModuleInfo for a"),
        // Templates: the name of a template's only member is not repeated.
        (
            "_D1a4mainFAAyaZ__T9__lambda3TiZQnMFNaNfiZi",
            "a.main.__lambda3!(int)",
        ),
        (
            "_D1a__T5PointTdZQj3dotMxFNaNbNiNfSQBg__TQBhTdZQBnZd",
            "a.Point!(double).dot",
        ),
        (
            "_D3gen__T4NestTiZ__TQlTAyaZQsFNaNbNiNfQpZv",
            "gen.Nest!(int).Nest!(immutable(char)[])",
        ),
        (
            "_D1a__T1bHTiVPFZvf_D1a1fFZvX3cppS1a1cZ1xi",
            "a.b!(int, a.f, cpp, a.c).x",
        ),
        // Back references to a function's type, in a pointer and in a delegate.
        (
            "_D1a__T1bTFKiYvTPQhTDQlZ1xi",
            "a.b!(void(ref int, ...), void function(ref int, ...), void delegate(ref int, ...)).x",
        ),
        // Types.
        (
            "_D1a__T1bTxOiTNgPyaTG3C1cTHAyaE1eTNhG4fTNnTBikZTziZ1xi",
            "a.b!(const(shared(int)), inout(immutable(char)*), c[3], e[immutable(char)[]], __vector(float[4]), noreturn, tuple(int, uint), cent).x",
        ),
        (
            "_D3gen__T3typTPFZvTPFNaNbNfKiJAyaLiZiTDxFZvTDOFNiAiXvZQBtFNaNbNiNfZv",
            "gen.typ!(void function(), int function(ref int, out immutable(char)[], lazy int), void delegate(), void delegate(int[]...))",
        ),
        (
            "_D1a__T1bTPUxPaYiTPRC1cZvTPFYvZ1xi",
            "a.b!(extern(C) int function(const(char*), ...), extern(C++) void function(c), void function(...)).x",
        ),
        // Values.
        (
            "_D1a__T1bVbi1VnnVgN3Vhi3Vli4Vmi5VE1ei6Z1xi",
            "a.b!(true, null, -3, 3u, 4L, 5uL, 6).x",
        ),
        (
            "_D1a__T1bVai97Vai10Vai255Vui20013Z1xi",
            r"a.b!('a', '\n', '\xff', '\u4e2d').x",
        ),
        (
            "_D1a__T1bVde8P1VdeNCP3VeeABP0VdeFP00VdeNANVdeNINFZ1xi",
            "a.b!(0x8.p1, -0xC.p3, 0xA.Bp0, 0xF.p00, NaN, -Inf).x",
        ),
        (
            "_D1a__T1bVde8PN12VdeABCP3Z1xi",
            "a.b!(0x8.p-12, 0xA.BCp3).x",
        ),
        (
            "_D1a__T1bVAyaa5_2261c3a90aVAyua0_VAyww1_41Z1xi",
            "a.b!(\"\\\"aé\\n\", \"\", \"A\"w).x",
        ),
        (
            "_D3gen__T4valtTHAyaiVQgA2a1_61i1a1_62i2ZQBfFNaNbNiNfZv",
            "gen.valt!(int[immutable(char)[]], [\"a\":1, \"b\":2])",
        ),
        (
            "_D1a__T1bVAiA2i1N2VHiiA2i1i2i3i4VQxA0VSQBl1sS2i1A2e8P1nZ1xi",
            "a.b!([1, -2], [1:2, 3:4], [], a.s(1, [0x8.p1, null])).x",
        ),
    ];
    for (mangled, expected) in cases {
        assert_eq!(demangle(mangled).as_deref(), Some(expected), "{mangled}");
    }
}

#[test]
fn rejects_other_names() {
    let names = [
        "",
        "_D",
        "main",
        "_D1",
        "_D1a",
        "_D2aZ",
        "_D1é",
        "_DDv",
        "_D1aiv",
        "_D0Z",
        "_D4__S1Z",
        "_DeleteException",
        "_D1a__T1bTiZ",
        "_D1aFiv",
        "_D1a__T1bVAyaa1_é",
        "_D1aQ",
        "_D1aQZ",
        "_D1aFQzZv",
        "_D1aFQaZv",
        "_DQbZ",
        "_D18446744073709551615aZ",
        "_D18446744073709551616aZ",
        "_D1a__T1bVAyaa18446744073709551615_61Z1xi",
        "_D1a__T1bVAiA18446744073709551615i1Z1xi",
    ];
    for name in names {
        assert_eq!(demangle(name), None, "{name}");
    }
}

#[test]
fn rejects_truncated_names() {
    let name = "_D1a__T5PointTdZQj11__xopEqualsMxFKxSQBj__TQBkTdZQBqZb";
    assert!(demangle(name).is_some());
    for end in 0..name.len() {
        assert_eq!(demangle(&name[..end]), None, "{}", &name[..end]);
    }
}

#[test]
fn limits_depth() {
    let shapes = [
        ("_D1aF", "A", "i", "", "Zv"),
        ("_D1aF", "PF", "", "Zv", "Zv"),
        ("_D1aF", "H", "i", "i", "Zv"),
        ("_D1a__T1bVi", "A1", "i1", "", "Z1xi"),
        ("_D1a", "__T1bS", "1a", "Z", "i"),
        ("_D1a", "__T1bVif_D1a", "i", "Zi", ""),
        ("_D1aF", "S1a__T1bT", "i", "Z", "Zv"),
    ];
    for (start, open, inner, close, end) in shapes {
        let name = |times| {
            let (open, close) = (open.repeat(times), close.repeat(times));
            format!("{start}{open}{inner}{close}{end}")
        };
        assert!(demangle(&name(10)).is_some(), "{}", name(10));
        for times in [60, 64, 100, 5000] {
            let name = name(times);
            assert!(demangle(&name).is_none_or(|text| !text.is_empty()));
        }
    }
}

#[test]
fn survives_cyclic_back_references() {
    for part in [
        "Qa",
        "Qb",
        "Qc",
        "AQb",
        "AQc",
        "PFQcZQe",
        "S1aQf",
        "__TQb",
        "C1a__T1bTQc",
    ] {
        for start in ["_D1a", "_D1aF", "_D1a__T1bT"] {
            for times in [1, 2, 1000, 20_000] {
                let name = demangle(&format!("{start}{}Zv", part.repeat(times)));
                assert!(
                    name.is_none_or(|name| name.starts_with("a")),
                    "{start}{part}"
                );
            }
        }
    }
}

#[test]
fn limits_work() {
    // Each tuple consists of the previous one, twice.
    let doubling = |times| format!("_D1a__T1bTBiiZTBQgQiZ{}Z1xi", "TBQiQkZ".repeat(times));
    let short = demangle(&doubling(2)).expect("it is short");
    assert!(
        short.contains("tuple(tuple(int, int), tuple(int, int))"),
        "{short}"
    );
    assert_eq!(demangle(&doubling(40)), None);
    // What follows a qualified name is first parsed as its parameters.
    let backtracking = "C1aF".repeat(60);
    assert_eq!(demangle(&format!("_D1aF{backtracking}iZv")), None);
    let digits = "9".repeat(60_000);
    assert_eq!(demangle(&format!("_D1aF{backtracking}{digits}Zv")), None);
}
