//! The messages of the format that are read.

use crate::error::Decoded;
use crate::wire::protobuf::{Field, Message, fields};

/// `TracePacket`.
#[derive(Default)]
pub(super) struct Packet<'b> {
    pub(super) at: usize,
    pub(super) timestamp: Option<u64>,
    pub(super) clock: u64,
    pub(super) sequence: u64,
    flags: u64,
    is_cleared: u64,
    /// The reason why packets before this one were dropped; 0 if none were.
    pub(super) dropped: u64,
    pub(super) interned: Option<Message<'b>>,
    pub(super) defaults: Option<Message<'b>>,
    pub(super) event: Option<Message<'b>>,
    pub(super) track: Option<Message<'b>>,
    pub(super) process: Option<Message<'b>>,
    pub(super) thread: Option<Message<'b>>,
    pub(super) clocks: Option<Message<'b>>,
    /// Processes and threads.
    pub(super) tree: Option<Message<'b>>,
    pub(super) perf: Option<Message<'b>>,
    pub(super) heap: Option<Message<'b>>,
    pub(super) streaming: Option<Message<'b>>,
    pub(super) deflated: Option<&'b [u8]>,
    pub(super) zstd: Option<&'b [u8]>,
    /// The field of another kind of data.
    pub(super) other: Option<u32>,
}

impl<'b> Packet<'b> {
    pub(super) fn read(message: Message<'b>) -> Decoded<Packet<'b>> {
        let mut packet = Packet {
            at: message.at(),
            ..Packet::default()
        };
        let mut message = message;
        while let Some(field) = message.next()? {
            match field.number {
                8 => packet.timestamp = Some(field.number()?),
                58 => packet.clock = field.number()?,
                10 => packet.sequence = field.number()?,
                13 => packet.flags = field.number()?,
                41 => packet.is_cleared = field.number()?,
                42 => packet.dropped = field.number()?,
                12 => packet.interned = Some(field.message()?),
                59 => packet.defaults = Some(field.message()?),
                11 => packet.event = Some(field.message()?),
                60 => packet.track = Some(field.message()?),
                43 => packet.process = Some(field.message()?),
                44 => packet.thread = Some(field.message()?),
                2 => packet.tree = Some(field.message()?),
                66 => packet.perf = Some(field.message()?),
                37 => packet.heap = Some(field.message()?),
                54 => packet.streaming = Some(field.message()?),
                6 => packet.clocks = Some(field.message()?),
                50 => packet.deflated = Some(field.bytes()?),
                133 => packet.zstd = Some(field.bytes()?),
                // Writer, process, and flags.
                3 | 79 | 87 | 98 => {}
                other => packet.other = Some(other),
            }
        }
        Ok(packet)
    }

    /// Returns `true` if the earlier state of the sequence is invalid from here on.
    pub(super) fn clears_state(&self) -> bool {
        self.is_cleared != 0 || self.flags & 1 != 0
    }

    /// Returns `true` if the packet depends on the earlier state of its sequence.
    pub(super) fn needs_state(&self) -> bool {
        self.flags & 2 != 0
    }
}

/// Returns `true` if the available part of a message has the fields of a packet.
pub(super) fn is_packet(mut message: Message<'_>) -> bool {
    let mut is_one = false;
    while let Ok(Some(field)) = message.next() {
        let is_number = field.message().is_err();
        let is_known = match field.number {
            3 | 8 | 10 | 13 | 41 | 42 | 58 | 79 | 87 | 98 => is_number,
            1..=255 | 900 | 1000..2000 => !is_number,
            _ => false,
        };
        if !is_known {
            return false;
        }
        is_one |= field.number > 7;
    }
    is_one
}

/// The kind of data in a skipped packet; `None` for metadata about the trace.
pub(super) fn kind_of(field: u32) -> Option<&'static str> {
    Some(match field {
        33 | 34 | 35 | 36 | 45 | 46 | 48 | 51 | 61 | 64 | 69 | 72 | 78 | 82 | 87 | 89 | 107
        | 109 | 113 | 124 | 126 | 134 => return None,
        1 => "ftrace_events",
        4 => "inode_file_map",
        5 => "chrome_events",
        7 => "sys_stats",
        9 => "process_stats",
        38 => "battery",
        39 => "android_log",
        40 => "power_rails",
        47 => "packages_list",
        49 => "perfetto_metatrace",
        52 => "gpu_counter_event",
        53 => "gpu_render_stage_event",
        56 => "heap_graph",
        57 => "graphics_frame_event",
        62 => "vulkan_memory_event",
        63 => "gpu_log",
        65 => "vulkan_api_event",
        67 => "cpu_info",
        68 => "smaps_packet",
        71 => "gpu_mem_total_event",
        73 => "memory_tracker_snapshot",
        74 => "streaming_allocation",
        75 => "streaming_free",
        76 => "frame_timeline_event",
        84 => "statsd_atom",
        90 => "track_event_range_of_interest",
        91 => "entity_state_residency",
        93 => "surfaceflinger_layers_snapshot",
        94 => "surfaceflinger_transactions",
        95 => "etw_events",
        99..=103 => "v8 code",
        135 => "stack_sample",
        _ => "other kinds",
    })
}

