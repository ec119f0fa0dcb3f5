//! What a recording says about itself: settings, the virtual machine, the machine, what was lost.

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
use sto_model::limits::{MAX_NAME, MAX_PROCESS_NAME, cut};
use sto_model::units::{Bytes, Nanoseconds};

const EXECUTION: &str = "jdk.ExecutionSample";
const WALL: &str = "profiler.WallClockSample";

/// The events that are samples, in the order of our sample types.
pub(super) const SAMPLED: [(&str, Measure); 17] = [
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

/// What the value of a sample is.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    /// The period that the recording's settings say, for each of as many samples as a field counts, or
    /// for one where there is no such field.
    Period(Option<&'static str>),
    /// Bytes, which a field has.
    Bytes(&'static str),
    /// The bytes `size`, times how many such objects the sample stands for: the fraction `weight`, or 1 without it.
    Weighted,
    /// Time, which a field has.
    Span(&'static str),
}

impl Measure {
    /// The fields of the value and of the number of samples or the weight; empty for none.
    pub(super) fn fields(self) -> (&'static str, &'static str) {
        match self {
            Measure::Period(count) => ("", count.unwrap_or("")),
            Measure::Bytes(field) | Measure::Span(field) => (field, ""),
            Measure::Weighted => ("size", "weight"),
        }
    }
}

/// What the chunks up to here say. Async-profiler says it in the first one only.
#[derive(Default)]
pub(super) struct About {
    pub(super) pid: u32,
    /// The program, as processes are called: the base name of the archive, or the main class.
    pub(super) program: String,
    pub(super) origin: Origin,
    /// Samples that are known to be lost.
    pub(super) lost: u64,
    /// Size of the events that were lost, of whatever type.
    pub(super) lost_bytes: Bytes,
    /// What a sample of an event stands for.
    periods: HashMap<&'static str, Nanoseconds>,
    /// The event that async-profiler sampled by, where it says so.
    event: Vec<u8>,
}

impl About {
    pub(super) fn period(&self, event: &str) -> Option<Nanoseconds> {
        self.periods.get(event).copied()
    }

    /// Reads an event, if it is one of those that say something of it.
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
                cut(&mut self.program, MAX_PROCESS_NAME);
                let words = ["java", &jvm, &java].map(str::trim);
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                let mut command = words.join(" ");
                cut(&mut command, MAX_NAME);
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
                // async-profiler writes what /proc/cpuinfo has of the first processor.
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
        let mut sampled = SAMPLED.iter().map(|(name, _)| *name);
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
            // Of other events, such as cache misses, the interval is a number of them.
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
            // Async-profiler's 0 is its default, which depends on its version.
            None | Some(Nanoseconds(0)) => self.periods.remove(event),
            Some(period) => self.periods.insert(event, period),
        };
    }
}

/// The program that `java` runs: `app.jar` of `/opt/app.jar --port 80`, else the main class.
fn program(arguments: &str) -> &str {
    let first = arguments.split_whitespace().next().unwrap_or("");
    first.rsplit('/').next().unwrap_or(first)
}

/// A time as the JDK's settings have it: `20 ms`.
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
