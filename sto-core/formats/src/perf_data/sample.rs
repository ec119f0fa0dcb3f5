//! Decoding of a `PERF_RECORD_SAMPLE` in place.
//!
//! The layout is documented in `perf_event_open(2)` and `include/uapi/linux/perf_event.h`
//! (`PERF_RECORD_SAMPLE`): `sample_type` and `read_format` of the event determine the fields and
//! their order. Only the fields that a profile needs are kept.

use crate::error::{DecodeError, Decoded};
use linux_perf_data::linux_perf_event_reader::{
    AttrFlags, BranchSampleFormat, PerfEventAttr, ReadFormat, SampleFormat, SamplingPolicy,
};
use sto_binary::{Machine, UserRegs};
use sto_model::bytes::{Cursor, Read};
use sto_model::units::Nanoseconds;

/// `PERF_FORMAT_LOST`, which linux-perf-event-reader lacks.
const FORMAT_LOST: u64 = 1 << 4;

/// `enum perf_sample_regs_abi`.
const REGS_ABI_NONE: u64 = 0;
const REGS_ABI_32: u64 = 1;
const REGS_ABI_64: u64 = 2;

/// Register numbers in `sample_regs_user`: `arch/*/include/uapi/asm/perf_regs.h`.
struct RegisterNumbers {
    ip: u32,
    sp: u32,
    fp: u32,
    link: Option<u32>,
}

const X86: RegisterNumbers = RegisterNumbers {
    ip: 8,
    sp: 7,
    fp: 6,
    link: None,
};

const ARM64: RegisterNumbers = RegisterNumbers {
    ip: 32,
    sp: 31,
    fp: 29,
    link: Some(30),
};

/// The layout of an event's samples, from its attributes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    fields: SampleFormat,
    read: u64,
    is_inherited: bool,
    branch: BranchSampleFormat,
    counts_branches: bool,
    machine: Machine,
    user_regs: u64,
    fixed_period: u64,
}

/// The value of a group's counter when the group's leader took a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) time: Nanoseconds,
    pub(super) counter: Counter,
    /// The count so far.
    pub(super) value: u64,
    /// The times that the counter was enabled and that it was running.
    pub(super) times: Option<(u64, u64)>,
}

/// An event's counter for a processor or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counter {
    pub(super) id: u64,
    /// The thread of the sample, if inherited threads count separately under one id.
    pub(super) tid: Option<u32>,
}

/// The fields of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawSample<'a> {
    pub(super) ip: Option<u64>,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) time: Option<u64>,
    pub(super) period: u64,
    /// The counters of the event's group.
    pub(super) group: GroupRead<'a>,
    /// The call chain: addresses of 8 bytes, innermost first, with `PERF_CONTEXT_*` markers between
    /// them.
    pub(super) chain: &'a [u8],
    /// The user-space calls recorded by the processor (`--call-graph lbr`), innermost first:
    /// `struct perf_branch_entry`, 24 bytes each.
    pub(super) branches: &'a [u8],
    /// The user-space registers from which unwinding starts.
    pub(super) user_regs: Option<UserRegs>,
    /// The user-space link register.
    pub(super) link: Option<u64>,
    /// A copy of the user stack, from the stack pointer on.
    pub(super) user_stack: &'a [u8],
    /// The fields of a tracepoint.
    pub(super) raw: &'a [u8],
}

/// The counters of a group, as recorded with `PERF_FORMAT_GROUP`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupRead<'a> {
    /// The times that the group was enabled and that it was running.
    times: Option<(u64, u64)>,
    /// The value and id of each counter, and possibly more.
    entries: &'a [u8],
    /// Number of 8-byte words per entry.
    words: usize,
}

impl Layout {
    /// The layout of an event's samples. `read` is its whole `read_format`, and `counts_branches`
    /// says whether branch counters follow the branches.
    pub(super) fn new(
        machine: Machine,
        attr: &PerfEventAttr,
        read: u64,
        counts_branches: bool,
    ) -> Layout {
        Layout {
            machine,
            fields: attr.sample_format,
            read,
            is_inherited: attr.flags.contains(AttrFlags::INHERIT),
            branch: attr.branch_sample_format,
            counts_branches,
            user_regs: attr.sample_regs_user,
            fixed_period: match attr.sampling_policy {
                SamplingPolicy::Period(period) => period.get(),
                _ => 1,
            },
        }
    }

    /// Returns `true` if samples have a call chain or a copy of the stack.
    pub(super) fn has_stacks(&self) -> bool {
        self.fields
            .intersects(SampleFormat::CALLCHAIN | SampleFormat::STACK_USER)
    }

    /// Returns `true` if samples have a copy of the user stack and no other source of user-space
    /// callers.
    pub(super) fn saves_stacks(&self) -> bool {
        self.fields.contains(SampleFormat::STACK_USER)
    }

    /// Returns `true` if frame pointers are the only source of user-space callers.
    pub(super) fn relies_on_frame_pointers(&self) -> bool {
        let others = SampleFormat::STACK_USER | SampleFormat::BRANCH_STACK;
        !self.fields.intersects(others)
    }