/// `ClockSnapshot.Clock`.
#[derive(Default)]
pub(super) struct Clock {
    pub(super) id: u64,
    pub(super) timestamp: u64,
    pub(super) is_incremental: u64,
    /// Unit in nanoseconds; 0 means 1.
    pub(super) unit: u64,
}

impl Clock {
    pub(super) fn read(message: Message<'_>) -> Decoded<Clock> {
        let mut clock = Clock::default();
        fields!(message, {
            1 => clock.id,
            2 => clock.timestamp,
            3 => clock.is_incremental,
            4 => clock.unit,
        });
        Ok(clock)
    }
}

/// `TrackEvent`.
#[derive(Default)]
pub(super) struct Event<'b> {
    pub(super) kind: u64,
    pub(super) track: Option<u64>,
    pub(super) name_id: u64,
    pub(super) name: Option<&'b [u8]>,
    /// Microseconds since the previous event.
    pub(super) delta: Option<u64>,
    /// Microseconds.
    pub(super) absolute: Option<u64>,
    pub(super) legacy: Option<Legacy<'b>>,
    pub(super) category_id: u64,
    pub(super) category: Option<&'b [u8]>,
    pub(super) annotations: Vec<Message<'b>>,
}

/// `DebugAnnotation`.
#[derive(Default)]
pub(super) struct Annotation<'b> {
    pub(super) name_id: u64,
    pub(super) name: Option<&'b [u8]>,
    number: Option<f64>,
    text: &'b [u8],
    /// Annotations of a dictionary.
    pub(super) entries: Vec<Message<'b>>,
}

/// `TrackEvent.LegacyEvent`.
#[derive(Default)]
pub(super) struct Legacy<'b> {
    pub(super) name_id: u64,
    pub(super) phase: u64,
    /// Microseconds; `None` without a duration.
    pub(super) duration: Option<u64>,
    pub(super) global_id: Option<u64>,
    pub(super) local_id: Option<u64>,
    pub(super) scope: &'b [u8],
    pub(super) pid: Option<u64>,
    pub(super) tid: Option<u64>,
}

impl<'b> Event<'b> {
    pub(super) fn read(mut message: Message<'b>) -> Decoded<Event<'b>> {
        let mut event = Event::default();
        while let Some(field) = message.next()? {
            match field.number {
                9 => event.kind = field.number()?,
                11 => event.track = Some(field.number()?),
                10 => event.name_id = field.number()?,
                23 => event.name = Some(field.bytes()?),
                1 => event.delta = Some(field.number()?),
                16 => event.absolute = Some(field.number()?),
                6 => event.legacy = Some(Legacy::read(field.message()?)?),
                3 => event.category_id = first(&field)?,
                22 => event.category = Some(field.bytes()?),
                4 => event.annotations.push(field.message()?),
                _ => {}
            }
        }
        Ok(event)
    }
}

impl<'b> Annotation<'b> {
    pub(super) fn read(mut message: Message<'b>) -> Decoded<Annotation<'b>> {
        let mut annotation = Annotation::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => annotation.name_id = field.number()?,
                10 => annotation.name = Some(field.bytes()?),
                3 => annotation.number = Some(field.number()? as f64),
                4 => annotation.number = Some(field.number()? as i64 as f64),
                5 => annotation.number = Some(f64::from_bits(field.number()?)),
                6 => annotation.text = field.bytes()?,
                11 => annotation.entries.push(field.message()?),
                _ => {}
            }
        }
        Ok(annotation)
    }

