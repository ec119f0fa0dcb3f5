//! Output of bpftrace with `-f json`: one object per line; a `map` has the keys of a map as text.
//!
//! Source: `JsonOutput` in `src/output.cpp` of bpftrace, <https://github.com/bpftrace/bpftrace>.

use crate::bpftrace::Bpftrace;
use crate::recording::RecordingBuilder;
use crate::report::Report;
use crate::source::Head;
use crate::wire::json::{Members, Text};
use crate::wire::text::{excerpt, lines};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) fn matches(head: &Head<'_>) -> bool {
    let begin = head.bytes.trim_ascii_start();
    let begins = |with: &str| begin.starts_with(with.as_bytes());
    begins(r#"{"type": "attached_probes","#) || begins(r#"{"type": "map", "data": {"@"#)
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Printed<'b> {
    #[serde(rename = "type")]
    kind: Text<'b>,
    data: Option<&'b RawValue>,
}

#[derive(Default)]
pub(super) struct BpftraceJson(Bpftrace);

impl Report for BpftraceJson {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        if line.is_empty() {
            return Ok(());
        }
        let expected = |what: &str, error: serde_json::Error| {
            format!("expected {what}, found {}: {error}", excerpt(line))
        };
        let printed: Printed<'_> = serde_json::from_slice(line)
            .map_err(|error| expected("an object of bpftrace", error))?;
        let Some(maps) = printed.data.filter(|_| *printed.kind.0 == *b"map") else {
            return Ok(());
        };
        let maps: Members<'_, Text<'_>> =
            serde_json::from_str(maps.get()).map_err(|error| expected("maps", error))?;
        for (name, keys) in maps.0 {
            // A map without keys is a number.
            let Ok(keys) = serde_json::from_str::<Members<'_, Text<'_>>>(keys.get()) else {
                continue;
            };
            for (key, value) in keys.0.iter().filter(|(key, _)| key.0.contains(&b'\n')) {
                let value = value.get().as_bytes();
                let text = [&name.0[..], b"[", &key.0, b"]: ", value].concat();
                for (_, line) in lines(&text) {
                    self.0.line(line, builder)?;
                }
            }
        }
        Ok(())
    }

    fn cut(&self) -> Option<&'static str> {
        self.0.cut()
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.0.finish(builder)
    }
}
