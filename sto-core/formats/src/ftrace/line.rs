//! A line of the text: its columns, and the call.

use crate::wire::text::{decimal, scaled_if_number, words};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Precedes a call in the output of `trace-cmd report`.
pub(super) static REPORTED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(": funcgraph_"));
static ARROW: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(" => "));

/// The contents of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    Event(Event<'a>),
    /// A processor switches to a task.
    Switch {
        cpu: u32,
        to: Task<'a>,
    },
    /// A processor lost events.
    Lost {
        cpu: u32,
        events: u64,
    },
    /// Not about a call.
    Other,
}

/// Begin or end of a call, with its columns; times in nanoseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Event<'a> {
    pub(super) cpu: u32,
    pub(super) task: Option<Task<'a>>,
    pub(super) time: Option<u64>,
    pub(super) duration: Option<u64>,
    pub(super) what: EventKind<'a>,
}

#[derive(Debug, PartialEq)]
pub(super) enum EventKind<'a> {
    /// `foo() {`
    Begin(&'a [u8]),
    /// `foo();`
    Leaf(&'a [u8]),
    /// `}`, or `} /* foo */`
    End(Option<&'a [u8]>),
}

/// A thread, written as `NAME-PID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Task<'a> {
    pub(super) name: &'a [u8],
    pub(super) pid: u32,
}

/// Parses a line; `None` if it is not recognised.
pub(super) fn line(text: &[u8]) -> Option<Line<'_>> {
    let text = text.trim_ascii();
    if text.is_empty() || text.starts_with(b"#") || text.iter().all(|&byte| byte == b'-') {
        return Some(Line::Other);
    }
    if let Some(rest) = text.strip_prefix(b"CPU:") {
        return lost(rest);
    }
    match REPORTED.find(text) {
        Some(at) => report(&text[..at], &text[at + 2..]),
        None => graph(text).or_else(|| other_event(text)),
    }
}

/// `1 [LOST 123 EVENTS]`, as ftrace prints it, or `1 [EVENTS DROPPED]`.
fn lost(text: &[u8]) -> Option<Line<'_>> {
    let (cpu, rest) = split(text, b'[')?;
    let cpu = number(cpu)?;
    let events = words(rest).find_map(decimal).unwrap_or(0);
    Some(Line::Lost { cpu, events })
}

/// A line of the tracer: `TIME |  CPU) TASK-PID | FLAGS | DURATION | CALL`. Each column but the
/// last may be missing.
fn graph(text: &[u8]) -> Option<Line<'_>> {
    let (mut time, mut task, mut rest) = (None, None, text);
    if let Some((first, after)) = split(rest, b'|')
        && first.contains(&b'.')
        && let Some(seconds) = scaled_if_number(first.trim_ascii(), 9)
    {
        (time, rest) = (Some(seconds), after);
    }
    let mut cpu = 0;
    if let Some((first, after)) = split(rest, b')')
        && let Some(found) = number(first)
    {
        (cpu, rest) = (found, after);
        if let Some((_, to)) = arrow(rest) {
            return Some(Line::Switch {
                cpu,
                to: self::task(to)?,
            });
        }
    }
    while let Some((column, after)) = split(rest, b'|') {
        rest = after;
        let column = column.trim_ascii();
        let duration = duration(column);
        if column.is_empty() || duration.is_some() || is_mark_of_interrupt(column) {
            let what = what(rest.trim_ascii());
            return Some(what.map_or(Line::Other, |what| {
                Line::Event(Event {
                    cpu,
                    task,
                    time,
                    duration,
                    what,
                })
            }));
        }
        // Otherwise it is the task or flags.
        task = task.or(self::task(column));
    }
    None
}

/// ` bash-7  =>  sleep-8`
fn arrow(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = ARROW.find(text)?;
    Some((text[..at].trim_ascii(), text[at + 4..].trim_ascii()))
}

