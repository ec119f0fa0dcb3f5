//! Call trees exported by YourKit in CSV or XML.
//!
//! Source: *Export of profiling results to external formats* in YourKit's help.

use crate::error::{At, DecodeError, Decoded, Salvage};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report;
use crate::report::CallPath;
use crate::source::Head;
use crate::wire::csv;
use crate::wire::csv::{CsvColumns, Names, Row, number};
use crate::wire::text::lines;
use crate::wire::xml::{Element, Part, Xml, begins_with_xml};
use sto_model::FrameKind;
use sto_model::units::Unit;

/// Returns `true` if a file begins like a view in XML, or with the required column names.
pub(super) fn matches(head: &Head<'_>) -> bool {
    begins_with_xml(head.bytes, b"<view description=\"Call tree")
        || csv::begins_with::<CallTreeColumns>(head)
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    match bytes.trim_ascii_start() {
        [b'<', ..] => xml(bytes),
        _ => table(bytes),
    }
}

fn xml(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mut xml = Xml::new(bytes);
    let mut tree = Tree::default();
    let mut depth = 0;
    while let Some(part) = xml.next()? {
        match part {
            Part::Begin(element) if element.name() == b"node" => {
                let entered = Node::parse(&element).and_then(|node| tree.enter(depth, &node));
                entered.map_err(|problem| xml.error(problem))?;
                depth += 1;
            }
            Part::End(name) if name == b"node" => depth -= 1,
            _ => {}
        }
    }
    tree.finish().map_err(|problem| xml.error(problem))
}

fn table(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mut tree = Tree::default();
    let mut columns: Option<CallTreeColumns> = None;
    let mut last = 0;
    for (number, line) in lines(bytes) {
        last = number;
        let Some((columns, row)) = csv::row(&mut columns, line) else {
            continue;
        };
        let entered = columns
            .node(&row)
            .and_then(|(depth, node)| tree.enter(depth, &node));
        entered.map_err(|problem| {
            let error = DecodeError::new(At::Line(number), problem);
            if bytes.ends_with(line) {
                error.maybe_cut_in_last_line(Salvage::Impossible)
            } else {
                error
            }
        })?;
    }
    let parts = tree.finish();
    let mut parts = parts.map_err(|problem| DecodeError::new(At::Line(last), problem))?;
    if !bytes.ends_with(b"\n") {
        parts.warnings.push(report::WITHIN_LINE.to_owned());
    }
    Ok(parts)
}

/// A call, or a thread that contains calls.
struct Node {
    name: String,
    /// Total time and, if the file has it, self time, in milliseconds.
    total: u64,
    own: Option<u64>,
}

impl Node {
    fn parse(element: &Element<'_>) -> Result<Node, String> {
        let name = element
            .attribute("call_tree")
            .or_else(|| element.attribute("name"));
        let time = element.attribute("time_ms");
        let time = time.ok_or("a node without `time_ms`; only trees of CPU time are read")?;
        let own = element
            .attribute("own_time_ms")
            .filter(|own| !own.is_empty());
        Ok(Node {
            name: name.unwrap_or_default(),
            total: milliseconds(time.as_bytes())?,
            own: own.map(|own| milliseconds(own.as_bytes())).transpose()?,
        })
    }
}

struct CallTreeColumns {
    name: usize,
    total: usize,
    own: Option<usize>,
    level: usize,
}

impl CsvColumns for CallTreeColumns {
    fn find(names: &Names<'_>) -> Option<CallTreeColumns> {
        let name = names.index(b"Name").or_else(|| names.index(b"Call Tree"));
        Some(CallTreeColumns {
            name: name?,
            total: names.index(b"Time (ms)")?,
            own: names.index(b"Own Time (ms)"),
            level: names.index(b"Level")?,
        })
    }
}

impl CallTreeColumns {
    /// The node of a row, and its depth.
    fn node(&self, row: &Row<'_>) -> Result<(usize, Node), String> {
        let field = |column| row.field(column).map(<[u8]>::trim_ascii);
        let level = row.number(self.level, 0)?;
        let depth = level.checked_sub(1).ok_or("level 0; the first is 1")?;
        let own = self
            .own
            .map(field)
            .transpose()?
            .filter(|own| !own.is_empty());
        let node = Node {
            name: String::from_utf8_lossy(field(self.name)?).into_owned(),
            total: milliseconds(field(self.total)?)?,
            own: own.map(milliseconds).transpose()?,
        };
        Ok((usize::try_from(depth).unwrap_or(usize::MAX), node))
    }
}

/// Converts milliseconds to nanoseconds.
fn milliseconds(text: &[u8]) -> Result<u64, String> {
    number(text, 6)
}

#[derive(Default)]
struct Tree {
    builder: RecordingBuilder,
    path: CallPath,
    thread: Option<ThreadIx>,
    /// Whether the outermost node is a thread and not a call.
    has_thread: bool,
    nodes: usize,
    /// Time of the outermost nodes.
    total: u64,
}

impl Tree {
    fn enter(&mut self, depth: usize, node: &Node) -> Result<(), String> {
        self.nodes += 1;
        if depth == 0 {
            self.leave()?;
            self.total = self.total.saturating_add(node.total);
            self.has_thread = !node.name.contains('(');
            let name = if self.has_thread { &*node.name } else { "" };
            let name = self.builder.text(name.as_bytes());
            let process = self.builder.process(0, "");
            self.thread = Some(self.builder.thread_unchecked(process, 0, &name));
            if self.has_thread {
                return Ok(());
            }
        }
        let location = frame(&node.name, &mut self.builder)?;
        let depth = depth - usize::from(self.has_thread);
        let add = own_time(self.thread.unwrap_or(ThreadIx(0)));
        let builder = &mut self.builder;
        let stack = self
            .path
            .enter(depth, location, node.total, builder, &add)?;
        if let Some(own) = node.own {
            self.path.set_self_known();
            add(builder, stack, own)?;
        }
        Ok(())
    }

    fn leave(&mut self) -> Built<()> {
        self.path.leave(
            0,
            &mut self.builder,
            own_time(self.thread.unwrap_or(ThreadIx(0))),
        )
    }

    fn finish(mut self) -> Result<RecordingBuilder, String> {
        self.leave()?;
        let time = self.builder.sample_type("time", Unit::Nanoseconds);
        // Each row is rounded to whole milliseconds.
        let rounding = (self.nodes, 1_000_000);
        let off = self.builder.check_total(time, self.total, rounding);
        self.builder.warnings.extend(off);
        Ok(self.builder)
    }
}

/// Returns a function that adds the self cost of stacks of a thread.
fn own_time(thread: ThreadIx) -> impl Fn(&mut RecordingBuilder, StackIx, u64) -> Built<()> {
    move |builder, stack, own| builder.add_cost(thread, SampleTypeIx(0), stack, report::time(own))
}

/// `Server.java:85 org.example.Server.serve(Request)`, with or without file and line.
fn frame(name: &str, builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let located = name.split_once(' ').and_then(|(source, method)| {
        let (file, line) = source.rsplit_once(':')?;
        Some((file, line.parse::<u32>().ok()?, method))
    });
    let (file, line, method) = located.unwrap_or(("", 0, name));
    let frame = NamedFrame {
        symbol: method.as_bytes(),
        file: file.as_bytes(),
        line,
        kind: (!matches!(method, "" | "[unknown]")).then_some(FrameKind::User),
        ..NamedFrame::default()
    };
    frame.add(builder)
}
