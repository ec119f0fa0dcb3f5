//! Content ids: pinned digests, and that every field matters.

use proptest::prelude::*;
use sto_core::id::{
    BuildId, BuildRecordingId, ExecutableId, FrameId, NodeId, ProfileId, RecordingDigest,
};
use sto_core::model::{Frame, FrameKind, FrameTable};
use sto_core::tree::StackTree;

const FRAME: Frame<'_> = Frame {
    module: "app",
    symbol: "doLogging",
    kind: FrameKind::User,
    file: "src/log.c",
    line: 0,
};

/// A change here changes the ids of everything that is stored: the rule then needs a new
/// domain tag, and SPEC.md its examples.
#[test]
fn digests_are_pinned() {
    let frame = FrameId::from_frame(FRAME);
    let executable = ExecutableId::from_name("app");
    let root = NodeId::new(None, executable, frame);
    let build = BuildId::new(executable, "v1");
    let source = RecordingDigest::hash_bytes(b"main;work 42\n");
    assert_eq!(frame.to_string(), "56351bb7b09a0faf466c14df5552b200");
    assert_eq!(executable.to_string(), "1ca8d921df839c157fef168f26e8ab59");
    assert_eq!(root.to_string(), "5e0dcd09f4f05f1d6bbef261709d71f6");
    assert_eq!(
        NodeId::new(Some(root), executable, frame).to_string(),
        "820e0bcb309cdda254d71eecdf3fa3a6"
    );
    assert_eq!(build.to_string(), "ed269e7865f3d3ac15bdd754e68a2efd");
    assert_eq!(source.to_string(), "b95047f76090530abe09cea02420e3c0");
    assert_eq!(
        BuildRecordingId::new(build, source).to_string(),
        "9aae6a33c39d4444eebdf6f8ad98d55f"
    );
    let lines = source.with_option("granularity", "line");
    assert_eq!(lines.to_string(), "187674299819f13f75e0f76108766248");
    assert_eq!(
        BuildRecordingId::new(build, lines).to_string(),
        "838d7e5ec2d219e9ee8c6562b0ec72c1"
    );
    assert_eq!(profile(), "da8b49079008ba44d71f4124893e08d3");
}

/// The profile of the file `main;work 42\n` for build `v1` of `app`, with no other options.
fn profile() -> String {
    use sto_core::formats::read_bytes;
    use sto_core::ingest::{IngestOptions, make_profiles};
    use sto_core::stages::symbolize;
    let path = std::path::Path::new("app.folded");
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let recording = read_bytes(path, b"main;work 42\n", &Default::default()).unwrap();
    let symbols = symbolize(&recording, &options.symbols);
    let (prepared, _) = make_profiles(path, &recording, &symbols, &options).unwrap();
    let prepared = &prepared[0];
    ProfileId::new(&prepared.build, &prepared.profile, &prepared.interned).to_string()
}

#[test]
fn frame_id_depends_on_every_field() {
    let frames = [
        FRAME,
        Frame {
            module: "app2",
            ..FRAME
        },
        Frame {
            symbol: "dolog",
            ..FRAME
        },
        Frame { file: "", ..FRAME },
        Frame { line: 1, ..FRAME },
        Frame { line: 256, ..FRAME },
    ];
    let kinds = FrameKind::ALL.map(|kind| Frame {
        kind,
        line: 7,
        ..FRAME
    });
    assert_all_differ(frames.into_iter().chain(kinds).map(FrameId::from_frame));
}

#[test]
fn ids_depend_on_field_boundaries() {
    let strings = &["", "a", "b", "ab", "ba", "a\0", "\0a"];
    let frames = strings.iter().flat_map(|symbol| {
        strings.iter().flat_map(move |module| {
            strings.iter().map(move |file| Frame {
                symbol,
                module,
                file,
                ..FRAME
            })
        })
    });
    assert_all_differ(frames.map(FrameId::from_frame));
    assert_all_differ(strings.iter().flat_map(|name| {
        let executable = ExecutableId::from_name(name);
        strings
            .iter()
            .map(move |version| BuildId::new(executable, version))
    }));
}

#[test]
fn ids_depend_on_order_and_kind_of_parts() {
    let executable = ExecutableId::from_name("app");
    let [a, b] = ["a", "b"].map(|symbol| FrameId::from_frame(Frame { symbol, ..FRAME }));
    let stack = |frames: &[FrameId]| {
        frames
            .iter()
            .fold(None, |parent, &frame| {
                Some(NodeId::new(parent, executable, frame))
            })
            .unwrap()
    };
    assert_all_differ([
        stack(&[a]),
        stack(&[b]),
        stack(&[a, b]),
        stack(&[b, a]),
        stack(&[a, a]),
    ]);
    // The same bytes have another id as another kind of object.
    assert_ne!(
        BuildRecordingId::new(BuildId([1; 16]), RecordingDigest([2; 16])).0,
        BuildRecordingId::new(BuildId([2; 16]), RecordingDigest([1; 16])).0
    );
    assert_ne!(
        ExecutableId::from_name("a").0,
        RecordingDigest::hash_bytes(b"a").0
    );
}

#[test]
fn node_id_depends_only_on_its_stack() {
    let mut frames = FrameTable::new();
    let [main, work] = ["main", "work"].map(|symbol| frames.insert(Frame { symbol, ..FRAME }));
    let mut tree = StackTree::new();
    let first = tree.push(None, main);
    let alone = tree.push(None, work);
    let executable = ExecutableId::from_name("app");
    let few = tree.node_ids(executable, &frames);
    assert_eq!(
        few[first.get()],
        NodeId::new(None, executable, FrameId::from_frame(frames.frame(main)))
    );

    let mut tree = StackTree::new();
    let first_again = tree.push(None, main);
    let below = tree.push(Some(first_again), work);
    let alone_again = tree.push(None, work);
    let more = tree.node_ids(executable, &frames);
    assert_eq!(more[first_again.get()], few[first.get()]);
    assert_eq!(more[alone_again.get()], few[alone.get()]);
    assert_ne!(more[below.get()], more[alone_again.get()]);
}

#[track_caller]
fn assert_all_differ<T: Ord + std::fmt::Debug>(ids: impl IntoIterator<Item = T>) {
    let mut ids: Vec<T> = ids.into_iter().collect();
    ids.sort();
    for pair in ids.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn frame_ids_are_equal_if_and_only_if_frames_are(
        a in (0u8..6, "[ab]{0,2}", "[ab]{0,2}", "[ab]{0,2}", 0u32..3),
        b in (0u8..6, "[ab]{0,2}", "[ab]{0,2}", "[ab]{0,2}", 0u32..3),
    ) {
        let id = |(kind, symbol, module, file, line): &(u8, String, String, String, u32)| {
            let kind = FrameKind::from_number(*kind).unwrap();
            FrameId::from_frame(Frame { module, symbol, kind, file, line: *line })
        };
        prop_assert_eq!(id(&a) == id(&b), a == b);
    }
}
