//! Files of each format, compared with goldens.

use super::{FILES, bytes, read_as, stacks, testdata};
use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;
use sto_core::formats::{Format, read_stream};
use sto_test_support::assert_golden;

#[test]
fn detects_and_reads_each_format() {
    for (file, format) in FILES {
        let recording = read_as(None, &bytes(file)).unwrap();
        assert_eq!(recording.format, format, "{file}");
        let mut found = String::new();
        for process in &recording.processes {
            writeln!(found, "process {} {:?}", process.pid, process.program).unwrap();
        }
        for warning in &recording.warnings {
            writeln!(found, "warning: {warning}").unwrap();
        }
        for stack in stacks(&recording) {
            writeln!(found, "{stack}").unwrap();
        }
        let golden = testdata(&format!("{file}.expected"));
        assert_golden(&golden, &found);
    }
}

#[test]
fn reads_a_stream_like_the_file() {
    for (file, _) in FILES {
        let bytes = bytes(file);
        let whole = read_as(None, &bytes).unwrap();
        let stream = read_stream(
            Path::new("a/file"),
            Cursor::new(&bytes),
            &Default::default(),
        );
        assert_eq!(
            format!("{:?}", stream.unwrap()),
            format!("{whole:?}"),
            "{file}"
        );
    }
}

#[test]
fn ignores_windows_line_ends() {
    for (file, format) in FILES {
        let text = String::from_utf8(bytes(file)).unwrap();
        let windows = text.replace('\n', "\r\n");
        let read = read_as(None, windows.as_bytes()).unwrap();
        assert_eq!(read.format, format);
        assert_eq!(
            stacks(&read),
            stacks(&read_as(None, text.as_bytes()).unwrap()),
            "{file}"
        );
    }
}

#[test]
fn keeps_self_costs_besides_calls() {
    let recording = read_as(None, &bytes("sample.txt")).unwrap();
    let stacks = stacks(&recording);
    let work = stacks
        .iter()
        .find(|stack| stack.contains("app!work work.c:30"))
        .unwrap();
    assert!(work.starts_with("wall 100 100000000 ns "), "{work}");
}

#[test]
fn counts_samples_without_an_interval() {
    let text = "Sampling process 93 for 3 seconds with 1 millisecond of run time between samples\n\n\
                Call graph:\n    5 Thread_1\n      4 main  (in app)\n\nTotal number in stack:\n";
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        [
            "samples 1 1 samples []: [unknown] (unresolved)",
            "samples 4 4 samples []: app!main"
        ]
    );
}

#[test]
fn ghc_ticks_and_bytes_are_exact() {
    let text = "\tMon Jan  6 09:20 2025 Time and Allocation Profiling Report  (Final)\n\n\
                \t   /opt/app +RTS -P\n\n\
                \ttotal time  =  0.25 secs   (250 ticks @ 500 us, 1 processor)\n\
                \ttotal alloc = 1,000 bytes  (excludes profiling overheads)\n\n\
                COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc ticks bytes\n\n\
                MAIN MAIN <built-in> 1 0 0.1 0.1 100.0 100.0 1 3\n main Main Main.hs:1:1 2 1 99.9 99.9 99.9 99.9 249 997\n";
    let recording = read_as(None, text.as_bytes()).unwrap();
    assert_eq!(recording.processes[0].program, "app");
    assert_eq!(
        stacks(&recording),
        [
            "alloc 1 3 bytes []: MAIN.MAIN",
            "alloc 1 997 bytes []: MAIN.MAIN;Main.main Main.hs:0",
            "time 1 500000 ns []: MAIN.MAIN",
            "time 249 124500000 ns []: MAIN.MAIN;Main.main Main.hs:0",
        ]
    );
}

#[test]
fn counts_xctrace_rows_without_weights() {
    let text = r#"<trace-query-result><node><row><backtrace id="1"><frame id="2" name="b"/><frame id="3" name="a"/></backtrace></row><row><backtrace ref="1"/></row></node></trace-query-result>"#;
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        ["samples 2 2 samples []: a;b"]
    );
}

