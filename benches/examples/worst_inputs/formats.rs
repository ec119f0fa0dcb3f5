//! Profiles in less common formats with the highest cost for their size.

use crate::Shape;

pub(crate) const SHAPES: [Shape; 9] = [
    ("JFR: methods of a class with a long name", jfr_long_name),
    ("JFR: a deep stack for each event", jfr_deep),
    ("OTLP: inlined lines, as far as they are read", || {
        otlp(9, 10_000, 80)
    }),
    ("OTLP: labels of each sample", otlp_labels),
    ("GHC: deep, each call with time", || ghc(3_000, 1)),
    ("GHC: a function each", || ghc(1, 200_000)),
    ("VTune: deep, each call with time", || vtune(4_000, 1)),
    ("VTune: a function each", || vtune(1, 400_000)),
    ("sample: deep, each call with samples", macos_sample),
];

pub(crate) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn field(number: u64, body: &[u8], out: &mut Vec<u8>) {
    varint(number << 3 | 2, out);
    varint(body.len() as u64, out);
    out.extend_from_slice(body);
}

/// Encodes numeric fields.
fn numbers(fields: &[(u64, u64)]) -> Vec<u8> {
    let mut body = Vec::new();
    for &(number, value) in fields {
        varint(number << 3, &mut body);
        varint(value, &mut body);
    }
    body
}

fn packed(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut body = Vec::new();
    numbers.for_each(|number| varint(number, &mut body));
    body
}

/// An export of one profile: `opentelemetry/proto/profiles/v1development/profiles.proto`.
fn export(samples: Vec<u8>, tables: &[(u64, Vec<Vec<u8>>)]) -> Vec<u8> {
    let mut profile = Vec::new();
    field(1, &numbers(&[(1, 1), (2, 2)]), &mut profile);
    profile.extend(samples);
    let (mut scope, mut resource, mut dictionary, mut out) = (vec![], vec![], vec![], vec![]);
    field(2, &profile, &mut scope);
    field(2, &scope, &mut resource);
    field(1, &resource, &mut out);
    // Index 0 of each table means a missing value.
    for (table, rows) in tables {
        field(*table, &[], &mut dictionary);
        rows.iter()
            .for_each(|row| field(*table, row, &mut dictionary));
    }
    field(2, &dictionary, &mut out);
    out
}

fn texts(count: u64) -> Vec<Vec<u8>> {
    let names = (1..=count).map(|ix| format!("f{ix}").into_bytes());
    [b"samples".to_vec(), b"count".to_vec()]
        .into_iter()
        .chain(names)
        .collect()
}

/// A location with `lines` functions, and stacks that contain it `depth` times.
fn otlp(lines: u64, count: u64, depth: u64) -> Vec<u8> {
    let functions = (1..=100).map(|ix| numbers(&[(1, ix + 2)])).collect();
    let locations = (0..=100).map(|ix| {
        let mut location = Vec::new();
        for line in 0..if ix == 0 { lines } else { 1 } {
            field(3, &numbers(&[(1, (line + ix) % 100 + 1)]), &mut location);
        }
        location
    });
    let stacks = (0..count).map(|ix| {
        let other = (ix % depth, ix / depth % 100 + 2);
        let all = (0..depth).map(|at| if at == other.0 { other.1 } else { 1 });
        let mut stack = Vec::new();
        field(1, &packed(all), &mut stack);
        stack
    });
    let mut samples = Vec::new();
    for stack in 1..=count {
        let mut sample = numbers(&[(1, stack)]);
        field(4, &[1], &mut sample);
        field(2, &sample, &mut samples);
    }
    let tables = [
        (2, locations.collect()),
        (3, functions),
        (5, texts(100)),
        (7, stacks.collect()),
    ];
    export(samples, &tables)
}

/// Samples of one stack with 1000 labels each; one label differs in each sample.
fn otlp_labels() -> Vec<u8> {
    const LABELS: u64 = 1_000;
    let mut stack = Vec::new();
    field(1, &[1], &mut stack);
    let mut location = Vec::new();
    field(3, &numbers(&[(1, 1)]), &mut location);
    let attributes = (1..=2 * LABELS).map(|ix| {
        let (mut attribute, mut value) = (numbers(&[(1, ix % LABELS + 3)]), Vec::new());
        field(1, ix.to_string().as_bytes(), &mut value);
        field(2, &value, &mut attribute);
        attribute
    });
    let mut samples = Vec::new();
    for ix in 0..5_000 {
        let mut sample = numbers(&[(1, 1)]);
        let own = ix % LABELS;
        let labels = (1..=LABELS).map(|at| if at == own { LABELS + own } else { at });
        field(2, &packed(labels), &mut sample);
        field(4, &[1], &mut sample);
        field(2, &sample, &mut samples);
    }
    let tables = [
        (2, vec![location]),
        (3, vec![numbers(&[(1, 3)])]),
        (5, texts(LABELS + 3)),
        (6, attributes.collect()),
        (7, vec![stack]),
    ];
    export(samples, &tables)
}

