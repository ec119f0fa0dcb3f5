//! Time profiles exported by Apple's `xctrace export` in XML.
//!
//! Source: `xctrace(1)` of macOS.

use crate::error::Decoded;
use crate::names::{NamedFrame, without_rust_mangling};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::source::{Head, ReadOptions};
use crate::wire::text::excerpt;
use crate::wire::xml::{Element, Part, Xml, begins_with_xml};
use hashbrown::HashMap;
use sto_model::units::{Cost, Unit};

/// Returns `true` if a file begins like the result of a query on a trace.
pub(super) fn matches(head: &Head<'_>) -> bool {
    begins_with_xml(head.bytes, b"<trace-query-result")
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let mut xml = Xml::new(bytes);
    let mut trace = Trace {
        builder: options.builder(),
        ..Trace::default()
    };
    while let Some(part) = xml.next()? {
        let taken = match part {
            Part::Begin(element) => trace.begin(&element),
            Part::End(name) => trace.end(&name),
            Part::Text(text) => trace.text(&text),
        };
        taken.map_err(|problem| xml.error(problem))?;
    }
    Ok(trace.finish())
}

/// Elements that others refer to by id, and the current row.
#[derive(Default)]
struct Trace {
    builder: RecordingBuilder,
    modules: HashMap<u64, String>,
    frames: HashMap<u64, LocationIx>,
    backtraces: HashMap<u64, StackIx>,
    weights: HashMap<u64, u64>,
    threads: HashMap<u64, ThreadIx>,
    row: Row,
    /// The ids of the open stack, and of the element around it.
    backtrace: Option<u64>,
    tagged: Option<u64>,
    /// Leaf first.
    stack: Vec<LocationIx>,
    frame: Option<(u64, String, String)>,
    /// The id of a weight whose text is expected.
    weight: Option<u64>,
    has_weights: bool,
}

#[derive(Default)]
struct Row {
    stack: Option<StackIx>,
    weight: Option<u64>,
    thread: Option<ThreadIx>,
}

/// The id of an element, or of the element that it refers to.
enum Id {
    Own(u64),
    Ref(u64),
}

