//! A builder of recordings.

use std::path::Path;
use sto_core::formats::{FormatError, ReadOptions, read_bytes};
use sto_core::recording::Recording;

/// The start of every chunk in nanoseconds since 1970, and its ticks per second.
pub(crate) const START: i64 = 1_000_000_000;
pub(crate) const TICKS_PER_SECOND: i64 = 500_000_000;

/// Types with their ids and fields: `name id*` is the key of a constant, `name id[]` an array.
const TYPES: [(&str, i64, &[&str]); 18] = [
    ("boolean", 4, &[]),
    ("byte", 8, &[]),
    ("short", 9, &[]),
    ("int", 10, &[]),
    ("long", 11, &[]),
    ("java.lang.String", 20, &[]),
    ("java.lang.Class", 21, &["name 31*"]),
    (
        "java.lang.Thread",
        22,
        &["osName 20", "osThreadId 11", "javaName 20"],
    ),
    ("jdk.types.FrameType", 24, &["description 20"]),
    ("jdk.types.StackTrace", 26, &["truncated 4", "frames 27[]"]),
    (
        "jdk.types.StackFrame",
        27,
        &["method 28*", "lineNumber 10", "type 24*"],
    ),
    ("jdk.types.Method", 28, &["type 21*", "name 31*"]),
    ("jdk.types.Symbol", 31, &["string 20"]),
    (
        "jdk.ExecutionSample",
        101,
        &["startTime 11", "sampledThread 22*", "stackTrace 26*"],
    ),
    (
        "jdk.ObjectAllocationSample",
        102,
        &[
            "startTime 11",
            "eventThread 22*",
            "stackTrace 26*",
            "weight 11",
        ],
    ),
    ("jdk.ActiveSetting", 103, &["id 11", "name 20", "value 20"]),
    ("jdk.JVMInformation", 104, &["pid 11", "javaArguments 20"]),
    ("jdk.jfr.Timespan", 200, &["value 20"]),
];

/// A chunk.
#[derive(Clone)]
pub(crate) struct Chunk {
    /// Name, id and fields of types.
    pub(crate) types: Vec<(String, i64, Vec<String>)>,
    /// The field (`type.field`) whose spans have this unit.
    pub(crate) span: Option<(&'static str, &'static str)>,
    /// Events with constants: pools of a type's constants, as keys and values.
    pub(crate) constants: Vec<Vec<Pool>>,
    pub(crate) events: Vec<Vec<u8>>,
}

#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) of: i64,
    pub(crate) constants: Vec<(i64, Vec<u8>)>,
    /// Replaces the number of constants.
    pub(crate) count: Option<i64>,
}

impl Pool {
    pub(crate) fn new(of: i64, constants: &[(i64, Vec<u8>)]) -> Pool {
        Pool {
            of,
            constants: constants.to_vec(),
            count: None,
        }
    }
}