    /// Decodes a sample's body.
    ///
    /// # Errors
    /// Returns an error if the body is too short or has registers of an unknown kind.
    pub(super) fn decode<'a>(&self, body: &'a [u8]) -> Decoded<RawSample<'a>> {
        let has = |field| self.fields.contains(field);
        let mut body = Cursor::new(body);
        let mut sample = RawSample {
            period: self.fixed_period,
            ..RawSample::default()
        };
        skip_words(&mut body, has(SampleFormat::IDENTIFIER).into())?;
        if has(SampleFormat::IP) {
            sample.ip = Some(body.u64()?);
        }
        if has(SampleFormat::TID) {
            sample.pid = body.u32()?;
            sample.tid = body.u32()?;
        }
        if has(SampleFormat::TIME) {
            sample.time = Some(body.u64()?);
        }
        for field in [
            SampleFormat::ADDR,
            SampleFormat::ID,
            SampleFormat::STREAM_ID,
            SampleFormat::CPU,
        ] {
            skip_words(&mut body, has(field).into())?;
        }
        if has(SampleFormat::PERIOD) {
            sample.period = body.u64()?;
        }
        if has(SampleFormat::READ) {
            sample.group = self.read(&mut body)?;
        }
        if has(SampleFormat::CALLCHAIN) {
            let entries = body.u64()?;
            sample.chain = body.take(entries.saturating_mul(8))?;
        }
        if has(SampleFormat::RAW) {
            let size = body.u32()?;
            sample.raw = body.take(u64::from(size))?;
        }
        if has(SampleFormat::BRANCH_STACK) {
            let entries = body.u64()?;
            let has_index = self.branch.contains(BranchSampleFormat::HW_INDEX);
            skip_words(&mut body, has_index.into())?;
            let branches = body.take(entries.saturating_mul(24))?;
            if self.branch.contains(BranchSampleFormat::CALL_STACK) {
                sample.branches = branches;
            }
            if self.counts_branches {
                skip_words(&mut body, entries)?;
            }
        }
        if has(SampleFormat::REGS_USER) {
            let at = body.at();
            match body.u64()? {
                REGS_ABI_NONE => {}
                abi @ (REGS_ABI_32 | REGS_ABI_64) => {
                    let regs = body.take(u64::from(self.user_regs.count_ones()) * 8)?;
                    self.take_registers(abi, regs, &mut sample);
                }
                abi => {
                    let problem = format!("expected registers of the kind 0 to 2, found {abi}");
                    return Err(DecodeError::new(at, problem));
                }
            }
        }
        if has(SampleFormat::STACK_USER) {
            let size = body.u64()?;
            let stack = body.take(size)?;
            if size != 0 {
                let filled = usize::try_from(body.u64()?).unwrap_or(usize::MAX);
                sample.user_stack = &stack[..filled.min(stack.len())];
            }
        }
        Ok(sample)
    }

    fn read<'a>(&self, body: &mut Cursor<'a>) -> Read<GroupRead<'a>> {
        let has = |field: u64| self.read & field != 0;
        let count = |field: u64| usize::from(has(field));
        let times = count(ReadFormat::TOTAL_TIME_ENABLED.bits())
            + count(ReadFormat::TOTAL_TIME_RUNNING.bits());
        let words = 1 + count(ReadFormat::ID.bits()) + count(FORMAT_LOST);
        if !has(ReadFormat::GROUP.bits()) {
            skip_words(body, (words + times) as u64)?;
            return Ok(GroupRead::default());
        }
        let entries = body.u64()?;
        let times = body.take(times as u64 * 8)?;
        let entries = body.take(entries.saturating_mul(words as u64 * 8))?;
        Ok(GroupRead {
            times: times
                .split_at_checked(8)
                .filter(|(_, running)| !running.is_empty())
                .map(|(enabled, running)| (read_u64(enabled), read_u64(running))),
            // Without ids the counters cannot be identified.
            entries: if has(ReadFormat::ID.bits()) {
                entries
            } else {
                &[]
            },
            words,
        })
    }

    /// The readings of the group's counters in a sample.
    pub(super) fn readings<'a>(
        &self,
        sample: &RawSample<'a>,
    ) -> impl Iterator<Item = Reading> + use<'a> {
        let GroupRead {
            times,
            entries,
            words,
        } = sample.group;
        let tid = self.is_inherited.then_some(sample.tid);
        let entries = sample.time.into_iter().flat_map(move |time| {
            let entries = entries.chunks_exact(words.max(2) * 8);
            entries.map(move |entry| (Nanoseconds(time), entry))
        });
        entries.map(move |(time, entry)| Reading {
            time,
            counter: Counter {
                id: read_u64(&entry[8..16]),
                tid,
            },
            value: read_u64(&entry[..8]),
            times,
        })
    }

    fn take_registers(&self, abi: u64, regs: &[u8], sample: &mut RawSample<'_>) {
        let register = |number: u32| {
            let below = self.user_regs & ((1 << number) - 1);
            let recorded = self.user_regs >> number & 1 == 1;
            let word = regs.chunks_exact(8).nth(below.count_ones() as usize)?;
            recorded.then(|| read_u64(word))
        };
        let numbers = match (self.machine, abi) {
            (Machine::X86_64, _) => X86,
            (Machine::Aarch64, REGS_ABI_64) => ARM64,
            // 32-bit ARM is unwound by other rules.
            (Machine::Aarch64 | Machine::Other, _) => return,
        };
        sample.link = numbers.link.and_then(register);
        if let Some(ip) = register(numbers.ip)
            && let Some(sp) = register(numbers.sp)
            && let Some(fp) = register(numbers.fp)
        {
            let link = sample.link.unwrap_or_default();
            sample.user_regs = Some(UserRegs { ip, sp, fp, link });
        }
    }
}

/// Converts 8 little-endian bytes to a number.
pub(super) fn read_u64(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn skip_words(body: &mut Cursor<'_>, count: u64) -> Read<()> {
    body.take(count.saturating_mul(8)).map(drop)
}
