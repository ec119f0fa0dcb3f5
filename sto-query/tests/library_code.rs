//! Functions that are recognised as library code.

use proptest::prelude::*;
use sto_core::model::{Frame, FrameKind};
use sto_query::internal::functions::LibraryCode;
use sto_query::questions::Attribution;

fn of(kind: FrameKind, module: &str, symbol: &str, file: &str) -> Option<LibraryCode> {
    let frame = Frame {
        kind,
        symbol,
        module,
        file,
        line: 0,
    };
    Attribution::default().library_code(symbol, frame)
}

#[test]
fn the_code_of_standard_libraries_and_runtimes_is_known_by_its_name() {
    for (symbol, file) in [
        ("<u32>::wrapping_mul", "library/core/src/num/uint_macros.rs"),
        ("<u32>::wrapping_mul", ""),
        ("core::ptr::drop_in_place<app::Big>", "src/main.rs"),
        ("core::iter::traits::iterator::Iterator::fold", ""),
        (
            "<core::slice::iter::Iter<T> as core::iter::traits::iterator::Iterator>::fold",
            "",
        ),
        (
            "<alloc::vec::Vec<app::Big> as core::ops::drop::Drop>::drop",
            "",
        ),
        (
            "<&dyn core::ops::function::Fn<()> as core::ops::function::FnOnce<()>>::call_once",
            "",
        ),
        ("<[T]>::sort_unstable_by", ""),
        ("<F as core::ops::function::FnOnce<A>>::call_once", ""),
        ("<(A, app::B) as core::cmp::PartialEq>::eq", ""),
        (
            "std::io::impls::<impl std::io::Read for &mut R>::read_buf",
            "",
        ),
        ("compiler_builtins::mem::memcpy", ""),
        ("__rust_begin_short_backtrace", ""),
        (
            "std::vector<app::Big>::push_back",
            "/usr/include/c++/12/bits/stl_vector.h",
        ),
        ("std::__1::sort<int*>", ""),
        ("__gnu_cxx::__normal_iterator<int*>::operator*", ""),
        ("operator new", ""),
        (
            "_mm256_add_epi32",
            "/usr/lib/gcc/x86_64-linux-gnu/12/include/avx2intrin.h",
        ),
        ("memcpy", ""),
        ("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go"),
        ("runtime.mallocgc", ""),
        ("encoding/json.(*Decoder).Decode", "encoding/json/stream.go"),
        (
            "sync/atomic.(*Pointer[go.shape.struct { x.y/z.T }]).Load",
            "sync/atomic/type.go",
        ),
        ("java.util.HashMap.resize", "HashMap.java"),
        ("void java.util.HashMap.resize(int)", ""),
        ("java/util/HashMap.resize", ""),
        ("runMicrotasks", "node:internal/process/task_queues"),
        ("_find_and_load", "<frozen importlib._bootstrap>"),
        ("decode", "/usr/lib/python3.11/json/decoder.py"),
    ] {
        let kind = FrameKind::User;
        let found = of(kind, "app", symbol, file);
        assert_eq!(found, Some(LibraryCode::ByName), "{symbol} of {file}");
    }
}

#[test]
fn the_program_and_what_it_depends_on_keep_their_cost() {
    for (symbol, file) in [
        ("main", "src/main.c"),
        ("hot::mix::{closure}", "src/main.rs"),
        (
            "<app::Words as core::iter::traits::iterator::Iterator>::next",
            "src/main.rs",
        ),
        (
            "<alloc::sync::Arc<P> as regex_automata::util::prefilter::PrefilterI>::find",
            "",
        ),
        ("<app::Big>::grow", "src/main.rs"),
        ("<&mut app::Big as core::fmt::Debug>::fmt", ""),
        (
            "memchr::arch::generic::memchr::One<V>::find_raw",
            "memchr-2.7.4/src/arch/generic/memchr.rs",
        ),
        (
            "hashbrown::raw::RawTable<T,A>::reserve_rehash",
            "hashbrown-0.15.2/src/raw/mod.rs",
        ),
        // Not inlined, so its first instruction may be of what was inlined into it.
        ("app::total", "library/core/src/iter/range.rs"),
        ("app::total", "/usr/include/c++/12/bits/stl_numeric.h"),
        (
            "boost::container::vector<int>::push_back",
            "/usr/include/boost/container/vector.hpp",
        ),
        ("stdx::parse", ""),
        ("main.work", "/home/ann/app/main.go"),
        (
            "github.com/ann/runtime.Run",
            "github.com/ann/runtime/run.go",
        ),
        ("example.com/app/io.Copy", "io/copy.go"),
        ("io.netty.channel.nio.NioEventLoop.run", "NioEventLoop.java"),
        ("com.example.java.util.Foo", "Foo.java"),
        ("runtime.sendMessage", "app.js"),
        ("loads", "/usr/lib/python3/dist-packages/ujson/decoder.py"),
        ("get", "venv/lib/python3.11/site-packages/requests/api.py"),
        ("parse", "lib/parse.js"),
    ] {
        assert_eq!(
            of(FrameKind::User, "app", symbol, file),
            None,
            "{symbol} of {file}"
        );
    }
}

