//! Files with symbols from debuginfod servers, kept where elfutils keeps them.
//!
//! Source: debuginfod(8), section *WEBAPI*; debuginfod-client-config(7); of what that leaves undocumented (the names in
//! the cache), `debuginfod/debuginfod-client.c` of elfutils 0.188.

use super::elf::ElfFile;
use super::found::Artifact;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use sto_model::Debuginfod;
use sto_model::GnuBuildId;
use sto_model::files::Folder;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// Why a server did not send a file.
enum Failure {
    /// It does not have it.
    Missing,
    /// It failed, and may do so at the next file.
    Failed(String),
    /// It cannot be reached, or takes too long.
    Lost(String),
}

/// What a server must send within the timeout to be heard on: as elfutils has it.
const FIRST_BYTES: u64 = 100 << 10;
/// How long a file counts as missing, where the cache does not say: as elfutils has it.
const KEEP_MISSING: Duration = Duration::from_secs(600);
const PIECE: usize = 1 << 16;

/// Asks servers for files.
pub(super) struct Client<'o>(pub(super) &'o Debuginfod);

impl Client<'_> {
    /// A file of this build id, out of the cache or from the first server that has it; `None` if none has it.
    ///
    /// # Errors
    /// With a clause that says why it is not known whether one has it.
    pub(super) fn find(
        &self,
        build_id: &GnuBuildId,
        artifact: Artifact,
    ) -> Result<Option<ElfFile>, String> {
        let folder = self.0.cache.join(build_id.to_string());
        let kept = folder.join(artifact.name());
        if let Some(file) = of_build_id(&kept, build_id) {
            return Ok(Some(file));
        }
        if self.is_missing(&kept) {
            return Ok(None);
        }
        let mut problem = None;
        for url in &self.0.urls {
            if self.given_up().contains(url) {
                problem.get_or_insert_with(|| format!("{url} was given up before"));
                continue;
            }
            match self.fetch(url, build_id, artifact, &folder) {
                Ok(()) => return Ok(of_build_id(&kept, build_id)),
                Err(Failure::Missing) => {}
                Err(Failure::Failed(why)) => problem = Some(format!("{url} {why}")),
                Err(Failure::Lost(why)) => {
                    self.given_up().push(url.clone());
                    problem = Some(format!("{url} {why}"));
                }
            }
        }
        match problem {
            Some(problem) => Err(problem),
            None => {
                // Where it cannot be noted, it is asked for again.
                let _ = make_folder(&folder).and_then(|()| File::create(&kept));
                Ok(None)
            }
        }
    }

    fn given_up(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0
            .given_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a server said so lately: then an empty file has the name.
    fn is_missing(&self, kept: &Path) -> bool {
        let keep = std::fs::read_to_string(self.0.cache.join("cache_miss_s"));
        let keep = keep.ok().and_then(|text| text.trim().parse().ok());
        let keep = keep.map_or(KEEP_MISSING, Duration::from_secs);
        kept.metadata().is_ok_and(|file| {
            let age = file.modified().ok().and_then(|time| time.elapsed().ok());
            file.len() == 0 && age.is_some_and(|age| age < keep)
        })
    }

    /// Puts a file of a server into the cache.
    fn fetch(
        &self,
        url: &str,
        build_id: &GnuBuildId,
        artifact: Artifact,
        folder: &Path,
    ) -> Result<(), Failure> {
        let name = artifact.name();
        let address = format!("{}/buildid/{build_id}/{name}", url.trim_end_matches('/'));
        let begun = Instant::now();
        let response = self
            .agent()
            .get(&address)
            .call()
            .map_err(|e| self.failure(&e))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Err(Failure::Missing),
            other => return Err(Failure::Failed(format!("answered with status {other}"))),
        }
        let too_large = || {
            let most = self.0.max_bytes;
            Failure::Failed(format!("has a file of more than the allowed {most} bytes"))
        };
        if response.body().content_length() > Some(self.0.max_bytes) {
            return Err(too_large());
        }
        let unwritable = |error: std::io::Error| {
            Failure::Failed(format!(
                "has it, but {} cannot keep it: {error}",
                folder.display()
            ))
        };
        make_folder(folder).map_err(unwritable)?;
        let opened = Arc::new(Folder::open(folder).map_err(unwritable)?);
        let start = format!("{name}.");
        let temporary = self.0.temporaries.private_in(&opened, OsStr::new(&start));
        let temporary = temporary.map_err(unwritable)?;
        let mut body = response.into_body().into_reader();
        let mut piece = vec![0; PIECE];
        let mut size = 0;
        loop {
            let count = match body.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failure(&ureq::Error::from(error))),
            };
            size += count as u64;
            if size > self.0.max_bytes {
                return Err(too_large());
            }
            if size < FIRST_BYTES && begun.elapsed() > self.0.timeout {
                return Err(self.slow(self.0.timeout));
            }
            temporary
                .file()
                .write_all(&piece[..count])
                .map_err(unwritable)?;
        }
        if of_build_id(&temporary.path(), build_id).is_none() {
            return Err(Failure::Failed("sent something else than asked for".into()));
        }
        temporary
            .replace_with_own_mode(OsStr::new(name))
            .map_err(unwritable)
    }

    fn agent(&self) -> Agent {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider);
        let config = Agent::config_builder()
            .user_agent(concat!("sto/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_connect(Some(self.0.timeout))
            .timeout_recv_response(Some(self.0.timeout))
            .timeout_per_read(Some(self.0.timeout))
            .timeout_global(Some(self.0.max_time))
            .tls_config(tls.build());
        config.build().into()
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Global) => self.slow(self.0.max_time),
            ureq::Error::Timeout(_) => self.slow(self.0.timeout),
            ureq::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Failure::Failed("ended in the middle of its answer".into())
            }
            error => Failure::Lost(format!("cannot be asked: {error}")),
        }
    }

    fn slow(&self, limit: Duration) -> Failure {
        Failure::Lost(format!("took more than {} seconds", limit.as_secs_f64()))
    }
}

impl Artifact {
    fn name(self) -> &'static str {
        match self {
            Artifact::DebugInfo => "debuginfo",
            Artifact::Executable => "executable",
        }
    }
}

fn of_build_id(path: &Path, build_id: &GnuBuildId) -> Option<ElfFile> {
    let file = ElfFile::open(path).ok().flatten();
    file.filter(|file| file.build_id.as_ref() == Some(build_id))
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
