//! Sends profiles of a generated service to a server, as Pyroscope's SDKs do.
//!
//!     cargo run --release -p sto-benches --bin serve_load -- push 127.0.0.1:4940 --rate 1000 --seconds 600
//!     cargo run --release -p sto-benches --bin serve_load -- history 127.0.0.1:4940 --hours 24
//!
//! `push` sends at a fixed rate, whether or not the server keeps up, and measures the time of each request from the moment
//! at which it was due. `history` sends the profiles of the last hours as fast as they are accepted; their times are in
//! the profiles. `browse` opens the page of builds in many browsers at once, and again every few seconds: it asks for what
//! that page asks for, except the files that browsers keep. All print one line of JSON.

use clap::{Parser, Subcommand};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sto_test_support::Random;
use sto_test_support::pprof::{Function, Line, Location, Mapping, Profile, Sample, ValueType};

/// Send profiles of a generated service to a server
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Send at a fixed rate
    Push {
        /// Address and port of the server
        address: String,
        /// Profiles per second
        #[arg(long, default_value_t = 1000)]
        rate: u32,
        /// Seconds to send for
        #[arg(long, default_value_t = 600)]
        seconds: u32,
        /// Number of connections
        #[arg(long, default_value_t = 32)]
        connections: u32,
        /// Number of instances of the service
        #[arg(long, default_value_t = 100)]
        instances: u32,
    },
    /// Open the page of builds
    Browse {
        /// Address and port of the server
        address: String,
        /// Number of browsers
        #[arg(long, default_value_t = 200)]
        browsers: u32,
        /// Times that each opens the page
        #[arg(long, default_value_t = 20)]
        times: u32,
        /// Seconds between two times; the first time, all open it at the same moment
        #[arg(long, default_value_t = 3)]
        pause: u32,
    },
    /// Send the profiles of the last hours
    History {
        /// Address and port of the server
        address: String,
        /// Hours
        #[arg(long, default_value_t = 24)]
        hours: u32,
        /// Number of instances of the service
        #[arg(long, default_value_t = 50)]
        instances: u32,
        /// Seconds between two profiles of an instance
        #[arg(long, default_value_t = 15)]
        interval: u32,
        /// Number of connections
        #[arg(long, default_value_t = 8)]
        connections: u32,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Args::parse().mode {
        Mode::Push {
            address,
            rate,
            seconds,
            connections,
            instances,
        } => push(&address, rate, seconds, connections, instances),
        Mode::Browse {
            address,
            browsers,
            times,
            pause,
        } => browse(&address, browsers, times, pause),
        Mode::History {
            address,
            hours,
            instances,
            interval,
            connections,
        } => history(&address, hours, instances, interval, connections),
    }
}

/// Number of bodies that are made before sending, because compressing one takes longer than storing it.
const BODIES: usize = 64;

/// The outcome of the pushes of one connection.
#[derive(Default)]
struct Seen {
    times: Vec<Duration>,
    refused: u64,
    asked_to_wait: u64,
}

fn push(
    address: &str,
    rate: u32,
    seconds: u32,
    connections: u32,
    instances: u32,
) -> Result<(), Box<dyn Error>> {
    let service = Service::new(600);
    let mut random = Random::new(1);
    let bodies: Vec<Vec<u8>> = (0..BODIES).map(|_| service.profile(&mut random)).collect();
    let decoded = bodies.iter().map(Vec::len).max().unwrap_or(0);
    let bodies: Vec<Vec<u8>> = bodies
        .iter()
        .map(|body| gzip(body))
        .collect::<Result<_, _>>()?;
    let total = u64::from(rate) * u64::from(seconds);
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let send = || -> io::Result<Seen> {
        let mut server = Server::connect(address)?;
        let mut seen = Seen::default();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= total {
                return Ok(seen);
            }
            let due = start + Duration::from_secs_f64(number as f64 / f64::from(rate));
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let time = since.map_err(io::Error::other)?.as_nanos() as i64;
            let instance = number % u64::from(instances);
            let body = with_time(&bodies[number as usize % BODIES], time)?;
            let status = server.push(instance, &body)?;
            seen.times.push(due.elapsed());
            match status {
                200 => {}
                429 | 503 => seen.asked_to_wait += 1,
                _ => seen.refused += 1,
            }
        }
    };
    let all = in_parallel(connections, send)?;
    let elapsed = start.elapsed();
    let times = all.iter().flat_map(|seen| seen.times.iter().copied());
    let times: Vec<Duration> = times.collect();
    println!(
        "{{\"sent\": {}, \"seconds\": {:.1}, {}, \"asked_to_wait\": {}, \"refused\": {}, \"decoded_bytes\": {decoded}}}",
        times.len(),
        elapsed.as_secs_f64(),
        percentiles(times),
        all.iter().map(|seen| seen.asked_to_wait).sum::<u64>(),
        all.iter().map(|seen| seen.refused).sum::<u64>(),
    );
    Ok(())
}

