//! The serialized forms of stored types: pinned bytes, and readable JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sto_core::id::{
    BuildId, BuildRecordingId, ExecutableId, FrameId, NodeId, ProfileId, RecordingDigest,
};
use sto_core::model::{Build, GnuBuildId, Granularity, ModuleRef, Origin, Profile, Quality};
use sto_core::store::{ProfileOrigin, Tag};
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

fn build() -> Build {
    Build {
        executable: "demo".to_owned(),
        version: "v1".to_owned(),
        gnu_build_id: GnuBuildId::from_bytes(&[0xab, 1, 0xff]),
        revision: None,
        commit: None,
    }
}

fn sample_types() -> Vec<SampleType> {
    let units = [Unit::Samples, Unit::Nanoseconds, Unit::Bytes, Unit::Events];
    let named = |unit: Unit| SampleType {
        event: unit.name().to_owned(),
        unit,
    };
    units.map(named).to_vec()
}

fn profile() -> Profile {
    Profile {
        build: build().id(),
        source: RecordingDigest([7; 16]),
        source_bytes: Bytes(1_000_000),
        format: "perf.data".to_owned(),
        origin: Origin {
            recorded: Some(UnixSeconds(1_772_368_496)),
            duration: Some(Nanoseconds(5_000_000_000)),
            host: Some("host".to_owned()),
            ..Origin::default()
        },
        quality: Quality {
            samples: 400,
            unresolved: 3,
            truncated: 2,
            without_stack: 1,
            lost: 70_000,
        },
        granularity: Granularity::Line,
        sample_types: sample_types(),
        modules: [ModuleRef {
            name: "libc.so.6".to_owned(),
            build_id: GnuBuildId::from_bytes(&[9; 20]),
        }]
        .into(),
        benchmark: Some("b".to_owned()),
        labels: [("k".to_owned(), "v".to_owned())].into(),
        metrics: [("rps".to_owned(), 1.5)].into(),
    }
}

/// A change here changes the file format of stores and requires a new FORMAT_VERSION.
#[test]
fn stored_bytes_are_pinned() {
    fn hex(value: &(impl Serialize + DeserializeOwned + PartialEq + std::fmt::Debug)) -> String {
        let config = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(value, config).unwrap();
        let (read, _) = bincode::serde::decode_from_slice(&bytes, config).unwrap();
        assert_eq!(*value, read);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
    let pinned = [
        hex(&profile()),
        hex(&(
            FrameId([1; 16]),
            ExecutableId([2; 16]),
            NodeId([3; 16]),
            BuildId([4; 16]),
        )),
        hex(&(
            ProfileId([5; 16]),
            BuildRecordingId([6; 16]),
            ProfileOrigin::Store("s".to_owned()),
        )),
        hex(&(
            Cost {
                samples: 1,
                value: 300,
            },
            UnixSeconds(u64::MAX),
            Nanoseconds(0),
            Bytes(250),
        )),
        hex(&Tag {
            executable: "demo".to_owned(),
            name: "base".to_owned(),
            version: "v1".to_owned(),
        }),
    ];
    let expected = [
        "2bf48cb3a3985b35ea55960dfa9dff6907070707070707070707070707070707fc40420f0009706572662e6461\
         746101fc7032a46901fd00f2052a010000000104686f737400000000fb9001030201fc7011010001040773616d\
         706c657300026e730105627974657302066576656e74730301096c6962632e736f2e3601140909090909090909\
         09090909090909090909090901016201016b01760103727073000000000000f83f",
        "010101010101010101010101010101010202020202020202020202020202020203030303030303030303030303\
         03030304040404040404040404040404040404",
        "0505050505050505050505050505050506060606060606060606060606060606010173",
        "01fb2c01fdffffffffffffffff00fa",
        "0464656d6f0462617365027631",
    ];
    assert_eq!(pinned, expected);
}

#[test]
fn json_is_readable_and_round_trips() {
    fn json(value: &(impl Serialize + DeserializeOwned + PartialEq + std::fmt::Debug)) -> String {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(*value, serde_json::from_str(&text).unwrap());
        text
    }
    assert_eq!(
        json(&ProfileId([0xa0; 16])),
        format!("\"{}\"", "a0".repeat(16))
    );
    assert_eq!(
        json(&UnixSeconds(1_772_368_496)),
        "\"2026-03-01T12:34:56Z\""
    );
    assert_eq!(json(&Bytes(5)), "5");
    assert_eq!(json(&sample_types()[1]), r#"{"event":"ns","unit":"ns"}"#);
    assert_eq!(
        json(&build()),
        r#"{"executable":"demo","version":"v1","gnu_build_id":"ab01ff","revision":null}"#
    );
    json(&profile());
    for text in [
        "",
        "a0",
        &"g0".repeat(16),
        &"a0".repeat(17),
        &"é".repeat(16),
    ] {
        let error = text.parse::<ProfileId>().unwrap_err().to_string();
        assert!(
            error.ends_with("is not an id of 32 hexadecimal digits"),
            "{error}"
        );
    }
    assert!("".parse::<GnuBuildId>().is_err());
    assert!("seconds".parse::<Unit>().is_err());
}
