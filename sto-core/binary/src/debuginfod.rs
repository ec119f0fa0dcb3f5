//! A client for debuginfod servers; it shares the cache of elfutils' client.
//!
//! Sources: debuginfod(8), section *WEBAPI*; debuginfod-client-config(7); for the undocumented names of cached files,
//! `debuginfod/debuginfod-client.c` of elfutils 0.188.

use super::elf::ElfFile;
use super::found::Artifact;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use sto_model::Debuginfod;
use sto_model::GnuBuildId;
use sto_model::files::Folder;
use sto_model::system::create_private_folders;
use sto_model::tls_config;
use ureq::Agent;

/// Why a server did not send a file.
enum Failure {
    /// The server does not have the file.
    Missing,
    /// The request failed; requests for other files may succeed.
    Failed(String),
    /// The server cannot be reached or is too slow; it is not asked again.
    Unreachable(String),
}

/// Number of bytes that a server must send within the timeout, as in elfutils.
const FIRST_BYTES: u64 = 100 << 10;
/// How long a file counts as missing if the cache does not configure it, as in elfutils.
const KEEP_MISSING: Duration = Duration::from_secs(600);
const READ_SIZE: usize = 1 << 16;

pub(super) struct Client<'o>(pub(super) &'o Debuginfod);

impl Client<'_> {
    /// Returns the file with this build id from the cache, or from the first server that has it; `None` if none has.
    ///
    /// # Errors
    /// Returns a clause with the URL and the problem if no server has sent the file and at least one could not be asked.
    pub(super) fn find(
        &self,
        build_id: &GnuBuildId,
        artifact: Artifact,
    ) -> Result<Option<ElfFile>, String> {
        let folder = self.0.cache.join(build_id.to_string());
        let cached = folder.join(artifact.name());
        if let Some(file) = open_with_build_id(&cached, build_id) {
            return Ok(Some(file));
        }
        if self.is_missing(&cached) {
            return Ok(None);
        }
        let mut problem = None;
        for url in &self.0.urls {
            if self.given_up().contains(url) {
                problem
                    .get_or_insert_with(|| format!("{url} failed before and is not asked again"));
                continue;
            }
            match self.fetch(url, build_id, artifact, &folder) {
                Ok(()) => return Ok(open_with_build_id(&cached, build_id)),
                Err(Failure::Missing) => {}
                Err(Failure::Failed(why)) => problem = Some(format!("{url} {why}")),
                Err(Failure::Unreachable(why)) => {
                    self.given_up().push(url.clone());
                    problem = Some(format!("{url} {why}"));
                }
            }
        }
        match problem {
            Some(problem) => Err(problem),
            None => {
                // An empty file records the miss; without it, the next search asks again.
                let _ = create_private_folders(&folder).and_then(|()| File::create(&cached));
                Ok(None)
            }
        }
    }

    fn given_up(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0
            .unreachable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the cache has a recent record (an empty file) that no server has the file.
    fn is_missing(&self, cached: &Path) -> bool {
        let configured = std::fs::read_to_string(self.0.cache.join("cache_miss_s"));
        let seconds = configured.ok().and_then(|text| text.trim().parse().ok());
        let keep = seconds.map_or(KEEP_MISSING, Duration::from_secs);
        cached.metadata().is_ok_and(|file| {
            let age = file.modified().ok().and_then(|time| time.elapsed().ok());
            file.len() == 0 && age.is_some_and(|age| age < keep)
        })
    }

    /// Downloads a file into the cache.
    fn fetch(
        &self,
        url: &str,
        build_id: &GnuBuildId,
        artifact: Artifact,
        folder: &Path,
    ) -> Result<(), Failure> {
        let name = artifact.name();
        let address = format!("{}/buildid/{build_id}/{name}", url.trim_end_matches('/'));
        let started = Instant::now();
        let response = self
            .agent()
            .get(&address)
            .call()
            .map_err(|e| self.failure(&e))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Err(Failure::Missing),
            other => {
                return Err(Failure::Failed(format!(
                    "answered with HTTP status {other}"
                )));
            }
        }
        if response.body().content_length() > Some(self.0.max_bytes) {
            return Err(too_large(self.0.max_bytes));
        }
        let unwritable = |error: std::io::Error| {
            Failure::Failed(format!(
                "has it, but it cannot be saved in {}: {error}",
                folder.display()
            ))
        };
        create_private_folders(folder).map_err(unwritable)?;
        let opened = Arc::new(Folder::open(folder).map_err(unwritable)?);
        let prefix = format!("{name}.");
        let temporary = self
            .0
            .temporary_files
            .new_private_in(&opened, OsStr::new(&prefix));
        let temporary = temporary.map_err(unwritable)?;
        let body = response.into_body().into_reader();
        self.read_body(body, started, |bytes| {
            temporary.file().write_all(bytes).map_err(unwritable)
        })?;
        if open_with_build_id(&temporary.path(), build_id).is_none() {
            return Err(Failure::Failed(
                "sent a file without the requested build id".into(),
            ));
        }
        temporary.persist(OsStr::new(name)).map_err(unwritable)
    }

    /// Passes the body of a response to `write`, within the limits of size and time.
    fn read_body(
        &self,
        mut body: impl Read,
        started: Instant,
        write: impl Fn(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut buffer = vec![0; READ_SIZE];
        let mut size = 0;
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failure(&ureq::Error::from(error))),
            };
            size += count as u64;
            if size > self.0.max_bytes {
                return Err(too_large(self.0.max_bytes));
            }
            if size < FIRST_BYTES && started.elapsed() > self.0.timeout {
                return Err(too_slow(self.0.timeout));
            }
            write(&buffer[..count])?;
        }
    }

    fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .user_agent(concat!("sto/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_connect(Some(self.0.timeout))
            .timeout_recv_response(Some(self.0.timeout))
            .timeout_per_read(Some(self.0.timeout))
            .timeout_global(Some(self.0.max_time))
            .tls_config(tls_config().build());
        config.build().into()
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Global) => too_slow(self.0.max_time),
            ureq::Error::Timeout(_) => too_slow(self.0.timeout),
            ureq::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Failure::Failed("closed the connection before its answer was complete".into())
            }
            error => Failure::Unreachable(format!("cannot be reached: {error}")),
        }
    }
}

fn too_large(limit: u64) -> Failure {
    Failure::Failed(format!("has a file larger than the limit of {limit} bytes"))
}

fn too_slow(limit: Duration) -> Failure {
    Failure::Unreachable(format!("took more than {} seconds", limit.as_secs_f64()))
}

impl Artifact {
    fn name(self) -> &'static str {
        match self {
            Artifact::DebugInfo => "debuginfo",
            Artifact::Executable => "executable",
        }
    }
}

fn open_with_build_id(path: &Path, build_id: &GnuBuildId) -> Option<ElfFile> {
    let file = ElfFile::open(path).ok().flatten();
    file.filter(|file| file.build_id.as_ref() == Some(build_id))
}