#[test]
fn reads_ambiguous_content_with_a_given_format() {
    let text = "\n  main\n  3\n";
    assert!(read_as(None, text.as_bytes()).is_err());
    let recording = read_as(Some(Format::DTrace), text.as_bytes()).unwrap();
    assert_eq!(stacks(&recording), ["samples 3 3 samples []: main"]);
}

#[test]
fn joins_kernel_and_user_stacks() {
    let text = "CPU     ID                    FUNCTION:NAME\n 30  76446                       :tick-10ms\n\n\n\n  \
                zfs`zfs_write+0x1\n  unix`sys_syscall+0x17d\n\n  libc.so.1`write+0xa\n  app`main\n    2\n\n\n  \
                app`main\n    3\n\n  unix`thread_start+0xb\n\n    4\n";
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        [
            "samples 3 3 samples []: app!main",
            "samples 2 2 samples []: app!main;libc.so.1!write;unix!sys_syscall (kernel);zfs!zfs_write",
            "samples 4 4 samples []: unix!thread_start (kernel)",
        ]
    );
}

#[test]
fn ignores_probe_lines_of_dtrace_between_stacks() {
    let header =
        "CPU     ID                    FUNCTION:NAME\n  0      1                          :END \n";
    let stack =
        "\n\n              genunix`cv_wait+0x2\n\n              app`main+0x4\n               7\n";
    let message = "dtrace: description 'profile-997 ' matched 1 probe\n";
    let text = format!("{header}{stack}{message}{header}{stack}{header}{stack}");
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        ["samples 21 21 samples []: app!main;genunix!cv_wait (kernel)"]
    );
}

#[test]
fn keeps_the_time_of_short_visual_studio_calls() {
    // By the averages, short calls would take no time, or twice the real time.
    let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                0,app.exe,0,100.00,0.00,0.00,0.00,,\n\
                1,Main(),1,100.00,18.40,\"20,000.00\",\"3,680.01\",app.exe,\n\
                2,Get(),\"3,575,792\",20.60,20.60,0.00,0.00,app.exe,\n\
                2,Dot(),\"1,500,000\",60.95,60.95,0.01,0.01,app.exe,\n\
                2,Rare(),3,0.05,0.05,3.33,3.33,app.exe,\n";
    let found = stacks(&read_as(None, text.as_bytes()).unwrap());
    let times: Vec<_> = found
        .iter()
        .filter_map(|stack| stack.strip_prefix("wall "))
        .collect();
    assert_eq!(
        times,
        [
            "3680 3680010000 ns []: app.exe;app.exe!Main()",
            "12190 12190000000 ns []: app.exe;app.exe!Main();app.exe!Dot()",
            "4120 4120000000 ns []: app.exe;app.exe!Main();app.exe!Get()",
            "10 9990000 ns []: app.exe;app.exe!Main();app.exe!Rare()",
        ]
    );
}

#[test]
fn costs_add_up_to_stated_totals() {
    // For each file the totals of its sample types, and their rounding error.
    let stated: [(&str, &[u64], u64); 6] = [
        ("visual-studio.csv", &[2_204_750_000], 10_000),
        ("sample.txt", &[2 * 2_614_000_000], u64::MAX),
        ("yourkit.xml", &[1_230_000_000], u64::MAX),
        ("yourkit.csv", &[1_230_000_000], u64::MAX),
        ("ghc.prof", &[360_000_000, 333_873_160], 500),
        ("ghc-exact.prof", &[347_000_000, 333_873_160], u64::MAX),
    ];
    for (file, totals, part) in stated {
        let recording = read_as(None, &bytes(file)).unwrap();
        for (ix, &total) in (0..).zip(totals) {
            let samples = recording.samples.iter();
            let of_it = samples.filter(|sample| sample.sample_type.0 == ix);
            let sum: u64 = of_it.map(|sample| sample.cost.value).sum();
            assert!(
                sum.abs_diff(total) <= total / part,
                "{file}: {sum}, not {total}"
            );
        }
        assert!(
            recording.warnings.is_empty(),
            "{file}: {:?}",
            recording.warnings
        );
    }
}

