//! Perun's profiles, in both layouts of their resources.

use super::{error, read, stacks};
use sto_core::recording::Recording;

fn profile(units: &str, resources: &str) -> String {
    format!(
        r#"{{"origin":"ab","header":{{"type":"x","cmd":"./app","args":"-q","workload":"big","units":{units}}},
            "collector_info":{{"name":"c","params":{{}}}},"postprocessors":[],{resources}}}"#
    )
}

/// An argument's value, and the total and self time of the call.
type CallAt = (f64, u64, u64);

/// The calls by each argument.
fn arguments(recording: &Recording) -> Vec<(&str, Vec<CallAt>)> {
    let calls = recording.calls.as_ref().unwrap();
    let all = calls.arguments.iter().map(|with| {
        let calls = with.calls.iter();
        let calls = calls.map(|call| (call.value, call.duration.0, call.self_duration.0));
        (&*with.argument, calls.collect())
    });
    all.collect()
}

#[test]
fn reads_structure_sizes_in_both_layouts() {
    let columns = profile(
        r#"{"mixed(time delta)":"us"}"#,
        r#""resources":{"insert(int)#0":{"amount":[3,5.5],"structure-unit-size":[0,4]}},
           "resource_type_map":{"insert(int)#0":{"type":"mixed","subtype":"time delta","uid":"insert(int)","time":"0.1s"}},
           "models":[]"#,
    );
    let one_by_one = profile(
        r#"{"mixed(time delta)":"us"}"#,
        r#""global":{"time":"0.1s","resources":[
            {"type":"mixed","subtype":"time delta","uid":"insert(int)","amount":3,"structure-unit-size":0},
            {"type":"mixed","subtype":"time delta","uid":"insert(int)","amount":5.5,"structure-unit-size":4}]}"#,
    );
    for text in [columns, one_by_one] {
        let recording = read(&text).unwrap();
        let expected = [
            "calls 2 2 events []: insert(int)",
            "wall 2 8500 ns []: insert(int)",
        ];
        assert_eq!(stacks(&recording), expected);
        let calls = vec![(0.0, 3000, 3000), (4.0, 5500, 5500)];
        assert_eq!(arguments(&recording), [("structure-unit-size", calls)]);
        let command = recording.origin.command.as_deref();
        assert_eq!(command, Some("./app -q big"));
        assert_eq!(recording.warnings, [""; 0]);
    }
}

#[test]
fn calls_with_timestamps_nest() {
    let text = profile(
        r#"{"mixed(time delta)":"ms"}"#,
        r#""resources":{
            "work#0":{"amount":[2,3],"timestamp":[11,14],"call-order":[1,2],"exclusive":[2,3]},
            "main#0":{"amount":[10],"timestamp":[10],"call-order":[0],"exclusive":[5]}},
           "resource_type_map":{
            "work#0":{"type":"mixed","subtype":"time delta","uid":"work","tid":7},
            "main#0":{"type":"mixed","subtype":"time delta","uid":"main","tid":7,"pid":7}}"#,
    );
    let recording = read(&text).unwrap();
    let expected = [
        "calls 1 1 events []: main",
        "calls 2 2 events []: main;work",
        "wall 1 5000000 ns []: main",
        "wall 2 5000000 ns []: main;work",
    ];
    assert_eq!(stacks(&recording), expected);
}

#[test]
fn reads_memory_stacks_and_phases_of_times() {
    let trace = r#"[{"function":"malloc","source":"unreachable","line":0},
                    {"function":"make","source":"a.c","line":7},{"function":"main","source":"a.c","line":9}]"#;
    let memory = profile(
        r#"{"memory":"B"}"#,
        &format!(
            r#""snapshots":[{{"time":"0.1","resources":[
                {{"type":"memory","subtype":"malloc","amount":64,"address":5,"trace":{trace},
                  "uid":{{"function":"make","source":"a.c","line":7}}}}]}},{{"time":"0.2","resources":[]}}]"#
        ),
    );
    let recording = read(&memory).unwrap();
    assert_eq!(
        stacks(&recording),
        ["memory 1 64 bytes []: main;make;malloc"]
    );
    let time = profile(
        r#"{"time":"s"}"#,
        r#""resources":{"a#0":{"amount":[0.5,0.25]},"a#1":{"amount":[0.125]}},
           "resource_type_map":{"a#0":{"type":"time","subtype":"real","uid":"app","order":1},
                                "a#1":{"type":"time","subtype":"sys","uid":"app","order":1}}"#,
    );
    let expected = ["sys 1 125000000 ns []: app", "wall 2 750000000 ns []: app"];
    assert_eq!(stacks(&read(&time).unwrap()), expected);
}

#[test]
fn reads_kernel_samples_and_statistics() {
    let kperf = profile(
        r#"{"time":"sample"}"#,
        r#""resources":{"b#0":{"amount":[3,4]}},"resource_type_map":{"b#0":{"uid":"a;b","time":"?"}}"#,
    );
    assert_eq!(
        stacks(&read(&kperf).unwrap()),
        ["samples 7 7 samples []: a;b"]
    );
    let ktrace = profile(
        r#"{"mixed(time delta)":"us"}"#,
        r#""resources":{"f#0":{}},"resource_type_map":{"f#0":{"uid":"f","type":"stats","trace":[],
            "ncalls":12,"Total Exclusive T [ms]":1.5}}"#,
    );
    assert_eq!(
        stacks(&read(&ktrace).unwrap()),
        ["wall 12 1500000 ns []: f"]
    );
}

#[test]
fn warns_about_missing_or_invalid_amounts() {
    let bounds = profile(
        r#"{"bound":"iterations"}"#,
        r#""resources":{"f#0":{}},"resource_type_map":{"f#0":{"uid":{"function":"f","line":3},"type":"local bound"}}"#,
    );
    let message = error(&bounds);
    assert!(
        message.contains("none of its 1 resources has an amount"),
        "{message}"
    );
    let message = error(&profile("{}", r#""resources":{},"resource_type_map":{}"#));
    assert!(message.contains("it has no resources"), "{message}");
    let call = |units: &str, amount: &str| {
        let resources = format!(
            r#""resources":{{"f#0":{{"amount":[1,{amount}]}}}},
               "resource_type_map":{{"f#0":{{"uid":"f","type":"mixed","subtype":"time delta"}}}}"#
        );
        error(&profile(units, &resources))
    };
    let message = call(r#"{"mixed(time delta)":"us"}"#, "-1");
    assert!(
        message.contains("resources.f#0.amount[1]: -1; expected a number from 0"),
        "{message}"
    );
    let message = call(r#"{"mixed(time delta)":"us"}"#, "1e16");
    assert!(message.contains("within 292 years"), "{message}");
    let message = call(r#"{"mixed(time delta)":"parsecs"}"#, "1");
    assert!(
        message.contains("header.units: a unit of time `parsecs`"),
        "{message}"
    );
}
