//! The names of functions.

use super::compile::{Program, run};
use super::recording::resolve;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Module;
use sto_test_support::missing;

#[test]
fn cpp_names_keep_template_arguments_only() {
    if missing(&["g++"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = r#"
        namespace shop {
        template <class T> struct Cart {
            T sum = 0;
            __attribute__((noinline)) T add(T price, const char *) { return sum += price; }
        };
        }
        int main(int argc, char **) { shop::Cart<int> cart; return cart.add(argc, "x"); }
    "#;
    let flags = ["-g", "-O1", "-fno-ipa-sra", "-Wl,--build-id"];
    let program = Program::compile(dir.path(), "g++", "app.cpp", source, &flags);
    let offsets = program.offsets_of("_ZN4shop4CartIiE3addEiPKc");
    let found = resolve(program.module(), offsets, &SymbolOptions::default());
    let names: BTreeSet<&str> = found.functions().into_iter().collect();
    assert_eq!(names, BTreeSet::from(["shop::Cart<int>::add"]));
}

#[test]
fn rust_names_lose_their_hash() {
    let dir = tempfile::tempdir().unwrap();
    let source = "
        mod shop {
            #[inline(always)]
            fn price(n: u64) -> u64 { std::hint::black_box(n) * 3 }
            #[inline(never)]
            pub(crate) fn total(n: u64) -> u64 { price(n) + 1 }
        }
        fn main() { std::process::exit(shop::total(0) as i32) }
    ";
    for mangling in ["legacy", "v0"] {
        // Non-default manglings need unstable options with older compilers.
        let mangling = format!("-Csymbol-mangling-version={mangling}");
        let flags = [
            "-g",
            "-O",
            &mangling,
            "-Zunstable-options",
            "-Clink-arg=-Wl,--build-id",
        ];
        std::fs::create_dir_all(dir.path()).unwrap();
        std::fs::write(dir.path().join("app.rs"), source).unwrap();
        let rustc = std::process::Command::new("rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["app.rs", "-o", "app"])
            .args(flags)
            .current_dir(dir.path())
            .output()
            .expect("rustc, which built this test");
        assert!(
            rustc.status.success(),
            "{}",
            String::from_utf8_lossy(&rustc.stderr)
        );
        let program = Program::open(&dir.path().join("app"));
        let names = {
            let elf = program.elf();
            let names = elf.symbols().filter_map(|symbol| symbol.name().ok());
            let mut names = names.filter(|name| name.contains("4shop5total"));
            names
                .next()
                .expect("the function is not inlined")
                .to_owned()
        };
        let found = resolve(
            program.module(),
            program.offsets_of(&names),
            &SymbolOptions::default(),
        );
        let chain: Vec<Vec<(&str, &str)>> = found
            .frames
            .iter()
            .map(|frames| frames.iter().map(|f| (&*f.symbol, &*f.file)).collect())
            .collect();
        let expected = vec![
            ("app::shop::total", "app.rs"),
            ("app::shop::price", "app.rs"),
        ];
        assert!(
            chain.iter().any(|chain| chain.starts_with(&expected)),
            "{mangling}: {chain:#?}"
        );
    }
}

#[test]
fn chooses_aliases_like_perf() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"
        long __best(long n) { return n * 3; }
        extern long best(long) __attribute__((alias("__best")));
        extern long better(long) __attribute__((alias("__best")));
        extern long longest_but_weak(long) __attribute__((weak, alias("__best")));
        static long longest_but_local(long) __attribute__((used, alias("__best")));
        int main(int argc, char **argv) { return best(argc); }
    "#;
    let program = Program::c(dir.path(), source);
    let found = resolve(
        program.module(),
        program.offsets_of("__best"),
        &SymbolOptions::default(),
    );
    assert_eq!(found.functions()[0], "better");
}

#[test]
fn symbol_without_size_ends_at_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"
        __asm__(".text\n.globl sized\n.type sized, @function\nsized:\n"
                "nop\nlabel_inside:\nnop\nnop\n.size sized, .-sized\n"
                ".globl bare\nbare:\nnop\nnop\n"
                ".globl next\n.type next, @function\nnext:\nret\n.size next, .-next\n");
        int main(void) { return 0; }
    "#;
    let program = Program::compile(dir.path(), "cc", "app.c", source, &["-Wl,--build-id"]);
    let start = program.offsets_of("sized").start;
    let found = resolve(
        program.module(),
        start..start + 6,
        &SymbolOptions::default(),
    );
    // A function with a size covers the labels inside it.
    let expected = ["sized", "sized", "sized", "bare", "bare", "next"];
    assert_eq!(found.functions(), expected);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn plt_stubs_are_named_after_their_function() {
    let dir = tempfile::tempdir().unwrap();
    let source = "#include <stdlib.h>\nint main(int n, char **v) { return atoi(v[n - 1]); }\n";
    for flags in [["-Wl,-z,lazy", "-fplt"], ["-Wl,-z,now", "-fcf-protection"]] {
        let flags = [&flags[..], &["-O2", "-Wl,--build-id"]].concat();
        let program = Program::compile(dir.path(), "cc", "app.c", source, &flags);
        let stubs = [".plt", ".plt.sec", ".plt.got"].map(|name| program.offsets_of_section(name));
        let found = resolve(
            program.module(),
            stubs.into_iter().flatten(),
            &SymbolOptions::default(),
        );
        let stubs: Vec<&str> = found.functions();
        let atoi = stubs
            .iter()
            .filter(|name| **name == "atoi@plt" || **name == "strtol@plt");
        assert_eq!(atoi.count(), 16, "{stubs:?}");
    }
}

/// `perf inject --jit` writes an ELF file for each function of a jitdump, with the name that the compiler wrote.
#[test]
fn files_of_perf_inject_are_generated_code() {
    let dir = tempfile::tempdir().unwrap();
    let source = "__asm__(\".text; .globl name; .type name, @function; \\\"JS:*leaf fib.js:1:14\\\" = name;\"\n\
        \".type \\\"JS:*leaf fib.js:1:14\\\", @function; name: .skip 16\");\n";
    let flags = ["-nostdlib", "-shared", "-Wl,--build-id"];
    let program = Program::compile(dir.path(), "cc", "code.c", source, &flags);
    let injected = dir.path().join("jitted-7-0.so");
    run(
        dir.path(),
        "objcopy",
        &["--strip-symbol=name", "app", "jitted-7-0.so"],
    );
    let module = Module {
        path: injected.to_str().unwrap().to_owned(),
        alias: Some("[jit]".to_owned()),
        ..program.module()
    };
    let found = resolve(
        module,
        program.offsets_of("name").start..program.offsets_of("name").start + 4,
        &SymbolOptions::default(),
    );
    assert_eq!(found.functions(), ["leaf"; 4]);
    assert_eq!(found.module().unresolved, 0);
}
