//! Traces of metrics: their contents and clock, and malformed ones.

use crate::common::read_text;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, ingest};
use sto_core::limits::{MAX_METRICS, MAX_USER_STRING};
use sto_core::model::{MetricKind, RunMetrics};
use sto_core::store::Store;
use sto_core::units::TimeOffset;

/// A recording from second 100 to second 101 of its clock, and traces for it.
const RUN: &str = "demo 7 100.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n\
                   demo 7 101.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n";

const SECOND: u64 = 1_000_000_000;

struct Traces {
    folder: tempfile::TempDir,
    options: IngestOptions,
}

impl Traces {
    fn new() -> Self {
        Traces {
            folder: tempfile::tempdir().unwrap(),
            options: IngestOptions {
                executable: Some("demo".to_owned()),
                version: Some("v1".to_owned()),
                ..IngestOptions::default()
            },
        }
    }

    fn with(mut self, name: &str, trace: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        fs::write(&path, trace).unwrap();
        self.options.traces.push(path);
        self
    }

    fn starting(mut self, seconds: f64) -> Self {
        self.options.trace_start = Some(TimeOffset((seconds * SECOND as f64) as i64));
        self
    }

    fn ingest_of(&self, run: &str) -> Result<(RunMetrics, IngestOutcome), IngestError> {
        let store = Store::in_memory().unwrap();
        let recording = read_text(run).unwrap();
        let name = PathBuf::from("p");
        let outcome = ingest(&store, (&name, recording), &self.options, &mut |_| ());
        if outcome.is_err() {
            assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
        }
        let outcome = outcome?;
        let metrics = store
            .snapshot()
            .unwrap()
            .load_metrics(outcome.profiles[0].id);
        Ok((metrics.unwrap().unwrap(), outcome))
    }

    fn ingest(&self) -> Result<(RunMetrics, IngestOutcome), IngestError> {
        self.ingest_of(RUN)
    }

    /// Metrics as lines: name, kind, and each time in seconds from the first sample with its value.
    fn lines(&self) -> Vec<String> {
        let (run, _) = self.ingest().unwrap();
        assert_eq!((run.first.0, run.last.0), (100 * SECOND, 101 * SECOND));
        let lines = run.series.iter().map(|series| {
            let points = series
                .times()
                .iter()
                .zip(series.values())
                .map(|(time, value)| {
                    let time = (time.0 as i64 - run.first.0 as i64) as f64 / SECOND as f64;
                    format!("{time}={value}")
                });
            let kind = match series.kind() {
                MetricKind::Level => "level",
                MetricKind::Count => "count",
            };
            format!(
                "{} {kind} {}",
                series.name(),
                points.collect::<Vec<_>>().join(" ")
            )
        });
        lines.collect()
    }

    fn warnings(&self) -> Vec<String> {
        let path = self.folder.path().display().to_string();
        let (_, outcome) = self.ingest().unwrap();
        let warnings = outcome
            .warnings
            .iter()
            .map(|warning| warning.text.replace(&path, ""));
        warnings
            .filter(|warning| warning.contains("Trace"))
            .collect()
    }

    /// The error message without the folder.
    fn error(&self) -> String {
        let path = format!("{}/", self.folder.path().display());
        self.ingest()
            .map(drop)
            .unwrap_err()
            .to_string()
            .replace(&path, "")
    }
}

fn trace(text: &str) -> Traces {
    Traces::new().with("trace", text)
}

#[test]
fn reads_tables_with_metrics_in_rows_or_columns() {
    let expected = ["heap level 0=1.5 0.5=2.5", "load level 0=3 0.5=4"];
    for text in [
        "time,name,value\n0,heap,1.5\n0,load,3\n0.5,heap,2.5\n0.5,load,4\n",
        "\u{feff}# by hand\r\n\r\nValue,Name,Time\r\n1.5,heap,0\r\n3,load,0\r\n2.5,heap,0.5\r\n4,load,0.5",
        "time,heap,load\n0,1.5,3\n0.5,2.5,4\n",
        "heap;t_ms;load\n1.5;0;3\n2.5;500;4\n",
        "heap\ttime (us)\tload\n1.5\t0\t3\n2.5\t500000\t4\n",
        "\"time\",\"heap\",\"load\"\n0 s, 1.5, 3\n500ms, 2.5, 4\n",
        "{\"time\": 0, \"name\": \"heap\", \"value\": 1.5}\n{\"time\":0,\"name\":\"load\",\"value\":3,\"more\":[{}]}\n\
         {\"time\": 5e-1, \"name\": \"heap\", \"value\": 2.5}\n\n{\"time\":\"0.5s\",\"name\":\"load\",\"value\":\"4\"}",
        "{\"time_ns\":0,\"name\":\"heap\",\"value\":1.5}\n{\"time_ns\":0,\"name\":\"load\",\"value\":3}\n\
         {\"time_ns\":500000000,\"name\":\"heap\",\"value\":2.5}\n{\"t\":0.5,\"name\":\"load\",\"value\":4}\n",
    ] {
        assert_eq!(trace(text).lines(), expected, "{text}");
    }
}

