//! Output of `perf script`: real output compared with goldens, and its many variants.

use crate::common;
use crate::common::{error_of, folded, read_text, show};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, ReadOptions, read, read_bytes, read_stream};
use sto_core::recording::{Location, Recording, Sample};
use sto_core::units::{Nanoseconds, SampleType, Unit};
use sto_test_support::assert_golden;

/// A recording as text for goldens.
fn describe(recording: &Recording) -> String {
    let mut text = String::new();
    let out = &mut text;
    let origin = &recording.origin;
    writeln!(
        out,
        "host {:?}, kernel {:?}, arch {:?}",
        origin.host, origin.kernel, origin.arch
    )
    .unwrap();
    writeln!(out, "cpu {:?}", origin.cpu).unwrap();
    writeln!(out, "command {:?}", origin.command).unwrap();
    writeln!(
        out,
        "duration {:?}",
        origin.duration.map(|duration| duration.0)
    )
    .unwrap();
    for warning in &recording.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    for process in &recording.processes {
        writeln!(out, "process {} {}", process.pid, process.program).unwrap();
    }
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        writeln!(
            out,
            "\n{} {} at {:?}: {} {} {}{}",
            thread.name,
            thread.tid,
            sample.time.map(|time| time.0),
            sample.cost.value,
            sample_type.unit.name(),
            sample_type.event,
            if sample.truncated { ", truncated" } else { "" }
        )
        .unwrap();
        for frame in common::frames_of(recording, sample) {
            writeln!(out, "  {}", show(&frame)).unwrap();
        }
    }
    text
}

#[track_caller]
fn check_golden(name: &str) {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/perf-script"
    ));
    let found = describe(&read(&folder.join(format!("{name}.txt")), &Default::default()).unwrap());
    let golden = folder.join(format!("{name}.expected"));
    assert_golden(&golden, &found);
}

#[test]
fn reads_real_frame_pointer_stacks() {
    check_golden("frame-pointers");
}

#[test]
fn reads_real_inlined_functions_and_two_events() {
    check_golden("dwarf-inlined");
}

#[test]
fn reads_a_real_broken_stack_of_two_cpus() {
    check_golden("system-wide");
}

#[test]
fn reads_real_samples_without_call_chains() {
    check_golden("without-call-chains");
}

#[test]
fn clock_event_periods_are_nanoseconds() {
    let unit_of = |event: &str| {
        let text = format!("p 1 1.5: 7 {event}: \n\t10 f (/bin/p)\n");
        read_text(&text).unwrap().sample_types[0].unit
    };
    for event in ["cpu-clock", "task-clock", "cpu-clock:u", "task-clock:ppp"] {
        assert_eq!(unit_of(event), Unit::Nanoseconds, "{event}");
    }
    for event in ["cycles", "cpu-cycles:u", "sched:cpu-clock", "page-faults"] {
        assert_eq!(unit_of(event), Unit::Events, "{event}");
    }
}

#[test]
fn counts_samples_without_periods() {
    let text = "p 1 1.5: cycles:u: \n\t10 f (/bin/p)\n\np 1 1.6: 7 cycles:u: \n\t10 f (/bin/p)\n";
    let recording = read_text(text).unwrap();
    assert_eq!(recording.format, Format::PerfScript);
    let event = "cycles:u".to_owned();
    assert_eq!(
        recording.sample_types,
        [
            SampleType {
                event: event.clone(),
                unit: Unit::Samples
            },
            SampleType {
                event,
                unit: Unit::Events
            },
        ]
    );
    assert_eq!(recording.samples[0].cost.value, 1);
    assert_eq!(recording.samples[1].cost.value, 7);
}

/// Reads text as `perf script` output, without detection.
fn read_named(text: &str) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        format: Some(Format::PerfScript),
        ..ReadOptions::default()
    };
    read_bytes(Path::new("x"), text.as_bytes(), &options)
}

