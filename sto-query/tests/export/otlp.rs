//! OTLP, read by an independent decoder: the crate `prost`.

use super::{OTLP, export};
use crate::views::{demo, folded, view};
use prost::Message;
use std::collections::BTreeMap;
use sto_core::model::GnuBuildId;
use sto_query::internal::tree::{Listed, top};
use sto_query::questions::Order;
use sto_query::results::View;
use sto_test_support::otlp::{Dictionary, Profile, ProfilesData, Value};

fn decoded(view: &View) -> ProfilesData {
    ProfilesData::decode(&*export(view, OTLP)).unwrap()
}

fn text(dictionary: &Dictionary, ix: i32) -> &str {
    &dictionary.string_table[ix as usize]
}

/// Returns the functions of a stack, leaf first.
fn functions(dictionary: &Dictionary, stack: i32) -> Vec<&str> {
    let stack = &dictionary.stack_table[stack as usize].location_indices;
    let locations = stack
        .iter()
        .map(|&ix| &dictionary.location_table[ix as usize]);
    let lines = locations.flat_map(|location| &location.lines);
    let functions = lines.map(|line| &dictionary.function_table[line.function_index as usize]);
    functions
        .map(|function| text(dictionary, function.name_strindex))
        .collect()
}

fn sample_type<'d>(dictionary: &'d Dictionary, profile: &Profile) -> (&'d str, &'d str) {
    let known = profile.sample_type.unwrap();
    let [event, unit] = [known.type_strindex, known.unit_strindex];
    (text(dictionary, event), text(dictionary, unit))
}

fn attributes<'d>(dictionary: &'d Dictionary, indices: &[i32]) -> Vec<(&'d str, &'d Value)> {
    let attributes = indices.iter().map(|&ix| {
        let attribute = &dictionary.attribute_table[ix as usize];
        let value = attribute.value.as_ref().unwrap().value.as_ref().unwrap();
        (text(dictionary, attribute.key_strindex), value)
    });
    attributes.collect()
}

#[test]
fn prost_finds_costs_in_both_profiles_of_an_event() {
    let (view, _) = demo();
    let data = decoded(&view);
    let dictionary = data.dictionary.unwrap();
    let profiles = &data.resource_profiles[0].scope_profiles[0].profiles;
    let types: Vec<_> = profiles
        .iter()
        .map(|profile| sample_type(&dictionary, profile))
        .collect();
    assert_eq!(
        types,
        [("cpu-clock_samples", "count"), ("cpu-clock", "nanoseconds")]
    );
    let mut expected = BTreeMap::new();
    for function in top(&view, 0, Order::SelfCost, &Listed::default()).functions {
        let costs = [
            function.self_cost.samples,
            function.self_cost.value,
            function.total.samples,
            function.total.value,
        ];
        expected.insert(function.frame.function, costs);
    }
    let mut found: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for (column, profile) in profiles.iter().enumerate() {
        for sample in &profile.samples {
            let [value] = sample.values[..] else {
                panic!("{sample:?}")
            };
            let mut stack = functions(&dictionary, sample.stack_index);
            found.entry(stack[0].to_owned()).or_default()[column] += value as u64;
            stack.sort_unstable();
            stack.dedup();
            for function in stack {
                found.entry(function.to_owned()).or_default()[2 + column] += value as u64;
            }
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn tables_begin_with_zero_values_and_inlined_functions_share_a_location() {
    let dictionary = decoded(&demo().0).dictionary.unwrap();
    assert_eq!(dictionary.string_table[0], "");
    assert_eq!(dictionary.mapping_table[0], Default::default());
    assert_eq!(dictionary.location_table[0], Default::default());
    assert_eq!(dictionary.function_table[0], Default::default());
    assert_eq!(dictionary.attribute_table[0], Default::default());
    assert_eq!(dictionary.stack_table[0], Default::default());
    let locations = &dictionary.location_table[1..];
    assert!(locations.iter().any(|location| location.lines.len() > 1));
    let of_kernel = locations.iter().filter(|location| {
        let module = &dictionary.mapping_table[location.mapping_index as usize];
        text(&dictionary, module.filename_strindex) == "[kernel]"
    });
    let kernel = ("profile.frame.type", &Value::Text("kernel".to_owned()));
    let kinds = of_kernel.map(|location| attributes(&dictionary, &location.attribute_indices));
    let kinds: Vec<_> = kinds.collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kinds| *kinds == [kernel]));
}

#[test]
fn resource_has_executable_and_common_attributes() {
    let mut view = view("v1", &folded("main 1", 1));
    let digits = "00112233445566778899aabbccddeeff00112233";
    view.selection.build.gnu_build_id = Some(digits.parse::<GnuBuildId>().unwrap());
    let mut other = view.selection.profiles[0].clone();
    for (profile, host) in [
        (&mut view.selection.profiles[0], "one"),
        (&mut other, "two"),
    ] {
        profile.profile.origin.host = Some(host.to_owned());
        profile.profile.origin.arch = Some("x86_64".to_owned());
    }
    view.selection.profiles.push(other);
    let data = decoded(&view);
    let resource = data.resource_profiles[0].resource.as_ref().unwrap();
    let found = resource.attributes.iter().map(|attribute| {
        match attribute.value.as_ref().unwrap().value.as_ref().unwrap() {
            Value::Text(text) => (&*attribute.key, &**text),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("service.name", "demo"),
            ("service.version", "v1"),
            ("process.executable.name", "demo"),
            ("process.executable.build_id.gnu", digits),
            ("host.arch", "x86_64"),
        ]
    );
    let dictionary = data.dictionary.as_ref().unwrap();
    let mapping = &dictionary.mapping_table[1];
    assert_eq!(text(dictionary, mapping.filename_strindex), "demo");
    let build_id = Value::Text(digits.to_owned());
    let found = attributes(dictionary, &mapping.attribute_indices);
    assert_eq!(found, [("process.executable.build_id.gnu", &build_id)]);
}