#[test]
fn metrics_are_levels_by_default() {
    for text in [
        "time,name,value,kind\n0,hits,9,count\n0,heap,9,\n0.5,hits,4,count\n0.5,heap,4,level\n",
        "{\"time\":0,\"name\":\"hits\",\"value\":9,\"kind\":\"count\"}\n{\"time\":0,\"name\":\"heap\",\"value\":9}\n\
         {\"time\":0.5,\"name\":\"hits\",\"value\":4,\"kind\":\"count\"}\n{\"time\":0.5,\"name\":\"heap\",\"value\":4}\n",
    ] {
        assert_eq!(
            trace(text).lines(),
            ["heap level 0=9 0.5=4", "hits count 0=0 0.5=4"]
        );
    }
}

#[test]
fn missing_values_are_not_points() {
    let wide = trace("time,a,b\n0,1,\n0.25,,n/a\n0.5,2,7\n");
    assert_eq!(wide.lines(), ["a level 0=1 0.5=2", "b level 0.5=7"]);
    let long = trace("time,name,value\n0,a,1\n0.25,a,null\n0.5,a,2\n");
    assert_eq!(long.lines(), ["a level 0=1 0.5=2"]);
    let json = trace(
        "{\"time\":0,\"name\":\"a\",\"value\":null}\n{\"time\":1,\"name\":\"a\",\"value\":2}",
    );
    assert_eq!(json.lines(), ["a level 1=2"]);
}

#[test]
fn warns_about_text_columns() {
    let traces = trace("time,host,a\n0,,1\n0.5,web-1,2\n");
    assert_eq!(traces.lines(), ["a level 0=1 0.5=2"]);
    assert_eq!(
        traces.warnings(),
        ["Trace `/trace`: columns of text were left out: `host`."]
    );
}

/// Output of `perf stat -I 20 -x, -e page-faults,context-switches,cpu-clock,cycles` for a program that slept in the
/// second interval.
const STAT: &str = "# started on Sun Nov 22 23:49:39 2026

     0.020094341,288,,page-faults,20372507,100.00,14.136,K/sec
     0.020094341,3.92,msec,cpu-clock,3929371,100.00,0.392,CPUs utilized
     0.020094341,<not supported>,,cycles,0,100.00,,
     0.040699112,<not counted>,,page-faults,0,100.00,,
     0.040699112,<not counted>,msec,cpu-clock,0,0.00,,
     0.040699112,<not supported>,,cycles,0,100.00,,
     0.060000000,7,,page-faults,51426,100.00,0.000,/sec
     0.060000000,0.05,msec,cpu-clock,53951,100.00,0.003,CPUs utilized
     0.060000000,<not supported>,,cycles,0,100.00,,
";

#[test]
fn perf_stat_counts_are_per_interval() {
    let expected = [
        "cpu-clock count 0=0 0.020094341=3.92 0.06=0.05",
        "page-faults count 0=0 0.020094341=288 0.040699112=0 0.06=7",
    ];
    for text in [
        STAT.to_owned(),
        STAT.replace(',', ";"),
        STAT.replace(',', "\t"),
        // Output in a locale with decimal commas.
        STAT.replace(',', ";")
            .replace("3.92", "3,92")
            .replace("0.05;", "0,05;")
            .replace("0.00;", "0,00;"),
        format!("{STAT}         summary,295,,page-faults,846784,100.00,,\n"),
        STAT.replace("     0.04", "\u{1b}[H\u{1b}[2J\n     0.04"),
        // A metric that perf derives from counts.
        STAT.replace(
            "     0.04",
            "     0.020094341,,,,,,,1.04,insn per cycle\n     0.04",
        ),
    ] {
        assert_eq!(trace(&text).lines(), expected, "{text}");
    }
    // The thread did nothing between two of its lines.
    let gap = STAT
        .lines()
        .filter(|line| !line.contains("0.0406") || !line.contains("page-faults"));
    assert_eq!(trace(&gap.collect::<Vec<_>>().join("\n")).lines(), expected);
    let expected =
        ["Trace `/trace`: events that the machine cannot count were left out: `cycles`."];
    assert_eq!(trace(STAT).warnings(), expected);
}

