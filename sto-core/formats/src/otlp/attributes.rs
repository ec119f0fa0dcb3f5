//! Attributes: threads, processes, frame kinds, build ids.

use crate::error::Decoded;
use crate::labels::{RawValue, ThreadName};
use crate::names::module_name;
use crate::recording::text_prefix;
use crate::wire::protobuf::Message;
use crate::wire::text;
use sto_model::FrameKind;

/// An attribute with a known meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute<'b> {
    ThreadId(u32),
    ThreadName(&'b [u8]),
    ProcessId(u32),
    /// Base name of the program.
    Executable(&'b [u8]),
    /// Path of the program.
    ExecutablePath(&'b [u8]),
    /// The service name, used as the program's name if there is no other.
    Service(&'b [u8]),
    Host(&'b [u8]),
    Architecture(&'b [u8]),
    FrameKind(FrameKind),
    /// In hexadecimal digits.
    GnuBuildId(&'b [u8]),
    /// Any other key and its value.
    Other(&'b [u8], Value<'b>),
}

impl<'b> Attribute<'b> {
    pub(super) fn new(key: &'b [u8], value: Value<'b>) -> Attribute<'b> {
        let known = match key {
            b"thread.id" => value.id().map(Attribute::ThreadId),
            b"thread.name" => value.text().map(Attribute::ThreadName),
            b"process.pid" => value.id().map(Attribute::ProcessId),
            b"process.executable.name" => value.text().map(Attribute::Executable),
            b"process.executable.path" => value.text().map(Attribute::ExecutablePath),
            b"service.name" => value.text().map(Attribute::Service),
            b"host.name" => value.text().map(Attribute::Host),
            b"host.arch" => value.text().map(Attribute::Architecture),
            b"profile.frame.type" => value.text().and_then(kind_of).map(Attribute::FrameKind),
            b"process.executable.build_id.gnu" => value.text().map(Attribute::GnuBuildId),
            _ => None,
        };
        known.unwrap_or(Attribute::Other(key, value))
    }
}

/// The process and thread of samples, from attributes.
#[derive(Clone, Copy, Default)]
pub(super) struct SampleOwner<'b> {
    /// The thread, without the program.
    pub(super) thread: ThreadName<'b>,
    pub(super) host: &'b [u8],
    pub(super) architecture: &'b [u8],
    executable: &'b [u8],
    path: &'b [u8],
    service: &'b [u8],
}

impl<'b> SampleOwner<'b> {
    /// Applies an attribute, which overrides earlier, less specific ones.
    pub(super) fn set(&mut self, attribute: Attribute<'b>) {
        match attribute {
            Attribute::ThreadId(tid) => self.thread.tid = tid,
            Attribute::ThreadName(name) => self.thread.name = name,
            Attribute::ProcessId(pid) => self.thread.pid = pid,
            Attribute::Executable(name) => self.executable = name,
            Attribute::ExecutablePath(path) => self.path = path,
            Attribute::Service(name) => self.service = name,
            Attribute::Host(name) => self.host = name,
            Attribute::Architecture(name) => self.architecture = name,
            Attribute::FrameKind(_) | Attribute::GnuBuildId(_) | Attribute::Other(..) => {}
        }
    }

    /// Name of the program; empty if unknown.
    pub(super) fn program(&self) -> &'b [u8] {
        let by_exactness = [self.executable, module_name(self.path), self.service];
        let known = by_exactness.into_iter().find(|name| !name.is_empty());
        known.unwrap_or_default()
    }
}

/// The kind for a frame type; `None` for native code, whose kind follows from its names.
///
/// Virtual machines that often compile code are assumed to have compiled it, because the frame type
/// only names the virtual machine.
fn kind_of(frame_type: &[u8]) -> Option<FrameKind> {
    match frame_type {
        b"kernel" => Some(FrameKind::Kernel),
        b"jvm" | b"dotnet" | b"v8js" | b"beam" => Some(FrameKind::Jit),
        b"cpython" | b"perl" | b"php" | b"ruby" => Some(FrameKind::Interpreted),
        _ => None,
    }
}

/// The value of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Value<'b> {
    Text(&'b [u8]),
    Number {
        number: u64,
        unit: &'b [u8],
    },
    /// The bits of a floating-point number.
    Fraction(u64),
    /// A list or a map.
    Other,
}

impl<'b> Value<'b> {
    /// Reads an `AnyValue`; `strings` returns a string by its index in the dictionary.
    pub(super) fn parse(
        mut message: Message<'b>,
        strings: impl Fn(u64, usize) -> Decoded<&'b [u8]>,
    ) -> Decoded<Value<'b>> {
        let mut value = Value::Other;
        while let Some(field) = message.next()? {
            value = match field.number {
                1 | 7 => Value::Text(text_prefix(field.bytes()?)),
                2 if field.number()? == 0 => Value::Text(b"false"),
                2 => Value::Text(b"true"),
                3 => Value::Number {
                    number: field.number()?,
                    unit: b"",
                },
                4 => Value::Fraction(field.number()?),
                8 => Value::Text(text_prefix(strings(field.number()?, field.at)?)),
                _ => Value::Other,
            };
        }
        Ok(value)
    }

    /// The value with a unit, which only numbers can have.
    pub(super) fn with_unit(self, unit: &'b [u8]) -> Value<'b> {
        match self {
            Value::Number { number, .. } => Value::Number { number, unit },
            other => other,
        }
    }

    /// The value of a label; `None` if labels cannot have such a value.
    pub(super) fn into_label_value(self) -> Option<RawValue<'b>> {
        Some(match self {
            Value::Text(text) => RawValue::Text(text.into()),
            Value::Number { number, unit } => RawValue::Number {
                number: number as i64,
                unit,
            },
            Value::Fraction(bits) => {
                RawValue::Text(f64::from_bits(bits).to_string().into_bytes().into())
            }
            Value::Other => return None,
        })
    }

    fn text(self) -> Option<&'b [u8]> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn id(self) -> Option<u32> {
        let number = match self {
            Value::Number { number, .. } => Some(number),
            Value::Text(digits) => text::decimal(digits),
            Value::Fraction(_) | Value::Other => None,
        };
        number.and_then(|number| u32::try_from(number).ok())
    }
}