impl Trace {
    fn begin(&mut self, element: &Element<'_>) -> Result<(), String> {
        match element.name() {
            b"row" => self.row = Row::default(),
            b"weight" => match id(element)? {
                Id::Own(id) => self.weight = Some(id),
                Id::Ref(id) => self.row.weight = Some(known(&self.weights, id, "weight")?),
            },
            b"thread" => self.row.thread = Some(self.thread(element)?),
            name @ (b"backtrace" | b"tagged-backtrace") => match id(element)? {
                Id::Own(id) if name == b"backtrace" => self.backtrace = Some(id),
                Id::Own(id) => self.tagged = Some(id),
                Id::Ref(id) => self.row.stack = Some(known(&self.backtraces, id, "backtrace")?),
            },
            b"frame" if self.backtrace.or(self.tagged).is_some() => match id(element)? {
                Id::Own(id) => {
                    let name = element.attribute("name").unwrap_or_default();
                    self.frame = Some((id, name, String::new()));
                }
                Id::Ref(id) => self.stack.push(known(&self.frames, id, "frame")?),
            },
            b"binary" => {
                let name = match id(element)? {
                    Id::Ref(id) => known(&self.modules, id, "binary")?,
                    Id::Own(id) => {
                        let name = element.attribute("name").unwrap_or_default();
                        let name = self.builder.text(name.as_bytes()).into_owned();
                        self.modules.insert(id, name.clone());
                        name
                    }
                };
                if let Some((_, _, module)) = &mut self.frame {
                    *module = name;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8]) -> Result<(), String> {
        match name {
            b"frame" => {
                if let Some((id, name, module)) = self.frame.take() {
                    let frame = self.new_frame(&name, &module)?;
                    only_one(self.frames.insert(id, frame), "frame", id)?;
                    self.stack.push(frame);
                }
            }
            b"backtrace" => {
                let id = self.backtrace.take();
                self.end_backtrace(id, None)?;
            }
            b"tagged-backtrace" => {
                // Xcode 26 writes frames without a backtrace around them.
                let id = self.tagged.take();
                self.end_backtrace(id, self.row.stack)?;
            }
            b"weight" => self.weight = None,
            b"row" => self.sample()?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        let Some(id) = self.weight.take() else {
            return Ok(());
        };
        let weight = text.trim().parse().map_err(|_| {
            let found = excerpt(text.as_bytes());
            format!("expected a weight from 0 to 2^64 - 1 in nanoseconds, found {found}")
        })?;
        only_one(self.weights.insert(id, weight), "weight", id)?;
        self.row.weight = Some(weight);
        Ok(())
    }

    /// Adds the row's sample, unless the row has no stack.
    fn sample(&mut self) -> Built<()> {
        let row = std::mem::take(&mut self.row);
        let Some(stack) = row.stack else {
            return Ok(());
        };
        self.has_weights |= row.weight.is_some();
        let thread = row.thread.unwrap_or_else(|| self.named_thread(""));
        let cost = Cost {
            samples: 1,
            value: row.weight.unwrap_or(0),
        };
        self.builder.add_cost(thread, SampleTypeIx(0), stack, cost)
    }

    /// Sets the row's stack: a known one, or the frames that were read.
    fn end_backtrace(&mut self, id: Option<u64>, known: Option<StackIx>) -> Result<(), String> {
        let Some(id) = id else {
            return Ok(());
        };
        let stack = match known {
            Some(stack) => stack,
            None => {
                self.stack.reverse();
                let stack = self.builder.stack(&self.stack)?;
                self.stack.clear();
                stack
            }
        };
        self.row.stack = Some(stack);
        only_one(self.backtraces.insert(id, stack), "backtrace", id)
    }

    fn new_frame(&mut self, name: &str, module: &str) -> Built<LocationIx> {
        let frame = NamedFrame {
            symbol: &without_rust_mangling(name.as_bytes()),
            module: module.as_bytes(),
            ..NamedFrame::default()
        };
        frame.add(&mut self.builder)
    }

    fn thread(&mut self, element: &Element<'_>) -> Result<ThreadIx, String> {
        match id(element)? {
            Id::Ref(id) => known(&self.threads, id, "thread"),
            Id::Own(id) => {
                let thread = self.named_thread(&element.attribute("fmt").unwrap_or_default());
                only_one(self.threads.insert(id, thread), "thread", id)?;
                Ok(thread)
            }
        }
    }

    /// `Main Thread 0x5b2a (app, pid: 93)`: the thread, by its name without the id.
    fn named_thread(&mut self, text: &str) -> ThreadIx {
        let id = text.find("0x").unwrap_or(text.len());
        let name = text[..id].trim_end();
        let name = self.builder.text(name.as_bytes());
        let process = self.builder.process(0, "");
        self.builder.thread_unchecked(process, 0, &name)
    }

    fn finish(self) -> RecordingBuilder {
        let mut builder = self.builder;
        if self.has_weights {
            builder.sample_type("cpu", Unit::Nanoseconds);
        } else {
            builder.sample_type("samples", Unit::Samples);
            for sample in builder.samples.iter_mut() {
                sample.cost.value = sample.cost.samples;
            }
        }
        builder
    }
}

fn id(element: &Element<'_>) -> Result<Id, String> {
    let number = |name: &str| {
        let text = element.attribute(name)?;
        Some(text.parse::<u64>().map_err(|_| {
            format!(
                "{name}={}; expected a number from 0 to 2^64 - 1",
                excerpt(text.as_bytes())
            )
        }))
    };
    match (number("ref"), number("id")) {
        (Some(id), _) => Ok(Id::Ref(id?)),
        (None, Some(id)) => Ok(Id::Own(id?)),
        (None, None) => {
            let name = excerpt(element.name());
            Err(format!("an element {name} without an `id` or `ref`"))
        }
    }
}

fn known<T: Clone>(table: &HashMap<u64, T>, id: u64, what: &str) -> Result<T, String> {
    table.get(&id).cloned().ok_or_else(|| {
        format!("{id}; expected the id of a {what} defined before; was the file edited?")
    })
}

fn only_one<T>(before: Option<T>, what: &str, id: u64) -> Result<(), String> {
    match before {
        Some(_) => Err(format!(
            "{id} is the id of another {what} too; was the file edited?"
        )),
        None => Ok(()),
    }
}
