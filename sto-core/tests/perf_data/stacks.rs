//! Call chains, saved stacks and branch stacks.

use super::{events, read_testdata};
use sto_core::recording::{Location, Recording};

#[test]
fn warns_about_callers_missed_by_frame_pointers() {
    let warns = |file| {
        let recording = read_testdata(file);
        recording
            .warnings
            .iter()
            .any(|w| w.contains("-fno-omit-frame-pointer"))
    };
    assert!(warns("perf-data/ran-before.perf.data"));
    assert!(!warns("perf-data/threads.perf.data"));
    assert!(!warns("perf-data/dwarf.perf.data"));
}

#[test]
fn unwinds_saved_stacks_to_the_root() {
    let recording = read_testdata("demo/v1.dwarf.perf.data");
    let whole = recording
        .samples
        .iter()
        .filter(|sample| !sample.truncated)
        .count();
    assert!(
        whole * 100 >= recording.samples.len() * 99,
        "{whole} of {}",
        recording.samples.len()
    );
    let deep = recording
        .stacks
        .iter()
        .filter(|&stack| recording.stacks.depth(stack) >= 5)
        .count();
    assert_eq!(
        deep,
        recording.stacks.len(),
        "_start, libc twice, main, and what main calls"
    );
}

#[test]
fn stacks_are_root_first() {
    let recording = read_testdata("perf-data/threads.perf.data");
    let main_module = recording.processes[0].main_module.unwrap();
    // libc starts the thread, and the program's function runs in it.
    for stack in recording.stacks.iter() {
        let modules: Vec<_> = recording
            .stacks
            .get(stack)
            .iter()
            .map(|location| match recording.locations[location.0 as usize] {
                Location::Address { module, .. } => module,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(modules.last(), Some(&main_module));
        assert_eq!(recording.modules[modules[0].0 as usize].name(), "libc.so.6");
    }
}

/// The stacks of a recording, root first, with paths and offsets.
pub(super) fn stacks(recording: &Recording) -> Vec<Vec<String>> {
    let shown = |location: Location| match location {
        Location::Address { module, address } => {
            let module = &recording.modules[module.0 as usize];
            format!("{}+{address:#x}", module.path)
        }
        _ => "unmapped".to_owned(),
    };
    let samples = recording.samples.iter();
    let stacks = samples.map(|sample| recording.stacks.get(sample.stack));
    stacks
        .map(|stack| {
            let locations = stack.iter().map(|ix| recording.locations[ix.0 as usize]);
            locations.map(shown).collect()
        })
        .collect()
}

/// Expected from `perf script`, with return addresses looked up one byte lower.
#[test]
fn last_branch_records_supply_user_callers() {
    let calls = ["/bin/lbr+0x100f", "/bin/lbr+0x200f", "/bin/lbr+0x3000"];
    let in_kernel = [&calls[..], &["unmapped"]].concat();
    assert_eq!(
        stacks(&read_testdata("perf-data/lbr.perf.data")),
        [&calls[..], &in_kernel, &["/bin/lbr+0x1008"]]
    );
}

/// `PERF_SAMPLE_BRANCH_COUNTERS`, after the branches of all events of its group.
#[test]
fn skips_branch_counters() {
    let calls = [
        "/bin/counted+0x100f",
        "/bin/counted+0x200f",
        "/bin/counted+0x3008",
    ];
    assert_eq!(
        stacks(&read_testdata("perf-data/branch-counters.perf.data")),
        [calls; 3]
    );
}

#[test]
fn guest_code_is_not_resolved_in_the_host() {
    assert_eq!(
        stacks(&read_testdata("perf-data/guest.perf.data")),
        [
            ["[guest kernel]+0x0"],
            ["[guest user]+0x0"],
            ["/bin/vcpu+0x1008"]
        ]
    );
}

#[test]
fn warns_about_a_recording_without_call_chains() {
    let recording = read_testdata("perf-data/no-call-chains.perf.data");
    assert_eq!(events(&recording), [("cpu-clock", 413, 414_242_717)]);
    for sample in &recording.samples {
        assert_eq!(recording.stacks.depth(sample.stack), 1);
        assert!(!sample.truncated);
    }
    let [warning] = &recording.warnings[..] else {
        panic!("{:?}", recording.warnings);
    };
    assert!(warning.contains("perf record -g"), "{warning}");
}
