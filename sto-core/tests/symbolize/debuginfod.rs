//! Files from debuginfod servers: elfutils' server, and servers that fail in every way.

use super::compile::{Program, run};
use super::recording::{Resolved, resolve};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use sto_core::ingest::{Debuginfod, SymbolOptions};
use sto_core::recording::Module;
use sto_test_support::missing;

const SOURCE: &str = "
static __attribute__((noinline, noclone)) long hidden(long n) { return n * n; }
int main(int argc, char **argv) { return hidden(argc); }
";

/// A program that is stripped at its recorded path; the unstripped file is in the folder `served`.
struct Stripped {
    dir: tempfile::TempDir,
    module: Module,
    offset: u64,
}

impl Stripped {
    fn new() -> Stripped {
        let dir = tempfile::tempdir().unwrap();
        let built = Program::c(&dir.path().join("built"), SOURCE);
        std::fs::create_dir(dir.path().join("served")).unwrap();
        std::fs::copy(&built.path, dir.path().join("served/whole")).unwrap();
        run(dir.path(), "objcopy", &["--strip-all", "built/app"]);
        Stripped {
            module: built.module(),
            offset: built.offsets_of("hidden").start,
            dir,
        }
    }

    fn build_id(&self) -> String {
        self.module.build_id.as_ref().unwrap().to_string()
    }

    fn whole(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("served/whole")).unwrap()
    }

    fn servers(&self, urls: &[&str]) -> Debuginfod {
        let urls = urls.iter().map(|&url| url.to_owned()).collect();
        Debuginfod::new(urls, self.dir.path().join("cache"))
    }

    fn resolve(&self, servers: &Debuginfod) -> Resolved {
        let options = SymbolOptions {
            debuginfod: Some(servers.clone()),
            ..SymbolOptions::default()
        };
        resolve(self.module.clone(), [self.offset], &options)
    }

    /// The files of the program in the cache, with sizes.
    fn cached(&self) -> Vec<(String, u64)> {
        let folder = self.dir.path().join("cache").join(self.build_id());
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let entry = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().len())
        };
        let mut entries: Vec<_> = entries.map(entry).collect();
        entries.sort();
        entries
    }
}

/// elfutils' debuginfod server.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Starts a server for the files of a folder, and waits until it has indexed the file with this build id.
    fn start(folder: &Path, build_id: &str) -> Server {
        let port = free_port();
        let mut command = Command::new("debuginfod");
        command.args(["-d", ":memory:", "-F", "-p", &port.to_string()]);
        command.arg(folder).env("HOME", folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.env_remove("DEBUGINFOD_URLS").spawn().unwrap();
        let request = format!("GET /buildid/{build_id}/debuginfo HTTP/1.0\r\n\r\n");
        let mut has_it = false;
        while !has_it {
            let mut answer = [0; 12];
            has_it = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok_and(|mut stream| {
                let read = stream.write_all(request.as_bytes());
                read.and_then(|()| stream.read_exact(&mut answer)).is_ok()
                    && answer.ends_with(b"200")
            });
            std::thread::sleep(Duration::from_millis(10));
        }
        let url = format!("http://127.0.0.1:{port}");
        Server { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server that calls `answer` for each connection after it has read the request. Returns its URL and the
/// number of connections.
fn serve(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, answer) = (Arc::clone(&count), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                answer(stream);
            });
        }
    });
    (url, count)
}

/// Sends this and closes the connection.
fn send(head: &str, body: &[u8]) -> impl Fn(TcpStream) + Send + Sync + use<> {
    let answer = [head.as_bytes(), b"\r\n\r\n", body].concat();
    move |mut stream| drop(stream.write_all(&answer))
}

fn file_of(bytes: &[u8]) -> impl Fn(TcpStream) + Send + Sync + use<> {
    let length = bytes.len();
    send(
        &format!("HTTP/1.1 200 OK\r\nContent-Length: {length}"),
        bytes,
    )
}

const TOOLS: [&str; 2] = ["debuginfod", "objcopy"];

#[test]
fn downloads_and_caches_debug_info() {
    if missing(&TOOLS) {
        return;
    }
    let program = Stripped::new();
    let server = Server::start(&program.dir.path().join("served"), &program.build_id());
    let servers = program.servers(&[&server.url]);
    let found = program.resolve(&servers);
    assert_eq!(found.functions(), ["hidden"], "{}", found.problem());
    assert_eq!(found.frames[0][0].file, "app.c");
    let whole = program.whole().len() as u64;
    assert_eq!(program.cached(), [("debuginfo".to_owned(), whole)]);
    drop(server);
    let offline = program.resolve(&program.servers(&["http://127.0.0.1:9"]));
    assert_eq!(offline.functions(), ["hidden"]);
}

