//! Tests with a real Go program.

use super::*;
use crate::intake::tests::{profiles, start, wait};
use crate::options::Options;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use sto_test_support::missing;

/// A program that works and allocates, and writes the address of its profiles.
const PROGRAM: &str = r#"package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
)

var kept [][]byte

func allocate() {
	kept = append(kept[:len(kept)%100], make([]byte, 1<<16))
}

func work() {
	for {
		for i := 0; i < 100; i++ {
			allocate()
		}
		runtime.Gosched()
	}
}

func main() {
	runtime.MemProfileRate = 1
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	go work()
	panic(http.Serve(listener, nil))
}
"#;

/// A running Go program, which ends with this.
struct Go {
    process: Child,
    address: String,
    _output: BufReader<ChildStdout>,
}

impl Go {
    fn start() -> Go {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("main.go"), folder.path().join("shop"));
        std::fs::write(&source, PROGRAM).unwrap();
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg(&source);
        let built = go.env("CGO_ENABLED", "0").status().unwrap();
        assert!(built.success());
        let mut process = Command::new(&program)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Go {
            process,
            address: address.trim().to_owned(),
            _output: output,
        }
    }
}

impl Drop for Go {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn target(address: &str) -> Target {
    Target::new(Scrape {
        program: "shop".to_owned(),
        build: "v1".to_owned(),
        url: format!("http://{address}/debug/pprof/"),
        types: Vec::new(),
        interval_seconds: 2,
        labels: BTreeMap::new(),
    })
}

const LIMIT: u64 = 32 << 20;

#[test]
fn fetches_time_and_what_was_allocated_since_the_last_reading() {
    if missing(&["go"]) {
        return;
    }
    let go = Go::start();
    let mut target = target(&go.address);
    let folder = tempfile::tempdir().unwrap();
    let (store, intake) = start(folder.path());
    assert!(target.fetch(ScrapeType::Allocs, LIMIT).unwrap().is_none());
    let mut fetch = |scrape_type| target.fetch(scrape_type, LIMIT).unwrap().unwrap();
    let fetched = [ScrapeType::Cpu, ScrapeType::Allocs].map(&mut fetch);
    let whole = fetched[1].body.clone();
    wait(intake.accept(fetched.into())).unwrap();
    wait(intake.flush());

    let stored = profiles(&store);
    let events = |events: &[&str]| {
        let found = stored.iter().find(|stored| {
            let types = &stored.profile.sample_types;
            types.iter().map(|t| &*t.event).eq(events.iter().copied())
        });
        found
            .unwrap_or_else(|| panic!("no profile of {events:?}"))
            .profile
            .clone()
    };
    let (cpu, allocated) = (events(&["cpu"]), events(&["alloc_space", "alloc_objects"]));
    assert_eq!(cpu.labels["instance"], go.address);
    assert!(cpu.quality.samples > 0 && allocated.quality.samples > 0);
    // The second reading counts only what was allocated since the first.
    let since_start = Received {
        origin: target.origin(),
        body: whole,
        format: Some(Format::Pprof),
        ..Received::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let (other, intake) = start(folder.path());
    wait(intake.accept(vec![since_start])).unwrap();
    wait(intake.flush());
    assert!(profiles(&other)[0].profile.quality.samples > allocated.quality.samples);
}

#[test]
fn redirects_and_large_answers_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answers = [
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
            .to_owned(),
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{}",
            "x".repeat(200)
        ),
    ];
    let server = std::thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    let fetch = || target(&address).fetch(ScrapeType::Heap, 100).unwrap_err();
    let redirected = fetch();
    assert!(
        redirected.contains("redirect") || redirected.contains("302"),
        "{redirected}"
    );
    let large = fetch();
    assert!(
        large.contains("larger than the limit of 100 bytes"),
        "{large}"
    );
    server.join().unwrap();
}

#[test]
fn the_configuration_file_has_a_list_of_programs() {
    let text = "[retention]\ndays = 30\n[[scrape]]\nprogram = 'shop'\nbuild = 'v1'\nurl = 'http://shop:6060/debug/pprof'\n\
                types = ['cpu', 'mutex']\nlabels = { zone = 'a' }\n";
    let options = Options::parse(text).unwrap();
    assert_eq!(options.retention.days, Some(30));
    let scrape = &options.scrapes[0];
    assert_eq!(scrape.types, [ScrapeType::Cpu, ScrapeType::Mutex]);
    let target = Target::new(scrape.clone());
    assert_eq!(
        target.address(ScrapeType::Cpu),
        "http://shop:6060/debug/pprof/profile?seconds=14"
    );
    let labels = target.origin().labels;
    assert_eq!((&*labels["instance"], &*labels["zone"]), ("shop:6060", "a"));
    let unknown = Options::parse("[[scrape]]\nprogram = 'shop'\nport = 1\n");
    assert!(unknown.unwrap_err().message.contains("port"));
}
