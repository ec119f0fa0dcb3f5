//! Valid recordings of perf with arbitrary records.

use crate::folders::folder;
use crate::perf_data::{self as perf, Sample, Writer};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use std::fs;
use std::path::Path;
use sto_core::formats::{ReadOptions, read_bytes};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;

/// The expected content of a recording.
struct Written {
    bytes: Vec<u8>,
    samples: u64,
    value: u128,
    /// Lost samples reported by the kernel during the recording, and at its end.
    lost: [u64; 2],
}

/// Only a few paths, so that records affect each other.
const PATHS: [&[u8]; 14] = [
    b"/bin/program",
    b"/usr/lib/libc.so.6",
    b"/bin/program (deleted)",
    b"[kernel.kallsyms]_text",
    b"[kernel.kallsyms]_stext",
    b"/lib/modules/6.1/kernel/fs/ext4.ko",
    b"[guest.kernel.kallsyms]",
    b"//anon",
    b"[heap]",
    b"[vdso]",
    b"[vsyscall]",
    b"/memfd:code (deleted)",
    b"/tmp/jit-2.dump",
    b"/tmp/jitted-2-5.so",
];
const ADDRESSES: [u64; 8] = [
    0,
    0x1000,
    0x40_0000,
    0x40_1000,
    0x7f00_0000_0000,
    0xffff_ffff_8100_0000,
    u64::MAX - 0xfff,
    // A context marker of call chains.
    0u64.wrapping_sub(512),
];

fn address(input: &mut Unstructured<'_>) -> Result<u64> {
    let near: u16 = input.arbitrary()?;
    Ok(input.choose(&ADDRESSES)?.wrapping_add(u64::from(near)))
}

fn path(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    Ok(if input.ratio(1, 8)? {
        input.arbitrary::<&[u8]>()?.to_vec()
    } else {
        input.choose(&PATHS)?.to_vec()
    })
}

fn sample(input: &mut Unstructured<'_>, events: u64) -> Result<Sample> {
    let mut sample = Sample {
        event: input.int_in_range(1..=events)?,
        misc: input.int_in_range(0..=7)?,
        ip: address(input)?,
        pid: input.int_in_range(0..=3)?,
        tid: input.int_in_range(0..=5)?,
        time: u64::from(input.arbitrary::<u16>()?),
        period: if input.ratio(1, 16)? {
            input.arbitrary()?
        } else {
            u64::from(input.arbitrary::<u16>()?)
        },
        ..Sample::default()
    };
    for _ in 0..input.int_in_range(0..=6)? {
        sample.chain.push(address(input)?);
    }
    for _ in 0..input.int_in_range(0..=2)? {
        sample.branches.push((address(input)?, address(input)?));
    }
    if input.ratio(1, 2)? {
        sample.registers = Some([address(input)?, address(input)?, address(input)?]);
        let words: Vec<u64> = (0..input.int_in_range(0..=8)?)
            .map(|_| address(input))
            .collect::<Result<_>>()?;
        perf::push_u64s(&mut sample.stack, &words);
    }
    sample.raw = vec![7; input.int_in_range(0..=9)?];
    Ok(sample)
}

fn record(
    input: &mut Unstructured<'_>,
    writer: &mut Writer,
    events: u64,
    to: &mut Written,
) -> Result<()> {
    let pid: u32 = input.int_in_range(0..=3)?;
    let time = u64::from(input.arbitrary::<u16>()?);
    let misc = *input.choose(&[perf::USER, perf::KERNEL, perf::USER | perf::EXEC, 4])?;
    match input.int_in_range(0..=15)? {
        0 => writer.comm(misc, pid, &path(input)?, time),
        1 | 2 => {
            let place = [
                address(input)?,
                u64::from(input.arbitrary::<u32>()?),
                address(input)?,
            ];
            let file = if input.ratio(1, 2)? {
                Ok(5)
            } else {
                Err([input.arbitrary()?; 20])
            };
            let prot = *input.choose(&[5, 5, 5, 1])?;
            let path = path(input)?;
            writer.mmap2(misc, pid, place, file, prot, (&path, time));
        }
        3 => {
            let mut body = Vec::new();
            let pid = if misc == perf::KERNEL { u32::MAX } else { pid };
            perf::push_u32s(&mut body, &[pid, 0]);
            let len = input.arbitrary()?;
            perf::push_u64s(&mut body, &[address(input)?, len, address(input)?]);
            perf::push_text(&mut body, &path(input)?);
            writer.event(perf::MMAP, misc, body, [pid, pid], time);
        }
        kind @ (4 | 5) => {
            let parent = input.int_in_range(0..=3)?;
            let mut body = Vec::new();
            perf::push_u32s(&mut body, &[pid, parent, pid, parent]);
            perf::push_u64s(&mut body, &[time]);
            let kind = if kind == 4 { perf::FORK } else { perf::EXIT };
            writer.event(kind, misc, body, [parent, parent], time);
        }
        6 => {
            let lost = input.arbitrary::<u32>()?.into();
            to.lost[0] += lost;
            let mut body = Vec::new();
            perf::push_u64s(&mut body, &[1, lost]);
            writer.event(perf::LOST, misc, body, [pid, pid], time);
        }
        7 => {
            let lost = input.arbitrary::<u32>()?.into();
            to.lost[1] += lost;
            let mut body = Vec::new();
            perf::push_u64s(&mut body, &[lost]);
            writer.event(perf::LOST_SAMPLES, misc, body, [pid, pid], time);
        }
        8 => {
            let mut body = Vec::new();
            perf::push_u64s(&mut body, &[time, 1, 1]);
            writer.event(perf::THROTTLE, 0, body, [pid, pid], time);
        }
        9 => writer.record(perf::FINISHED_ROUND, 0, &[]),
        10 => {
            let mut body = Vec::new();
            perf::push_u32s(&mut body, &[u32::MAX]);
            body.extend([input.arbitrary::<u8>()?; 24]);
            perf::push_text(&mut body, &path(input)?);
            writer.record(perf::BUILD_ID, misc, &body);
        }
        11 => {
            // Readers ignore the content of many of these records.
            let kind = input.int_in_range(11..=21)?;
            let body = input.arbitrary::<&[u8]>()?.to_vec();
            if kind != perf::LOST_SAMPLES {
                writer.event(kind, misc, body, [pid, pid], time);
            }
        }
        _ => {
            let sample = sample(input, events)?;
            if writer.sample(&sample) {
                to.samples += 1;
                to.value += u128::from(sample.period);
            }
        }
    }
    Ok(())
}