#[test]
fn shares_the_cache_of_elfutils() {
    if missing(&TOOLS) || missing(&["debuginfod-find"]) {
        return;
    }
    let program = Stripped::new();
    let server = Server::start(&program.dir.path().join("served"), &program.build_id());
    let find = |urls: &str, cache: &Path| {
        let mut command = Command::new("debuginfod-find");
        command.args(["debuginfo", &program.build_id()]);
        command
            .env("DEBUGINFOD_URLS", urls)
            .env("DEBUGINFOD_CACHE_PATH", cache);
        command.output().unwrap().status.success()
    };
    let ours = program.servers(&[&server.url]);
    program.resolve(&ours);
    assert!(find("http://127.0.0.1:9", &ours.cache));
    let mut theirs = program.servers(&[]);
    theirs.cache = program.dir.path().join("theirs");
    assert!(find(&server.url, &theirs.cache));
    assert_eq!(program.resolve(&theirs).functions(), ["hidden"]);
}

#[test]
fn downloads_a_missing_program() {
    if missing(&TOOLS) {
        return;
    }
    let mut program = Stripped::new();
    let server = Server::start(&program.dir.path().join("served"), &program.build_id());
    program.module.path = "/gone/app".to_owned();
    let servers = program.servers(&[&server.url]);
    assert_eq!(program.resolve(&servers).functions(), ["hidden"]);
}

#[test]
fn asks_once_for_missing_files() {
    if missing(&["objcopy"]) {
        return;
    }
    let program = Stripped::new();
    let (url, count) = serve(send("HTTP/1.1 404 Not Found\r\nContent-Length: 0", b""));
    let servers = program.servers(&[&url]);
    for _ in 0..2 {
        let found = program.resolve(&servers);
        assert!(
            found.problem().contains("is stripped"),
            "{}",
            found.problem()
        );
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(program.cached(), [("debuginfo".to_owned(), 0)]);
    }
    // The cache can be configured to forget misses.
    std::fs::write(servers.cache.join("cache_miss_s"), "0").unwrap();
    program.resolve(&servers);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn failing_server_only_loses_symbols() {
    if missing(&["objcopy"]) {
        return;
    }
    let program = Stripped::new();
    let whole = program.whole();
    let other = Program::c(
        &program.dir.path().join("other"),
        "int main(void) { return 1; }",
    );
    let wait = |mut stream: TcpStream| drop(stream.read(&mut [0; 1]));
    let trickle = |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let half = send(
        &format!("HTTP/1.1 200 OK\r\nContent-Length: {}", whole.len()),
        &whole[..whole.len() / 2],
    );
    let large = send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999", b"");
    let endless = |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
    };
    let closed = format!("http://127.0.0.1:{}", free_port());
    let cases = [
        (serve(wait).0, "took more than 0.2 seconds", true),
        (serve(trickle).0, "took more than 0.2 seconds", true),
        (closed, "cannot be reached", true),
        ("ftp://nowhere".to_owned(), "cannot be reached", true),
        (
            serve(drop).0,
            "closed the connection before its answer was complete",
            false,
        ),
        (
            serve(half).0,
            "closed the connection before its answer was complete",
            false,
        ),
        (
            serve(file_of(b"garbage")).0,
            "sent a file without the requested build id",
            false,
        ),
        (
            serve(file_of(other.bytes())).0,
            "sent a file without the requested build id",
            false,
        ),
        (
            serve(large).0,
            "larger than the limit of 1000000 bytes",
            false,
        ),
        (
            serve(endless).0,
            "larger than the limit of 1000000 bytes",
            false,
        ),
        (
            serve(send("HTTP/1.1 503 Busy\r\nContent-Length: 0", b"")).0,
            "answered with HTTP status 503",
            false,
        ),
    ];
    for (bad, why, is_given_up) in cases {
        let mut quick = program.servers(&[&bad]);
        quick.timeout = Duration::from_millis(200);
        quick.max_bytes = 1_000_000;
        let found = program.resolve(&quick);
        let problem = found.problem();
        assert!(problem.contains(&format!("({bad} ")), "{problem}");
        assert!(problem.contains(why), "{problem}");
        assert!(found.functions()[0].starts_with("[app+0x"), "{why}");
        assert_eq!(program.cached(), [], "{why}");
        let again = program.resolve(&quick);
        let is_asked = !again
            .problem()
            .contains("failed before and is not asked again");
        assert_eq!(is_asked, !is_given_up, "{}", again.problem());

        let (good, _) = serve(file_of(&whole));
        let mut both = quick;
        both.urls.push(good);
        assert_eq!(program.resolve(&both).functions(), ["hidden"], "{why}");
        std::fs::remove_dir_all(&both.cache).unwrap();
    }
}

#[test]
fn reports_an_unwritable_cache() {
    if missing(&["objcopy"]) {
        return;
    }
    let program = Stripped::new();
    let (url, _) = serve(file_of(&program.whole()));
    let cache: PathBuf = program.dir.path().join("cache");
    std::fs::write(&cache, "no folder").unwrap();
    let found = program.resolve(&program.servers(&[&url]));
    assert!(
        found.problem().contains("cannot be saved in"),
        "{}",
        found.problem()
    );
}