/// Reads one sample that begins with this line.
#[track_caller]
fn read_sample(first_line: &str) -> (Recording, Sample) {
    let recording = read_named(&format!("{first_line}\n\t1 f (/x)\n")).unwrap();
    let [sample] = recording.samples[..] else {
        panic!("not one sample: {first_line}");
    };
    (recording, sample)
}

#[test]
fn reads_every_field_of_a_header_line() {
    let (recording, sample) = read_sample("perf 7/8 [001]  1575.104448:    3344481 cycles:u: ");
    assert_eq!(recording.processes[0].pid, 7);
    let thread = &recording.threads[0];
    assert_eq!((thread.tid, &*thread.name), (8, "perf"));
    assert_eq!(sample.time, Some(Nanoseconds(1_575_104_448_000)));
    assert_eq!(sample.cost.value, 3_344_481);
    assert_eq!(recording.sample_types[0].event, "cycles:u");
}

#[test]
fn accepts_spaces_and_numbers_in_command_names() {
    for comm in [
        "pool worker 1",
        "a 1/2 b",
        "12",
        "x [001] 3",
        "kworker/0:1-events",
        "",
    ] {
        for fields in [
            "1.000001: 5 cycles:",
            "[000] 1.000001: cycles:ppp:",
            "7 cycles:",
            "[000] KM 1.5: cycles:",
        ] {
            let line = format!("  {comm}  42 {fields}");
            let thread = &read_sample(&line).0.threads[0];
            assert_eq!((&*thread.name, thread.tid), (comm, 42), "{line}");
        }
    }
}

#[test]
fn keeps_times_exact_to_the_nanosecond() {
    for (time, nanoseconds) in [("0.000000001", 1), ("12.5", 12_500_000_000)] {
        let (_, sample) = read_sample(&format!("p 1 {time}: e:"));
        assert_eq!(sample.time, Some(Nanoseconds(nanoseconds)), "{time}");
    }
}

#[test]
fn reads_the_function_without_call_chains() {
    for fields in ["10 cycles:  4011", " 4011"] {
        let text = format!("p 1 1.5: {fields} main+0x1 (/bin/p)\n");
        assert_eq!(folded(&read_named(&text).unwrap()), ["p!main 1"]);
    }
}