/// The median, the 99th percentile and the longest of the times, as fields of JSON.
fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        let time = times.get(index.min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!(
        "\"p50_ms\": {:.2}, \"p99_ms\": {:.2}, \"max_ms\": {:.2}",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

fn browse(address: &str, browsers: u32, times: u32, pause: u32) -> Result<(), Box<dyn Error>> {
    let number = AtomicU64::new(0);
    let connected = Barrier::new(browsers as usize);
    let pause = Duration::from_secs(pause.into());
    let browser = || -> io::Result<Vec<Duration>> {
        let mut server = Server::connect(address)?;
        let share = number.fetch_add(1, Relaxed) as f64 / f64::from(browsers);
        connected.wait();
        let start = Instant::now();
        let mut took = Vec::new();
        for time in 0..times {
            let due = match time {
                0 => start,
                _ => start + pause * time + pause.mul_f64(share),
            };
            thread::sleep(due.saturating_duration_since(Instant::now()));
            server.expect(200, "GET / HTTP/1.1\r\nAccept-Encoding: gzip", b"")?;
            for question in ["labels", "builds"] {
                let line = format!(
                    "POST /api/v1/questions/{question} HTTP/1.1\r\nContent-Type: application/json"
                );
                server.expect(200, &line, b"{}")?;
            }
            took.push(due.elapsed());
        }
        Ok(took)
    };
    let all = in_parallel(browsers, browser)?;
    let first = all.iter().filter_map(|times| times.first().copied());
    println!(
        "{{\"browsers\": {browsers}, \"at_once\": {{{}}}, \"all\": {{{}}}}}",
        percentiles(first.collect()),
        percentiles(all.concat()),
    );
    Ok(())
}

fn history(
    address: &str,
    hours: u32,
    instances: u32,
    interval: u32,
    connections: u32,
) -> Result<(), Box<dyn Error>> {
    let service = Service::new(600);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let first = now - u64::from(hours) * 3600;
    let rounds = u64::from(hours) * 3600 / u64::from(interval);
    let next = AtomicU64::new(0);
    let bytes = AtomicU64::new(0);
    let start = Instant::now();
    let send = || -> io::Result<()> {
        let mut server = Server::connect(address)?;
        loop {
            let number = next.fetch_add(1, Relaxed);
            let (round, instance) = (number / u64::from(instances), number % u64::from(instances));
            if round >= rounds {
                return Ok(());
            }
            let time = (first + round * u64::from(interval)) * 1_000_000_000;
            let mut random = Random::new(number);
            let body = with_time(&gzip(&service.profile(&mut random))?, time as i64)?;
            bytes.fetch_add(body.len() as u64, Relaxed);
            loop {
                match server.push(instance, &body)? {
                    200 => break,
                    429 | 503 => thread::sleep(Duration::from_millis(200)),
                    status => return Err(io::Error::other(format!("status {status}"))),
                }
            }
        }
    };
    in_parallel(connections, send)?;
    println!(
        "{{\"profiles\": {}, \"gzipped_bytes\": {}, \"seconds\": {:.1}}}",
        rounds * u64::from(instances),
        bytes.into_inner(),
        start.elapsed().as_secs_f64(),
    );
    Ok(())
}

fn in_parallel<T: Send>(
    threads: u32,
    work: impl Fn() -> io::Result<T> + Sync,
) -> Result<Vec<T>, Box<dyn Error>> {
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let done = running.into_iter().map(|thread| {
            let done = thread.join().map_err(|_| "a connection panicked")?;
            Ok(done?)
        });
        done.collect()
    })
}

/// A connection to the server.
struct Server {
    address: String,
    stream: BufReader<TcpStream>,
}