/// A line of `trace-cmd report`: `TASK-PID [CPU] TIME: funcgraph_entry: DURATION | CALL`.
fn report<'a>(left: &'a [u8], right: &'a [u8]) -> Option<Line<'a>> {
    let (_, right) = split(right, b':')?;
    let (duration_column, call) = split(right, b'|')?;
    let time = words(left).last()?;
    let (head, cpu) = match split(left, b'[') {
        Some((head, rest)) => (head, number(split(rest, b']')?.0)?),
        // With flags (`-l`): `TASK-PID 0d.h1 TIME`.
        None => {
            let mut before = words(left).collect::<Vec<_>>();
            before.pop();
            let flags = before.pop()?;
            let digits = flags
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let before = flags.as_ptr() as usize - left.as_ptr() as usize;
            (&left[..before], number(&flags[..digits])?)
        }
    };
    Some(what(call.trim_ascii()).map_or(Line::Other, |what| {
        Line::Event(Event {
            cpu,
            task: task(head.trim_ascii()),
            time: scaled_if_number(time, 9),
            duration: duration(duration_column.trim_ascii()),
            what,
        })
    }))
}

/// A line with another event, or a line of `trace-cmd` such as `cpus=8`.
fn other_event(text: &[u8]) -> Option<Line<'_>> {
    let is_event = memchr::memmem::find(text, b": ").is_some() && split(text, b'[').is_some();
    (is_event || text.starts_with(b"cpus=") || text.starts_with(b"CPU ")).then_some(Line::Other)
}

/// The begin or end of a call.
fn what(text: &[u8]) -> Option<EventKind<'_>> {
    if let Some(after) = text.strip_prefix(b"}") {
        let comment = after.trim_ascii().strip_prefix(b"/*");
        return Some(EventKind::End(comment.and_then(name)));
    }
    if text.starts_with(b"/*") {
        return None;
    }
    match text.strip_suffix(b"{") {
        Some(call) => name(call).map(EventKind::Begin),
        None => {
            let end = memchr::memchr(b';', text)?;
            name(&text[..end]).map(EventKind::Leaf)
        }
    }
}

/// The name in `foo [module](a=1)`, with the module.
fn name(text: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr3(b'(', b'*', b'=', text).unwrap_or(text.len());
    let mut name = text[..end].trim_ascii();
    // `foo ret=0`
    if text.get(end) == Some(&b'=') {
        name = name.strip_suffix(b"ret").unwrap_or(name).trim_ascii();
    }
    (!name.is_empty()).then_some(name)
}

/// `+ 12.345 us`, in nanoseconds; the mark means that it is long.
fn duration(column: &[u8]) -> Option<u64> {
    let number = column.strip_suffix(b"us")?.trim_ascii();
    let number = match number {
        [b'+' | b'!' | b'#' | b'*' | b'@' | b'$', rest @ ..] => rest.trim_ascii(),
        number => number,
    };
    scaled_if_number(number, 3)
}

fn is_mark_of_interrupt(column: &[u8]) -> bool {
    column.starts_with(b"====") || column.starts_with(b"<===")
}

/// `NAME-PID`, possibly followed by the process, which `trace-cmd` adds: `(  123)`.
fn task(text: &[u8]) -> Option<Task<'_>> {
    let text = match memchr::memrchr(b'(', text) {
        Some(at) if text.ends_with(b")") => text[..at].trim_ascii(),
        _ => text,
    };
    let at = memchr::memrchr(b'-', text)?;
    Some(Task {
        name: text[..at].trim_ascii(),
        pid: number(&text[at + 1..])?,
    })
}

