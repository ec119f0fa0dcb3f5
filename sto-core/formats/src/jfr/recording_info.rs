//! Metadata events: settings, virtual machine, hardware, lost data.

use super::cursor::Event;
use super::pools::Pools;
use super::types::TypeIx;
use super::values::Value;
use crate::error::Decoded;
use crate::names::nanoseconds_in;
use crate::recording::RecordingBuilder;
use crate::wire::text;
use hashbrown::HashMap;
use sto_model::Origin;
use sto_model::limits::{MAX_NAME, MAX_PROCESS_NAME, truncate_text};
use sto_model::units::{Bytes, Nanoseconds};

const EXECUTION: &str = "jdk.ExecutionSample";
const WALL: &str = "profiler.WallClockSample";

/// The events that are samples, in the order of the sample types.
pub(super) const SAMPLE_EVENTS: [(&str, Measure); 17] = [
    (EXECUTION, Measure::Period(None)),
    ("jdk.NativeMethodSample", Measure::Period(None)),
    ("jdk.CPUTimeSample", Measure::Span("samplingPeriod")),
    (WALL, Measure::Period(Some("samples"))),
    ("jdk.ObjectAllocationSample", Measure::Bytes("weight")),
    ("jdk.ObjectAllocationInNewTLAB", Measure::Bytes("tlabSize")),
    (
        "jdk.ObjectAllocationOutsideTLAB",
        Measure::Bytes("allocationSize"),
    ),
    ("profiler.LiveObject", Measure::Bytes("allocationSize")),
    ("profiler.Malloc", Measure::Bytes("size")),
    ("datadog.ExecutionSample", Measure::Period(Some("weight"))),
    ("datadog.MethodSample", Measure::Period(Some("weight"))),
    ("datadog.ObjectSample", Measure::Weighted),
    ("datadog.HeapLiveObject", Measure::Weighted),
    ("datadog.NativeMemoryAllocation", Measure::Weighted),
    ("jdk.JavaMonitorEnter", Measure::Span("duration")),
    ("jdk.ThreadPark", Measure::Span("duration")),
    ("profiler.NativeLock", Measure::Span("duration")),
];

