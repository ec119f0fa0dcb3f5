//! Symbols that have the same key.

use super::support::{compare, compared, summary, view};
use proptest::prelude::*;
use proptest::sample::select;
use sto_query::internal::functions::RULES_VERSION;
use sto_query::questions::{CompareOptions, KeyOptions, explain_match, key_symbol};
use sto_query::results::Rule;

fn without_arguments() -> KeyOptions {
    with!(KeyOptions {
        ignore_template_arguments: true,
    })
}

fn key(symbol: &str) -> String {
    key_symbol(symbol, KeyOptions::default()).into_owned()
}

#[track_caller]
fn is_key(symbol: &str, expected: &str) {
    assert_eq!(key(symbol), expected, "{symbol}");
    assert_eq!(key(expected), expected, "a key is its own key");
}

#[test]
fn removes_suffixes_of_clones_in_any_order() {
    for (symbol, key) in [
        ("parse.constprop.0", "parse"),
        ("parse.isra.12", "parse"),
        ("parse.part.3", "parse"),
        ("parse.cold", "parse"),
        ("parse.cold.7", "parse"),
        ("parse.warm", "parse"),
        ("parse.localalias", "parse"),
        ("parse.localalias.1", "parse"),
        ("parse.lto_priv.0", "parse"),
        ("parse.part.0.constprop.1.cold", "parse"),
        ("parse.llvm.1234567890123456789", "parse"),
        ("parse.llvm.A1B2C3", "parse"),
        (
            "parse.__uniq.302881920721534500026459418755784807954",
            "parse",
        ),
        ("parse.__uniq.3028.llvm.42.cold.1", "parse"),
        ("parse.cold.lto_priv.0.isra.0.warm", "parse"),
        // The same in the spelling of demanglers.
        ("app::parse(int) [clone .isra.0]", "app::parse(int)"),
        (
            "app::parse(int) [clone .part.0] [clone .constprop.1]",
            "app::parse(int)",
        ),
        (
            "app::parse(int) [clone .part.0.constprop.1]",
            "app::parse(int)",
        ),
        ("app::parse(int) (.cold)", "app::parse(int)"),
        ("app::parse(int) (.llvm.123)", "app::parse(int)"),
        ("main._omp_fn.12", "main._omp_fn"),
        ("main._omp_fn.12.cold", "main._omp_fn"),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn removes_versions_but_keeps_plt_stubs() {
    is_key("memcpy@GLIBC_2.2.5", "memcpy");
    is_key("memcpy@@GLIBC_2.14", "memcpy");
    is_key("SSL_read@@OPENSSL_3.0.0", "SSL_read");
    is_key("memcpy@plt", "memcpy@plt");
    is_key("memcpy@@GLIBC_2.14@plt", "memcpy@plt");
    is_key("parse.part.0@plt", "parse@plt");
    is_key("operator delete@plt", "operator delete@plt");
    is_key("foo@8", "foo@8");
    is_key("?run@App@@YAXXZ", "?run@App@@YAXXZ");
    is_key("/app/node_modules/@scope", "/app/node_modules/@scope");
}

#[test]
fn removes_closure_numbers_and_rust_hashes() {
    for (symbol, key) in [
        ("app::run::h0123456789abcdef", "app::run"),
        ("app::run::h0123456789abcdef.llvm.77", "app::run"),
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
        ("_ZN3app3run17h0123456789abcdefE", "app::run"),
        ("_RNCNvCs1234_3app3run0.llvm.5", "app::run::{closure}"),
        // C++: libiberty, then LLVM.
        (
            "run()::{lambda(int)#1}::operator()(int) const",
            "run()::{lambda(int)}::operator()(int) const",
        ),
        (
            "run()::{unnamed type#2}::go()",
            "run()::{unnamed type}::go()",
        ),
        (
            "run()::'lambda2'(int)::operator()(int) const",
            "run()::'lambda'(int)::operator()(int) const",
        ),
        ("run()::'unnamed0'::go()", "run()::'unnamed'::go()"),
        (
            "run()::$_4::operator()() const",
            "run()::$_::operator()() const",
        ),
        ("_GLOBAL__N_1::hidden", "(anonymous namespace)::hidden"),
        (
            "shop::_GLOBAL__N_1::hidden",
            "shop::(anonymous namespace)::hidden",
        ),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn removes_numbers_of_go_closures_but_keeps_depth() {
    for (symbol, key) in [
        ("main.total.func1", "main.total.{closure}"),
        ("main.total.func1.2", "main.total.{closure}.{closure}"),
        (
            "main.total.func12.3.4",
            "main.total.{closure}.{closure}.{closure}",
        ),
        ("main.(*Cart).Add.func2", "main.(*Cart).Add.{closure}"),
        ("main.(*Cart).Add-fm", "main.(*Cart).Add"),
        ("runtime.goexit.abi0", "runtime.goexit"),
        ("main.glob..func3", "main.glob..{closure}"),
        ("main.total.gowrap1", "main.total.gowrap"),
        ("main.total.deferwrap2", "main.total.deferwrap"),
        ("main.total-range1", "main.total-range"),
        ("main.total.func2-range3", "main.total.{closure}-range"),
        ("main.init.0", "main.init"),
        ("main.init.0.func1", "main.init.{closure}"),
        (
            "github.com/me/shop.Total.func1",
            "github.com/me/shop.Total.{closure}",
        ),
        (
            "main.Map[go.shape.int_0,go.shape.string_1]",
            "main.Map[go.shape.int,go.shape.string]",
        ),
        ("main.Map[...].func1", "main.Map[...].{closure}"),
        // No closures.
        ("main.func1", "main.func1"),
        ("github.com/me/shop.func1", "github.com/me/shop.func1"),
        ("com/me/Shop.func1", "com/me/Shop.func1"),
        ("main.total.function1", "main.total.function1"),
        ("main.v1.total", "main.v1.total"),
        ("nightly-fm", "nightly-fm"),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn removes_numbers_of_java_names() {
    for (symbol, key) in [
        // A stack trace of Java 8, 17 and 21; async-profiler; JDK Flight Recorder; perf-map-agent.
        ("Shop$$Lambda$14/1324119927.run", "Shop$$Lambda.run"),
        ("Shop$$Lambda$14/0x00007f037c001230.run", "Shop$$Lambda.run"),
        ("Shop$$Lambda/0x00007f037c001230.run", "Shop$$Lambda.run"),
        (
            "me/Shop$$Lambda$14.0x00007f037c001230.run",
            "me/Shop$$Lambda.run",
        ),
        (
            "me/Shop$$Lambda+0x00007f037c001230.run",
            "me/Shop$$Lambda.run",
        ),
        (
            "me.Shop$$Lambda$14+0x00007f037c001230/1324119927.run",
            "me.Shop$$Lambda.run",
        ),
        (
            "java.lang.invoke.LambdaForm$MH+0x00007f037c001230/77.invoke",
            "java.lang.invoke.LambdaForm$MH.invoke",
        ),
        ("Lme/Shop$$Lambda$14;::run", "Lme/Shop$$Lambda;::run"),
        ("Shop.lambda$total$1", "Shop.lambda$total"),
        ("Lme/Shop;::lambda$total$12", "Lme/Shop;::lambda$total"),
        ("Shop.access$100", "Shop.access"),
        ("Shop$1.run", "Shop$.run"),
        ("Shop$1$2.run", "Shop$$.run"),
        ("Lme/Shop$3;::run", "Lme/Shop$;::run"),
        ("jdk.proxy2.$Proxy42.greet", "jdk.proxy.$Proxy.greet"),
        ("jdk/proxy2/$Proxy42.greet", "jdk/proxy/$Proxy.greet"),
        ("com.sun.proxy.$Proxy3.greet", "com.sun.proxy.$Proxy.greet"),
        (
            "jdk.internal.reflect.GeneratedMethodAccessor7.invoke",
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
        ),
        (
            "GeneratedSerializationConstructorAccessor1.newInstance",
            "GeneratedSerializationConstructorAccessor.newInstance",
        ),
        (
            "java.lang.invoke.LambdaForm$MH/0x00007f037c001230.invoke",
            "java.lang.invoke.LambdaForm$MH.invoke",
        ),
        ("Shop$Inner.run", "Shop$Inner.run"),
        ("Shop.total$1", "Shop.total$1"),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn spells_rust_paths_in_one_way() {
    for (symbol, key) in [
        (
            "core::slice::<impl [T]>::sort_unstable_by",
            "<[T]>::sort_unstable_by",
        ),
        (
            "app::shop::<impl app::cart::Cart>::total",
            "app::cart::Cart::total",
        ),
        (
            "app::shop::<impl core::convert::From<app::Cart> for app::Order>::from",
            "<app::Order as core::convert::From<app::Cart>>::from",
        ),
        ("<app::Cart>::add", "app::Cart::add"),
        ("<app::Cart<u8>>::add::<u16>", "app::Cart<u8>::add<u16>"),
        (
            "<<app::Cart<u8>>::add::Guard as Drop>::drop",
            "<app::Cart<u8>::add::Guard as Drop>::drop",
        ),
        (
            "core::ptr::drop_in_place<(A,B)>",
            "core::ptr::drop_in_place<(A, B)>",
        ),
        (
            "<fn(A) -> B as Call<(A,)>>::call",
            "<fn(A) -> B as Call<(A, )>>::call",
        ),
        ("<dyn app::Shape>::area", "<dyn app::Shape>::area"),
        ("<u32>::pow", "<u32>::pow"),
        ("<[u8; 4]>::concat::<u8>", "<[u8; 4]>::concat<u8>"),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn removes_what_runtimes_add() {
    for (symbol, key) in [
        ("camlApp__leaf_88", "App.leaf"),
        ("camlApp__entry", "App.entry"),
        ("camlStdlib__$40_197", "Stdlib.@"),
        ("camlDune__exe__Main__run_12", "Dune.exe.Main.run"),
        ("TRACE-12$Shop::total$7", "Shop::total"),
        ("JIT$total", "total"),
        (
            "void [App] Cart::Sort(int32[])[PreJIT]",
            "void [App] Cart::Sort(int32[])",
        ),
        ("ShopKt.total$lambda-0", "ShopKt.total$lambda"),
        ("Shop$.$anonfun$total$2", "Shop$.$anonfun$total"),
    ] {
        is_key(symbol, key);
    }
}

#[test]
fn keeps_similar_parts_of_names() {
    for name in [
        "partition",
        "is.particular.3",
        "parse.part",
        "parse.part.",
        "parse.part.face",
        "parse.cold_path",
        "make::hash",
        "app::h0123456789abcdef0",
        "app::h0123",
        "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
        "operator() (.)",
        "map<T[16]>",
        "run()::'lambda'(int)",
        "(anonymous namespace)::hidden",
        "_GLOBAL__sub_I_main",
        "std::string[abi:cxx11]",
        "caml_main",
        "camlApp",
        "camel_case_12",
        "App.leaf_88",
        "TRACE-x$f",
        "run()::<lambda(int)>::operator()",
        "[libc.so.6+0x2710]",
        "price$",
        "#1",
        "_Zed",
        "",
    ] {
        is_key(name, name);
    }
}

#[test]
fn symbol_consisting_of_a_suffix_keeps_its_name() {
    for name in [
        ".cold",
        ".isra.0",
        "::h0123456789abcdef",
        "[0123456789abcdef]",
    ] {
        is_key(name, name);
        let report = explain_match(name, name, KeyOptions::default());
        assert!(report.symbols[0].steps.is_empty(), "{name}");
    }
}

#[test]
fn removes_only_template_arguments() {
    for (symbol, expected) in [
        (
            "std::vector<int, std::allocator<int> >::push_back",
            "std::vector::push_back",
        ),
        (
            "void sort<std::pair<A<B>, C>*>(std::pair<A<B>, C>*)",
            "void sort(std::pair*)",
        ),
        ("Box<(Kind)1, ((2)>(1)), 'x'>::get", "Box::get"),
        ("Box<(1)<(2)>::get", "Box::get"),
        ("Box<'<'>::get<'>'>", "Box::get"),
        ("Box<int>::operator<", "Box::operator<"),
        (
            "Box<int>::operator<(Box<int> const&)",
            "Box::operator<(Box const&)",
        ),
        ("shop::operator< <int, char>", "shop::operator<"),
        ("shop::operator<<int>", "shop::operator<"),
        ("Box<int>::operator<< <long>", "Box::operator<<"),
        ("Box<int>::operator<<<long>", "Box::operator<<"),
        ("Box<int>::operator<=><long>", "Box::operator<=>"),
        ("Box<int>::operator-><long>", "Box::operator->"),
        ("Box<int>::operator->*", "Box::operator->*"),
        ("Box<int>::operator>>=", "Box::operator>>="),
        (
            "Box<int>::operator()<long>(long) const",
            "Box::operator()(long) const",
        ),
        (
            "Box<int>::operator std::vector<int>",
            "Box::operator std::vector",
        ),
        ("Box<int>::operator new[]", "Box::operator new[]"),
        ("apply<&Box<int>::operator<, 3>", "apply"),
        ("apply<run()::{lambda(std::map<int, int>)#2}>", "apply"),
        ("cooperator<int>", "cooperator"),
        ("to_string[abi:cxx11]<int>", "to_string[abi:cxx11]"),
        // Rust: the type that a path begins with stays.
        ("app::map::<u32, fn(A) -> B>", "app::map"),
        (
            "<alloc::vec::Vec<T> as Into<U>>::into",
            "<alloc::vec::Vec as Into>::into",
        ),
        (
            "<fn(Vec<A>) -> B as Call<(A,)>>::call",
            "<fn(Vec) -> B as Call>::call",
        ),
        (
            "core::num::<impl core::fmt::Display for Wrapping<u32>>::fmt",
            "<Wrapping as core::fmt::Display>::fmt",
        ),
        ("app::run::{closure#0}::<T>", "app::run::{closure}"),
        ("<[u8; 4]>::concat::<u8>", "<[u8; 4]>::concat"),
        // Go.
        (
            "main.Map[go.shape.int_0,go.shape.[]string_1].func1",
            "main.Map.{closure}",
        ),
        ("main.Map[...]", "main.Map"),
        (
            "main.(*List[go.shape.struct { A int; B [4]T }]).Push",
            "main.(*List).Push",
        ),
        // Java: these are names.
        ("Shop.<init>", "Shop.<init>"),
        ("Lme/Shop;::<clinit>", "Lme/Shop;::<clinit>"),
        // Not closed, as in a truncated name.
        (
            "std::function<std::map<int, lo…",
            "std::function<std::map<int, lo…",
        ),
        ("a > b", "a > b"),
        ("a)>b<c>(", "a)>b("),
    ] {
        assert_eq!(
            key_symbol(symbol, without_arguments()),
            expected,
            "{symbol}"
        );
        assert_eq!(key_symbol(expected, without_arguments()), expected);
    }
}

#[test]
fn instances_on_request_are_judged_only_one_by_one() {
    let sort = |samples: u64| {
        let types = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
        let line = |of: &str| format!("main;sort<{of}> {samples}\n");
        types.map(line).concat() + "main;compute 13000\nmain;parse 2000\nmain;write 2000"
    };
    let (baseline, candidate) = (view("v1", &[&sort(20)]), view("v2", &[&sort(60)]));
    let together = compared(&baseline, &candidate);
    assert_eq!(summary(&together), "regression sort\n");
    assert_eq!(together.findings[0].instances, 8);

    let options = with!(CompareOptions { instances: true });
    let apart = compare(&baseline, &candidate, &options).expect("the options are in range");
    assert_eq!(summary(&apart), "");
}

#[test]
fn exact_symbols_are_keys() {
    let options = with!(KeyOptions {
        exact_symbols: true,
    });
    for symbol in [
        "_ZN3app3run17h0123456789abcdefE",
        "parse.cold",
        "run::{{closure}}",
    ] {
        assert_eq!(key_symbol(symbol, options), symbol);
    }
    assert!(!explain_match("parse.cold", "parse", options).matches);
}

#[test]
fn explanation_names_rules_and_removed_text() {
    let report = explain_match(
        "_ZN3app3run17h0123456789abcdefE.llvm.42",
        "app[846817f741e54dfd]::run::{closure#1}.cold",
        KeyOptions::default(),
    );
    assert_eq!(report.matching.rules_version, RULES_VERSION);
    assert!(!report.matches);
    let steps = report.symbols.map(|symbol| {
        let steps = symbol.steps.into_iter();
        steps
            .map(|s| (s.rule, s.taken, s.written))
            .collect::<Vec<_>>()
    });
    let step = |rule, taken: &str, written: &str| (rule, taken.to_owned(), written.to_owned());
    assert_eq!(
        steps,
        [
            vec![
                step(
                    Rule::Mangled,
                    "_ZN3app3run17h0123456789abcdefE.llvm.42",
                    "app::run.llvm.42"
                ),
                step(Rule::LocalSymbol, ".llvm.42", ""),
            ],
            vec![
                step(Rule::CrateHash, "[846817f741e54dfd]", ""),
                step(Rule::ClosureNumber, "#1", ""),
                step(Rule::Clone, ".cold", ""),
            ],
        ]
    );
}

#[test]
fn rules_have_same_name_in_text_and_json() {
    for rule in [
        Rule::Mangled,
        Rule::OpenmpRegion,
        Rule::JavaAnonymousClass,
        Rule::LocalSymbol,
    ] {
        let json = serde_json::to_value(rule).expect("a rule is a string");
        assert_eq!(json, rule.name());
    }
}

#[test]
fn reads_hostile_symbols_in_linear_time() {
    for part in [
        ".cold",
        "{{closure}}",
        "#1}",
        " [clone .isra.0]",
        "(.llvm.1)",
        " (.llvm.1)",
        "'lambda",
        "[aaaaaaaaaaaaaaaa]",
        "☃'",
        "<",
        "a<",
        "a<>",
        "<a",
        "(",
        "a<(",
        ")",
        "[a",
        "a[b",
        "@V",
        "@@",
        "operator<",
        "operator<<",
        "a.func1",
        ".func1.1",
        "/0x0",
        "$1.",
        "lambda$",
        "lambda$1",
        "-fm",
        "go.shape.a_1,",
        "\u{1b}[31m",
        "_GLOBAL__N_1",
        "::h0123456789abcdef",
        "_ZN",
        "_R",
        "a<b)c>",
        "::<a",
        "<impl ",
        "a::<impl b for ",
        "<a as ",
        "camlA__",
        "camlA$5e",
        "$lambda$1",
        "$anonfun$1",
        "[PreJIT]",
        "a::<b,",
    ] {
        let symbol = part.repeat(20_000);
        for options in [KeyOptions::default(), without_arguments()] {
            assert!(
                key_symbol(&symbol, options).len() <= symbol.len() * 3,
                "{part}"
            );
        }
    }
}

/// Parts of real symbols.
fn pieces() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "main",
        "::",
        ".",
        "run",
        "(int)",
        "<u8>",
        " as ",
        "{closure#1}",
        "{{closure}}",
        "{lambda(int)#2}",
        "'lambda3'",
        "$_4",
        "[846817f741e54dfd]",
        ".func1",
        ".2",
        "-fm",
        ".init.0",
        "$$Lambda$14",
        "$1",
        "/0x00007f037c001230",
        "$Proxy7",
        "lambda$run$5",
        "_GLOBAL__N_1",
        "operator<<",
        "->",
        ".part.0",
        ".cold",
        ".llvm.12",
        " [clone .isra.0]",
        "@@V_1",
        "@plt",
        "::h0123456789abcdef",
        "größe",
        "::<impl Tr for ",
        "::<u8>",
        "$lambda$0",
        "[PreJIT]",
    ]);
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn steps_lead_from_symbol_to_key(symbol in pieces()) {
        for options in [KeyOptions::default(), without_arguments()] {
            let report = explain_match(&symbol, &symbol, options);
            let [explained, _] = report.symbols;
            prop_assert_eq!(&explained.key, &key_symbol(&symbol, options));
            let taken: usize = explained.steps.iter().map(|step| step.taken.len()).sum();
            let written: usize = explained.steps.iter().map(|step| step.written.len()).sum();
            prop_assert_eq!(symbol.len() + written, explained.key.len() + taken);
            prop_assert_eq!(explained.steps.is_empty(), explained.key == symbol);
        }
    }

    #[test]
    fn any_text_has_a_key(symbol in "\\PC*") {
        for options in [KeyOptions::default(), without_arguments()] {
            prop_assert_eq!(key_symbol(&symbol, options).is_empty(), symbol.is_empty());
        }
    }
}
