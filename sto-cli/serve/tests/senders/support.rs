//! A server in this process, with a store in a temporary folder.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use sto_core::store::Store;
use sto_serve::{Options, Program, serve};
use sto_test_support::{Changes, missing};
use tempfile::TempDir;
use ureq::Agent;

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) store: Store,
    agent: Agent,
    /// Changes of the store and its spool.
    changes: Changes,
    _folder: TempDir,
}

/// The status and body of a response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::start_in(TempDir::new().unwrap())
    }

    /// Starts a server with the store in a folder.
    pub(crate) fn start_in(folder: TempDir) -> Server {
        let spool = folder.path().join("spool");
        std::fs::create_dir_all(&spool).unwrap();
        let changes = Changes::watch(&[folder.path(), &spool]);
        let store = Store::open_or_create(folder.path()).unwrap();
        let served = store.clone();
        let (ready, url) = mpsc::channel();
        thread::spawn(move || {
            let mut options = Options::default();
            options.listen.set_port(0);
            let mut program = Program::default();
            program.on_ready = Arc::new(move |url| ready.send(url.to_owned()).unwrap());
            serve(served, options, program, std::future::pending())
        });
        let config = Agent::config_builder().http_status_as_error(false);
        Server {
            url: url.recv().unwrap().trim_end_matches('/').to_owned(),
            store,
            agent: config.build().into(),
            changes,
            _folder: folder,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The host and port.
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut request = self.agent.post(format!("{}{path}", self.url()));
        for (key, value) in headers {
            request = request.header(*key, *value);
        }
        Response::read(request.send(body).unwrap())
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.agent.get(format!("{}{path}", self.url()));
        for (key, value) in headers {
            request = request.header(*key, *value);
        }
        Response::read(request.call().unwrap())
    }

    pub(crate) fn options(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.agent.options(format!("{}{path}", self.url()));
        for (key, value) in headers {
            request = request.header(*key, *value);
        }
        Response::read(request.call().unwrap())
    }

    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Response {
        Response::read(
            self.agent
                .put(format!("{}{path}", self.url()))
                .send(body)
                .unwrap(),
        )
    }

    /// Describes the stored profiles: `PROGRAM@BUILD KEY=VALUE… EVENT…`, sorted.
    pub(crate) fn profiles(&self) -> Vec<String> {
        let builds = self.store.snapshot().unwrap().builds().unwrap();
        let mut described: Vec<String> = builds
            .iter()
            .flat_map(|of| {
                of.profiles
                    .iter()
                    .map(move |stored| (&of.build, &stored.profile))
            })
            .map(|(build, profile)| {
                let labels = profile.labels.iter();
                let labels = labels.map(|(key, value)| format!(" {key}={value}"));
                let types = profile
                    .sample_types
                    .iter()
                    .map(|kind| format!(" {}", kind.event));
                let rest: String = labels.chain(types).collect();
                format!("{}@{}{rest}", build.executable, build.version)
            })
            .collect();
        described.sort();
        described
    }

    /// The functions of a build with most cost, as JSON.
    pub(crate) fn top(&self, selector: &str) -> String {
        let question = format!(r#"{{"selector":"{selector}"}}"#);
        let response = self.post("/api/v1/questions/top", &[], question.as_bytes());
        assert_eq!(response.status, 200, "{}", response.text());
        response.text()
    }

    /// Waits until at least `count` profiles are stored, and describes them.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<String> {
        self.wait_until(|profiles| profiles.len() >= count)
    }

    /// Waits until the stored profiles fulfil a condition, and describes them.
    pub(crate) fn wait_until(&self, is_done: impl Fn(&[String]) -> bool) -> Vec<String> {
        self.changes.wait_for(|| {
            let profiles = self.profiles();
            is_done(&profiles).then_some(profiles)
        })
    }
}

impl Response {
    fn read(mut response: ureq::http::Response<ureq::Body>) -> Response {
        let headers = response.headers().iter();
        let headers =
            headers.map(|(key, value)| (key.to_string(), value.to_str().unwrap().to_owned()));
        Response {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: response.body_mut().read_to_vec().unwrap(),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// Asserts that this is a problem with this status, whose detail contains a text.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, part: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert!(self.text().contains(part), "{}", self.text());
    }
}

/// The path of a file of the repository's test data.
pub(crate) fn testdata(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name)
}

pub(crate) fn read(name: &str) -> Vec<u8> {
    std::fs::read(testdata(name)).unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Python with these modules; `None` if one is missing, and the test is skipped.
pub(crate) fn python(modules: &[&str]) -> Option<Command> {
    let modules: Vec<String> = modules
        .iter()
        .map(|module| format!("python3 {module}"))
        .collect();
    let tools: Vec<&str> = modules.iter().map(String::as_str).collect();
    (!missing(&tools)).then(|| Command::new("python3"))
}