#[test]
fn reads_real_perf_stat_output() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata/traces");
    // The sums were computed with awk.
    for (name, of, intervals, sum) in [
        ("stat.csv", "page-faults", 33, 14_167.0),
        ("processors.csv", "page-faults CPU1", 9, 16_974.0),
        ("cores.csv", "page-faults S0-D0-C1", 9, 12_594.0),
        ("threads.csv", "page-faults sh-14304", 22, 15_929.0),
    ] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let run = RUN.replace(" 101.", " 110.");
        let (run, outcome) = trace(&text).ingest_of(&run).unwrap();
        let series = run
            .series
            .iter()
            .find(|series| series.name() == of)
            .unwrap();
        assert_eq!(series.kind(), MetricKind::Count);
        assert_eq!(
            (series.times()[0], series.values()[0]),
            (run.first, 0.0),
            "{name}"
        );
        assert_eq!(series.values().len(), intervals + 1, "{name}");
        assert_eq!(series.values().iter().sum::<f64>(), sum, "{name}");
        let warnings = outcome.warnings.iter().map(|warning| &*warning.text);
        assert_eq!(
            warnings
                .filter(|warning| warning.contains("`cycles"))
                .count(),
            1,
            "{name}"
        );
    }
}

#[test]
fn reads_perf_stat_per_cpu_socket_core_thread_and_group() {
    let stat = "\
     0.020093890,CPU0,288,,page-faults,20372507,100.00,14.136,K/sec
     0.020093890,CPU1,20.37,msec,cpu-clock,20374440,100.00,1.019,CPUs utilized
     0.020093890,S0,2,5186,,page-faults,40498665,100.00,128.059,K/sec
     0.020093890,S0-D0-C1,1,40.50,msec,cpu-clock,40497473,100.00,2.025,CPUs utilized
     0.020093890,bash-123,4,,page-faults,40498665,100.00,,
     0.020093890,9,,cpu/event=0x3c,umask=1/,40498665,50.00,,
     0.020093890,1,,faults,/user.slice,40498665,100.00,,
     0.040093890,N0,2,6,,page-faults,40498665,100.00,,
";
    let expected = [
        "cpu-clock CPU1 count 0=0 0.02009389=20.37",
        "cpu-clock S0-D0-C1 count 0=0 0.02009389=40.5",
        "cpu/event=0x3c,umask=1/ count 0=0 0.02009389=9",
        "faults,/user.slice count 0=0 0.02009389=1",
        "page-faults CPU0 count 0=0 0.02009389=288",
        "page-faults N0 count 0.02009389=0 0.04009389=6",
        "page-faults S0 count 0=0 0.02009389=5186",
        "page-faults bash-123 count 0=0 0.02009389=4",
    ];
    assert_eq!(trace(stat).lines(), expected);
}

#[test]
fn trace_uses_the_recordings_clock_if_times_match() {
    let of = |times: [&str; 2]| trace(&format!("time,a\n{},1\n{},2\n", times[0], times[1]));
    assert_eq!(of(["100.25", "100.5"]).lines(), ["a level 0.25=1 0.5=2"]);
    assert_eq!(of(["0.25", "0.5"]).lines(), ["a level 0.25=1 0.5=2"]);
    assert_eq!(of(["-0.25", "0.5"]).lines(), ["a level -0.25=1 0.5=2"]);
    assert_eq!(of(["0", "100"]).lines(), ["a level -100=1 0=2"]);
    // An explicit start takes precedence.
    assert_eq!(
        of(["0.25", "0.5"]).starting(0.25).lines(),
        ["a level 0.5=1 0.75=2"]
    );
    assert_eq!(
        of(["1000", "1000.5"]).starting(-999.5).lines(),
        ["a level 0.5=1 1=2"]
    );
}

#[test]
fn keeps_one_point_on_each_side_of_the_run() {
    let traces = trace("time,name,value,kind\n-2,a,1,\n-1,a,2,\n0.5,a,3,\n2,a,4,\n3,a,5,\n-1,b,7,count\n-0.5,b,7,count\n1,b,3,count\n")
        .with("none", "time,c\n-3,1\n-2,1\n0.5,\n");
    let text = fs::read_to_string(&traces.options.traces[1]).unwrap();
    fs::write(&traces.options.traces[1], text + "0.75,4\n").unwrap();
    assert_eq!(
        traces.lines(),
        [
            "a level -1=2 0.5=3 2=4",
            "b count -0.5=0 1=3",
            "c level -2=1 0.75=4"
        ]
    );
    assert_eq!(
        traces.warnings(),
        [
            "Trace `/trace`: 3 of 8 values have times outside of the recording, which lasts 1 s, and were left out.",
            "Trace `/none`: 1 of 3 values have times outside of the recording, which lasts 1 s, and were left out.",
        ]
    );
}