#[test]
fn of_inlined_code_the_file_tells_where_the_name_is_the_programs() {
    let symbol = "<app::Words as core::iter::traits::iterator::Iterator>::fold";
    let library = "library/core/src/iter/traits/iterator.rs";
    let found = of(FrameKind::Inlined, "app", symbol, library);
    assert_eq!(found, Some(LibraryCode::ByName));
    assert_eq!(of(FrameKind::Inlined, "app", symbol, "src/main.rs"), None);
}

#[test]
fn a_library_is_known_by_its_module_and_the_kernel_is_none() {
    for module in [
        "libc.so.6",
        "ld-linux-x86-64.so.2",
        "libstdc++.so.6.0.30",
        "[vdso]",
    ] {
        for kind in [FrameKind::User, FrameKind::Unresolved] {
            let found = of(kind, module, "[x+0x12]", "");
            assert_eq!(found, Some(LibraryCode::ByModule), "{module}");
        }
    }
    for module in ["libcurl.so.4", "libmine.so", "node_exporter", "perlin"] {
        assert_eq!(of(FrameKind::User, module, "f", ""), None, "{module}");
    }
    assert_eq!(of(FrameKind::Kernel, "[kernel]", "memcpy", ""), None);
    assert_eq!(of(FrameKind::Unresolved, "app", "[app+0x1]", ""), None);
}

#[test]
fn a_policy_holds_over_what_is_known() {
    let list = |text: &str| vec![text.to_owned()];
    let mut attribution = Attribution::default();
    attribution.to_caller.functions = list("absl::*");
    attribution.to_caller.modules = list("libjemalloc.so*");
    attribution.to_caller.files = list("third_party/*");
    attribution.to_itself.functions = list("absl::Mutex::*");
    attribution.to_itself.modules = list("libc.so.6");
    let of = |module, symbol, file| {
        let kind = FrameKind::User;
        let frame = Frame {
            kind,
            symbol,
            module,
            file,
            line: 0,
        };
        attribution.library_code(symbol, frame).is_some()
    };
    assert!(of("app", "absl::StrCat", ""));
    assert!(of("libjemalloc.so.2", "arena_malloc", ""));
    assert!(of("app", "f", "third_party/zlib/crc.c"));
    assert!(!of("app", "absl::Mutex::Lock", ""));
    assert!(!of("libc.so.6", "memcpy", ""));
    assert!(of("app", "std::sort<int*>", ""));
}

proptest! {
    #[test]
    fn the_name_of_a_function_changes_nothing_in_the_kernel_and_in_a_library(
        symbol in "[<>a-c:&é .(/*]{0,24}", file in "[a/.go]{0,8}",
    ) {
        for kind in FrameKind::ALL {
            let is_kernel = kind == FrameKind::Kernel;
            prop_assert!(!is_kernel || of(kind, "app", &symbol, &file).is_none());
            prop_assert_eq!(of(kind, "libc.so.6", &symbol, &file).is_some(), !is_kernel);
        }
    }

    #[test]
    fn a_pattern_says_what_a_regular_expression_would(
        pattern in "[ab*]{0,6}", text in "[ab]{1,8}"
    ) {
        // By dynamic programming over prefixes, as there is no other way to be sure.
        let mut row = vec![true];
        row.resize(text.len() + 1, false);
        for p in pattern.bytes() {
            let mut next = vec![p == b'*' && row[0]];
            for (at, t) in text.bytes().enumerate() {
                next.push(match p {
                    b'*' => next[at] || row[at + 1],
                    p => p == t && row[at],
                });
            }
            row = next;
        }
        let mut attribution = Attribution::default();
        attribution.to_caller.functions = vec![pattern];
        // Nothing else makes library code of the kernel's.
        let frame = Frame {
            kind: FrameKind::Kernel,
            symbol: &text,
            module: "",
            file: "",
            line: 0,
        };
        let found = attribution.library_code(&text, frame).is_some();
        prop_assert_eq!(found, row[text.len()]);
    }
}