#[test]
fn warns_if_costs_differ_from_stated_totals() {
    let without = |file: &str, from: &str, to: &str| {
        let text = String::from_utf8(bytes(file)).unwrap();
        assert!(text.contains(from), "{file}");
        let recording = read_as(None, text.replacen(from, to, 1).as_bytes()).unwrap();
        let warning = recording
            .warnings
            .iter()
            .find(|text| text.contains("add up to"));
        warning.cloned().unwrap_or_default()
    };
    let warning = without("visual-studio.csv", ",72.86,72.86,", ",72.86,12.86,");
    assert!(warning.contains(" 40.0"), "{warning}");
    let warning = without("ghc-exact.prof", "(347 ticks", "(694 ticks");
    assert!(warning.contains(" 50.00% "), "{warning}");
    let warning = without("sample.txt", "1114 write", "2228 write");
    assert!(warning.contains(" 121.31% "), "{warning}");
    let warning = without("yourkit.xml", "own_time_ms=\"150\"", "own_time_ms=\"50\"");
    assert!(warning.contains(" 91.87% "), "{warning}");
}

#[test]
fn reads_frames_without_backtrace_element() {
    let text = r#"<trace-query-result><node>
<row><weight id="1">1000000</weight><tagged-backtrace id="2"><frame id="3" name="leaf"/><frame id="4" name="main"/></tagged-backtrace></row>
<row><weight ref="1"/><tagged-backtrace ref="2"/></row>
<row><weight ref="1"/><tagged-backtrace id="5"><frame ref="4"/></tagged-backtrace></row>
</node></trace-query-result>"#;
    let recording = read_as(Some(Format::Xctrace), text.as_bytes()).unwrap();
    let expected = [
        "cpu 1 1000000 ns []: main",
        "cpu 2 2000000 ns []: main;leaf",
    ];
    assert_eq!(stacks(&recording), expected);
}

#[test]
fn ignores_the_total_row_of_vtune() {
    let text = "Function Stack,CPU Time:Self,Module\n\
        Total,0.0,[Unknown]\n _start,0.0,app\n  main,0.5,app\n clone,0.25,libc.so.6\n";
    let recording = read_as(None, text.as_bytes()).unwrap();
    let expected = [
        "cpu 500 500000000 ns []: app!_start;app!main",
        "cpu 250 250000000 ns []: libc.so.6!clone",
    ];
    assert_eq!(stacks(&recording), expected);
    // A function may have this name.
    let text = "Function Stack,CPU Time:Self,Module\nTotal,0.5,app\n";
    let recording = read_as(None, text.as_bytes()).unwrap();
    assert_eq!(stacks(&recording).len(), 1);
}

#[test]
fn demangles_partly_demangled_rust_names() {
    let names = [
        (
            "std::panicking::try::do_call::h08ca64c12e8a9bb0 (.llvm.15516475458848885060)",
            "std::panicking::try::do_call",
        ),
        (
            "_$LT$F$u20$as$u20$alloc..boxed..FnBox$LT$A$GT$$GT$::call_box::h8612a2a83552fc2d",
            "<F as alloc::boxed::FnBox<A>>::call_box",
        ),
        (
            "rg::search::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
            "rg::search::{{closure}}",
        ),
        ("std::vector<int>::push_back", "std::vector<int>::push_back"),
        ("Foo$bar::baz", "Foo$bar::baz"),
    ];
    for (name, expected) in names {
        let dtrace = format!("\n  rg`{name}+0x25\n  rg`main+0x1\n  7\n");
        let recording = read_as(Some(Format::DTrace), dtrace.as_bytes()).unwrap();
        assert_eq!(
            stacks(&recording),
            [format!("samples 7 7 samples []: rg!main;rg!{expected}")]
        );
        let sample = format!(
            "Analysis of sampling rg (pid 93) every 1 millisecond\nCall graph:\n    7 Thread_1\n      7 {name}  (in rg) + 37  [0x10]\n\nTotal number in stack (recursive counted multiple, when >=5):\n"
        );
        let recording = read_as(None, sample.as_bytes()).unwrap();
        assert_eq!(
            stacks(&recording),
            [format!("wall 7 7000000 ns []: rg!{expected}")]
        );
    }
}
