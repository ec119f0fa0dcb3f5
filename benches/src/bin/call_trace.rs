//! Writes a trace of calls like the largest of table 2 of the NonSequitur paper: 28 threads that make 50 million calls
//! to 320 functions in 5 minutes, in the text that NonSequitur reads, for `benches/calls.py`.
//!
//!     cargo run --release -p sto-benches --bin call_trace -- FOLDER [CALLS] [THREADS]
//!
//! Every run writes the same bytes. Each thread executes operations, which are trees of calls, and waits after each.
//! One `fsync` takes 4 seconds, a 997th of the way through the trace of the fourth thread.

use std::error::Error;
use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::Path;

const FUNCTIONS: u64 = 320;
/// Number of layers of functions; a function calls functions of the next layers.
const LAYERS: u64 = 8;
/// Duration of a run, in nanoseconds.
const TIME: u64 = 300_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args
        .next()
        .ok_or("usage: call_trace FOLDER [CALLS] [THREADS]")?;
    let calls: u64 = args.next().map_or(Ok(50_000_000), |calls| calls.parse())?;
    let threads: u64 = args.next().map_or(Ok(28), |threads| threads.parse())?;
    create_dir_all(&folder)?;
    let names: Vec<String> = (0..FUNCTIONS).map(name).collect();
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            let (folder, names) = (Path::new(&folder), &names);
            scope.spawn(move || -> std::io::Result<()> {
                for thread in (half..threads).step_by(2) {
                    let file = File::create(folder.join(format!("trace1_{thread}.txt")))?;
                    let mut trace = Trace {
                        out: BufWriter::with_capacity(1 << 20, file),
                        names,
                        random: 0x9e37_79b9_7f4a_7c15 ^ (thread + 1),
                        now: 517_136_000_000_000 + thread * 7919,
                        left: calls / threads,
                    };
                    trace.write(thread, TIME / (calls / threads).max(1))?;
                    trace.out.flush()?;
                }
                Ok(())
            })
        });
        halves
            .into_iter()
            .try_for_each(|half| half.join().map_err(|_| std::io::Error::other("failed"))?)
    })?;
    Ok(())
}

/// Returns a name in the style of a storage engine.
fn name(function: u64) -> String {
    const VERBS: [&str; 8] = [
        "open", "get", "search", "insert", "evict", "read", "sync", "log",
    ];
    match function {
        0 => "__wt_cond_wait_signal".to_owned(),
        1 => "__posix_file_fsync".to_owned(),
        _ => format!(
            "__wt_{}_{}_{function}",
            VERBS[function as usize % 8],
            ["page", "cursor", "tree", "block"][function as usize / 8 % 4]
        ),
    }
}

struct Trace<'n> {
    out: BufWriter<File>,
    names: &'n [String],
    random: u64,
    now: u64,
    left: u64,
}

impl Trace<'_> {
    /// Writes operations until the thread has made its calls. `each` is the time per call, in nanoseconds.
    fn write(&mut self, thread: u64, each: u64) -> std::io::Result<()> {
        let all = self.left;
        let mut has_slow = thread == 3;
        while self.left > 0 {
            let before = self.left;
            let kind = 2 + (thread * 3 + self.next(3)) % 38;
            self.call(kind, 0)?;
            if has_slow && self.left < all - all / 997 {
                has_slow = false;
                self.leaf(1, 4_000_000_000)?;
            }
            // Waits for the rest of the operation's time.
            let time = (before - self.left) * each;
            let wait = time / 2 + self.next(time.max(1));
            self.leaf(0, wait)?;
        }
        Ok(())
    }

    fn call(&mut self, function: u64, layer: u64) -> std::io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        self.event(b"0 ", function)?;
        self.now += 40 + self.next(200);
        if layer + 1 < LAYERS {
            // A function has one or two call sites: most calls are executed, some in a loop.
            for site in 0..1 + u64::from(function % 5 < 3) {
                if self.next(8) < 6 {
                    let row = (function * 31 + site * 17) % (FUNCTIONS / LAYERS);
                    let callee = (layer + 1) * (FUNCTIONS / LAYERS) + row;
                    let times = if function.is_multiple_of(7) {
                        1 + self.next(4)
                    } else {
                        1
                    };
                    for _ in 0..times {
                        self.call(callee, layer + 1)?;
                    }
                }
            }
        }
        self.now += 30 + self.next(100);
        self.event(b"1 ", function)
    }

    fn leaf(&mut self, function: u64, time: u64) -> std::io::Result<()> {
        self.left = self.left.saturating_sub(1);
        self.event(b"0 ", function)?;
        self.now += time;
        self.event(b"1 ", function)?;
        self.now += 50;
        Ok(())
    }

    fn event(&mut self, event: &[u8], function: u64) -> std::io::Result<()> {
        let mut digits = [b'\n'; 22];
        let mut at = digits.len() - 1;
        let mut number = self.now;
        while number > 0 {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        at -= 1;
        digits[at] = b' ';
        self.out.write_all(event)?;
        self.out
            .write_all(self.names[function as usize].as_bytes())?;
        self.out.write_all(&digits[at..])
    }

    /// Returns a random number below a limit (xorshift).
    fn next(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }
}
