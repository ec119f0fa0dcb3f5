//! From a received profile to the store: a profile is acknowledged when it is on disk.
//!
//! ```text
//! senders, pull      Received: bytes and their origin
//!     |
//!     v
//! decode             bytes -> profiles; malformed ones are refused here
//!     |
//!     v
//! spool              many bodies, one fdatasync; then they are acknowledged
//!     |
//!     v
//! windows            the profiles of one series and 10 seconds become one sum
//!     |
//!     v
//! store              every few seconds, windows go into the store, and the spool is emptied
//! ```
//!
//! A run, such as a benchmark of a CI, does not go this way: it is one profile in the store, and never summed.
//!
#![doc = include_str!("intake.md")]

mod decode;
mod ledger;
mod spool;
mod steps;
mod storing;
#[cfg(test)]
pub(crate) mod tests;
mod windows;
mod writing;

use crate::problem::Problem;
use crate::services::Retention;
use crate::turn;
use axum::body::Bytes;
use decode::Arrival;
use ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;
use sto_core::formats::Format;
use sto_core::ingest::IngestOutcome;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{self, Nanoseconds, UnixSeconds};
use storing::Storing;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use writing::{Message, Piece, Writing, refuse_all};

pub(crate) use ledger::IntakeStatus;

/// A profile as a sender sent it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Its program, build and labels.
    pub(crate) origin: Origin,
    /// Its bytes in a format that sto reads.
    pub(crate) body: Bytes,
    /// An earlier reading of the same counters, which is subtracted.
    pub(crate) earlier: Option<Bytes>,
    /// The format, if the sender tells; otherwise it is detected.
    pub(crate) format: Option<Format>,
    /// When it was recorded, if the sender tells.
    pub(crate) range: Option<TimeRange>,
    /// Number of slices of time of a run.
    pub(crate) slices: Option<SliceCount>,
}

/// A range of time, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeRange {
    pub(crate) from: Nanoseconds,
    pub(crate) until: Nanoseconds,
}

/// The program, build and labels of a received profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The program, or service. Without it, each program of the recording has a profile of its own.
    pub(crate) program: Option<String>,
    /// The build, or version of the service. By default, it is named after the GNU build id of its main module.
    pub(crate) build: Option<String>,
    /// The revision that the build was made from.
    pub(crate) revision: Option<String>,
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
    /// Refuse everything that changes the store.
    pub(crate) read_only: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_decoded: units::Bytes(64 << 20),
            max_spool: units::Bytes(1 << 30),
            flush_after: Duration::from_secs(4),
            retention: Retention::default(),
            read_only: false,
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
    decoders: Arc<Semaphore>,
    /// Room for bodies, in bytes.
    room: Arc<Semaphore>,
    messages: Sender<Message>,
    ledger: Arc<Ledger>,
}

impl Intake {
    /// Starts the intake, and stores the profiles in the spool.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses threads.
    pub(crate) fn start(store: Store, settings: Settings) -> io::Result<Intake> {
        let ledger = Arc::new(Ledger::new(settings.max_spool));
        let (messages, received) = mpsc::channel();
        let spool = thread::Builder::new().name("spool".to_owned());
        match spool_folder(&store) {
            Some(folder) if !settings.read_only => {
                let (closed, to_store) = mpsc::channel();
                let retention = settings.retention.clone();
                let storing = Storing::new(Arc::clone(&ledger), store.clone(), retention);
                let builder = thread::Builder::new().name("store".to_owned());
                builder.spawn(move || storing.run(&to_store))?;
                ledger.is_replaying.store(true, Relaxed);
                let writing = Writing::new(Arc::clone(&ledger), settings.clone(), closed);
                spool.spawn(move || writing.run(&folder, &received))?;
            }
            folder => {
                let why = match folder {
                    Some(_) => "this server only reads the store",
                    None => "the store is in memory",
                };
                spool.spawn(move || refuse_all(&received, why))?;
            }
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Intake {
            store,
            settings,
            decoders: Arc::new(Semaphore::new(2 * cores)),
            room: Arc::new(Semaphore::new(MAX_IN_FLIGHT as usize)),
            messages,
            ledger,
        })
    }

    /// Stores a run, which is kept apart from all others.
    pub(crate) async fn add_run(&self, received: Received) -> Result<IngestOutcome, Problem> {
        let room = self.room(received.body.len())?;
        let store = self.store.clone();
        let ingesting =
            move |settings: &Settings| decode::ingest_run(&store, received, settings.max_decoded);
        let (outcome, _room) = self.decode(room, ingesting).await?;
        Ok(outcome)
    }

    /// Accepts profiles of services, all or none; returns when they are on disk.
    pub(crate) async fn accept(&self, received: Vec<Received>) -> Result<(), Problem> {
        let room = self.room(received.iter().map(|received| received.body.len()).sum())?;
        self.ledger.check_room()?;
        let decoding = self.decode(room, move |settings| {
            let arrivals = received.into_iter().map(Arrival::now);
            let pieces = arrivals.map(|arrival| Piece::new(arrival, settings.max_decoded));
            pieces.collect::<Result<Vec<Piece>, Problem>>()
        });
        let (pieces, _room) = decoding.await?;
        let (done, is_done) = oneshot::channel();
        // The other end answers until the last sender is gone.
        let _ = self.messages.send(Message::Batch { pieces, done });
        is_done.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Takes room for the bytes of bodies.
    fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let bytes = u32::try_from(bytes).unwrap_or(MAX_IN_FLIGHT);
        let room = Arc::clone(&self.room);
        let room = room.try_acquire_many_owned(bytes.clamp(1, MAX_IN_FLIGHT));
        room.map_err(|_| self.ledger.busy("too many profiles arrive at once"))
    }

    /// Decodes on a thread for work that blocks, when it is this profile's turn. The turn and the room are taken until the
    /// work is done, also if nobody waits for it any more.
    async fn decode<T: Send + 'static>(
        &self,
        room: OwnedSemaphorePermit,
        work: impl FnOnce(&Settings) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(T, OwnedSemaphorePermit), Problem> {
        let turn = Arc::clone(&self.decoders).acquire_owned().await;
        let turn = turn.map_err(|_| Problem::internal())?;
        let settings = self.settings.clone();
        let decoding = turn::work(turn, move || Ok((work(&settings)?, room)));
        let decoded = decoding.await.and_then(|decoded| decoded);
        if decoded.is_err() {
            self.ledger.count_refused();
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

    /// Returns an error while new profiles would have to wait for those that an earlier server acknowledged.
    pub(crate) fn check_ready(&self) -> Result<(), Problem> {
        self.ledger.check_ready()
    }

    /// Notes the outcome of fetching a profile.
    pub(crate) fn note_pull(&self, address: String, problem: Option<String>) {
        self.ledger.note_pull(address, problem);
    }

    /// Returns counts of arrived and stored profiles, and current problems.
    pub(crate) fn status(&self) -> IntakeStatus {
        self.ledger.status()
    }
}

/// The folder of a store's spool; `None` for a store in memory.
fn spool_folder(store: &Store) -> Option<PathBuf> {
    let folder = store.folder()?;
    let name = store.path().file_name().unwrap_or_default();
    Some(if name == Store::FILE_NAME {
        folder.join("spool")
    } else {
        // Several stores may be in one folder.
        store.path().with_added_extension("spool")
    })
}
