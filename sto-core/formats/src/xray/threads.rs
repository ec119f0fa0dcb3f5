//! The threads of a log and the functions they call.

use hashbrown::HashMap;
use rayon::prelude::*;
use sto_model::trace::CallThread;
use sto_model::trace::log::{CallLogWriter, ThreadLog};
use sto_model::trace::paths::TraceFunctionIx;

/// Numbers of functions in the order of their first call.
#[derive(Default)]
pub(super) struct Functions {
    ids: Vec<u32>,
    index: HashMap<u32, TraceFunctionIx>,
    last: Option<(u32, TraceFunctionIx)>,
}

impl Functions {
    #[inline]
    pub(super) fn number(&mut self, id: u32) -> TraceFunctionIx {
        match self.last {
            Some((last, number)) if last == id => number,
            _ => {
                let number = *self.index.entry(id).or_insert_with(|| {
                    self.ids.push(id);
                    TraceFunctionIx(self.ids.len() as u32 - 1)
                });
                self.last = Some((id, number));
                number
            }
        }
    }
}

/// The threads of a log in order of first use, each with additional data.
pub(super) struct Threads<T> {
    writer: CallLogWriter,
    program: String,
    own: Vec<(Functions, T)>,
    /// Index by process and thread.
    index: HashMap<(u32, u32), usize>,
}

/// A thread that is being read.
pub(super) type XRayThread<'a, T> = (&'a mut ThreadLog, &'a mut (Functions, T));

impl<T: Default + Send> Threads<T> {
    pub(super) fn new(writer: CallLogWriter, program: &str) -> Threads<T> {
        Threads {
            writer,
            program: program.to_owned(),
            own: Vec::new(),
            index: HashMap::new(),
        }
    }

    /// The additional data of a thread.
    pub(super) fn find_or_add(&mut self, pid: u32, tid: u32) -> &mut T {
        let index = *self.index.entry((pid, tid)).or_insert_with(|| {
            let no = self.writer.intern_thread(CallThread {
                pid,
                program: self.program.clone(),
                tid,
                name: String::new(),
            });
            self.own.push(<(Functions, T)>::default());
            no.get()
        });
        &mut self.own[index].1
    }

    /// All threads, to be read in parallel.
    pub(super) fn all(&mut self) -> impl IndexedParallelIterator<Item = XRayThread<'_, T>> {
        let logs = self.writer.thread_logs().par_iter_mut();
        logs.zip(&mut self.own)
    }

    /// Returns the log of all threads, and the numbers of the functions that they call.
    pub(super) fn finish(mut self) -> (CallLogWriter, Vec<u32>) {
        let mut all = Functions::default();
        for (log, (own, _)) in self.writer.thread_logs().iter_mut().zip(self.own) {
            log.set_functions(own.ids.iter().map(|&id| all.number(id)).collect());
        }
        (self.writer, all.ids)
    }
}
