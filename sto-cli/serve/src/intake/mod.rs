//! From a received profile to the store: a profile is acknowledged when it is on disk.
//!
//! ```text
//! senders, pull      Received: bytes and their origin
//!     |
//!     v
//! decode             bytes -> profiles; what is malformed is refused here
//!     |
//!     v
//! spool              many bodies, one fdatasync; then they are acknowledged
//!     |
//!     v
//! windows            the profiles of one series and 10 seconds become one sum
//!     |
//!     v
//! keeper             every few seconds, windows go into the store, and the spool is emptied
//! ```
//!
//! A run, such as a benchmark of a CI, does not go this way: it is one profile in the store, and never summed.

mod decode;
mod keeper;
mod spool;
mod steps;
#[cfg(test)]
mod tests;
mod windows;

use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::StatusCode;
use decode::Arrival;
use keeper::{Keeper, Message, Piece};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use sto_core::formats::Format;
use sto_core::ingest::Ingested;
use sto_core::store::Store;
use sto_core::units;
use sto_core::units::UnixSeconds;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;

pub(crate) use keeper::IntakeStatus;
pub use steps::Retention;

/// A profile as a sender sent it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Where it comes from and what it belongs to.
    pub(crate) origin: Origin,
    /// Its bytes in a format that sto reads.
    pub(crate) body: Bytes,
    /// An earlier reading of the same counters, which is subtracted.
    pub(crate) earlier: Option<Bytes>,
    /// The format, if the sender tells; otherwise it is detected.
    pub(crate) format: Option<Format>,
    /// Whether it is one of many profiles of a service that is profiled continuously, instead of a run.
    pub(crate) is_continuous: bool,
}

/// The program, build and labels of a received profile.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The program, or service.
    pub(crate) program: Option<String>,
    /// The build, or version of the service.
    pub(crate) build: Option<String>,
    /// The benchmark that ran.
    pub(crate) benchmark: Option<String>,
    /// Labels of the profile.
    pub(crate) labels: BTreeMap<String, String>,
    /// Metrics of the profile; only runs have them.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// When the profile was recorded.
    pub(crate) recorded: Option<UnixSeconds>,
}

/// Limits of the intake.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Size that a compressed body may expand to.
    pub(crate) max_decoded: units::Bytes,
    /// Size of the spool; when it is full, senders are asked to wait.
    pub(crate) max_spool: units::Bytes,
    /// Longest time from the arrival of a profile until it is in the store.
    pub(crate) flush_after: Duration,
    /// How long windows are retained.
    pub(crate) retention: Retention,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_decoded: units::Bytes(64 << 20),
            max_spool: units::Bytes(1 << 30),
            flush_after: Duration::from_secs(4),
            retention: Retention::default(),
        }
    }
}

/// Size of all bodies that are being decoded or wait for the disk.
const MAX_IN_FLIGHT: u32 = 128 << 20;

/// Takes profiles from senders.
pub(crate) struct Intake {
    store: Store,
    settings: Settings,
    /// Turns of decoding, which takes a core.
    decoders: Semaphore,
    /// Room for bodies, in bytes.
    room: Semaphore,
    messages: Sender<Message>,
    keeper: Arc<Keeper>,
}

impl Intake {
    /// Starts the intake, and stores what is in the spool.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses threads.
    pub(crate) fn start(store: Store, settings: Settings) -> io::Result<Intake> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (keeper, messages) = Keeper::start(store.clone(), &settings)?;
        Ok(Intake {
            store,
            settings,
            decoders: Semaphore::new(2 * cores),
            room: Semaphore::new(MAX_IN_FLIGHT as usize),
            messages,
            keeper,
        })
    }

    /// Accepts a profile; returns when it is on disk. Returns the stored profiles of a run.
    pub(crate) async fn accept(&self, received: Received) -> Result<Vec<Ingested>, Problem> {
        let bytes = u32::try_from(received.body.len()).unwrap_or(MAX_IN_FLIGHT);
        let room = self.room.try_acquire_many(bytes.clamp(1, MAX_IN_FLIGHT));
        let _room = room.map_err(|_| self.keeper.busy("too many profiles arrive at once"))?;
        if received.is_continuous {
            self.accept_piece(received).await.map(|()| Vec::new())
        } else {
            let store = self.store.clone();
            self.decode(move |settings| decode::ingest_run(&store, received, settings))
                .await
        }
    }

    async fn accept_piece(&self, received: Received) -> Result<(), Problem> {
        self.keeper.check_room()?;
        let arrival = Arrival::now(received);
        let (arrival, profiles) = self
            .decode(move |settings| {
                let profiles = arrival.decode(settings.max_decoded)?;
                Ok((arrival, profiles))
            })
            .await?;
        let (done, is_done) = oneshot::channel();
        let piece = Piece::new(arrival, profiles, done)?;
        // The other end answers until the last sender is gone.
        let _ = self.messages.send(Message::Piece(Box::new(piece)));
        is_done.await.unwrap_or_else(|_| Err(internal_error()))
    }

    /// Decodes on a thread for work that blocks, when it is this profile's turn.
    async fn decode<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Settings) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _turn = self
            .decoders
            .acquire()
            .await
            .map_err(|_| internal_error())?;
        let settings = self.settings.clone();
        let decoded = spawn_blocking(move || work(&settings)).await;
        let decoded = decoded.unwrap_or_else(|_| Err(internal_error()));
        if decoded.is_err() {
            self.keeper.count_refused();
        }
        decoded
    }

    /// Stores all acknowledged profiles now.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for tests, which do not wait for the clock")
    )]
    pub(crate) async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        let _ = self.messages.send(Message::Flush(done));
        let _ = is_done.await;
    }

    /// Notes the outcome of fetching a profile.
    pub(crate) fn note_pull(&self, address: String, problem: Option<String>) {
        self.keeper.note_pull(address, problem);
    }

    /// What arrived, and what became of it.
    pub(crate) fn status(&self) -> IntakeStatus {
        self.keeper.status()
    }
}

fn internal_error() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "reading the profile ended with an internal error; please report it",
    )
}