#[test]
fn rejects_samples_without_time_or_event() {
    for line in [
        "main;work 42",
        "perf 12/12",
        "It is 5 o'clock.",
        "heap profile: 1: 4 [20: 400] @ heap/1048576",
        "p 1 99999999999.000000: ",
    ] {
        let message = read_named(&format!("{line}\n")).unwrap_err().to_string();
        let expected = "x: line 1: expected a sample";
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn strips_offsets_and_folders_and_finds_kinds() {
    for (line, expected) in [
        (
            "1 operator()(int) const+0x1f (/lib/a.so)",
            "a.so!operator()(int) const",
        ),
        ("1 operator+ (/lib/a.so)", "a.so!operator+"),
        (
            "1 f(int, char (*)[4]) (/opt/my app/a)",
            "a!f(int, char (*)[4])",
        ),
        ("1 foo(int)+0x1", "foo(int)"),
        (
            "1 f+0x1 (/memfd:doublemapper (deleted))",
            "memfd:doublemapper!f",
        ),
        ("1 a(b) (/x/y(z)/w (deleted))", "w!a(b)"),
        ("f f+0x1 ([kernel.kallsyms])", "[kernel]!f (kernel)"),
        (
            "f f ([guest.kernel.kallsyms])",
            "[guest.kernel.kallsyms]!f (kernel)",
        ),
        ("f f ([nf_conntrack])", "[nf_conntrack]!f (kernel)"),
        (
            "f f (/lib/modules/6.1/kernel/net/a.ko.xz)",
            "a.ko.xz!f (kernel)",
        ),
        ("f b (bpf_prog_12_f)", "bpf_prog_12_f!b (kernel)"),
        ("7 f ([vdso])", "[vdso]!f"),
        ("7 f ([anon:heap])", "[anon:heap]!f"),
        ("7 f (/tmp/perf-12.map)", "[jit]!f (jit)"),
        ("7 f ([unknown])", "f"),
    ] {
        let text = format!("p 1 1.0: 1 cycles:\n\t{line}\n");
        let found = folded(&read_named(&text).unwrap());
        assert_eq!(found, [format!("{expected} 1")], "{line}");
    }
}

#[test]
fn names_processes_after_main_thread_and_last_program() {
    let text = "\
        worker 7/8 1.0: 1 cycles:\n\t1 f (a)\n\t2 g (a)\n\n\
        perf-exec 7/7 2.0: 1 cycles:\n\t1 f (a)\n\n\
        prog 7/7 3.0: 1 cycles:\n\t1 f (a)\n\n\
        rayon 9/10 4.0: 1 cycles:\n\t1 f (a)\n\n\
        other 9/11 5.0: 1 cycles:\n\t1 f (a)\n";
    let recording = read_text(text).unwrap();
    let programs: Vec<_> = recording
        .processes
        .iter()
        .map(|p| (p.pid, p.program.as_str()))
        .collect();
    assert_eq!(programs, [(7, "prog"), (9, "rayon")]);
    assert_eq!(recording.threads.len(), 4);
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn warns_about_threads_without_process_ids() {
    let text = "a 1 1.0: 1 cycles:\n\t1 f (a)\n\nb 2 2.0: 1 cycles:\n\t1 f (a)\n\tf g (a)\n";
    let recording = read_text(text).unwrap();
    assert_eq!(recording.processes.len(), 2);
    assert_eq!(recording.warnings.len(), 1);
    assert!(recording.warnings[0].contains("perf script -F +pid"));
}

#[test]
fn samples_are_sorted_by_time() {
    let text = "p 1 9.000000002: 1 cycles:\n\t1 b (p)\n\np 1 9.000000001: 1 cycles:\n\t1 a (p)\n";
    let recording = read_text(text).unwrap();
    assert_eq!(folded(&recording), ["p!a 1", "p!b 1"]);
    assert_eq!(recording.samples[0].time, Some(Nanoseconds(9_000_000_001)));
    assert_eq!(recording.origin.duration, Some(Nanoseconds(1)));
}

#[test]
fn inlined_functions_are_in_the_module_of_their_caller() {
    let text = "p 1 1.0: 1 cycles:\n\t5 c (inlined)\n\t5 b (inlined)\n\t5 a (/bin/p)\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["p!a;p!b (inlined);p!c (inlined) 1"]
    );
}

#[test]
fn function_inlined_into_nothing_is_a_call() {
    let text = "p 1 1.0: 1 cycles:\n\t5 b (/bin/p)\n\t7 a (inlined)\n\t9 main (/bin/p)\n\t9 start (inlined)\n";
    assert_eq!(folded(&read_text(text).unwrap()), ["start;p!main;a;p!b 1"]);
}

#[test]
fn unresolved_frames_have_stable_names() {
    let text = "p 1 1.0: 1 cycles:\n\
        \t1a2b [unknown] (/lib/libc.so.6)\n\
        \t7f1122334455 [unknown] (/lib/libc.so.6)\n\
        \tffffffff81000000 [unknown] ([kernel.kallsyms])\n\
        \t7f1122334455 [unknown] ([unknown])\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["[unknown] (unresolved);[kernel]![kernel] (unresolved);\
          libc.so.6![libc.so.6] (unresolved);libc.so.6![libc.so.6+0x1a2b] (unresolved) 1"]
    );
}

#[test]
fn keeps_samples_without_a_stack() {
    let text = "p 1 1.0: 1 cycles:\n\np 1 2.0: 1 cycles:\n\t1 f (p)\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["[unknown] (unresolved) 1", "p!f 1"]
    );
}