fn number(text: &[u8]) -> Option<u32> {
    decimal(text.trim_ascii())?.try_into().ok()
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let found = memchr::memchr(at, text)?;
    Some((&text[..found], &text[found + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processor, task, time, duration, and event.
    type Said<'a> = (
        u32,
        Option<(&'a str, u32)>,
        Option<u64>,
        Option<u64>,
        EventKind<'a>,
    );

    fn event(text: &str) -> Said<'_> {
        match line(text.as_bytes()) {
            Some(Line::Event(event)) => {
                let task = event
                    .task
                    .map(|task| (std::str::from_utf8(task.name).unwrap(), task.pid));
                (event.cpu, task, event.time, event.duration, event.what)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn reads_all_column_layouts() {
        use EventKind::{Begin, End, Leaf};
        for (text, expected) in [
            (
                " 0)               |  sys_open() {",
                (0, None, None, None, Begin(&b"sys_open"[..])),
            ),
            (
                " 11)   1.382 us    |          __might_sleep();",
                (11, None, None, Some(1_382), Leaf(b"__might_sleep")),
            ),
            (
                " 0) + 63.167 us   |              } /* cpdma_ctlr_int_ctrl */",
                (
                    0,
                    None,
                    None,
                    Some(63_167),
                    End(Some(b"cpdma_ctlr_int_ctrl")),
                ),
            ),
            (
                " 4) $ 1234567 us  |  }",
                (4, None, None, Some(1_234_567_000), End(None)),
            ),
            (
                "13378.411863 |     0)               |  cppc_get_rate [cppc_cpufreq]() {",
                (
                    0,
                    None,
                    Some(13_378_411_863_000),
                    None,
                    Begin(b"cppc_get_rate [cppc_cpufreq]"),
                ),
            ),
            (
                "  0)    sh-4802     |   0.541 us    |                  d_free();",
                (0, Some(("sh", 4_802)), None, Some(541), Leaf(b"d_free")),
            ),
            (
                "  360.774522 |   1)  kworker/u8:2-77  |  d..1. |   0.541 us    |   }",
                (
                    1,
                    Some(("kworker/u8:2", 77)),
                    Some(360_774_522_000),
                    Some(541),
                    End(None),
                ),
            ),
            (
                "   0.079 us    |        foo(); /* = 0x1 */",
                (0, None, None, Some(79), Leaf(b"foo")),
            ),
            (
                " 2)   0.2 us    |  } /* vfs_write ret=1 */",
                (2, None, None, Some(200), End(Some(b"vfs_write"))),
            ),
            (
                " 2)               |  vfs_write(file=0x1, count=2) {",
                (2, None, None, None, Begin(b"vfs_write")),
            ),
            (
                "   ssh-15986 [002]  2882.242767: funcgraph_entry:        0.213 us   |    bpf_skb_load_bytes();",
                (
                    2,
                    Some(("ssh", 15_986)),
                    Some(2_882_242_767_000),
                    Some(213),
                    Leaf(b"bpf_skb_load_bytes"),
                ),
            ),
            (
                "<idle>-0     [002]  2882.243698: funcgraph_exit:         1.330 us   |  }",
                (
                    2,
                    Some(("<idle>", 0)),
                    Some(2_882_243_698_000),
                    Some(1_330),
                    End(None),
                ),
            ),
            (
                "  <idle>-0       3d.h1  7348.538664: funcgraph_entry:                   |    __tasklet_schedule() {",
                (
                    3,
                    Some(("<idle>", 0)),
                    Some(7_348_538_664_000),
                    None,
                    Begin(b"__tasklet_schedule"),
                ),
            ),
            (
                "munmap_test-15002 [008]   594.380146: funcgraph_entry:      !2485684 us |    unmap_region();",
                (
                    8,
                    Some(("munmap_test", 15_002)),
                    Some(594_380_146_000),
                    Some(2_485_684_000),
                    Leaf(b"unmap_region"),
                ),
            ),
        ] {
            assert_eq!(event(text), expected, "{text}");
        }
    }

    #[test]
    fn recognises_lines_without_calls() {
        let to = Task {
            name: b"sleep",
            pid: 8,
        };
        for (text, expected) in [
            (" 0)  bash-7  =>  sleep-8", Line::Switch { cpu: 0, to }),
            (
                "CPU:1 [LOST 123 EVENTS]",
                Line::Lost {
                    cpu: 1,
                    events: 123,
                },
            ),
            (" ------------------------------------------", Line::Other),
            (" 0)   ==========> |", Line::Other),
            (" 0)   <========== |", Line::Other),
            (
                " 0)               |  /* a marker | of somebody */",
                Line::Other,
            ),
            ("##### CPU 2 buffer started ####", Line::Other),
            ("cpus=8", Line::Other),
            (
                "  bash-1 [001] 12.3: sched_switch: prev_comm=bash",
                Line::Other,
            ),
        ] {
            assert_eq!(line(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(line(b"main;work 42"), None);
    }
}