    /// The value, if it is a number or a numeric text.
    pub(super) fn number(&self) -> Option<f64> {
        let text = || std::str::from_utf8(self.text).ok()?.parse::<f64>().ok();
        self.number
            .or_else(text)
            .filter(|number| number.is_finite())
    }
}

/// The first number of a repeated field.
fn first(field: &Field<'_>) -> Decoded<u64> {
    let mut numbers = Vec::new();
    field.numbers_into(&mut numbers)?;
    Ok(numbers.first().copied().unwrap_or(0))
}

impl<'b> Legacy<'b> {
    fn read(mut message: Message<'b>) -> Decoded<Legacy<'b>> {
        let mut legacy = Legacy::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => legacy.name_id = field.number()?,
                2 => legacy.phase = field.number()?,
                3 => legacy.duration = Some(field.number()?),
                6 | 11 => legacy.global_id = Some(field.number()?),
                10 => legacy.local_id = Some(field.number()?),
                7 => legacy.scope = field.bytes()?,
                18 => legacy.pid = Some(field.number()?),
                19 => legacy.tid = Some(field.number()?),
                _ => {}
            }
        }
        Ok(legacy)
    }
}

/// `TrackDescriptor`.
#[derive(Default)]
pub(super) struct Track<'b> {
    pub(super) id: u64,
    pub(super) parent: u64,
    pub(super) name: Option<&'b [u8]>,
    pub(super) process: Option<Process<'b>>,
    pub(super) thread: Option<Thread<'b>>,
    pub(super) is_counter: bool,
}

/// `ProcessDescriptor`.
#[derive(Clone, Copy, Default)]
pub(super) struct Process<'b> {
    pub(super) pid: u32,
    pub(super) name: &'b [u8],
}

/// `ThreadDescriptor`.
#[derive(Clone, Copy, Default)]
pub(super) struct Thread<'b> {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) name: &'b [u8],
    /// Microseconds.
    pub(super) reference: u64,
}

impl<'b> Track<'b> {
    pub(super) fn read(mut message: Message<'b>) -> Decoded<Track<'b>> {
        let mut track = Track::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => track.id = field.number()?,
                5 => track.parent = field.number()?,
                2 | 10 | 13 => track.name = Some(field.bytes()?),
                3 => track.process = Some(Process::read(field.message()?)?),
                4 => track.thread = Some(Thread::read(field.message()?)?),
                8 => track.is_counter = true,
                _ => {}
            }
        }
        Ok(track)
    }
}

impl<'b> Process<'b> {
    pub(super) fn read(mut message: Message<'b>) -> Decoded<Process<'b>> {
        let mut process = Process::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => process.pid = field.number()? as u32,
                6 => process.name = field.bytes()?,
                _ => {}
            }
        }
        Ok(process)
    }
}

impl<'b> Thread<'b> {
    pub(super) fn read(mut message: Message<'b>) -> Decoded<Thread<'b>> {
        let mut thread = Thread::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => thread.pid = field.number()? as u32,
                2 => thread.tid = field.number()? as u32,
                5 => thread.name = field.bytes()?,
                6 => thread.reference = field.number()?,
                _ => {}
            }
        }
        Ok(thread)
    }
}

/// The id and name of each entry under a field of `InternedData`: `EventCategory`, `EventName` and
/// `DebugAnnotationName`.
pub(super) fn interned<'b>(
    mut message: Message<'b>,
    mut add: impl FnMut(u32, u64, &'b [u8]) -> Decoded<()>,
) -> Decoded<()> {
    while let Some(field) = message.next()? {
        if !matches!(field.number, 1..=3) {
            continue;
        }
        let (mut id, mut name) = (0, &[][..]);
        let mut entry = field.message()?;
        while let Some(field) = entry.next()? {
            match field.number {
                1 => id = field.number()?,
                2 => name = field.bytes()?,
                _ => {}
            }
        }
        add(field.number, id, name)?;
    }
    Ok(())
}