#[test]
fn reads_stacks_without_indentation() {
    let text = "p 1 1.0: 1 cycles:\n7f3a f+0x1c (/bin/p)\n7f3b main (/bin/p)\n\np 1 2.0: 1 cycles:\n1 f (/bin/p)\n";
    assert_eq!(folded(&read_text(text).unwrap()), ["p!main;p!f 1", "p!f 1"]);
}

#[test]
fn reads_tracepoints_and_spaces_for_tabs() {
    let text = "\
        bash 1 [000] 1.0: sched:sched_switch: prev_comm=a (x)\n\t1 f (p)\n\t2 main (p)\n\n\
        dd 2 [000] 2.0: 1 cycles:\n        d f (p)\n        e main (p)\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["p!main;p!f 1", "p!main;p!f 1"]
    );
}

/// The calls with each argument, and their time in nanoseconds.
fn arguments(recording: &Recording) -> Vec<String> {
    let calls = recording.calls.as_ref().unwrap();
    let all = calls.arguments.iter().flat_map(|with| {
        let leaf = recording.stacks.leaf(with.stack).unwrap();
        let Location::Named(frame) = recording.locations[leaf.0 as usize] else {
            panic!("it has no name");
        };
        let function = recording.named.frame(frame).symbol;
        let calls = with.calls.iter();
        calls.map(move |call| {
            let (argument, took) = (&with.argument, call.duration.0);
            format!("{function} {argument}={} {took}", call.value)
        })
    });
    all.collect()
}

/// The time or number of calls of each stack.
fn calls_of(recording: &Recording, event: &str) -> Vec<String> {
    let types = &recording.sample_types;
    let samples = recording.samples.iter();
    let samples = samples.filter(|sample| types[sample.sample_type.0 as usize].event == event);
    let shown = samples.map(|sample| {
        let frames = common::frames_of(recording, sample);
        let frames: Vec<&str> = frames.iter().map(|frame| frame.symbol).collect();
        format!("{} {}", frames.join(";"), sample.cost.value)
    });
    shown.collect()
}

#[test]
fn reads_real_function_probes_as_calls_with_arguments() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/perf-script/probes.txt"
    );
    let recording = read(Path::new(path), &Default::default()).unwrap();
    let expected = [
        "scan 18",
        "scan;note 18",
        "pairs 18",
        "pairs;scan 18",
        "pairs;scan;note 18",
    ];
    assert_eq!(calls_of(&recording, "calls"), expected);
    let arguments = arguments(&recording);
    // From 14196.354675276 to 14196.354814453, the times of the first and third lines.
    for printed in ["scan n=5000 139177", "scan found=158 139177"] {
        assert!(
            arguments.iter().any(|call| call == printed),
            "{arguments:?}"
        );
    }
    let of = |start: &str| {
        arguments
            .iter()
            .filter(|call| call.starts_with(start))
            .count()
    };
    assert_eq!(
        (of("scan n="), of("pairs n="), of("pairs arg1=")),
        (36, 18, 18)
    );
    let [warning] = &recording.warnings[..] else {
        panic!("{:?}", recording.warnings);
    };
    let printed = "36 calls are of functions whose return is not probed";
    assert!(warning.starts_with(printed), "{warning}");
}

/// A line of a probe of thread 7.
fn probe(microseconds: u32, name: &str, rest: &str) -> String {
    format!("p 7/7 [000] 1.{microseconds:06}: prog:{name}: {rest}\n")
}

