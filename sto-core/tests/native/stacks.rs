//! Stacks that gdb, bpftrace and bcc's tools print.

use super::{error, places, recording, text};
use std::collections::{BTreeMap, BTreeSet};
use sto_core::formats::{Format, read_bytes};
use sto_core::model::FrameKind;
use sto_core::recording::{Location, Recording};

/// For each sample the thread's name and id, the stack, leaf first, and the cost.
fn samples(recording: &Recording) -> Vec<(String, u32, String, u64)> {
    let samples = recording.samples.iter();
    let samples = samples.map(|sample| {
        let thread = &recording.threads[sample.thread.0 as usize];
        let stack = places(recording, sample.stack).join(" ");
        (thread.name.clone(), thread.tid, stack, sample.cost.value)
    });
    samples.collect()
}

fn read(text: &str) -> Recording {
    read_bytes("x".as_ref(), text.as_bytes(), &Default::default()).unwrap()
}

#[test]
fn each_gdb_stack_is_a_sample_of_its_thread() {
    let recording = recording("gdb.txt", Format::Gdb);
    for (tid, expected) in [(23450, 6), (23448, 6)] {
        let samples = recording
            .samples
            .iter()
            .filter(|sample| recording.threads[sample.thread.0 as usize].tid == tid);
        assert_eq!(
            samples.map(|sample| sample.cost.samples).sum::<u64>(),
            expected
        );
    }
    let frames = text("gdb.txt")
        .lines()
        .filter(|line| line.starts_with('#'))
        .count();
    let depths = recording
        .samples
        .iter()
        .map(|sample| recording.stacks.depth(sample.stack) * sample.cost.samples as usize);
    assert_eq!(depths.sum::<usize>(), frames);
}

#[test]
fn gdb_frames_have_names_sources_and_kinds() {
    let recording = recording("gdb.txt", Format::Gdb);
    let stack = recording.stacks.get(recording.samples[0].stack);
    let frames: Vec<_> = stack
        .iter()
        .rev()
        .map(|location| match recording.locations[location.0 as usize] {
            Location::Named(frame) => recording.named.frame(frame),
            other => panic!("{other:?}"),
        })
        .collect();
    let found = |depth: usize| {
        let frame = &frames[depth];
        (frame.symbol, frame.kind, frame.file, frame.line)
    };
    let libc = "malloc/malloc.c";
    assert_eq!(found(0), ("_int_free", FrameKind::User, libc, 4698));
    let string = "/usr/include/c++/12/bits/basic_string.h";
    let name = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::~basic_string";
    assert_eq!(found(6), (name, FrameKind::Inlined, string, 795));
    assert_eq!(found(7), ("count_words", FrameKind::User, "work.cc", 15));
    let invoke = "/usr/include/c++/12/bits/invoke.h";
    let name = "std::__invoke_impl<void, void (*)(int), int>";
    assert_eq!(found(9), (name, FrameKind::Inlined, invoke, 61));
    assert_eq!(
        (frames[14].kind, frames[14].module),
        (FrameKind::Unresolved, "libstdc++.so.6")
    );
}

#[test]
fn brackets_in_operators_and_strings_are_not_arguments() {
    let recording = read(
        "#0  std::operator<< <std::char_traits<char> > (out=..., text=0x55 \"a) at b\") at /a b.h:7\n\
         #1  0x0000 in Map::operator-> (this=0x0) at m.h:2\n#2  <signal handler called>\n\
         #3  0x0000 in (anonymous namespace)::f(int)::{lambda()#1}::operator() (this=0x1) from /lib/libf.so.2\n",
    );
    let expected = "std::operator<< <std::char_traits<char> > Map::operator-> <signal handler called> \
                    (anonymous namespace)::f(int)::{lambda()#1}::operator()";
    assert_eq!(
        samples(&recording),
        [(String::new(), 0, expected.to_owned(), 1)]
    );
}

#[test]
fn reports_a_missing_gdb_frame() {
    let message = error(b"#0  f () at a.c:1\n#2  main () at a.c:2\n");
    assert!(
        message.starts_with("x: line 2: the frame `#2  main () at a.c:2` after 1 others"),
        "{message}"
    );
}

#[test]
fn counts_bpftrace_maps_by_stack() {
    let recording = recording("bpftrace.txt", Format::Bpftrace);
    let found = samples(&recording);
    let counts: Vec<u64> = found.iter().map(|sample| sample.3).collect();
    assert_eq!(counts, [12, 22122, 73, 305]);
    let expected =
        "filemap_map_pages __handle_mm_fault handle_mm_fault __do_page_fault async_page_fault";
    assert_eq!(found[0].2, expected);
}

/// `@total` is the sum of all stacks; addresses are not part of the names of unnamed frames.
#[test]
fn reads_bpftrace_stacks_in_text_and_json() {
    for (file, format, expected) in [
        ("bpftrace-work.txt", Format::Bpftrace, 93),
        ("bpftrace.json", Format::BpftraceJson, 101),
    ] {
        let recording = recording(file, format);
        let found = samples(&recording);
        assert_eq!(found.iter().map(|sample| sample.3).sum::<u64>(), expected);
        assert!(found.iter().all(|sample| sample.0 == "workfp"));
        let is_main = |stack: &str| stack.ends_with(" work(int) main __libc_start_call_main");
        assert!(found.iter().any(|sample| is_main(&sample.2)));
        let (symbols, kinds): (Vec<_>, Vec<_>) = recording
            .named
            .iter()
            .map(|(_, frame)| (frame.symbol, frame.kind))
            .unzip();
        assert!(
            !symbols.iter().any(|symbol| symbol.contains("0x")),
            "{symbols:?}"
        );
        assert!(kinds.contains(&FrameKind::Unresolved));
    }
}

