//! Output of ftrace's function_graph tracer.

use super::{Called, called, testdata};
use crate::common;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use sto_core::formats::{ReadOptions, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Format, Recording};

fn read(text: &str) -> Recording {
    let recording =
        read_bytes(Path::new("trace"), text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, Format::Ftrace);
    recording
}

fn sums(of: &[(&str, u64, u64)]) -> Called {
    of.iter()
        .map(|&(name, calls, time)| (name.to_owned(), (calls, time)))
        .collect()
}

/// Each thread with the start of its first call and the end of its last.
fn threads(recording: &Recording) -> Vec<(&str, u64, u64)> {
    let threads = &recording.calls.as_ref().unwrap().threads;
    let threads = threads
        .iter()
        .map(|thread| (&*thread.thread.name, thread.begin.0, thread.end.0));
    threads.collect()
}

/// Number and time of calls by the durations in the kernel's text, with a simple reader, and the functions with a call
/// that does not end.
fn called_in_text(text: &str) -> (Called, BTreeSet<&str>) {
    let mut called = Called::new();
    let mut open: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    let mut running: HashMap<&str, &str> = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((before, task)) = line.split_once("=>") {
            let (cpu, _) = before.split_once(')').unwrap();
            running.insert(cpu.trim(), task.trim());
            continue;
        }
        let columns: Vec<&str> = line.split('|').collect();
        let [others @ .., call] = &columns[..] else {
            continue;
        };
        let Some((cpu, task)) = others.iter().find_map(|column| column.split_once(')')) else {
            continue;
        };
        // The last word but one of the column is the duration, followed by its unit.
        let took = others
            .last()
            .and_then(|column| column.trim().strip_suffix(" us"));
        let took = took.and_then(|took| took.split_whitespace().last());
        let took = took.map_or(0, |took| {
            (took.parse::<f64>().unwrap() * 1_000.0).round() as u64
        });
        let task = match others.len() {
            1 => running.get(cpu.trim()).copied().unwrap_or("none"),
            _ => task.trim(),
        };
        let cpu = if task.ends_with("-0") || task == "none" {
            cpu.trim()
        } else {
            ""
        };
        let open = open.entry((task, cpu)).or_default();
        let call = call.trim();
        let ended = if let Some(function) = call.strip_suffix("() {") {
            open.push(function);
            None
        } else if let Some(function) = call.strip_suffix("();") {
            Some(function)
        } else {
            let name = call
                .strip_prefix("} /* ")
                .and_then(|name| name.strip_suffix(" */"));
            let last = name.map_or_else(
                || open.len().checked_sub(1),
                |name| open.iter().rposition(|open| *open == name),
            );
            last.and_then(|last| open.drain(last..).next())
        };
        if let Some(function) = ended {
            let sum = called.entry(function.to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + took);
        }
    }
    (called, open.into_values().flatten().collect())
}

#[test]
fn reads_calls_and_times_in_every_layout_of_the_kernel() {
    for name in ["default", "abstime", "latency"] {
        let text = fs::read_to_string(testdata("ftrace").join(format!("{name}.trace"))).unwrap();
        let recording = read(&text);
        let mut called = called(&recording, &SymbolOptions::default());
        let (mut expected, open) = called_in_text(&text);
        assert!(expected.len() > 40 && expected.values().map(|of| of.0).sum::<u64>() > 200);
        for function in open {
            expected.remove(function);
            called.remove(function);
        }
        assert_eq!(called, expected, "{name}");
        let threads = threads(&recording);
        assert!(
            threads.iter().any(|(name, ..)| *name == "busybox"),
            "{threads:?}"
        );
        let warnings = recording.warnings.join("\n");
        assert!(!warnings.contains("not understood"), "{warnings}");
        assert_eq!(
            warnings.contains("has no times"),
            name == "default",
            "{warnings}"
        );
    }
}

#[test]
fn places_calls_one_after_another_without_timestamps() {
    let recording = read(
        "# tracer: function_graph\n\
         #\n\
         # CPU  DURATION                  FUNCTION CALLS\n\
         # |     |   |                     |   |   |   |\n \
         1)   0.500 us    |        } /* before */\n \
         0)               |  sys_open() {\n \
         0)               |    getname() {\n \
         0)   1.382 us    |      kmem_cache_alloc();\n \
         0)   2.478 us    |    }\n \
         0)   ==========> |\n \
         0)   0.668 us    |    _spin_lock [locks]();\n \
         0) + 17.000 us   |  }\n \
         0)   1.000 us    |  sys_close();\n \
         ------------------------------------------\n \
         0)  bash-7  =>  sleep-8\n \
         ------------------------------------------\n\n \
         0) ! 100.000 us  |  sys_nanosleep();\n\
         CPU:0 [LOST 12 EVENTS]\n \
         0)               |  sys_exit() {\n \
         0)   2.000 us    |    do_exit();\n",
    );
    let called = called(&recording, &SymbolOptions::default());
    assert_eq!(
        called,
        sums(&[
            ("_spin_lock", 1, 668),
            ("do_exit", 1, 2_000),
            ("getname", 1, 2_478),
            ("kmem_cache_alloc", 1, 1_382),
            ("sys_close", 1, 1_000),
            ("sys_exit", 1, 2_000),
            ("sys_nanosleep", 1, 100_000),
            ("sys_open", 1, 17_000),
        ])
    );
    assert_eq!(
        threads(&recording),
        [("CPU 0", 0, 18_000), ("sleep", 18_000, 120_000)]
    );
    assert_eq!(recording.lost, 12);
    let warnings = recording.warnings.join("\n");
    for warning in [
        "has no times",
        "1 call ended without a begin",
        "1 call did not end",
        "At least 12 events were lost",
    ] {
        assert!(warnings.contains(warning), "{warning}: {warnings}");
    }
    let modules: Vec<String> = recording
        .named
        .iter()
        .map(|(_, frame)| common::show(&frame))
        .collect();
    assert!(
        modules.contains(&"[locks]!_spin_lock (kernel)".to_owned()),
        "{modules:?}"
    );
    assert!(
        modules.contains(&"[kernel]!sys_open (kernel)".to_owned()),
        "{modules:?}"
    );
}