#[test]
fn pairs_probes_by_address_and_order() {
    let text = [
        probe(1, "outer", "(a0) n=0x10 s=\"x\""),
        probe(1, "inner", "(b0) n=-3"),
        probe(1, "back", "(b0 <- a7) arg1=5"),
        probe(4, "outer__return", "(a0 <- 17)"),
        probe(5, "outer", "(a0) n=17"),
        probe(9, "outer__return", "(a0 <- 17)"),
    ];
    let recording = read_text(&text.concat()).unwrap();
    assert_eq!(calls_of(&recording, "calls"), ["outer 2", "outer;inner 1"]);
    assert_eq!(
        calls_of(&recording, "wall"),
        ["outer 7000", "outer;inner 0"]
    );
    let expected = [
        "outer n=16 3000",
        "outer n=17 4000",
        "inner arg1=5 0",
        "inner n=-3 0",
    ];
    assert_eq!(arguments(&recording), expected);
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn counts_functions_without_return_probes() {
    let text = [
        probe(0, "main", "(10)"),
        probe(1, "mark", "(c0) n=1"),
        probe(2, "mark", "(c0) n=2"),
        probe(3, "work", "(a0) n=2"),
        "p 7/7 [000] 1.000004: sched:sched_switch: prev_comm=a\n".to_owned(),
        probe(9, "work__return", "(a0 <- 17)"),
    ];
    let recording = read_text(&text.concat()).unwrap();
    let expected = ["main 3000", "main;mark 0", "main;work 6000"];
    assert_eq!(calls_of(&recording, "wall"), expected);
    let expected = ["mark n=1 0", "mark n=2 0", "work n=2 6000"];
    assert_eq!(arguments(&recording), expected);
    let starts = [
        "1 events are not probes",
        "2 calls are of functions whose",
        "1 calls have no end",
    ];
    let warnings = recording.warnings.iter().zip(starts);
    assert!(
        warnings
            .clone()
            .all(|(printed, start)| printed.starts_with(start)),
        "{warnings:?}"
    );
    assert_eq!(recording.warnings.len(), starts.len());
}

#[test]
fn marks_stacks_of_maximum_depth_as_truncated() {
    let text = |depth: usize| format!("p 1 1.0: 1 cycles:\n{}", "\t1 f (p)\n".repeat(depth));
    assert!(!read_text(&text(126)).unwrap().samples[0].truncated);
    assert!(read_text(&text(127)).unwrap().samples[0].truncated);
}

#[test]
fn reports_malformed_lines() {
    let good = "p 1 1.0: 1 cycles:\n\t1 f (p)\n";
    for (bad, expected) in [
        (
            "\thello world\n",
            "line 3: expected a line of a sample's stack",
        ),
        (
            "\t+12 f (g)\n",
            "line 3: expected a line of a sample's stack",
        ),
        ("\n\t1 g (p)\n", "line 4: expected a sample"),
        ("what is this?\n", "line 3: expected a sample"),
        (
            "    work.cc:10\n",
            "line 3: expected a line of a sample's stack",
        ),
        ("\t1 f (", "truncated: the file ends within line 3"),
        ("\t1 f(int)", "truncated: the file ends within line 3"),
        ("\t1 f<void (int)", "truncated: the file ends within line 3"),
        (
            "p 1 2.0: 1 cycles: ",
            "truncated: the file ends within line 3",
        ),
    ] {
        let message = error_of(format!("{good}{bad}").as_bytes());
        assert!(
            message.starts_with(&format!("a/file: {expected}")),
            "{message}"
        );
    }
}

/// Like `simple.linux-perf.txt` among speedscope's samples.
#[test]
fn accepts_a_last_line_without_line_end() {
    for last in [
        "\t 6ce258d4c544155 [unknown] ([unknown])",
        "\t1 f (/usr/bin/app (deleted))",
        "\t1 f (inlined)",
        "p 1 2.0: 1 cycles: 1 f (/usr/bin/app)",
    ] {
        let text = |end| format!("p 1 1.0: 1 cycles:\n\t1 f (p)\n{last}{end}");
        let stacks = |end| folded(&read_text(&text(end)).unwrap());
        assert_eq!(stacks(""), stacks("\n"), "{last}");
    }
}

#[test]
fn skips_records_that_are_not_samples() {
    let text = "\
swapper     0 PERF_RECORD_MMAP -1/0: [0xffff] // recorded without times
swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x [kernel.kallsyms]_text
my prog  9494 23609.880922: PERF_RECORD_COMM exec: my prog:9494/9494
my prog  9494 23609.880922: PERF_RECORD_COMM: other:9494/9494
my prog  9494 23609.880956: PERF_RECORD_MMAP2 9494/9494: [0x561b(0x1000) @ 0x1000 fe:00 1 2]: r-xp /tmp/my prog
PERF_RECORD_FINISHED_ROUND
my prog  9494 23609.927070:   10101010 cpu-clock: 
\t            118d work+0x44 (/tmp/my prog)
  w.c:4
\t            11fe rec+0x21 (/tmp/my prog)
  [my prog][11fe]

my prog  9494 23609.930000: PERF_RECORD_SWITCH OUT
my prog  9494 [001] 23609.930000: PERF_RECORD_LOST lost 5
my prog  9494 23609.940000: PERF_RECORD_LOST lost 2
my prog  9494 23609.940000: PERF_RECORD_LOST_SAMPLES lost 7
my prog  9494 23609.940001: PERF_RECORD_EXIT(9494:9494):(9494:9494)
";
    let recording = read_text(text).unwrap();
    assert_eq!(folded(&recording), ["my prog!rec;my prog!work 1"]);
    assert_eq!(recording.lost, 7);
    assert_eq!(recording.threads.len(), 1);
    assert_eq!(recording.warnings, [""; 0]);
}

/// Text of several blocks, which several threads parse.
fn long_text() -> String {
    let name = "n".repeat(100);
    let sample = |at: u32| {
        let inlined = format!("\t  7 f{}_{name} (inlined)\n\t  7 g (/x)\n", at % 11);
        format!(
            "p 1/{} {at}.5: 3 cycles:\n{inlined}\t  9 main{} (/x)\n\n",
            at % 5,
            at % 3
        )
    };
    let text: String = (0..40_000).map(sample).collect();
    assert!(text.len() > 5 << 20, "several blocks: {}", text.len());
    text
}

#[test]
fn reads_a_stream_of_many_blocks_like_the_file() {
    let text = long_text();
    let stream = read_stream(Path::new("x"), text.as_bytes(), &Default::default()).unwrap();
    assert_eq!(
        format!("{stream:?}"),
        format!("{:?}", read_text(&text).unwrap())
    );
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let read = |text: &str, cores| {
        let cores = rayon::ThreadPoolBuilder::new().num_threads(cores).build();
        format!("{:?}", cores.unwrap().install(|| read_text(text)))
    };
    let mut text = long_text();
    assert!(read(&text, 4) == read(&text, 1), "the recordings differ");
    text.push_str("p 1/1 1.5: 3 cycles:\n\twhat is this?\n");
    let error = read(&text, 4);
    assert!(error.contains("\"line 200002\""), "{error}");
    assert_eq!(error, read(&text, 1));
}

#[test]
fn keeps_complete_lines_of_truncated_text_if_allowed() {
    let text = b"p 1 1.0: 1 cycles:\n\t1 f (p)\n\t2 g (p)\n\nq 1 2.0: 1 cycles:\n\t1 f (";
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("x"), text, &options).unwrap();
    assert_eq!(recording.samples.len(), 2);
    assert!(
        recording.warnings[0].contains("left out: `\\t1 f (`"),
        "{:?}",
        recording.warnings
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reads_or_rejects_arbitrary_text(
        text in "(p 1 1\\.5: 1 cycles:|\\n|\\t|  |1|f|\\(|\\)|inlined|\\[unknown\\]|a/b|#|\\+0x1|:){0,40}"
    ) {
        if let Err(error) = read_text(&format!("p 1 1.0: 1 cycles:\n{text}")) {
            prop_assert!(error.to_string().starts_with("app.folded"), "{}", error);
        }
    }
}