/// Expected from `awk '/\]: /{sum += $NF}'`.
#[test]
fn bpftrace_stacks_in_perf_style_have_files_and_threads() {
    let recording = recording("bpftrace-perf.txt", Format::Bpftrace);
    let found = samples(&recording);
    assert_eq!(found.iter().map(|sample| sample.3).sum::<u64>(), 95);
    let threads: BTreeSet<u32> = found.iter().map(|sample| sample.1).collect();
    assert_eq!(threads.into_iter().collect::<Vec<_>>(), [1215, 1217]);
    for (_, frame) in recording.named.iter() {
        let expected = match frame.kind {
            FrameKind::Unresolved => ["", ""],
            _ => ["workfp", "lib"],
        };
        assert!(
            expected.iter().any(|name| frame.module.starts_with(name)),
            "{frame:?}"
        );
    }
}

/// Parts of a key are joined by `, `, and a stack begins and ends with a line end: `src/output/text.cpp` of bpftrace.
#[test]
fn bpftrace_keys_can_have_processes() {
    let recording = read(
        "Attaching 1 probe...\n@start[7]: 99\n@[\n    do_idle+390\n, \n    main+24\n    [inlined] f+2@/src/a.c:7\n, swapper/0]: 3\n\
         @x[12, 13, bash, \n\tffffffffb4019501 do_mmap+1\n\t7f92eda4bb97 g(int)+2 (/lib/libc.so.6)\n]: 5\n",
    );
    let found = samples(&recording);
    let expected = [
        ("swapper/0".to_owned(), 0, "do_idle main f".to_owned(), 3),
        ("bash".to_owned(), 13, "do_mmap g(int)".to_owned(), 5),
    ];
    assert_eq!(found, expected);
}

#[test]
fn rejects_bpftrace_values_without_counts_and_unterminated_keys() {
    let map = "@[\n    f+1\n]: 1\n@[\n    g+1\n";
    let message = error(format!("{map}]: -3\n").as_bytes());
    assert!(
        message.starts_with("x: line 6: expected a count of 0 or more, found `-3`"),
        "{message}"
    );
    let message = error(map.as_bytes());
    assert!(
        message.contains("within a key, which its count ends"),
        "{message}"
    );
    // A name with a line end looks like a stack.
    let json = br#"{"type": "map", "data": {"@": {"a\nb": 1}}}"#;
    let message = error(json);
    assert!(
        message.contains("within a key, which its count ends"),
        "{message}"
    );
}

#[test]
fn reads_bcc_tools() {
    let profile = recording("bcc-profile.txt", Format::Bcc);
    let found = samples(&profile);
    let dd = &found[2];
    assert_eq!((&*dd.0, dd.1, dd.3), ("dd", 25036, 4));
    assert!(dd.2.starts_with("__clear_user iov_iter_zero "), "{}", dd.2);
    let counts: Vec<u64> = found.iter().map(|sample| sample.3).collect();
    assert_eq!(counts, [1, 1, 4, 5]);

    let counted = samples(&recording("bcc-stackcount.txt", Format::Bcc));
    let counts: Vec<_> = counted
        .iter()
        .map(|sample| (&*sample.0, sample.1, sample.3))
        .collect();
    assert_eq!(
        counts,
        [("tar", 15069, 5), ("tar", 15069, 15), ("tar", 15069, 113)]
    );

    let waits = samples(&recording("bcc-offcputime.txt", Format::Bcc));
    let waits: Vec<u64> = waits.iter().map(|sample| sample.3).collect();
    assert_eq!(waits, [13_000, 22_000, 27_000]);
}

/// Its output has no header.
#[test]
fn detects_libbpf_offcputime_by_its_stacks() {
    let recording = recording("bcc-naps.txt", Format::Bcc);
    assert_eq!(recording.sample_types[0].event, "off-cpu");
    let mut asleep: BTreeMap<&str, u64> = BTreeMap::new();
    for (program, pid, stack, time) in &samples(&recording) {
        assert_eq!((&**program, *pid), ("naps", 26178));
        for function in ["read_input", "write_output"] {
            if stack.contains(&format!("clock_nanosleep {function} main ")) {
                *asleep.entry(function).or_default() += time;
            }
        }
    }
    // They sleep 6 and 2 ms at a time.
    let expected = [("read_input", 706_830_000), ("write_output", 240_576_000)];
    assert_eq!(asleep.into_iter().collect::<Vec<_>>(), expected);
}

/// It prints the outstanding allocations repeatedly.
#[test]
fn memleak_uses_the_last_report() {
    let recording = recording("bcc-memleak.txt", Format::Bcc);
    assert_eq!(recording.samples[0].cost.samples, 10);
    let expected = (String::new(), 0, "main __libc_start_main".to_owned(), 160);
    assert_eq!(samples(&recording), [expected]);
}