fn ghc(depth: usize, calls: usize) -> Vec<u8> {
    let mut text = "\tTime and Allocation Profiling Report  (Final)\n\n\t   app +RTS -p -RTS\n\n\ttotal time  =        0.50 secs   (500 ticks @ 1000 us, 1 processor)\n\ttotal alloc = 1,000,000 bytes  (excludes profiling overheads)\n\nCOST CENTRE MODULE SRC no. entries %time %alloc %time %alloc ticks bytes\n\n".to_owned();
    for level in 0..depth {
        for ix in 0..calls {
            text.push_str(&" ".repeat(level));
            text.push_str(&format!(
                "f{ix} Main a.hs:1:1-9 {ix} 1 0.1 0.1 0.1 0.1 1 1\n"
            ));
        }
    }
    text.into_bytes()
}

fn vtune(depth: usize, calls: usize) -> Vec<u8> {
    let mut text = "Function Stack,CPU Time:Self,Module\n".to_owned();
    for level in 0..depth {
        for ix in 0..calls {
            text.push_str(&" ".repeat(level));
            text.push_str(&format!("f{ix},0.001,app\n"));
        }
    }
    text.into_bytes()
}

fn macos_sample() -> Vec<u8> {
    const DEPTH: usize = 2_500;
    let mut text = "Analysis of sampling app (pid 1) every 1 millisecond\nProcess: app [1]\n\nCall graph:\n    2500 Thread_1\n".to_owned();
    for level in 1..=DEPTH {
        text.push_str(&format!(
            "    {}{} f{level}  (in app) + 1  [0x1]\n",
            "+ ".repeat(level),
            DEPTH + 1 - level
        ));
    }
    text.push_str("\nTotal number in stack (recursive counted multiple, when >=5):\n");
    text.into_bytes()
}

/// Encodes numbers like `jfrEncoders.hpp` of HotSpot.
fn jfr_numbers(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|&number| varint(number, &mut out));
    out
}

fn jfr_text(text: &str) -> Vec<u8> {
    [&[3], &*jfr_numbers(&[text.len() as u64]), text.as_bytes()].concat()
}

fn jfr_event(kind: u64, fields: &[u8]) -> Vec<u8> {
    let body = [&*jfr_numbers(&[kind]), fields].concat();
    let size = body.len() + 4;
    let size = [0, 7, 14, 21]
        .map(|shift| (size >> shift) as u8 & 0x7f | if shift < 21 { 0x80 } else { 0 });
    [&size, &*body].concat()
}

/// Encodes an element of the metadata, and collects its strings.
fn jfr_element(
    strings: &mut Vec<String>,
    name: &str,
    attributes: &[(&str, &str)],
    children: &[Vec<u8>],
) -> Vec<u8> {
    let mut string = |text: &str| {
        let known = strings.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            strings.push(text.to_owned());
            strings.len() - 1
        }) as u64
    };
    let mut bytes = jfr_numbers(&[string(name), attributes.len() as u64]);
    for (key, value) in attributes {
        bytes.extend(jfr_numbers(&[string(key), string(value)]));
    }
    bytes.extend(jfr_numbers(&[children.len() as u64]));
    bytes.extend(children.concat());
    bytes
}

/// Types with their ids and fields: `name id*` is the key of a constant, `name id[]` an array.
const JFR_TYPES: [(&str, &str, &[&str]); 13] = [
    ("boolean", "4", &[]),
    ("int", "10", &[]),
    ("long", "11", &[]),
    ("java.lang.String", "20", &[]),
    ("java.lang.Class", "21", &["name 31*"]),
    (
        "java.lang.Thread",
        "22",
        &["osName 20", "osThreadId 11", "javaName 20"],
    ),
    ("jdk.types.FrameType", "24", &["description 20"]),
    (
        "jdk.types.StackTrace",
        "26",
        &["truncated 4", "frames 27[]"],
    ),
    (
        "jdk.types.StackFrame",
        "27",
        &["method 28*", "lineNumber 10", "type 24*"],
    ),
    ("jdk.types.Method", "28", &["type 21*", "name 31*"]),
    ("jdk.types.Symbol", "31", &["string 20"]),
    (
        "jdk.ExecutionSample",
        "101",
        &["startTime 11", "sampledThread 22*", "stackTrace 26*"],
    ),
    (
        "jdk.ActiveSetting",
        "103",
        &["id 11", "name 20", "value 20"],
    ),
];