#[test]
fn places_calls_by_their_timestamps() {
    let recording = read(
        "# tracer: function_graph\n\
         #     TIME        CPU  TASK/PID        DURATION                  FUNCTION CALLS\n  \
         10.000010 |   0)    sh-4802     |               |  read() {\n  \
         10.000010 |   0)    sh-4802     |   0.900 us    |    lock();\n  \
         10.000010 |   1)    ls-4803     |   5.000 us    |  write();\n  \
         10.000013 |   0)    sh-4802     |   0.700 us    |    copy();\n  \
         10.000013 |   0)    sh-4802     |   0.200 us    |    unlock();\n  \
         10.000014 |   0)    sh-4802     |   3.500 us    |  }\n",
    );
    assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
    let called = called(&recording, &SymbolOptions::default());
    let expected = [
        ("copy", 1, 700),
        ("lock", 1, 900),
        ("read", 1, 3_500),
        ("unlock", 1, 200),
        ("write", 1, 5_000),
    ];
    assert_eq!(called, sums(&expected));
    let at = 10_000_010_000;
    assert_eq!(
        threads(&recording),
        [("sh", at, at + 3_500), ("ls", at, at + 5_000)]
    );
}

#[test]
fn reads_trace_cmd_reports_as_the_same_trace() {
    let recording = read(
        "CPU 1 is empty\ncpus=2\n   \
         ssh-15986 [002]  2882.242765: funcgraph_entry:                   |  cls_bpf_classify() {\n   \
         ssh-15986 [002]  2882.242767: funcgraph_entry:        0.213 us   |    bpf_skb_load_bytes();\n   \
         ssh-15986 [002]  2882.242767: sched_switch: prev_comm=ssh\n   \
         ssh-15986 [002]  2882.242767: funcgraph_exit:         2.816 us   |  }\n\
         <idle>-0     [002]  2882.243697: funcgraph_entry:      # 1439.202 us |  do_mount();\n",
    );
    assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
    let called = called(&recording, &SymbolOptions::default());
    let expected = [
        ("bpf_skb_load_bytes", 1, 213),
        ("cls_bpf_classify", 1, 2_816),
        ("do_mount", 1, 1_439_202),
    ];
    assert_eq!(called, sums(&expected));
    let names: Vec<(&str, u32)> = recording
        .threads
        .iter()
        .map(|thread| (&*thread.name, thread.tid))
        .collect();
    assert_eq!(names, [("ssh", 15_986), ("<idle>", 2)]);
}

#[test]
fn counts_unrecognised_lines() {
    let recording =
        read("# tracer: function_graph\n 0)   1.000 us    |  foo();\nHello!\n\nworld\n");
    let warnings = recording.warnings.join("\n");
    assert!(
        warnings.contains(
            "2 lines were not understood and were ignored; the first is line 3: `Hello!`"
        ),
        "{warnings}"
    );
}

proptest! {
    /// Lines of nested calls, in any order of threads.
    #[test]
    fn calls_have_the_durations_of_their_lines(
        calls in prop::collection::vec((0..4_usize, 1..3_000_u64, 0..3_u64), 1..40),
        has_times in any::<bool>(),
    ) {
        let mut text = "# tracer: function_graph\n".to_owned();
        let mut expected = Called::new();
        let mut at = 5_000_000_u64;
        for (number, (depth, took, gap)) in calls.into_iter().enumerate() {
            // Each caller takes one nanosecond more than its callees.
            let time = |at: u64| if has_times { format!("{}.{:06} | ", at / 1_000_000_000, at % 1_000_000_000 / 1_000) } else { String::new() };
            for level in 0..depth {
                text += &format!("{} 0)               | c{number}_{level}() {{\n", time(at));
            }
            text += &format!("{} 0) {}.{:03} us | leaf{number}();\n", time(at), took / 1_000, took % 1_000);
            expected.insert(format!("leaf{number}"), (1, took));
            for level in (0..depth).rev() {
                let took = took + (depth - level) as u64;
                text += &format!("{} 0) {}.{:03} us | }}\n", time(at + took), took / 1_000, took % 1_000);
                expected.insert(format!("c{number}_{level}"), (1, took));
            }
            at += took + depth as u64 + gap;
        }
        let recording = read(&text);
        prop_assert_eq!(called(&recording, &SymbolOptions::default()), expected);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ 0-9a-z|(){};/*=>.+!#:\\[\\]\n-]{0,300}") {
        let text = format!("# tracer: function_graph\n 0)   1.000 us    |  foo();\n{text}");
        let read = read_bytes(Path::new("a/trace"), text.as_bytes(), &ReadOptions::default());
        if let Err(error) = read {
            prop_assert!(error.to_string().starts_with("a/trace: "), "{}", error);
        }
    }
}
