//! OTLP: the profiles signal of OpenTelemetry.
//!
//! Source: `opentelemetry/proto/profiles/v1development/profiles.proto` of
//! <https://github.com/open-telemetry/opentelemetry-proto>, in the messages of versions 1.10 and
//! 1.11.

use super::dictionary::{Dictionary, Mapping};
use super::samples::{Row, Samples, columns};
use super::{check_any, check_frames, recorded};
use crate::error::ExportError;
use crate::select::full_name;
use crate::tree::{ContextCosts, View};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use sto_core::formats::MessageWriter;
use sto_core::model::{FrameKind, LabelValue, Origin, SampleLabel};
use sto_core::tree::{ContextIx, NodeIx, SampleContext};

/// Maximum size of a message in bytes: Protocol Buffers readers reject longer ones.
const MAX_BYTES: usize = i32::MAX as usize;

/// Writes the stacks in every sample type as an export of OpenTelemetry profiles, which collectors
/// accept unchanged.
///
/// Each event is two profiles, as each of these has one sample type: the number of samples
/// (`EVENT_samples`), and the value in nanoseconds, bytes or as a count. If the value is the number
/// of samples, it is one profile. All profiles belong to one resource: the executable, and the
/// properties that all its runs share. Frames are written as in [`pprof`](super::pprof()).
///
/// All stacks and costs of a view are kept, but not the separate runs. Addresses are left out.
/// Given the costs in each context, threads and labels of samples are kept as well, unless a
/// label's key is an attribute of threads, processes or resources.
///
/// # Errors
///
/// Returns an error if there are no samples, the stacks are too many or too deep for one message, a
/// value is larger than 2^63 - 1, or `writer` fails.
pub fn otlp(
    view: &View,
    contexts: Option<&ContextCosts>,
    writer: impl Write,
) -> Result<(), ExportError> {
    check_any(view)?;
    let samples = Samples::new(view, contexts);
    let nodes: BTreeSet<NodeIx> = samples.rows.iter().map(|row| row.node).collect();
    check_frames(view, nodes.iter().copied(), "otlp")?;
    let mut dictionary = Dictionary::from_view(view);
    let mut attributes = Attributes::default();
    let stack_of: HashMap<NodeIx, u64> = nodes.iter().copied().zip(1..).collect();

    let (time, duration) = recorded(view);
    let mut profiles = Vec::new();
    let mut of_context: HashMap<ContextIx, Vec<u64>> = HashMap::new();
    for column in &columns(view, &samples.costs, true) {
        let mut profile = MessageWriter::default();
        let mut sample_type = MessageWriter::default();
        sample_type.number(1, dictionary.string(&column.name()));
        sample_type.number(2, dictionary.string(column.unit));
        profile.message(1, &sample_type);
        for (row, &Row { node, context }) in samples.rows.iter().enumerate() {
            let value = column.value(&samples.costs, row, "otlp")?;
            if value == 0 {
                continue;
            }
            let mut sample = MessageWriter::default();
            sample.number(1, stack_of[&node]);
            if let Some((ix, context)) = context {
                let indices = of_context.entry(ix).or_insert_with(|| {
                    let own = of_samples(context).into_iter();
                    let own = own.map(|own| attributes.index(own, &mut dictionary));
                    own.collect()
                });
                sample.numbers(2, indices.iter().copied());
            }
            sample.numbers(4, std::iter::once(value));
            profile.message(2, &sample);
        }
        if time != 0 {
            profile.fixed64(3, time);
        }
        profile.number(4, duration);
        profiles.push(profile);
    }
    let mut scope = MessageWriter::default();
    scope.bytes(1, b"sto");
    scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let (mut of_resource, mut of_scope) = (MessageWriter::default(), MessageWriter::default());
    of_resource.message(1, &resource(view));
    of_scope.message(1, &scope);
    let profiles = profiles.into_iter();
    let profiles = profiles.flat_map(|profile| within(2, [profile]));
    let scope = within(2, std::iter::once(of_scope).chain(profiles));
    let resource = within(1, std::iter::once(of_resource).chain(scope));
    let tables = within(2, [tables(&mut dictionary, &mut attributes, nodes)]);
    let parts: Vec<MessageWriter> = resource.into_iter().chain(tables).collect();
    let bytes: usize = parts.iter().map(|part| part.bytes.len()).sum();
    if bytes > MAX_BYTES {
        return Err(ExportError::TooLong {
            build: full_name(&view.selection.build),
            bytes,
            format: "otlp",
        });
    }
    let mut file = BufWriter::new(writer);
    for part in parts {
        file.write_all(&part.bytes)?;
    }
    Ok(file.flush()?)
}

/// Returns the parts of a field whose content consists of these parts.
fn within(field: u32, parts: impl IntoIterator<Item = MessageWriter>) -> Vec<MessageWriter> {
    let mut parts: Vec<MessageWriter> = parts.into_iter().collect();
    let mut head = MessageWriter::default();
    head.head(field, parts.iter().map(|part| part.bytes.len()).sum());
    parts.insert(0, head);
    parts
}

