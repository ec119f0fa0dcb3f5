//! Begin and end of calls: durations are exact, but times are rounded to microseconds or missing.

use sto_model::trace::log::{SpoolError, ThreadLog};
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Nanoseconds;

/// The calls of a thread since its last outermost call ended, in order of begin.
#[derive(Default)]
pub(super) struct Calls {
    nodes: Vec<Node>,
    /// Open nodes, outermost first.
    open: Vec<usize>,
    /// End of the last outermost call.
    now: u64,
}

struct Node {
    function: TraceFunctionIx,
    caller: Option<usize>,
    /// The recorded begin.
    time: Option<u64>,
    /// The recorded duration.
    duration: Option<u64>,
    /// Index after the node's descendants; `None` while it is open.
    end: Option<usize>,
}

/// Marks a call that was not open.
const NONE: TraceFunctionIx = TraceFunctionIx(u32::MAX);

impl Calls {
    pub(super) fn begin(&mut self, function: TraceFunctionIx, time: Option<u64>) {
        self.nodes.push(Node {
            function,
            caller: self.open.last().copied(),
            time,
            duration: None,
            end: None,
        });
        self.open.push(self.nodes.len() - 1);
    }

    /// Ends the innermost call, or the innermost call of this function together with the calls in
    /// it. Returns `true` if no call is open.
    pub(super) fn end(
        &mut self,
        function: Option<TraceFunctionIx>,
        (time, duration): (Option<u64>, Option<u64>),
        log: &mut ThreadLog,
    ) -> bool {
        let is_it =
            |&&node: &&usize| function.is_none_or(|function| self.nodes[node].function == function);
        let Some(depth) = self.open.iter().rposition(|node| is_it(&node)) else {
            if let Some(time) = time {
                self.now = self.now.max(time);
            }
            log.end(Some(NONE), Nanoseconds(self.now));
            return self.open.is_empty();
        };
        let ended = self.open[depth];
        let end = self.nodes.len();
        for node in self.open.drain(depth..) {
            self.nodes[node].end = Some(end);
        }
        let node = &mut self.nodes[ended];
        let since = time
            .zip(node.time)
            .map(|(end, begin)| end.saturating_sub(begin));
        node.duration = duration.or(since);
        self.open.is_empty()
    }

    /// Writes and removes the calls; the first one begins at `earliest` or later. Returns the end
    /// of the last.
    ///
    /// Calls keep their recorded durations and lie within their callers. A call begins at its
    /// recorded time, but after the calls before it and early enough to leave room for those after
    /// it. Without times, calls follow each other without gaps.
    pub(super) fn write(&mut self, earliest: u64, log: &mut ThreadLog) -> Result<u64, SpoolError> {
        let nodes = std::mem::take(&mut self.nodes);
        self.open.clear();
        // The minimum duration of each call, and of its callees together.
        let mut called = vec![0_u64; nodes.len()];
        let mut took = vec![0_u64; nodes.len()];
        for (index, node) in nodes.iter().enumerate().rev() {
            took[index] = node.duration.unwrap_or(called[index]);
            if let Some(caller) = node.caller {
                called[caller] = called[caller].saturating_add(took[index]);
            }
        }
        // For each call, where its next callee may begin, and its end.
        let mut places: Vec<(u64, u64)> = Vec::with_capacity(nodes.len());
        let mut running: Vec<usize> = Vec::new();
        let mut now = self.now.max(earliest);
        let finish =
            |running: &mut Vec<usize>, places: &[(u64, u64)], until: usize, log: &mut ThreadLog| {
                while let Some(&last) = running.last()
                    && nodes[last].end.is_some_and(|end| end <= until)
                {
                    log.end(Some(nodes[last].function), Nanoseconds(places[last].1));
                    running.pop();
                }
            };
        for (index, node) in nodes.iter().enumerate() {
            finish(&mut running, &places, index, log);
            let (begin, end) = match node.caller {
                None => {
                    let begin = node.time.map_or(now, |time| time.max(now));
                    (begin, begin.saturating_add(took[index]))
                }
                Some(caller) => {
                    let (from, to) = places[caller];
                    // Leave room for the call itself and its later siblings.
                    let latest = to.saturating_sub(called[caller]).max(from);
                    called[caller] = called[caller].saturating_sub(took[index]);
                    let begin = node.time.map_or(from, |time| time.clamp(from, latest));
                    let end = begin.saturating_add(took[index]).min(to);
                    places[caller].0 = end;
                    (begin, end)
                }
            };
            now = now.max(end);
            places.push((begin, end));
            log.begin(node.function, Nanoseconds(begin))?;
            running.push(index);
        }
        finish(&mut running, &places, nodes.len(), log);
        self.now = now;
        Ok(now)
    }
}
