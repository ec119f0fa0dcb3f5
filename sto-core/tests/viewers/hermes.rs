//! Profiles of Hermes.

use super::{error, read, stacks};
use sto_core::formats::Format;

fn profile(samples: &str) -> String {
    let sample = |sf: &str| {
        format!(
            r#"{{"cpu":"-1","name":"","ts":"11552125241","pid":7512,"tid":"7695","weight":"1","sf":{sf}}}"#
        )
    };
    let samples: Vec<String> = samples.split(' ').map(sample).collect();
    format!(
        r#"{{"traceEvents":[{{"name":"process_name","ph":"M","cat":"__metadata","pid":7512,"ts":"1","tid":"-1",
        "args":{{"name":"hermes"}}}}],"samples":[{}],"stackFrames":{{
        "1":{{"name":"[root]","category":"root"}},
        "2":{{"line":"9","column":"1","funcLine":"9","funcColumn":"1","name":"list(http://localhost:8081/index.bundle?platform=android:9:1)",
            "category":"JavaScript","parent":1}},
        "3":{{"name":"(/src/a.js:4:2)","category":"JavaScript","parent":2}},
        "4":{{"name":"[GC Young Gen]","category":"Metadata","parent":1}}}}}}"#,
        samples.join(",")
    )
}

#[test]
fn resolves_frame_references() {
    let recording = read(&profile("1 2 3 3 4")).unwrap();
    assert_eq!(recording.format, Format::Hermes);
    assert_eq!(recording.threads[0].tid, 7695);
    assert_eq!(
        stacks(&recording),
        [
            "samples 1 1 samples []: [root] (interpreted)",
            "samples 1 1 samples []: [root] (interpreted);[GC Young Gen] (interpreted)",
            "samples 1 1 samples []: [root] (interpreted);list (interpreted) http://localhost:8081/index.bundle?platform=android:9",
            "samples 2 2 samples []: [root] (interpreted);list (interpreted);(anonymous) (interpreted) /src/a.js:4",
        ]
    );
}

#[test]
fn reports_a_missing_frame() {
    assert_eq!(
        error(&profile("7")),
        "a/file: samples[0].sf: `7`; expected the id of a frame in `stackFrames`"
    );
    let cycle = profile("2").replace(r#""category":"root""#, r#""category":"root","parent":"2""#);
    assert!(
        error(&cycle).contains("its own direct or indirect caller"),
        "{}",
        error(&cycle)
    );
}
