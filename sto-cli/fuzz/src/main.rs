//! Hostile input for everything that parses input: one program with all targets, selected by
//! `STO_FUZZ_TARGET`.
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | a format, `compressed` | a file | reading it from memory and as a stream gives the same; a store accepts or rejects it |
//! | `perf-records` | the ingredients of a valid recording of perf | every sample and period is kept; reading twice gives the same |
//! | `elf` | edits of programs in a recording with saved stacks | no panic |
//! | `perf-map`, `jitdump` | such a file of a recorded process | no panic |
//! | `store-records` | edits of values in a store, below its checksums | every query returns a result or an error |
//! | `kept-calls` | such edits of the kept calls of a run | the same |
//! | `store-pages` | edits of a store's file | the same |
//! | `uftrace` | edits of a data folder | a store accepts or rejects it, or an error has one line |
//! | `policy`, `config` | a file | an error names one of its lines |
//! | `trace` | a trace of a recording | its metrics are stored and read back, or an error has one line |
//! | `names` | a command, and all names that it shows | names are never markup, commands or control characters |
//!
//! All of them must end without a panic and with little memory; `.ci/fuzz` has the limits.
#![no_main]
#![allow(dead_code, reason = "some targets only need parts of the command")]

mod edits;
mod folders;
mod formats;
mod markup;
mod names;
mod perf_data;
mod perf_records;
mod store;
mod symbols;
mod texts;
mod uftrace;

// Includes the command itself, to check what it prints.
#[path = "../../src/args/mod.rs"]
mod args;
#[path = "../../src/cli.rs"]
mod cli;
#[path = "../../src/commands/mod.rs"]
mod commands;
#[path = "../../src/complete/mod.rs"]
mod complete;
#[path = "../../src/help/mod.rs"]
mod help;
#[path = "../../src/lsp/mod.rs"]
mod lsp;
#[path = "../../src/runtime/mod.rs"]
mod runtime;

use std::backtrace::Backtrace;
use std::panic;
use std::process::abort;
use std::sync::LazyLock;

/// Runs the chosen target on an input.
static TARGET: LazyLock<Box<dyn Fn(&[u8]) + Send + Sync>> = LazyLock::new(|| {
    let name = std::env::var("STO_FUZZ_TARGET").unwrap_or_default();
    match name.as_str() {
        "compressed" => Box::new(|bytes| formats::read(None, bytes)),
        "config" => Box::new(texts::config),
        "elf" => Box::new(symbols::elf),
        "jitdump" => Box::new(symbols::jitdump),
        "kept-calls" => Box::new(store::kept_calls),
        "names" => Box::new(names::names),
        "perf-map" => Box::new(symbols::perf_map),
        "perf-records" => Box::new(perf_records::perf_records),
        "policy" => Box::new(texts::policy),
        "store-pages" => Box::new(store::pages),
        "store-records" => Box::new(store::records),
        "trace" => Box::new(texts::trace),
        "uftrace" => Box::new(uftrace::uftrace),
        format => match format.parse() {
            Ok(format) => Box::new(move |bytes| formats::read(Some(format), bytes)),
            Err(_) => panic!("STO_FUZZ_TARGET is `{format}`, which is no target"),
        },
    }
});

libfuzzer_sys::fuzz_target!(
    init: {
        LazyLock::force(&TARGET);
        // Start the threads before any parallel work.
        runtime::threads::start();
        abort_on_panics_of_sto();
    },
    |bytes: &[u8]| TARGET(bytes)
);

/// Aborts on a panic in code of this repository, even if a guard would catch it. Guards exist for
/// libraries that are known to panic on damaged files; a panic in a library aborts only if nothing catches it.
fn abort_on_panics_of_sto() {
    panic::set_hook(Box::new(|info| {
        let is_of = |part: &str| info.location().is_some_and(|at| at.file().contains(part));
        if !is_of("/registry/src/") {
            names::restore_standard_error();
            eprintln!("{info}\n{}", Backtrace::force_capture());
            abort();
        }
    }));
}