fn written(input: &mut Unstructured<'_>) -> Result<Written> {
    let events = input.int_in_range(1..=3)?;
    let stacks = *input.choose(&[
        perf::CALLCHAIN,
        perf::REGS_USER | perf::STACK_USER,
        perf::CALLCHAIN | perf::REGS_USER | perf::STACK_USER,
        perf::CALLCHAIN | perf::BRANCH_STACK,
    ])?;
    let others = [0, perf::ADDR | perf::CPU, perf::RAW];
    let mut writer = Writer::new(stacks | input.choose(&others)?);
    let mut written = Written {
        bytes: Vec::new(),
        samples: 0,
        value: 0,
        lost: [0; 2],
    };
    let is_file = input.arbitrary()?;
    let mut features = Vec::new();
    // Host name, kernel version, architecture, processor, command line.
    for feature in [3, 4, 8] {
        if input.ratio(1, 4)? {
            features.push((feature, perf::feature_text(&path(input)?)));
        }
    }
    if input.ratio(1, 4)? {
        features.insert(features.len().min(2), (6, perf::feature_text(b"x86_64")));
    }
    features.sort();
    let is_compressed = input.ratio(1, 8)?;
    while !input.is_empty() {
        record(input, &mut writer, events, &mut written)?;
    }
    if is_compressed {
        // Each part is a separate frame; a record may continue in the next one.
        let records = std::mem::take(&mut writer.records);
        // perf writes this first; linux-perf-data skips a stream's first record if it is compressed.
        writer.record(perf::FINISHED_INIT, 0, &[]);
        for part in records.chunks(1000) {
            let packed = zstd::bulk::compress(part, 1).expect("memory has room");
            writer.record(perf::COMPRESSED, 0, &packed);
        }
    }
    written.bytes = if is_file {
        writer.file(events, &features)
    } else {
        writer.stream(events, &features)
    };
    Ok(written)
}

/// Checks that every sample has its period, lost samples are counted, and reading twice gives the same.
pub(crate) fn perf_records(input: &[u8]) {
    let Ok(written) = written(&mut Unstructured::new(input)) else {
        return;
    };
    let path = Path::new("perf.data");
    let read = || read_bytes(path, &written.bytes, &ReadOptions::default());
    let recording = match read() {
        Ok(recording) => recording,
        Err(error) => {
            assert_eq!(written.samples, 0, "{error}");
            return;
        }
    };
    let samples: u64 = recording
        .samples
        .iter()
        .map(|sample| sample.cost.samples)
        .sum();
    let value: u128 = recording
        .samples
        .iter()
        .map(|sample| u128::from(sample.cost.value))
        .sum();
    assert_eq!((samples, value), (written.samples, written.value));
    assert_eq!(recording.lost, written.lost[0].max(written.lost[1]));

    let mut stored = [recording, read().expect("it could be read")].map(|recording| {
        let folder = folder().join("perf-records");
        let _ = fs::remove_dir_all(&folder);
        let store = Store::open_or_create(&folder).expect("the folder is writable");
        let options = IngestOptions {
            version: Some("v".to_owned()),
            ..IngestOptions::default()
        };
        let report = ingest(&store, (path, recording), &options, &mut |_| ());
        report
            .map(|_| fs::read(folder.join(Store::FILE_NAME)).expect("it was written"))
            .map_err(|error| error.to_string())
    });
    let [first, second] = &mut stored;
    assert!(
        first == second,
        "{:?} {:?}",
        first.as_ref().err(),
        second.as_ref().err()
    );
}