/// Returns the resource: the properties that all runs of the view share.
fn resource(view: &View) -> MessageWriter {
    let build = &view.selection.build;
    let agreed = |of: fn(&Origin) -> Option<&str>| {
        let profiles = view.selection.profiles.iter();
        let all: BTreeSet<_> = profiles.map(|stored| of(&stored.profile.origin)).collect();
        all.first().copied().flatten().filter(|_| all.len() == 1)
    };
    let build_id = build.gnu_build_id.as_ref().map(ToString::to_string);
    let mut resource = MessageWriter::default();
    for (key, value) in [
        ("service.name", Some(&*build.executable)),
        ("service.version", Some(&*build.version)),
        ("process.executable.name", Some(&*build.executable)),
        ("process.executable.build_id.gnu", build_id.as_deref()),
        ("host.name", agreed(|origin| origin.host.as_deref())),
        ("host.arch", agreed(|origin| origin.arch.as_deref())),
    ] {
        let Some(value) = value else { continue };
        let (mut attribute, mut text) = (MessageWriter::default(), MessageWriter::default());
        text.bytes(1, value.as_bytes());
        attribute.bytes(1, key.as_bytes());
        attribute.message(2, &text);
        resource.message(1, &attribute);
    }
    resource
}

/// Returns the attributes of samples in a context: process, thread and labels.
fn of_samples(SampleContext { thread, labels }: &SampleContext) -> Vec<SampleLabel> {
    let number = |key: &str, number: u32| SampleLabel {
        key: key.to_owned(),
        value: LabelValue::Number {
            number: number.into(),
            unit: String::new(),
        },
    };
    let mut attributes = Vec::new();
    attributes.extend((thread.pid != 0).then(|| number("process.pid", thread.pid)));
    attributes.extend((thread.tid != 0).then(|| number("thread.id", thread.tid)));
    attributes.extend((!thread.name.is_empty()).then(|| text("thread.name", &thread.name)));
    attributes.extend(labels.iter().cloned());
    attributes
}

fn text(key: &str, text: &str) -> SampleLabel {
    SampleLabel {
        key: key.to_owned(),
        value: LabelValue::Text(text.to_owned()),
    }
}

/// Writes the dictionary, with the stacks that end at these nodes.
fn tables(
    dictionary: &mut Dictionary,
    attributes: &mut Attributes,
    nodes: BTreeSet<NodeIx>,
) -> MessageWriter {
    let mut tables = MessageWriter::default();
    // The first entry of each table means "none".
    (1..=7)
        .filter(|&table| table != STRINGS)
        .for_each(|table| tables.bytes(table, b""));
    for ix in 0..dictionary.mappings.len() {
        let Mapping { file, build_id } = dictionary.mappings[ix];
        let mut fields = MessageWriter::default();
        fields.number(4, file);
        if build_id != 0 {
            let digits = dictionary.strings[build_id as usize].clone();
            let build_id = text("process.executable.build_id.gnu", &digits);
            let build_id = attributes.index(build_id, dictionary);
            fields.numbers(5, std::iter::once(build_id));
        }
        tables.message(1, &fields);
    }
    for ix in 0..dictionary.locations.len() {
        let location = &dictionary.locations[ix];
        let mut fields = MessageWriter::default();
        fields.number(1, location.mapping);
        for (function, line) in dictionary.lines(location) {
            let mut own = MessageWriter::default();
            own.number(1, function);
            own.number(2, line.into());
            fields.message(3, &own);
        }
        // A kernel frame without a module would be read as a frame of the kernel itself.
        if location.kind == FrameKind::Kernel && location.mapping != 0 {
            let kernel = attributes.index(text("profile.frame.type", "kernel"), dictionary);
            fields.numbers(4, std::iter::once(kernel));
        }
        tables.message(2, &fields);
    }
    for function in &dictionary.functions {
        let mut fields = MessageWriter::default();
        fields.number(1, function.name);
        fields.number(2, function.system_name);
        fields.number(3, function.file);
        tables.message(3, &fields);
    }
    for node in nodes {
        let mut fields = MessageWriter::default();
        fields.numbers(1, dictionary.stack(node));
        tables.message(7, &fields);
    }
    tables.bytes.extend_from_slice(&attributes.table.bytes);
    for string in &dictionary.strings {
        tables.bytes(STRINGS, string.as_bytes());
    }
    tables
}

/// Field number of the table of strings. The dictionary already has its first entry.
const STRINGS: u32 = 5;

/// The distinct attributes.
#[derive(Default)]
struct Attributes {
    table: MessageWriter,
    indices: HashMap<SampleLabel, u64>,
}

impl Attributes {
    fn index(&mut self, attribute: SampleLabel, dictionary: &mut Dictionary) -> u64 {
        if let Some(&index) = self.indices.get(&attribute) {
            return index;
        }
        let (mut fields, mut value) = (MessageWriter::default(), MessageWriter::default());
        let unit = match &attribute.value {
            LabelValue::Text(text) => {
                value.bytes(1, text.as_bytes());
                0
            }
            LabelValue::Number { number, unit } => {
                value.number_or_zero(3, *number as u64);
                dictionary.string(unit)
            }
        };
        fields.number(1, dictionary.string(&attribute.key));
        fields.message(2, &value);
        fields.number(3, unit);
        self.table.message(6, &fields);
        let index = self.indices.len() as u64 + 1;
        self.indices.insert(attribute, index);
        index
    }
}