#[test]
fn rejects_a_trace_of_another_time() {
    let expected = "trace: the trace does not overlap the recording: its times are 5 s to 6.5 s, the recording's are \
                    100 s to 101 s by its clock, or 0 s to 1 s from its first sample; choose the start of the trace";
    assert_eq!(trace("time,a\n5,1\n6.5,2\n").error(), expected);
    let expected = "trace: the trace does not overlap the recording: its times are 0.5 s to 0.5 s, and with its time 0 \
                    at -2 s of the recording none is within the recording's 1 s; choose another start of the trace";
    assert_eq!(trace("time,a\n0.5,1\n").starting(-2.0).error(), expected);
    let folded = trace("time,a\n0.5,1\n")
        .ingest_of("main;a 4\n")
        .map(drop)
        .unwrap_err();
    assert_eq!(
        folded.to_string(),
        "p: its samples have no timestamps, so no trace can be aligned with them"
    );
}

#[test]
fn reports_malformed_traces_with_line_and_expectation() {
    let long_name = "n".repeat(MAX_USER_STRING + 1);
    for (text, expected) in [
        (
            "time,name,value\n0,a,1\n0.5,a,2\n0.25,a,3\n",
            "line 4: the time of `a`, 0.25 s, is not after the previous one, 0.5 s; was the file made from several files?",
        ),
        (
            "time,a\n1,2\n1,3\n",
            "line 3: the time of this line, 1 s, is not after the previous one, 1 s; was the file made from several files?",
        ),
        (
            "time,name,value\n0,a,nan\n",
            "line 2: expected a finite number, found `nan`",
        ),
        (
            "time,a,b\n0,1,1\n1,-inf,1\n",
            "line 3: expected a finite number, found `-inf` in column `a`",
        ),
        (
            "time,a\n0,NaN\n",
            "line 2: expected a finite number, found `NaN` in column `a`",
        ),
        (
            "time,a\n0,1\n1,1e999\n",
            "line 3: expected a finite number, found `1e999` in column `a`",
        ),
        (
            "time,a\n0,1\n1,x\n",
            "line 3: expected a finite number, found `x` in column `a`",
        ),
        (
            "time,a\ninf,1\n",
            "line 2: expected a time, a number of seconds or one with a unit (s, ms, us, ns), found `inf`",
        ),
        (
            "time,a\n2026-11-22T23:00:00,1\n",
            "line 2: expected a time, a number of seconds or one with a unit (s, ms, us, ns), found `2026-11-22T23:00:00`",
        ),
        (
            "time,a,b\n0,1,2\n0.5,1\n",
            "line 3: expected 3 fields, as in the first line, found 2; was the file cut short?",
        ),
        (
            "time,name,value\n0,a,1,5\n",
            "line 2: expected 3 fields, as in the first line, found 4; was the file cut short?",
        ),
        (
            "time,name,value,kind\n0,a,1,gauge\n",
            "line 2: expected the kind `level` or `count`, found `gauge`",
        ),
        (
            "time,name,value,kind\n0,a,1,count\n1,a,1,\n",
            "line 3: `a` is a level here, and was a count before",
        ),
        (
            "time,name,value,kind\n0,a,1,count\n1,a,-1,count\n",
            "line 3: expected a count, which is not negative, found -1 of `a`",
        ),
        ("time,a,a\n0,1,1\n", "line 1: two columns are called `a`"),
        ("time,,a\n0,1,1\n", "line 1: column 2 has no name"),
        (
            "time,name,value\n0,,1\n",
            "line 2: a metric has a name of 0 bytes; expected 1 to 4096",
        ),
        (
            &format!("time,{long_name}\n0,1\n"),
            "line 1: a metric has a name of 4097 bytes; expected 1 to 4096",
        ),
        (
            "0.1,2,3\n",
            "line 1: expected column names including `time`, or output of `perf stat -I 10 -x,`, found `0.1,2,3`",
        ),
        (
            "{\"time\":0,\"name\":\"a\",\"value\":1}\n{\"time\":1,\"na",
            "line 2: expected an object of JSON, found `{\"time\":1,\"na`, which breaks at byte 13",
        ),
        (
            "{\"time\":0,\"name\":\"a\",\"value\":NaN}\n",
            "line 1: expected an object of JSON, found `{\"time\":0,\"name\":\"a\",\"value\":NaN}`, which breaks at byte 30",
        ),
        (
            "{\"time\":0,\"value\":1}\n",
            "line 1: expected an object with `time`, `name` and `value`, found `{\"time\":0,\"value\":1}`",
        ),
        (
            "{\"name\":\"a\",\"value\":1}\n",
            "line 1: expected an object with `time`, `name` and `value`, found `{\"name\":\"a\",\"value\":1}`",
        ),
        (
            "[{\"time\":0}]\n",
            "line 1: expected JSON lines, an object with `time`, `name` and `value` a line; found an array",
        ),
        (
            "     0.020095953                 75      page-faults      #  101.039 K/sec\n",
            "line 1: expected fields with separators, found `perf stat` output for people; add the option `-x,`",
        ),
        (
            "76,,page-faults,749268,100.00,,\n",
            "line 1: expected values over time, found totals of `perf stat`; add the option `-I 10`",
        ),
        (
            "     0.020000000,75,,page-faults,796378,100.00,,\n     0.04000",
            "line 2: expected a line of `perf stat -I -x`: time, count, unit, event, time counted, percent; found \
             `     0.04000`",
        ),
        (
            "     0.020000000,75,,page-faults,796378,100.00,,\n     0.010000000,75,,page-faults,796378,100.00,,\n",
            "line 2: the time of `page-faults`, 0.01 s, is not after the previous one, 0.02 s; was the file made from several files?",
        ),
        ("time,a\n", "the end: it has no values"),
        ("time,a\n0,\n", "the end: it has no values"),
        ("time\n0\n", "the end: it has no values"),
    ] {
        assert_eq!(trace(text).error(), format!("trace: {expected}"), "{text}");
    }
    assert_eq!(
        trace("# nothing\n\n").error(),
        "trace: the file is empty; did the recording fail, or is it still being written?"
    );
    let missing = Traces::new().with("there", "time,a\n0,1\n");
    fs::remove_file(&missing.options.traces[0]).unwrap();
    assert!(
        missing.error().starts_with("cannot read there: "),
        "{}",
        missing.error()
    );
}

