//! Call trees copied from Instruments 7, 13 and 16.

use super::{read_as, stacks};
use sto_core::formats::Format;

#[track_caller]
fn assert_read(text: &str, expected: &[&str]) {
    let recording = read_as(None, text.as_bytes()).unwrap();
    assert_eq!(recording.format, Format::Instruments);
    assert_eq!(stacks(&recording), expected);
}

#[test]
fn reads_times_with_and_without_unit() {
    let expected = [
        "time 1 1000000 ns []: start;main",
        "time 713 713000000 ns []: start;main;alpha()",
        "time 1500 1500000000 ns []: start;main;delta()",
    ];
    assert_read(
        "Running Time\tSelf (ms)\t\tSymbol Name\n2214.0ms   99.9%\t0\t \tstart\n2214.0ms   99.9%\t1\t \t main\n\
         1500.0ms   49.7%\t1500\t \t  delta()\n713.0ms   16.6%\t713\t \t  alpha()\n",
        &expected,
    );
    assert_read(
        "Weight\tSelf Weight\tSymbol Names\n2.21 s  100.0%\t0 s\t   start\n2.21 s  99.9%\t1.00 ms\t    main\n\
         1.50 s  \u{2007}0.0%\t1.50 s\t     delta()\n713.00 ms   0.0%\t713.00 ms\t     alpha()\n",
        &expected,
    );
}

#[test]
fn reads_cycles_below_their_process() {
    let text = "Weight\tSelf Weight\t\tSymbol Name\n96.08 Gc  100.0%\t-\t \tapp (40414)\n96.08 Gc  100.0%\t-\t \t start\n\
                46.92 Gc   48.8%\t404.75 Mc\t \t  core::Duration::as_millis::hae6ad1b9cf7bb5ec\n";
    assert_read(
        text,
        &["cycles 405 404750000 events []: start;core::Duration::as_millis"],
    );
    let recording = read_as(None, text.as_bytes()).unwrap();
    let process = &recording.processes[0];
    assert_eq!((process.pid, &*process.program), (40414, "app"));
}

#[test]
fn reads_bytes_without_a_time_column() {
    assert_read(
        "Bytes Used\tCount\t\tSymbol Name\n  3.00 MB     100.0%\t3\t \tstart\n  2.00 MB      66.6%\t2\t \t main\n",
        &[
            "alloc_space 1024 1048576 bytes []: start",
            "alloc_space 2048 2097152 bytes []: start;main",
        ],
    );
}

#[test]
fn reports_malformed_rows() {
    let error = |row: &str| {
        let text = format!("Weight\tSelf Weight\t\tSymbol Name\n{row}\n");
        read_as(None, text.as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(
        error("4 parsecs\t1\t \tmain"),
        "a/file: line 2: expected a time, cycles or bytes, as in `4.93 s`, `96.08 Gc` or `429.93 MB`, found `4 parsecs`"
    );
    assert_eq!(
        error("4.93 s"),
        "a/file: line 2: expected a cost, a second one and a name, found `4.93 s`"
    );
}
