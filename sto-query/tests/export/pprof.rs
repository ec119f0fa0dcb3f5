//! pprof, read by independent decoders: the crate `prost`, and Go's own tool if it is installed.

use super::{PPROF, export};
use crate::views::{demo, folded, view, view_of};
use prost::Message;
use std::io::Read;
use std::process::Command;
use sto_core::model::GnuBuildId;
use sto_core::units::{SampleType, Unit};
use sto_query::internal::tree::{Listed, top};
use sto_query::questions::Order;
use sto_query::results::View;
use sto_test_support::pprof::Profile;
use sto_test_support::{is_there, skip};

fn decoded(view: &View) -> Profile {
    let mut bytes = Vec::new();
    let file = export(view, PPROF);
    let mut gzip = flate2::read::GzDecoder::new(&*file);
    gzip.read_to_end(&mut bytes).unwrap();
    Profile::decode(&*bytes).unwrap()
}

fn sample_types(profile: &Profile) -> Vec<(&str, &str)> {
    let text = |ix: i64| &*profile.string_table[ix as usize];
    let types = profile.sample_type.iter();
    types
        .map(|known| (text(known.r#type), text(known.unit)))
        .collect()
}

#[test]
fn prost_finds_stacks_and_inlined_lines() {
    let profile = decoded(&demo().0);
    let text = |ix: i64| &*profile.string_table[ix as usize];
    assert_eq!(profile.string_table[0], "");
    assert_eq!(
        sample_types(&profile),
        [("samples", "count"), ("cpu-clock", "nanoseconds")]
    );
    assert_eq!(text(profile.default_sample_type), "cpu-clock");
    let names_of = |id: u64| -> Vec<&str> {
        let location = &profile.location[id as usize - 1];
        assert_eq!(location.id, id);
        let lines = location.line.iter();
        lines
            .map(|line| text(profile.function[line.function_id as usize - 1].name))
            .collect()
    };
    let inlined = profile
        .sample
        .iter()
        .find(|sample| sample.value == [250, 250_000_000]);
    let stack: Vec<_> = inlined
        .unwrap()
        .location_id
        .iter()
        .map(|&id| names_of(id))
        .collect();
    assert_eq!(
        stack,
        [
            vec!["mix(unsigned char[16], int)", "doWork"],
            vec!["run"],
            vec!["main"],
            vec!["__libc_start_main"],
            vec!["_start"],
        ]
    );
    let total: i64 = profile.sample.iter().map(|sample| sample.value[0]).sum();
    assert_eq!(total, 724);
}

#[test]
fn first_mapping_is_the_executable_with_its_build_id() {
    let (mut view, _) = demo();
    view.selection.build.gnu_build_id = GnuBuildId::from_bytes(&[0xab, 0xcd]);
    let profile = decoded(&view);
    let text = |ix: i64| &*profile.string_table[ix as usize];
    let mappings: Vec<_> = profile
        .mapping
        .iter()
        .map(|mapping| (mapping.id, text(mapping.filename), text(mapping.build_id)))
        .collect();
    assert_eq!(mappings[0], (1, "demo", "abcd"));
    assert_eq!(mappings.len(), 4, "{mappings:?}");
    assert!(profile.mapping.iter().all(|mapping| mapping.has_functions));
}

#[test]
fn each_of_several_events_has_its_number_of_samples() {
    let stacks = folded("main;work 3", 10);
    let event = |event: &str, unit| SampleType {
        event: event.to_owned(),
        unit,
    };
    let run = vec![
        (event("cycles", Unit::Events), &stacks),
        (event("alloc", Unit::Bytes), &stacks),
    ];
    let profile = decoded(&view_of("v1", &[run]));
    assert_eq!(
        sample_types(&profile),
        [
            ("cycles_samples", "count"),
            ("cycles", "count"),
            ("alloc_samples", "count"),
            ("alloc", "bytes"),
        ]
    );
    assert_eq!(profile.sample[0].value, [3, 30, 3, 30]);
}

#[test]
fn rejects_value_beyond_the_schema() {
    let mut view = view("v1", &folded("main 1", 1));
    for (_, cost) in view.runs.iter_mut().flatten().flatten() {
        cost.value = u64::MAX;
    }
    for render in [PPROF, super::OTLP] {
        let error = render(&view, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("18446744073709551615"), "{error}");
    }
}

#[test]
fn export_is_deterministic() {
    for render in [PPROF, super::OTLP] {
        assert_eq!(export(&demo().0, render), export(&demo().0, render));
    }
}

/// Needs Go (Debian: `golang-go`).
#[test]
fn go_tool_pprof_agrees_with_top() {
    if !is_there("go") {
        skip("no go");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.pb.gz");
    let (view, _) = demo();
    std::fs::write(&file, export(&view, PPROF)).unwrap();
    let mut go = Command::new("go");
    go.args([
        "tool",
        "pprof",
        "-top",
        "-nodecount=0",
        "-nodefraction=0",
        "-unit=ns",
        "-symbolize=none",
    ]);
    let Ok(output) = go.arg(&file).env("HOME", folder.path()).output() else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    // `300000000ns 41.44% 41.44% 550000000ns 75.97%  doWork`, and ` (inline)` after some.
    let mut rows: Vec<(String, u64, u64)> = printed
        .lines()
        .skip_while(|line| !line.contains("flat%"))
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let number = |field: &str| field.trim_end_matches("ns").parse().unwrap();
            let name = fields[5..].join(" ").replace(" (inline)", "");
            (name, number(fields[0]), number(fields[3]))
        })
        .collect();
    let report = top(&view, 0, Order::SelfCost, &Listed::default());
    let mut ours: Vec<(String, u64, u64)> = report
        .functions
        .into_iter()
        .map(|row| (row.frame.function, row.self_cost.value, row.total.value))
        .collect();
    rows.sort();
    ours.sort();
    assert_eq!(rows, ours, "{printed}");
}