#[test]
fn rejects_too_many_metrics_of_a_trace() {
    let expected = "there are more than 65536 metrics; use fewer metrics";
    let names = (0..=MAX_METRICS).map(|at| format!("m{at}"));
    let names: Vec<String> = names.collect();
    let wide = format!("time,{}\n", names.join(","));
    assert_eq!(trace(&wide).error(), format!("trace: line 1: {expected}"));
    let long: String = names.iter().map(|name| format!("0,{name},1\n")).collect();
    let error = trace(&format!("time,name,value\n{long}")).error();
    assert_eq!(error, format!("trace: line 65538: {expected}"));
    let million = format!("time{}\n", ",m".repeat(1_000_000));
    assert_eq!(
        trace(&million).error(),
        format!("trace: line 1: {expected}")
    );
}

#[test]
fn rejects_duplicate_names_across_traces() {
    let traces = trace("time,a\n0,1\n").with("other", "time,b,a\n0,1,2\n");
    let expected = "other: metric `a`: the recording or another trace already has a metric of that name; rename one";
    assert_eq!(traces.error(), expected);
    let traces = trace("time,a\n0,1\n").with("other", "time,b\n0,2\n");
    assert_eq!(traces.lines(), ["a level 0=1", "b level 0=2"]);
}

#[test]
fn accepts_any_text_as_name() {
    let hostile = "<script>\u{1b}[31m\u{202e} \"quoted\"\\,;/../é";
    let text = format!(
        "time,name,value\n0,\"{}\",1\n",
        hostile.replace('"', "\"\"")
    );
    assert_eq!(trace(&text).lines(), [format!("{hostile} level 0=1")]);
    let bytes = trace("").with("bytes", b"time,name,value\n0,\xff\xfe,1\n".as_slice());
    let bytes = Traces {
        options: IngestOptions {
            traces: vec![bytes.options.traces[1].clone()],
            ..bytes.options.clone()
        },
        ..bytes
    };
    assert_eq!(bytes.lines(), ["\u{fffd}\u{fffd} level 0=1"]);
}

#[test]
fn reads_compressed_traces() {
    let text = "time,a\n0,1\n0.5,2\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    for bytes in [gzip.clone(), zstd] {
        assert_eq!(
            Traces::new().with("t", bytes).lines(),
            ["a level 0=1 0.5=2"]
        );
    }
    let cut = Traces::new().with("t", &gzip[..gzip.len() - 12]);
    assert!(cut.error().starts_with("t: truncated: "), "{}", cut.error());
}