/// A compressed number, as in HotSpot's `jfrEncoders.hpp`.
pub(crate) fn number(number: i64) -> Vec<u8> {
    let mut rest = number as u64;
    let mut bytes = Vec::new();
    while rest > 0x7f && bytes.len() < 8 {
        bytes.push(rest as u8 & 0x7f | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

pub(crate) fn numbers(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|&n| number(n)).collect()
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    bytes(3, text.as_bytes())
}

/// A string in an encoding with a byte count.
pub(crate) fn bytes(encoding: u8, text: &[u8]) -> Vec<u8> {
    [&[encoding], &*number(text.len() as i64), text].concat()
}

pub(crate) fn event(kind: i64, fields: &[u8]) -> Vec<u8> {
    sized(&[&*number(kind), fields].concat())
}

/// Bytes after their size, which includes the size field.
fn sized(body: &[u8]) -> Vec<u8> {
    let size = body.len() as i64 + 4;
    let size = [0, 7, 14, 21]
        .map(|shift| (size >> shift) as u8 & 0x7f | if shift < 21 { 0x80 } else { 0 });
    [&size, body].concat()
}

/// A stack trace of methods, leaf first as in a file.
fn trace(key: i64, methods: &[i64]) -> (i64, Vec<u8>) {
    let mut value = [&[0], &*number(methods.len() as i64)].concat();
    for &method in methods {
        value.extend(numbers(&[method, 7, 1]));
    }
    (key, value)
}

impl Chunk {
    /// `A.main` calls `A.leaf`, sampled once, with a period of 10 ms.
    pub(crate) fn sound() -> Chunk {
        let types = TYPES.iter().map(|(name, id, fields)| {
            let fields = fields.iter().map(|&field| field.to_owned());
            ((*name).to_owned(), *id, fields.collect())
        });
        let pools = vec![
            Pool::new(21, &[(1, number(1))]),
            Pool::new(22, &[(1, [text("os"), number(42), text("main")].concat())]),
            Pool::new(24, &[(1, text("Interpreted"))]),
            Pool::new(26, &[trace(1, &[2, 1]), trace(2, &[1])]),
            Pool::new(28, &[(1, numbers(&[1, 2])), (2, numbers(&[1, 3]))]),
            Pool::new(
                31,
                &[(1, text("a/A")), (2, text("main")), (3, text("leaf"))],
            ),
        ];
        let setting = [number(101), text("period"), text("10 ms")].concat();
        Chunk {
            types: types.collect(),
            span: None,
            constants: vec![pools],
            events: vec![event(103, &setting), event(101, &numbers(&[5, 1, 1]))],
        }
    }

    /// Adds an event.
    pub(crate) fn event(&mut self, kind: i64, fields: &[u8]) {
        self.events.push(event(kind, fields));
    }

    /// The fields of a type.
    pub(crate) fn fields(&mut self, of: i64) -> &mut Vec<String> {
        &mut self
            .types
            .iter_mut()
            .find(|(_, id, _)| *id == of)
            .unwrap()
            .2
    }

    /// The constants of a type, in the last event with constants.
    pub(crate) fn pool(&mut self, of: i64) -> &mut Pool {
        let pools = self.constants.last_mut().unwrap();
        pools.iter_mut().find(|pool| pool.of == of).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for event in &self.events {
            body.extend(event);
        }
        let mut last = 0;
        for pools in &self.constants {
            let at = body.len() as i64;
            let back = if last == 0 { 0 } else { last - at };
            body.extend(self::event(1, &checkpoint(back, pools)));
            last = at;
        }
        let metadata = 68 + body.len() as i64;
        body.extend(event(0, &self.metadata()));
        header(68 + body.len() as i64, 68 + last, metadata, &body)
    }

    fn metadata(&self) -> Vec<u8> {
        let mut strings = Strings::default();
        let mut classes = Vec::new();
        for (name, id, fields) in &self.types {
            let fields = fields.iter().map(|field| {
                let (field, of) = field.split_once(' ').unwrap();
                let class = of.trim_end_matches(['*', '[', ']']);
                let mut attributes = vec![("name", field), ("class", class)];
                if of.contains('*') {
                    attributes.push(("constantPool", "true"));
                }
                if of.ends_with(']') {
                    attributes.push(("dimension", "1"));
                }
                let spans = self.span.filter(|(of, _)| *of == format!("{name}.{field}"));
                let spans = spans.map(|(_, unit)| {
                    strings.element("annotation", &[("class", "200"), ("value", unit)], &[])
                });
                strings.element("field", &attributes, spans.as_slice())
            });
            let fields: Vec<Vec<u8>> = fields.collect();
            let attributes = [("name", name.as_str()), ("id", &id.to_string())];
            classes.push(strings.element("class", &attributes, &fields));
        }
        let metadata = strings.element("metadata", &[], &classes);
        let root = strings.element("root", &[], &[metadata]);
        [numbers(&[0, 0, 1]), strings.bytes(), root].concat()
    }
}

/// The strings of a metadata event.
#[derive(Default)]
pub(crate) struct Strings(Vec<String>);

impl Strings {
    pub(crate) fn string(&mut self, text: &str) -> Vec<u8> {
        let index = self.0.iter().position(|known| known == text);
        let index = index.unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        number(index as i64)
    }

    pub(crate) fn element(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        children: &[Vec<u8>],
    ) -> Vec<u8> {
        let mut bytes = self.string(name);
        bytes.extend(number(attributes.len() as i64));
        for (key, value) in attributes {
            bytes.extend(self.string(key));
            bytes.extend(self.string(value));
        }
        bytes.extend(number(children.len() as i64));
        bytes.extend(children.concat());
        bytes
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = number(self.0.len() as i64);
        bytes.extend(self.0.iter().flat_map(|string| text(string)));
        bytes
    }
}

/// The fields of an event with constants; `delta` is the offset of the previous one.
pub(crate) fn checkpoint(back: i64, pools: &[Pool]) -> Vec<u8> {
    let mut bytes = numbers(&[0, 0, back]);
    bytes.push(1);
    bytes.extend(number(pools.len() as i64));
    for pool in pools {
        let count = pool.count.unwrap_or(pool.constants.len() as i64);
        bytes.extend(numbers(&[pool.of, count]));
        for (key, value) in &pool.constants {
            bytes.extend(number(*key));
            bytes.extend(value);
        }
    }
    bytes
}

/// A chunk of a size, with the offsets of its constants and types in it.
pub(crate) fn header(size: i64, constants: i64, metadata: i64, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
    for number in [size, constants, metadata, START, 0, 0, TICKS_PER_SECOND] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.extend([0, 0, 0, 1]);
    bytes.extend(body);
    bytes
}

pub(crate) fn read(bytes: &[u8]) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), bytes, &ReadOptions::default())
}

/// Reads a file that may be truncated.
pub(crate) fn read_cut(bytes: &[u8]) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("a/file"), bytes, &options)
}

/// Each sample's event, thread, stack, number of samples, value and unit.
pub(crate) fn shown(recording: &Recording) -> Vec<String> {
    let samples = recording.samples.iter().map(|sample| {
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let frames = crate::common::frames_of(recording, sample);
        let frames: Vec<String> = frames.iter().map(crate::common::show).collect();
        format!(
            "{} {}: {} {} {} {}",
            sample_type.event,
            recording.threads[sample.thread.0 as usize].name,
            frames.join(";"),
            sample.cost.samples,
            sample.cost.value,
            sample_type.unit.name()
        )
    });
    samples.collect()
}
