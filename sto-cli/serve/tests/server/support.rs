//! A server in this process, with a store in memory.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use sto_core::ingest::{IngestOptions, Input, ingest};
use sto_core::store::Store;
use sto_serve::{Options, Program, ServeError, serve};
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::http::Request;

pub(crate) struct Server {
    /// The address of the pages, with the token of the link if there is one.
    pub(crate) url: String,
    pub(crate) store: Store,
    /// Lines of the log.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    agent: Agent,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

/// A response, with its headers as lines of text.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) text: String,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::with_config("")
    }

    /// Starts a server on a random port, with the text of a configuration file.
    pub(crate) fn with_config(text: &str) -> Server {
        Server::with_options(Options::parse(text).unwrap())
    }

    pub(crate) fn with_options(mut options: Options) -> Server {
        options.listen.set_port(0);
        let store = Store::in_memory().unwrap();
        let served = store.clone();
        let log = Arc::<Mutex<Vec<String>>>::default();
        let (stop, stopped) = oneshot::channel();
        let (ready, url) = mpsc::channel();
        let mut program = Program::default();
        program.on_ready = Arc::new(move |url| ready.send(url.to_owned()).unwrap());
        let lines = Arc::clone(&log);
        program.log = Arc::new(move |line| lines.lock().unwrap().push(line.to_string()));
        let run = move || {
            serve(served, options, program, async {
                let _ = stopped.await;
            })
        };
        let thread = thread::spawn(run);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // The server closes a connection whose request it refused without reading the body.
            .max_idle_connections(0)
            .build();
        Server {
            url: url.recv().unwrap(),
            store,
            log,
            agent: config.into(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Stores two builds of `app`, `v1` and `v2`.
    pub(crate) fn with_builds(self) -> Server {
        for (build, stacks) in [
            ("v1", "main;parse 3\nmain;read 7\n"),
            ("v2", "main;parse 6\n"),
        ] {
            self.add(build, stacks);
        }
        self
    }

    pub(crate) fn add(&self, build: &str, stacks: &str) {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(build.to_owned()),
            ..IngestOptions::default()
        };
        let input = Input::Bytes {
            name: Path::new("stacks.folded"),
            bytes: stacks.as_bytes(),
        };
        ingest(&self.store, input, &options, &mut |_| {}).unwrap();
    }

    /// The host and port.
    pub(crate) fn host(&self) -> &str {
        let rest = self.url.split_once("://").unwrap().1;
        rest.split_once('/').unwrap().0
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Response {
        self.send("POST", path, &[], body)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Response {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.host()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self
            .agent
            .run(request.body(body.as_ref()).unwrap())
            .unwrap();
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()));
        Response {
            status: response.status().as_u16(),
            headers: headers.collect(),
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    /// Sends bytes, and returns everything that the server answers until it closes the connection.
    pub(crate) fn send_raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // The server may close the connection before it read all.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends the server, and returns its outcome.
    pub(crate) fn stop(&mut self) -> Result<(), ServeError> {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The detail of a problem with this status.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(
            self.headers
                .contains("content-type: application/problem+json\n"),
            "{}",
            self.headers
        );
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], "about:blank");
        problem["detail"].as_str().unwrap().to_owned()
    }
}
