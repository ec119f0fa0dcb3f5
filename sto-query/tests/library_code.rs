//! Recognition of library code.

use proptest::prelude::*;
use sto_core::model::{Frame, FrameKind};
use sto_query::internal::functions::LibraryCode;
use sto_query::questions::Attribution;

fn recognised(kind: FrameKind, module: &str, symbol: &str, file: &str) -> Option<LibraryCode> {
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
fn standard_libraries_and_runtimes_are_recognised_by_name() {
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
        ("Interpreter", ""),
        ("StubRoutines (1)", ""),
        ("_PyEval_EvalFrameDefault", "Python/ceval.c"),
        ("_PyFunction_Vectorcall", ""),
        ("cfunction_vectorcall_FASTCALL", ""),
        ("Builtins_InterpreterEntryTrampoline", ""),
        ("Builtins_CallFunction_ReceiverIsAny.cold", ""),
        ("vm_exec_core", "vm.c"),
        ("rb_vm_exec", ""),
    ] {
        let kind = FrameKind::User;
        let found = recognised(kind, "app", symbol, file);
        assert_eq!(found, Some(LibraryCode::ByName), "{symbol} of {file}");
    }
}

#[test]
fn program_and_its_dependencies_are_not_library_code() {
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
        // These are not inlined, so their first instruction may belong to code that was inlined into them.
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
        ("py::total:/srv/shop.py", ""),
        ("JS:*total /srv/shop.js:1:1", ""),
    ] {
        assert_eq!(
            recognised(FrameKind::User, "app", symbol, file),
            None,
            "{symbol} of {file}"
        );
    }
}

#[test]
fn inlined_code_is_recognised_by_its_file() {
    let symbol = "<app::Words as core::iter::traits::iterator::Iterator>::fold";
    let library = "library/core/src/iter/traits/iterator.rs";
    let found = recognised(FrameKind::Inlined, "app", symbol, library);
    assert_eq!(found, Some(LibraryCode::ByName));
    assert_eq!(
        recognised(FrameKind::Inlined, "app", symbol, "src/main.rs"),
        None
    );
}

#[test]
fn libraries_are_recognised_by_module_and_the_kernel_is_not_one() {
    for module in [
        "libc.so.6",
        "ld-linux-x86-64.so.2",
        "libstdc++.so.6.0.30",
        "[vdso]",
    ] {
        for kind in [FrameKind::User, FrameKind::Unresolved] {
            let found = recognised(kind, module, "[x+0x12]", "");
            assert_eq!(found, Some(LibraryCode::ByModule), "{module}");
        }
    }
    for module in ["libcurl.so.4", "libmine.so", "node_exporter", "perlin"] {
        assert_eq!(
            recognised(FrameKind::User, module, "f", ""),
            None,
            "{module}"
        );
    }
    assert_eq!(
        recognised(FrameKind::Kernel, "[kernel]", "memcpy", ""),
        None
    );
    assert_eq!(
        recognised(FrameKind::Unresolved, "app", "[app+0x1]", ""),
        None
    );
}

#[test]
fn policy_overrides_recognition() {
    let list = |text: &str| vec![text.to_owned()];
    let mut attribution = Attribution::default();
    attribution.to_caller.functions = list("absl::*");
    attribution.to_caller.modules = list("libjemalloc.so*");
    attribution.to_caller.files = list("third_party/*");
    attribution.to_itself.functions = list("absl::Mutex::*");
    attribution.to_itself.modules = list("libc.so.6");
    let is_library = |module, symbol, file| {
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
    assert!(is_library("app", "absl::StrCat", ""));
    assert!(is_library("libjemalloc.so.2", "arena_malloc", ""));
    assert!(is_library("app", "f", "third_party/zlib/crc.c"));
    assert!(!is_library("app", "absl::Mutex::Lock", ""));
    assert!(!is_library("libc.so.6", "memcpy", ""));
    assert!(is_library("app", "std::sort<int*>", ""));
}

proptest! {
    #[test]
    fn names_do_not_matter_in_kernel_and_libraries(
        symbol in "[<>a-c:&é .(/*]{0,24}", file in "[a/.go]{0,8}",
    ) {
        for kind in FrameKind::ALL {
            let is_kernel = kind == FrameKind::Kernel;
            prop_assert!(!is_kernel || recognised(kind, "app", &symbol, &file).is_none());
            prop_assert_eq!(recognised(kind, "libc.so.6", &symbol, &file).is_some(), !is_kernel);
        }
    }

    #[test]
    fn patterns_agree_with_reference(
        pattern in "[ab*]{0,6}", text in "[ab]{1,8}"
    ) {
        // The reference is dynamic programming over prefixes.
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
        // No other property makes kernel code library code.
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
