//! Fetches profiles from programs that serve them as Go's `net/http/pprof` does.
//!
//! Only the configuration file names addresses, so that nobody else can make the server ask others. Redirects are not
//! followed.
//!
//! | type | address below the URL | stored costs |
//! |---|---|---|
//! | `cpu` | `profile?seconds=N` | samples of all but one second of the interval |
//! | `allocs` | `allocs` | allocations since the last reading |
//! | `block`, `mutex` | `block`, `mutex` | delays since the last reading |
//! | `heap`, `goroutine` | `heap`, `goroutine` | a reading; a window has the sum of its readings |
//!
//! The first reading of a counter only begins to count. If a counter is less than before, the program was started again,
//! and the reading counts from its start.

#[cfg(test)]
mod tests;

use crate::intake::{Origin, Received};
use crate::services::{Scrape, ScrapeType};
use crate::shared::Shared;
use axum::body::Bytes;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};
use sto_core::formats::Format;
use sto_model::tls_config;
use tokio::runtime::Handle;
use ureq::Agent;

/// Time for an answer, besides the time that the program measures.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a thread for each program. They end after the server.
///
/// # Errors
///
/// Returns an error if the system refuses threads.
pub(crate) fn start(scrapes: &[Scrape], shared: &Arc<Shared>, runtime: &Handle) -> io::Result<()> {
    for scrape in scrapes {
        let target = Target::new(scrape.clone());
        let (server, runtime) = (Arc::downgrade(shared), runtime.clone());
        let builder = thread::Builder::new().name("scrape".to_owned());
        builder.spawn(move || target.run(&server, &runtime))?;
    }
    Ok(())
}

/// A program and the last readings of its counters.
struct Target {
    scrape: Scrape,
    agent: Agent,
    readings: BTreeMap<ScrapeType, Bytes>,
}

impl Target {
    fn new(scrape: Scrape) -> Target {
        let config = Agent::config_builder()
            .tls_config(tls_config().build())
            .max_redirects(0)
            .timeout_global(Some(
                PATIENCE + Duration::from_secs(scrape.interval_seconds.into()),
            ));
        Target {
            scrape,
            agent: config.build().into(),
            readings: BTreeMap::new(),
        }
    }

    fn run(mut self, server: &Weak<Shared>, runtime: &Handle) {
        let interval = Duration::from_secs(self.scrape.interval_seconds.max(2).into());
        loop {
            let next = Instant::now() + interval;
            for scrape_type in self.scrape.types.clone() {
                let Some(shared) = server.upgrade() else {
                    return;
                };
                let limit = shared.options.limits.body().0;
                drop(shared);
                let fetched = self.fetch(scrape_type, limit);
                let Some(shared) = server.upgrade() else {
                    return;
                };
                let outcome = fetched.and_then(|received| match received {
                    Some(received) => {
                        let sender = format!("scrape: {}", self.scrape.program);
                        let size = received.body.len() as u64;
                        let accepted = runtime.block_on(shared.intake.accept(vec![received]));
                        match &accepted {
                            Ok(()) => shared.monitor.accepted(&sender, 1, size),
                            Err(problem) => shared.monitor.refused(&sender, problem),
                        }
                        accepted.map_err(|problem| problem.detail)
                    }
                    None => Ok(()),
                });
                let address = self.address(scrape_type);
                shared.intake.note_pull(address, outcome.err());
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    fn address(&self, scrape_type: ScrapeType) -> String {
        let seconds = self.scrape.interval_seconds.max(2) - 1;
        let path = scrape_type.path(seconds);
        format!("{}/{path}", self.scrape.url.trim_end_matches('/'))
    }

    /// Fetches a profile; `None` if it is the first reading of a counter.
    fn fetch(&mut self, scrape_type: ScrapeType, limit: u64) -> Result<Option<Received>, String> {
        let answer = self.agent.get(self.address(scrape_type)).call();
        let answer = answer.map_err(|error| error.to_string())?;
        if answer.status() != 200 {
            return Err(format!("answered with HTTP status {}", answer.status()));
        }
        let mut body = Vec::new();
        let mut reader = answer.into_body().into_reader().take(limit + 1);
        let read = reader.read_to_end(&mut body);
        read.map_err(|error| error.to_string())?;
        if body.len() as u64 > limit {
            return Err(format!(
                "the profile is larger than the limit of {limit} bytes"
            ));
        }
        let body = Bytes::from(body);
        let mut earlier = None;
        if scrape_type.is_counter() {
            earlier = self.readings.insert(scrape_type, body.clone());
            if earlier.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(Received {
            origin: self.origin(),
            body,
            earlier,
            format: Some(Format::Pprof),
            ..Received::default()
        }))
    }

    fn origin(&self) -> Origin {
        let mut labels = self.scrape.labels.clone();
        let host = self
            .scrape
            .url
            .split_once("://")
            .map_or("", |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        labels
            .entry("instance".to_owned())
            .or_insert_with(|| host.to_owned());
        Origin {
            program: Some(self.scrape.program.clone()),
            build: Some(self.scrape.build.clone()),
            labels,
            ..Origin::default()
        }
    }
}