/// The source of a sample's value.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    /// The sampling period from the recording's settings, times a field with the number of samples,
    /// or times one without such a field.
    Period(Option<&'static str>),
    /// A field in bytes.
    Bytes(&'static str),
    /// The field `size` in bytes, times the number of objects that the sample stands for: the
    /// fraction `weight`, or 1 without it.
    Weighted,
    /// A field with a time span.
    Span(&'static str),
}

impl Measure {
    /// The names of the value field and of the field with the number of samples or weight; empty if
    /// there is none.
    pub(super) fn fields(self) -> (&'static str, &'static str) {
        match self {
            Measure::Period(count) => ("", count.unwrap_or("")),
            Measure::Bytes(field) | Measure::Span(field) => (field, ""),
            Measure::Weighted => ("size", "weight"),
        }
    }
}

/// Data from the metadata events so far. Async-profiler writes them only in the first chunk.
#[derive(Default)]
pub(super) struct RecordingInfo {
    pub(super) pid: u32,
    /// The program name: base name of the archive, or main class.
    pub(super) program: String,
    pub(super) origin: Origin,
    /// Number of samples known to be lost.
    pub(super) lost: u64,
    /// Size of lost events of any type.
    pub(super) lost_bytes: Bytes,
    /// The sampling period of each event.
    periods: HashMap<&'static str, Nanoseconds>,
    /// The event sampled by async-profiler, if recorded.
    event: Vec<u8>,
}

impl RecordingInfo {
    pub(super) fn period(&self, event: &str) -> Option<Nanoseconds> {
        self.periods.get(event).copied()
    }

    /// Reads an event if it is a metadata event.
    pub(super) fn read<'b>(
        &mut self,
        of: TypeIx,
        event: Event<'b>,
        pools: &Pools<'_, 'b>,
        stacks: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let fields = Value::Fields(of, event.fields);
        match pools.types.name(of) {
            b"jdk.ActiveSetting" => {
                let [of, name, value] = pools.fields(fields, ["id", "name", "value"])?;
                let (name, value) = (pools.text(name)?, pools.text(value)?);
                let of = pools.types.by_id(of.number());
                self.setting(of.map_or(b"", |of| pools.types.name(of)), &name, &value);
            }
            b"jdk.JVMInformation" => {
                let names = ["pid", "jvmArguments", "javaArguments"];
                let [pid, jvm, java] = pools.fields(fields, names)?;
                let (jvm, java) = (pools.text(jvm)?, pools.text(java)?);
                let (jvm, java) = (stacks.text(&jvm), stacks.text(&java));
                self.pid = u32::try_from(pid.number()).unwrap_or(0);
                self.program = program(&java).to_owned();
                truncate_text(&mut self.program, MAX_PROCESS_NAME);
                let words = ["java", &jvm, &java].map(str::trim);
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                let mut command = words.join(" ");
                truncate_text(&mut command, MAX_NAME);
                self.origin.command = Some(command);
            }
            b"jdk.OSInformation" => {
                let [version] = pools.fields(fields, ["osVersion"])?;
                let version = pools.text(version)?;
                let version = stacks.text(&version);
                let uname = version
                    .lines()
                    .find_map(|line| line.strip_prefix("uname: Linux "));
                let mut words = uname.unwrap_or("").split_whitespace();
                self.origin.kernel = words.next().map(str::to_owned);
                self.origin.arch = words.next_back().map(str::to_owned);
            }
            b"jdk.CPUInformation" => {
                let [description] = pools.fields(fields, ["description"])?;
                let description = pools.text(description)?;
                let description = stacks.text(&description);
                let first = description.lines().next().unwrap_or("");
                let brand = first
                    .strip_prefix("Brand: ")
                    .and_then(|rest| rest.split(", Vendor").next());
                // async-profiler writes fields of the first processor in /proc/cpuinfo.
                let model = || {
                    let mut lines = description.lines();
                    lines.find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1))
                };
                let cpu = brand.or_else(model).unwrap_or(first).trim();
                self.origin.cpu = (!cpu.is_empty()).then(|| cpu.to_owned());
            }
            b"jdk.DataLoss" => {
                let [amount] = pools.fields(fields, ["amount"])?;
                let amount = u64::try_from(amount.number()).unwrap_or(0);
                self.lost_bytes.0 = self.lost_bytes.0.saturating_add(amount);
            }
            b"jdk.CPUTimeSamplesLost" => {
                let [lost] = pools.fields(fields, ["lostSamples"])?;
                let lost = u64::try_from(lost.number()).unwrap_or(0);
                self.lost = self.lost.saturating_add(lost);
            }
            _ => {}
        }
        Ok(())
    }

    fn setting(&mut self, of: &[u8], name: &[u8], value: &[u8]) {
        let mut sampled = SAMPLE_EVENTS.iter().map(|(name, _)| *name);
        let sampled = sampled.find(|name| name.as_bytes() == of);
        match (name, sampled) {
            (b"period", Some(event)) => self.set_period(event, span(value)),
            (b"interval", Some(event)) if event.starts_with("datadog.") => {
                self.set_period(event, text::decimal(value).map(Nanoseconds));
            }
            _ => self.setting_of_async_profiler(name, value),
        }
    }

    fn setting_of_async_profiler(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"event" => self.event = value.to_vec(),
            // For other events, such as cache misses, the interval is a number of events.
            b"interval" if matches!(&*self.event, b"cpu" | b"itimer" | b"ctimer" | b"wall") => {
                let interval = text::decimal(value).map(Nanoseconds);
                self.set_period(EXECUTION, interval);
                if self.event == b"wall" {
                    self.set_period(WALL, interval);
                }
            }
            b"wall" => self.set_period(WALL, text::decimal(value).map(Nanoseconds)),
            _ => {}
        }
    }

    fn set_period(&mut self, event: &'static str, period: Option<Nanoseconds>) {
        match period {
            // 0 is async-profiler's default, which depends on its version.
            None | Some(Nanoseconds(0)) => self.periods.remove(event),
            Some(period) => self.periods.insert(event, period),
        };
    }
}

/// The program run by `java`: `app.jar` for `/opt/app.jar --port 80`, otherwise the main class.
fn program(arguments: &str) -> &str {
    let first = arguments.split_whitespace().next().unwrap_or("");
    first.rsplit('/').next().unwrap_or(first)
}

/// Parses a time in the JDK's settings, such as `20 ms`.
fn span(text: &[u8]) -> Option<Nanoseconds> {
    let at = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let nanoseconds = match unit.trim_ascii() {
        b"m" => 60_000_000_000,
        unit => nanoseconds_in(unit)?,
    };
    text::decimal(number)?
        .checked_mul(nanoseconds)
        .map(Nanoseconds)
}
