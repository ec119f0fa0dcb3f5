//! `kill -9` of a server while services send profiles: what was acknowledged is stored once.

use crate::support::Sandbox;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use sto_core::store::Store;
use sto_test_support::Changes;

/// Number of acknowledged profiles at each kill. Short lives end while the segments of the life before are stored.
const LIVES: [u32; 5] = [40, 3, 150, 1, 20];

/// Number of connections that send at the same time.
const SENDERS: u32 = 4;

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Server {
        let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("http://")?;
            Some(address.trim_end_matches('/').to_owned())
        });
        // The pipe must not fill up.
        thread::spawn(move || lines.for_each(drop));
        Server {
            process,
            address: address.unwrap(),
        }
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Sends a profile with a function of its own. Returns whether it was acknowledged; `None` if the server is gone.
fn send(address: &str, number: u32) -> Option<bool> {
    let body = format!("main;work;piece{number} 1\n");
    let request = format!(
        "POST /ingest?name=shop%7Bversion%3Dv1%7D&format=folded&from=1700000000&until=1700000010 HTTP/1.1\r\n\
         Host: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?;
    Some(status == "200")
}

/// The samples of each piece in the store.
fn stored(sandbox: &Sandbox) -> BTreeMap<u32, u64> {
    let store = Store::open(&sandbox.path("store")).unwrap();
    let snapshot = store.snapshot().unwrap();
    let mut found = BTreeMap::new();
    for build in snapshot.builds().unwrap() {
        let loaded = snapshot.load_build(build.id).unwrap();
        for &(node, cost) in &loaded.costs[0] {
            let symbol = loaded.frames.frame(loaded.tree.frame(node)).symbol;
            if let Some(number) = symbol.strip_prefix("piece") {
                found.insert(number.parse().unwrap(), cost.samples);
            }
        }
    }
    found
}

#[test]
fn kill_of_a_server_loses_and_doubles_nothing() {
    let sandbox = Sandbox::new();
    let next = AtomicU32::new(0);
    let acknowledged = Mutex::new(Vec::new());
    for life in LIVES {
        let server = Server::start(&sandbox);
        let before = acknowledged.lock().unwrap().len();
        let send_until_killed = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                match send(&server.address, number) {
                    Some(true) => acknowledged.lock().unwrap().push(number),
                    Some(false) => panic!("profile {number} was refused"),
                    None => break,
                }
                if acknowledged.lock().unwrap().len() >= before + life as usize {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..SENDERS {
                scope.spawn(send_until_killed);
            }
        });
        server.kill();
    }

    let server = Server::start(&sandbox);
    let spool = sandbox.path("store").join("spool");
    let is_empty = || {
        let mut entries = fs::read_dir(&spool).unwrap();
        !entries.any(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .ends_with(".spool")
        })
    };
    Changes::watch(&[&spool]).wait_for(|| is_empty().then_some(()));
    server.kill();
    let found = stored(&sandbox);
    for number in acknowledged.into_inner().unwrap() {
        assert_eq!(found.get(&number), Some(&1), "profile {number}");
    }
    assert!(found.values().all(|&samples| samples == 1), "{found:?}");
    sandbox.sto(&["verify"]).succeeds();
}