/// A chunk with these constants, by type and key, and these events.
fn jfr(pools: &[(u64, Vec<Vec<u8>>)], mut body: Vec<u8>) -> Vec<u8> {
    let mut checkpoint = jfr_numbers(&[0, 0, 0]);
    checkpoint.extend(jfr_numbers(&[1, pools.len() as u64]));
    for (kind, constants) in pools {
        checkpoint.extend(jfr_numbers(&[*kind, constants.len() as u64]));
        for (key, value) in (1..).zip(constants) {
            checkpoint.extend(jfr_numbers(&[key]));
            checkpoint.extend(value);
        }
    }
    let mut strings = Vec::new();
    let mut classes = Vec::new();
    for (name, id, fields) in JFR_TYPES {
        let mut all = Vec::new();
        for field in fields {
            let (name, class) = field.split_once(' ').unwrap();
            let mut attributes = vec![
                ("name", name),
                ("class", class.trim_end_matches(['*', '[', ']'])),
            ];
            attributes.extend(class.ends_with('*').then_some(("constantPool", "true")));
            attributes.extend(class.ends_with(']').then_some(("dimension", "1")));
            all.push(jfr_element(&mut strings, "field", &attributes, &[]));
        }
        classes.push(jfr_element(
            &mut strings,
            "class",
            &[("name", name), ("id", id)],
            &all,
        ));
    }
    let metadata = jfr_element(&mut strings, "metadata", &[], &classes);
    let root = jfr_element(&mut strings, "root", &[], &[metadata]);
    let mut described = jfr_numbers(&[0, 0, 1, strings.len() as u64]);
    described.extend(strings.iter().flat_map(|string| jfr_text(string)));
    described.extend(root);

    let constants = 68 + body.len();
    body.extend(jfr_event(1, &checkpoint));
    let types = 68 + body.len();
    body.extend(jfr_event(0, &described));
    let mut out = b"FLR\0\0\x02\0\x01".to_vec();
    for number in [
        68 + body.len(),
        constants,
        types,
        1_000_000_000,
        0,
        0,
        500_000_000,
    ] {
        let mut bytes = (number as u64).to_le_bytes();
        bytes.reverse();
        out.extend(bytes);
    }
    out.extend([0, 0, 0, 1]);
    out.extend(body);
    out
}

fn jfr_constants(class: &str, methods: u64, traces: Vec<Vec<u8>>) -> Vec<(u64, Vec<Vec<u8>>)> {
    vec![
        (21, vec![jfr_numbers(&[1])]),
        (
            22,
            vec![[jfr_text("os"), jfr_numbers(&[42]), jfr_text("main")].concat()],
        ),
        (24, vec![jfr_text("Interpreted")]),
        (26, traces),
        (
            28,
            (0..methods).map(|ix| jfr_numbers(&[1, 2 + ix])).collect(),
        ),
        (
            31,
            [class.to_owned()]
                .into_iter()
                .chain((0..methods).map(|ix| format!("m{ix}")))
                .map(|text| jfr_text(&text))
                .collect(),
        ),
    ]
}

fn jfr_samples(traces: u64, each: u64) -> Vec<u8> {
    let setting = [jfr_numbers(&[101]), jfr_text("period"), jfr_text("10 ms")].concat();
    let mut body = jfr_event(103, &setting);
    for _ in 0..each {
        for trace in 1..=traces {
            body.extend(jfr_event(101, &jfr_numbers(&[5, 1, trace])));
        }
    }
    body
}

fn jfr_trace(methods: impl ExactSizeIterator<Item = u64>) -> Vec<u8> {
    let mut trace = jfr_numbers(&[0, methods.len() as u64]);
    methods.for_each(|method| trace.extend(jfr_numbers(&[method, 7, 1])));
    trace
}

fn jfr_long_name() -> Vec<u8> {
    const METHODS: u64 = 100_000;
    let trace = jfr_trace((1..METHODS + 1).collect::<Vec<_>>().into_iter());
    jfr(
        &jfr_constants(&"a".repeat(1 << 20), METHODS, vec![trace]),
        jfr_samples(1, 1),
    )
}

fn jfr_deep() -> Vec<u8> {
    let traces = (0..1_000).map(|ix| jfr_trace(vec![[1, 2][ix % 2]; 1_000 + ix].into_iter()));
    jfr(
        &jfr_constants("a/A", 2, traces.collect()),
        jfr_samples(1_000, 100),
    )
}
