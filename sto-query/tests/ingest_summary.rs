//! The summary of `sto ingest`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use sto_core::Notice;
use sto_core::id::{BuildId, ExecutableId, ProfileId, RecordingDigest};
use sto_core::ingest::ModuleSymbols;
use sto_core::ingest::{IngestOutcome, Ingested, IngestedCalls, IngestedSlices};
use sto_core::model::{Build, Granularity, Origin, Profile, Quality};
use sto_core::recording::ModuleIx;
use sto_core::store::Added;
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit};
use sto_query::render;
use sto_query::results::{InStore, IngestSummary, IngestedFile};

fn ingested(added: Added) -> Ingested {
    let build = Build {
        executable: "demo".to_owned(),
        version: "v1".to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let profile = Profile {
        build: BuildId::new(ExecutableId::from_name("demo"), "v1"),
        source: RecordingDigest::hash_bytes(b"recording"),
        source_bytes: Bytes(1_000_000),
        format: "perf.data".to_owned(),
        origin: Origin::default(),
        quality: Quality {
            samples: 1_000,
            unresolved: 123,
            truncated: 20,
            without_stack: 0,
            lost: 1,
        },
        granularity: Granularity::Function,
        sample_types: vec![SampleType {
            event: "cpu-clock".to_owned(),
            unit: Unit::Nanoseconds,
        }],
        modules: [].into(),
        benchmark: None,
        labels: BTreeMap::new(),
        metrics: BTreeMap::new(),
    };
    Ingested {
        id: ProfileId(profile.build_recording_id().0),
        build,
        profile,
        added,
        totals: vec![cost(1_000, 1_003_009_000)],
        nodes: 4_321,
        frames: 210,
        slices: None,
        metrics: None,
        calls: None,
    }
}

fn cost(samples: u64, value: u64) -> Cost {
    Cost { samples, value }
}

fn module(path: &str, unresolved: usize, problem: Option<&str>) -> (String, ModuleSymbols) {
    let symbols = ModuleSymbols {
        module: ModuleIx(0),
        file: problem.is_none().then(|| PathBuf::from(path)),
        locations: 30,
        unresolved,
        unresolved_samples: 10 * unresolved as u64,
        may_be_found: false,
        problem: problem.map(Notice::from),
    };
    (path.to_owned(), symbols)
}

fn summary(added: Added, modules: Vec<(String, ModuleSymbols)>) -> InStore<IngestSummary> {
    let report = IngestOutcome {
        profiles: vec![ingested(added)],
        modules,
        warnings: Vec::new(),
    };
    let recording = IngestedFile::new("perf.data".to_owned(), &report, |notice| {
        notice.text.clone()
    });
    in_store(recording)
}

fn in_store(recording: IngestedFile) -> InStore<IngestSummary> {
    InStore {
        store: "/home/u/.sto".to_owned(),
        answer: IngestSummary {
            recordings: vec![recording],
            is_dataset: false,
        },
    }
}

fn text(summary: &InStore<IngestSummary>) -> String {
    render::ingest::text(summary, crate::words::plain())
}

const NEW: Added = Added::New {
    id: ProfileId([7; 16]),
    stored: Bytes(20_000),
    slices: Bytes(0),
    metrics: Bytes(0),
    calls: Bytes(0),
    kept: Bytes(0),
    instead_of: None,
};

#[test]
fn new_profile_shows_size_and_quality() {
    let id = ingested(NEW).id.to_string();
    let expected = format!(
        "\
demo@v1: profile {} from perf.data
  1,000 samples of cpu-clock, 4,321 nodes, 210 frames
  1.00 MB of recording stored in 20.0 kB, 50x smaller
  12.30% unresolved, 2.00% truncated, 0.00% without a stack, 0.10% lost
The store is /home/u/.sto.
",
        &id[..12]
    );
    assert_eq!(
        text(&summary(NEW, vec![module("/bin/demo", 0, None)])),
        expected
    );
}

#[test]
fn omits_modules_below_a_thousandth_of_the_samples() {
    let mut modules = vec![
        module("/lib/few.so", 3, Some("Install its debug package.")),
        module("/lib/many.so", 1, None),
    ];
    modules[0].1.unresolved_samples = 0;
    let summary = summary(NEW, modules);
    let text = text(&summary);
    assert!(text.contains("/lib/many.so"), "{text}");
    assert!(
        !text.contains("few.so") && !text.contains("debug package"),
        "{text}"
    );
    assert_eq!(summary.answer.recordings[0].modules.len(), 2);
}

#[test]
fn events_show_their_samples_and_values() {
    let mut ingested = ingested(NEW);
    ingested.profile.sample_types.push(SampleType {
        event: "samples".to_owned(),
        unit: Unit::Samples,
    });
    ingested.totals = vec![cost(991, 993_981_919), cost(9, 9)];
    let report = IngestOutcome {
        profiles: vec![ingested],
        modules: Vec::new(),
        warnings: Vec::new(),
    };
    let recording = IngestedFile::new("perf.data".to_owned(), &report, |notice| {
        notice.text.clone()
    });
    let text = text(&in_store(recording));
    assert!(
        text.contains(
            "
  1,000 samples, 4,321 nodes, 210 frames
    991 of cpu-clock (994 ms)
      9 of samples
  1.00 MB"
        ),
        "{text}"
    );
}

#[test]
fn slices_show_their_share_of_the_size() {
    let added = Added::New {
        id: ProfileId([7; 16]),
        stored: Bytes(20_000),
        slices: Bytes(12_345),
        metrics: Bytes(0),
        calls: Bytes(0),
        kept: Bytes(0),
        instead_of: None,
    };
    let report = IngestOutcome {
        profiles: vec![Ingested {
            slices: Some(IngestedSlices {
                count: 1000,
                duration: Nanoseconds(1_000_000_000),
                threads: 1,
                bytes: Bytes(12_345),
            }),
            ..ingested(added)
        }],
        modules: Vec::new(),
        warnings: Vec::new(),
    };
    let recording = IngestedFile::new("perf.data".to_owned(), &report, |notice| {
        notice.text.clone()
    });
    let summary = in_store(recording);
    let text = text(&summary);
    assert!(
        text.contains(
            "
  1.00 MB of recording stored in 20.0 kB, 50x smaller
  12.3 kB of that for 1,000 time slices of 1 thread
"
        ),
        "{text}"
    );
}

#[test]
fn calls_over_time_show_how_they_were_stored() {
    let calls = IngestedCalls {
        threads: 28,
        calls: 50_000_000,
        records: 4_812,
        bytes: Bytes(61_234),
        kept_bytes: Bytes(0),
    };
    let of = |added| {
        let profile = Ingested {
            calls: Some(calls),
            ..ingested(added)
        };
        let report = IngestOutcome {
            profiles: vec![profile],
            modules: Vec::new(),
            warnings: Vec::new(),
        };
        let recording = IngestedFile::new("perf.data".to_owned(), &report, |notice| {
            notice.text.clone()
        });
        text(&in_store(recording))
    };
    let became = "50,000,000 calls in 28 threads became 4,812 records, 1 in 10,391 (61.2 kB)\n";
    let new = of(NEW);
    assert!(new.contains(&format!("\n  {became}")), "{new}");
    let given = of(Added::Given {
        id: ProfileId([7; 16]),
        metrics: Bytes(0),
        calls: calls.bytes,
        kept: Bytes(0),
    });
    let now = format!("; now with its calls: {became}");
    assert!(
        given.contains("is already stored") && given.contains(&now),
        "{given}"
    );
}

#[test]
fn modules_without_symbols_are_listed_worst_first() {
    let mut modules: Vec<_> = (1..=6)
        .map(|n| module(&format!("/lib/{n}.so"), n, None))
        .collect();
    modules.push(module("/lib/a.so", 6, Some("Install its debug package.")));
    let text = text(&summary(NEW, modules));
    let (_, listed) = text.split_once("without a symbol:\n").unwrap();
    assert_eq!(
        listed,
        "    6 of 30 in /lib/6.so
    6 of 30 in /lib/a.so
      Install its debug package.
    5 of 30 in /lib/5.so
    4 of 30 in /lib/4.so
    3 of 30 in /lib/3.so
    and in 2 more modules; `JsonReport` names them
The store is /home/u/.sto.
"
    );
}

#[test]
fn existing_profile_is_reported_as_such() {
    let summary = summary(Added::AlreadyStored(ProfileId([7; 16])), Vec::new());
    assert!(text(&summary).contains("perf.data is already stored as profile"));
    let profile = &summary.answer.recordings[0].profiles[0];
    assert_eq!((profile.added, profile.stored_bytes), (false, 0));
}

#[test]
fn hostile_names_are_escaped_in_ingest_summary() {
    let modules = vec![module("/lib/\x1b[2J\n.so", 1, Some("\x1b[31mred"))];
    let text = text(&summary(NEW, modules));
    assert!(text.contains(r"\u{1b}[2J\u{a}.so"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
}
