//! Splits a file that comes in blocks into events; holds only one event at a time.

use crate::error::{DecodeError, Decoded, Salvage};
use std::ops::Range;
use sto_model::limits::MAX_LINE;

/// A state machine that finds the array of events, at the top or as `traceEvents` of an object.
#[derive(Default)]
pub(super) struct Cutter {
    state: State,
    /// The last block's events and the bytes that are not split yet.
    held: Vec<u8>,
    /// Number of bytes already split.
    done: usize,
    /// Number of bytes already scanned, possibly up to within a value.
    seen: usize,
    value: Value,
    /// Offset of the bytes in the file.
    at: usize,
    is_array: bool,
    has_events: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    /// Before a key, or the end of the object.
    Key,
    Colon {
        of_events: bool,
    },
    /// Before a value.
    Value {
        of_events: bool,
    },
    /// Within a value that is skipped.
    Passed,
    AfterValue,
    /// Before an event, or the end of the array.
    Event,
    /// Within an event.
    Within,
    AfterEvent,
    End,
}

/// The state of scanning a value.
#[derive(Clone, Copy, Default)]
struct Value {
    depth: u64,
    in_string: bool,
}

impl Value {
    /// The end of a value that begins with a bracket or quote; `None` if more bytes are needed.
    /// `at` is advanced.
    fn end(&mut self, bytes: &[u8], at: &mut usize) -> Option<usize> {
        while let Some(&byte) = bytes.get(*at) {
            if self.in_string {
                let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[*at..]) else {
                    *at = bytes.len();
                    return None;
                };
                *at += found;
                if bytes[*at] == b'\\' {
                    if *at + 1 == bytes.len() {
                        return None;
                    }
                    *at += 2;
                    continue;
                }
                *at += 1;
                self.in_string = false;
                if self.depth == 0 {
                    return Some(*at);
                }
                continue;
            }
            *at += 1;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(*at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl Cutter {
    /// Adds a block and returns the ranges in [`Cutter::bytes`] of the events that end in it.
    pub(super) fn block(&mut self, block: &[u8]) -> Decoded<Vec<Range<usize>>> {
        self.held.drain(..self.done);
        self.at += self.done;
        self.seen -= self.done;
        self.done = 0;
        self.held.extend_from_slice(block);
        let mut events = Vec::new();
        while self.step(&mut events)? {}
        if self.held.len() - self.done > MAX_LINE {
            let problem = format!("a value of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(self.at + self.done, problem));
        }
        Ok(events)
    }

    /// The bytes that the ranges of the last block's events refer to.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.held
    }

    /// Offset of these bytes in the file.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Number of bytes so far.
    pub(super) fn size(&self) -> usize {
        self.at + self.held.len()
    }

    /// The path of an event by its index.
    pub(super) fn path(&self, event: usize) -> String {
        if self.is_array {
            format!("[{event}]")
        } else {
            format!("traceEvents[{event}]")
        }
    }

    /// Advances by one part of the file. Returns `false` if more bytes are needed.
    fn step(&mut self, events: &mut Vec<Range<usize>>) -> Decoded<bool> {
        if matches!(self.state, State::Passed | State::Within) {
            let Some(end) = self.value.end(&self.held, &mut self.seen) else {
                if self.state == State::Passed {
                    self.done = self.seen;
                }
                return Ok(false);
            };
            if self.state == State::Within {
                events.push(self.done..end);
            }
            self.state = match self.state {
                State::Within => State::AfterEvent,
                _ => State::AfterValue,
            };
            (self.done, self.seen) = (end, end);
            return Ok(true);
        }
        let space = self.held[self.done..].iter();
        self.done += space.take_while(|byte| byte.is_ascii_whitespace()).count();
        self.seen = self.done;
        let Some(&byte) = self.held.get(self.done) else {
            return Ok(false);
        };
        self.state = match (self.state, byte) {
            (State::Start, b'[') => {
                (self.is_array, self.has_events) = (true, true);
                self.next(State::Event)
            }
            (State::Start, b'{') => self.next(State::Key),
            (State::Key, b'"') => {
                self.value = Value::default();
                let mut end = self.done;
                let Some(end) = self.value.end(&self.held, &mut end) else {
                    return Ok(false);
                };
                let of_events = self.held[self.done..end] == *b"\"traceEvents\"";
                if of_events && std::mem::replace(&mut self.has_events, true) {
                    return Err(self.expected("no more than one `traceEvents`"));
                }
                self.done = end;
                State::Colon { of_events }
            }
            (State::Colon { of_events }, b':') => self.next(State::Value { of_events }),
            (State::Value { of_events: true }, b'[') => self.next(State::Event),
            (State::Value { of_events: true }, _) => {
                return Err(self.expected("an array of events"));
            }
            (State::Value { .. }, b'{' | b'[' | b'"') => {
                self.value = Value::default();
                State::Passed
            }
            (State::Value { .. }, b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let rest = &self.held[self.done..];
                let length = rest.iter().take_while(|byte| is_part(byte)).count();
                if length == rest.len() {
                    return Ok(false);
                }
                self.done += length;
                State::AfterValue
            }
            (State::AfterValue, b',') => self.next(State::Key),
            (State::Key | State::AfterValue, b'}') => self.next(State::End),
            (State::Event, b'{') => {
                self.value = Value::default();
                State::Within
            }
            (State::Event | State::AfterEvent, b']') => {
                if self.is_array {
                    self.next(State::End)
                } else {
                    self.next(State::AfterValue)
                }
            }
            (State::AfterEvent, b',') => self.next(State::Event),
            (state, _) => {
                return Err(self.expected(match state {
                    State::Start => "`{` or `[`",
                    State::Key => "a key, or the end of the object",
                    State::Colon { .. } => "`:` after a key",
                    State::Value { .. } => "a value",
                    State::AfterValue => "`,` or `}` after a value",
                    State::Event => "an event: `{`",
                    State::AfterEvent => "`,` or `]` after an event",
                    State::End => "the end of the file; there is more after the events",
                    State::Passed | State::Within => "the rest of a value",
                }));
            }
        };
        Ok(true)
    }

    fn next(&mut self, state: State) -> State {
        self.done += 1;
        state
    }

    fn expected(&self, what: &str) -> DecodeError {
        DecodeError::new(self.at + self.done, format!("expected {what}"))
    }

    /// Checks the end of the file. Returns a warning if it is truncated and that is allowed.
    pub(super) fn finish(&self, allow_truncated: bool) -> Decoded<Option<String>> {
        if self.state == State::End {
            return if self.has_events {
                Ok(None)
            } else {
                Err(DecodeError::new(
                    self.size(),
                    "expected `traceEvents`, found none",
                ))
            };
        }
        let is_between = matches!(self.state, State::Event | State::AfterEvent);
        if is_between && self.is_array {
            return Ok(Some(
                "The array of events has no end, which is allowed; if the file was cut short, events are missing."
                    .to_owned(),
            ));
        }
        if allow_truncated {
            return Ok(Some(format!(
                "The file ends at byte {}, in the middle of its JSON; the events up to there were read.",
                self.size()
            )));
        }
        let cut = format!(
            "the file ends at byte {}, in the middle of its JSON",
            self.size()
        );
        Err(DecodeError::cut_off(cut, Salvage::Possible))
    }
}
