//! Reports compared with the stored results of inferno's collapsers, in the parts that these keep.

use super::{bytes, read_as};
use std::collections::BTreeMap;
use sto_core::formats::read_bytes;
use sto_core::model::Frame;
use sto_core::recording::Recording;

use crate::common::frames_of;

/// Counts by stack; frames begin with their module.
fn folded(recording: &Recording, count: impl Fn(u64) -> u64) -> BTreeMap<String, u64> {
    let name = |frame: &Frame<'_>| match frame.module {
        "" => frame.symbol.to_owned(),
        module => format!("{module}`{}", frame.symbol),
    };
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &recording.samples {
        let frames = frames_of(recording, sample);
        let names: Vec<String> = frames.iter().map(name).collect();
        *stacks.entry(names.join(";")).or_default() += count(sample.cost.value);
    }
    stacks.retain(|_, count| *count > 0);
    stacks
}

/// The stacks that inferno found in a file.
fn collapsed(file: &str) -> BTreeMap<String, u64> {
    let text = bytes(&format!("{file}.inferno"));
    let recording = read_bytes("collapsed".as_ref(), &text, &Default::default()).unwrap();
    folded(&recording, |count| count)
}

#[test]
fn reads_dtrace_like_inferno() {
    let bytes = String::from_utf8(bytes("dtrace.txt")).unwrap();
    // inferno removes C++ parameters.
    let plain = bytes.replace("(Row const&, unsigned long)", "");
    let recording = read_as(None, plain.as_bytes()).unwrap();
    assert_eq!(folded(&recording, |count| count), collapsed("dtrace.txt"));
}

#[test]
fn reads_vtune_like_inferno() {
    // inferno keeps doubled quotes in names, and does not mark unknown frames.
    let unknown = "[Unknown stack frame(s)],0.020047,[Unknown]";
    let text = String::from_utf8(bytes("vtune.csv")).unwrap();
    let text = text.replace("\"\"", "").replace(unknown, "f,0.02,");
    let recording = read_as(None, text.as_bytes()).unwrap();
    // inferno keeps the total row of VTune.
    let theirs = collapsed("vtune.csv").into_iter();
    let theirs = theirs.map(|(stack, count)| (stack.replace("Total;", ""), count));
    assert_eq!(
        folded(&recording, |nanoseconds| (nanoseconds as f64 / 1e6).round()
            as u64),
        theirs.collect()
    );
}

/// inferno counts rows, which here all weigh a millisecond.
#[test]
fn reads_xctrace_like_inferno() {
    let text = String::from_utf8(bytes("xctrace.xml"))
        .unwrap()
        .replace("2000000<", "1000000<");
    // inferno supports neither references to tagged stacks nor modules.
    let text = text.replace(
        r#"<tagged-backtrace ref="16"/>"#,
        r#"<backtrace ref="17"/>"#,
    );
    let binaries = text
        .split("<binary")
        .enumerate()
        .map(|(number, part)| match number {
            0 => part,
            _ => part.split_once("/>").unwrap().1,
        });
    let text: String = binaries.collect();
    let recording = read_as(None, text.as_bytes()).unwrap();
    assert_eq!(
        folded(&recording, |nanoseconds| nanoseconds / 1_000_000),
        collapsed("xctrace.xml")
    );
}