impl Server {
    fn connect(address: &str) -> io::Result<Server> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Server {
            address: address.to_owned(),
            stream: BufReader::new(stream),
        })
    }

    /// Sends a profile; returns the status of the answer.
    fn push(&mut self, instance: u64, body: &[u8]) -> io::Result<u16> {
        let name = format!("shop%7Binstance%3Di{instance}%2Cversion%3Dv1%7D");
        self.send(
            &format!("POST /ingest?name={name}&format=pprof HTTP/1.1"),
            body,
        )
    }

    /// Sends a request whose status has to be `status`.
    fn expect(&mut self, status: u16, head: &str, body: &[u8]) -> io::Result<()> {
        let found = self.send(head, body)?;
        if found != status {
            return Err(io::Error::other(format!("{head:?}: status {found}")));
        }
        Ok(())
    }

    /// Sends a request that begins with these lines; returns the status of the answer.
    fn send(&mut self, head: &str, body: &[u8]) -> io::Result<u16> {
        let head = format!(
            "{head}\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        self.stream.get_mut().write_all(&request)?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("answer {line:?}")))?;
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        io::copy(&mut (&mut self.stream).take(length), &mut io::sink())?;
        Ok(status)
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Appends the time to a compressed profile without compressing it again: fields may have any order, and a file may have
/// several gzip members.
fn with_time(compressed: &[u8], time_nanos: i64) -> io::Result<Vec<u8>> {
    let time = Profile {
        time_nanos,
        ..Profile::default()
    };
    let mut encoder = GzEncoder::new(compressed.to_vec(), Compression::none());
    encoder.write_all(&time.encode_to_vec())?;
    encoder.finish()
}

/// A service: functions that call each other.
struct Service {
    functions: usize,
}

/// Samples of one profile: a fifth of a core at 100 Hz for 15 seconds.
const SAMPLES: usize = 300;

impl Service {
    fn new(functions: usize) -> Service {
        Service { functions }
    }

    /// A stack, innermost function first, as pprof has it. Few stacks have most samples, as in real programs.
    fn stack(&self, random: &mut Random) -> Vec<u64> {
        let mut function = 0;
        let mut stack = vec![1];
        let depth = 12 + random.below(20);
        for level in 0..depth {
            // Each function calls a few others, the first of them most often.
            let callee = (random.bits().leading_zeros() as usize + level).min(8) % 6;
            function = (function * 7 + callee * 13 + 1) % self.functions;
            stack.push(function as u64 + 1);
        }
        stack.reverse();
        stack
    }

    fn profile(&self, random: &mut Random) -> Vec<u8> {
        let mut strings: Vec<String> = [
            "",
            "samples",
            "count",
            "cpu",
            "nanoseconds",
            "/usr/bin/shop",
        ]
        .map(str::to_owned)
        .into();
        let mut stacks = std::collections::BTreeMap::new();
        for _ in 0..SAMPLES {
            *stacks.entry(self.stack(random)).or_insert(0) += 1;
        }
        let used: std::collections::BTreeSet<u64> = stacks.keys().flatten().copied().collect();
        let mut functions = Vec::new();
        let mut locations = Vec::new();
        for &id in &used {
            let file = strings.len() as i64;
            strings.push(format!("/src/shop/part{}/module{}.go", id % 20, id % 150));
            let name = strings.len() as i64;
            strings.push(format!(
                "example.com/shop/part{}.(*Handler{}).function{id}",
                id % 20,
                id % 150
            ));
            functions.push(Function {
                id,
                name,
                system_name: name,
                filename: file,
                start_line: id as i64,
            });
            locations.push(Location {
                id,
                mapping_id: 1,
                address: 0x40_0000 + id * 64,
                line: vec![Line {
                    function_id: id,
                    line: id as i64 + 3,
                }],
            });
        }
        let samples = stacks.into_iter().map(|(location_id, count)| Sample {
            location_id,
            value: vec![count, count * 10_000_000],
            label: Vec::new(),
        });
        Profile {
            sample_type: vec![
                ValueType { r#type: 1, unit: 2 },
                ValueType { r#type: 3, unit: 4 },
            ],
            sample: samples.collect(),
            mapping: vec![Mapping {
                id: 1,
                memory_start: 0x40_0000,
                memory_limit: 0x80_0000,
                filename: 5,
                has_functions: true,
                ..Mapping::default()
            }],
            location: locations,
            function: functions,
            string_table: strings,
            duration_nanos: 15_000_000_000,
            period_type: Some(ValueType { r#type: 3, unit: 4 }),
            period: 10_000_000,
            ..Profile::default()
        }
        .encode_to_vec()
    }
}
