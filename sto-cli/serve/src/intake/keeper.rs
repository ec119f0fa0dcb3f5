//! The threads that write: one appends to the spool and sums, the other stores windows.

use super::decode::{Arrival, Decoded, now};
use super::spool::{self, Records, Spool};
use super::steps::{self, Retention};
use super::windows::Windows;
use super::{Settings, internal_error};
use crate::problem::Problem;
use axum::http::StatusCode;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use sto_core::StoreError;
use sto_core::id::RecordingDigest;
use sto_core::store::{NewProfile, Store};
use tokio::sync::oneshot;

/// A request to the thread of the spool.
pub(super) enum Message {
    /// Acknowledge a profile when it is on disk.
    Piece(Box<Piece>),
    /// Store all acknowledged profiles, and answer when that is done.
    Flush(oneshot::Sender<()>),
}

/// A decoded profile and its record in the spool.
pub(super) struct Piece {
    arrival: Arrival,
    decoded: Decoded,
    record: Vec<u8>,
    done: oneshot::Sender<Result<(), Problem>>,
}

impl Piece {
    pub(super) fn new(
        arrival: Arrival,
        decoded: Decoded,
        done: oneshot::Sender<Result<(), Problem>>,
    ) -> Result<Piece, Problem> {
        let header = serde_json::to_vec(&arrival.header).map_err(|_| internal_error())?;
        let record = spool::encode(&header, &arrival.body).map_err(|_| internal_error())?;
        Ok(Piece {
            arrival,
            decoded,
            record,
            done,
        })
    }
}

/// Number of profiles that one `fdatasync` covers.
const MAX_BATCH: usize = 256;
/// Number of distinct stacks in open windows at which they are stored at once.
const MAX_STACKS: usize = 2_000_000;
/// Bytes of a segment after which its windows are stored at once.
const MAX_SEGMENT: u64 = 256 << 20;
/// Time after which storing windows is tried again, and a lock on the spool.
const RETRY: Duration = Duration::from_secs(1);

/// What the threads and the handlers share.
#[derive(Default)]
pub(super) struct Keeper {
    max_spool: u64,
    accepted: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    throttled: AtomicU64,
    windows: AtomicU64,
    spool_bytes: AtomicU64,
    /// Number of closed segments whose windows are not in the store.
    waiting: AtomicU64,
    problem: Mutex<Option<String>>,
    quarantined: Mutex<Vec<String>>,
    pulled: Mutex<BTreeMap<String, Option<String>>>,
}

/// What arrived, and what became of it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct IntakeStatus {
    /// Acknowledged profiles.
    pub(crate) accepted: u64,
    /// Profiles that were sent again, and counted once.
    pub(crate) repeated: u64,
    /// Profiles that could not be read.
    pub(crate) refused: u64,
    /// Profiles whose senders were asked to wait.
    pub(crate) throttled: u64,
    /// Windows that were stored.
    pub(crate) windows: u64,
    /// Bytes of acknowledged profiles that are not in the store yet.
    pub(crate) spool_bytes: u64,
    /// Why windows cannot be stored now.
    pub(crate) problem: Option<String>,
    /// Acknowledged profiles that cannot be stored, and the files that have them.
    pub(crate) quarantined: Vec<String>,
    /// The addresses of which profiles are fetched, with the problem of the last time.
    pub(crate) pulled: BTreeMap<String, Option<String>>,
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Relaxed);
}

impl Keeper {
    /// Starts the threads. They end when all senders of messages are gone and everything is stored.
    pub(super) fn start(
        store: Store,
        settings: &Settings,
    ) -> io::Result<(Arc<Keeper>, Sender<Message>)> {
        let keeper = Arc::new(Keeper {
            max_spool: settings.max_spool.0,
            ..Keeper::default()
        });
        let (messages, received) = mpsc::channel();
        let (closed, to_store) = mpsc::channel();
        let folder = store.folder().map(|folder| folder.join("spool"));
        let settings = settings.clone();
        let storing = Storing {
            store,
            keeper: Arc::clone(&keeper),
            retention: settings.retention.clone(),
            merge_at: Instant::now() + MERGE_EVERY,
            expire_at: Instant::now() + MERGE_EVERY,
        };
        let writing = Writing {
            keeper: Arc::clone(&keeper),
            settings,
            closed,
            windows: Windows::default(),
            since: None,
            recent: VecDeque::from([BTreeSet::new()]),
        };
        let builder = thread::Builder::new().name("store".to_owned());
        builder.spawn(move || storing.run(&to_store))?;
        let builder = thread::Builder::new().name("spool".to_owned());
        builder.spawn(move || match folder {
            Some(folder) => writing.run(&folder, &received),
            None => refuse_all(&received, "the store is in memory"),
        })?;
        Ok((keeper, messages))
    }

    /// Asks a sender to wait.
    pub(super) fn busy(&self, why: &str) -> Problem {
        add(&self.throttled, 1);
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            format!("{why}; try again later"),
        )
    }

    /// Returns an error if the spool is full.
    pub(super) fn check_room(&self) -> Result<(), Problem> {
        if self.spool_bytes.load(Relaxed) < self.max_spool {
            return Ok(());
        }
        Err(self.busy("profiles arrive faster than they can be stored"))
    }

    pub(super) fn count_refused(&self) {
        add(&self.refused, 1);
    }

    pub(super) fn status(&self) -> IntakeStatus {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        IntakeStatus {
            accepted: count(&self.accepted),
            repeated: count(&self.repeated),
            refused: count(&self.refused),
            throttled: count(&self.throttled),
            windows: count(&self.windows),
            spool_bytes: count(&self.spool_bytes),
            problem: lock(&self.problem).clone(),
            quarantined: lock(&self.quarantined).clone(),
            pulled: lock(&self.pulled).clone(),
        }
    }

    pub(super) fn note_pull(&self, address: String, problem: Option<String>) {
        lock(&self.pulled).insert(address, problem);
    }

    fn set_problem(&self, problem: Option<String>) {
        *lock(&self.problem) = problem;
    }

    fn quarantine(&self, what: String) {
        lock(&self.quarantined).push(what);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A segment that takes no further records, and its windows.
struct Closed {
    segment: Option<(PathBuf, u64)>,
    windows: Windows,
    done: Option<oneshot::Sender<()>>,
}

/// The thread that owns the spool and the open windows.
struct Writing {
    keeper: Arc<Keeper>,
    settings: Settings,
    closed: Sender<Closed>,
    windows: Windows,
    /// Arrival of the first profile in the open windows.
    since: Option<Instant>,
    /// The sources of the open segment and of the one before it, oldest first.
    recent: VecDeque<BTreeSet<RecordingDigest>>,
}

impl Writing {
    fn run(mut self, folder: &Path, received: &Receiver<Message>) {
        let mut spool = match self.open(folder, received) {
            Ok(Some(spool)) => spool,
            Ok(None) => return,
            Err(error) => {
                let why = format!("cannot use {}: {error}", folder.display());
                self.keeper.set_problem(Some(why.clone()));
                return refuse_all(received, &why);
            }
        };
        loop {
            let message = match self.since {
                None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(since) => {
                    received.recv_timeout(self.settings.flush_after.saturating_sub(since.elapsed()))
                }
            };
            match message {
                Ok(Message::Piece(first)) => {
                    let mut batch = vec![first];
                    let mut flush = None;
                    for message in received.try_iter().take(MAX_BATCH) {
                        match message {
                            Message::Piece(piece) => batch.push(piece),
                            Message::Flush(done) => {
                                flush = Some(done);
                                break;
                            }
                        }
                    }
                    self.write(&mut spool, batch);
                    if flush.is_some() || self.is_due(&spool) {
                        self.close(&mut spool, flush);
                    }
                }
                Ok(Message::Flush(done)) => self.close(&mut spool, Some(done)),
                Err(RecvTimeoutError::Timeout) => self.close(&mut spool, None),
                Err(RecvTimeoutError::Disconnected) => return self.close(&mut spool, None),
            }
        }
    }

    /// Opens the spool when no other process has it open, and hands its segments over. Returns `None` if the server
    /// stops before that.
    fn open(&mut self, folder: &Path, received: &Receiver<Message>) -> io::Result<Option<Spool>> {
        loop {
            if let Some(mut spool) = Spool::open(folder)? {
                self.keeper.set_problem(None);
                self.replay(folder, &mut spool)?;
                return Ok(Some(spool));
            }
            let why = format!("another server uses {}", folder.display());
            self.keeper.set_problem(Some(why.clone()));
            match received.recv_timeout(RETRY) {
                Ok(message) => refuse(message, &why),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Sums the records of a server that was killed, segment by segment as it did, so that windows that it stored are
    /// the same.
    fn replay(&mut self, folder: &Path, spool: &mut Spool) -> io::Result<()> {
        let mut attempt = Attempt::open(folder)?;
        for segment in spool.segments()? {
            let mut records = Records::new(BufReader::new(File::open(&segment)?));
            while let Some(record) = records.next()? {
                let place = format!("{} {}", segment.display(), record.offset);
                let file = || folder.join(format!("refused-{}", record.offset));
                let decoded = if attempt.is_last(&place)? {
                    Err("reading it ended the server".to_owned())
                } else {
                    self.decode(&record)
                };
                match decoded {
                    Ok((arrival, decoded)) => {
                        if self.is_new(decoded.source) {
                            self.add(&arrival, &decoded);
                        }
                    }
                    Err(why) => {
                        fs::write(file(), &record.body)?;
                        let what = format!("{}: {why}", file().display());
                        self.keeper.quarantine(what);
                    }
                }
            }
            let bytes = records.offset();
            add(&self.keeper.spool_bytes, bytes);
            self.hand_over(Some((segment, bytes)), None);
        }
        attempt.finish()
    }

    fn decode(&self, record: &spool::Record) -> Result<(Arrival, Decoded), String> {
        let header = serde_json::from_slice(&record.header).map_err(|error| error.to_string())?;
        let arrival = Arrival {
            header,
            body: record.body.clone().into(),
        };
        let decoded = arrival.decode(self.settings.max_decoded);
        let decoded = decoded.map_err(|problem| problem.detail)?;
        Ok((arrival, decoded))
    }

    /// Whether a source was not seen lately; it is from now on.
    fn is_new(&mut self, source: RecordingDigest) -> bool {
        let is_known = self.recent.iter().any(|known| known.contains(&source));
        if let Some(newest) = self.recent.back_mut() {
            newest.insert(source);
        }
        !is_known
    }

    fn add(&mut self, arrival: &Arrival, decoded: &Decoded) {
        self.since.get_or_insert_with(Instant::now);
        for prepared in &decoded.profiles {
            self.windows.add(decoded.source, prepared, arrival.time());
        }
    }

    /// Acknowledges profiles when they are on disk, then sums them.
    fn write(&mut self, spool: &mut Spool, batch: Vec<Box<Piece>>) {
        let (new, known): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .partition(|piece| self.is_new(piece.decoded.source));
        let records: Vec<&[u8]> = new.iter().map(|piece| &piece.record[..]).collect();
        let bytes: usize = records.iter().map(|record| record.len()).sum();
        let written = if records.is_empty() {
            Ok(())
        } else {
            spool.append(&records)
        };
        if let Err(error) = written {
            if let Some(newest) = self.recent.back_mut() {
                for piece in &new {
                    newest.remove(&piece.decoded.source);
                }
            }
            let why = format!("cannot write to the spool: {error}");
            for piece in new.into_iter().chain(known) {
                refuse(Message::Piece(piece), &why);
            }
            self.keeper.set_problem(Some(why));
            return self.close(spool, None);
        }
        add(&self.keeper.spool_bytes, bytes as u64);
        add(&self.keeper.accepted, new.len() as u64);
        add(&self.keeper.repeated, known.len() as u64);
        for piece in known {
            let _ = piece.done.send(Ok(()));
        }
        for piece in new {
            let Piece {
                arrival,
                decoded,
                done,
                ..
            } = *piece;
            let _ = done.send(Ok(()));
            self.add(&arrival, &decoded);
        }
    }

    fn is_due(&self, spool: &Spool) -> bool {
        let is_full = spool.open_bytes() > MAX_SEGMENT || self.windows.stack_count() > MAX_STACKS;
        let is_old = self
            .since
            .is_some_and(|since| since.elapsed() >= self.settings.flush_after);
        is_full || is_old
    }

    fn close(&mut self, spool: &mut Spool, done: Option<oneshot::Sender<()>>) {
        let segment = spool.close_segment();
        self.hand_over(segment, done);
    }

    fn hand_over(&mut self, segment: Option<(PathBuf, u64)>, done: Option<oneshot::Sender<()>>) {
        self.since = None;
        self.recent.push_back(BTreeSet::new());
        if self.recent.len() > 2 {
            self.recent.pop_front();
        }
        add(&self.keeper.waiting, 1);
        let windows = std::mem::take(&mut self.windows);
        // The other thread ends only when this one did.
        let _ = self.closed.send(Closed {
            segment,
            windows,
            done,
        });
    }
}

/// Answers every message with an error.
fn refuse_all(received: &Receiver<Message>, why: &str) {
    for message in received {
        refuse(message, why);
    }
}

fn refuse(message: Message, why: &str) {
    match message {
        Message::Piece(piece) => {
            let problem = Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("profiles of services cannot be stored: {why}"),
            );
            let _ = piece.done.send(Err(problem));
        }
        Message::Flush(done) => drop(done),
    }
}

/// A file with the record that is being decoded, so that a record that ends the process is not decoded for ever.
struct Attempt {
    path: PathBuf,
    /// The record that was being decoded when the last server ended.
    before: Option<String>,
}

impl Attempt {
    fn open(folder: &Path) -> io::Result<Attempt> {
        let path = folder.join("attempt");
        let before = match fs::read_to_string(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Attempt { path, before })
    }

    /// Notes an attempt at a record. Returns `true` if two attempts before ended the process.
    fn is_last(&mut self, place: &str) -> io::Result<bool> {
        let again = format!("{place} again");
        let before = self.before.as_deref();
        if before == Some(&again) {
            return Ok(true);
        }
        let is_second = before == Some(place);
        fs::write(&self.path, if is_second { &again } else { place })?;
        Ok(false)
    }

    fn finish(self) -> io::Result<()> {
        match fs::remove_file(self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// The thread that writes to the store.
struct Storing {
    store: Store,
    keeper: Arc<Keeper>,
    retention: Retention,
    /// When windows are merged next, and when the oldest are removed next.
    merge_at: Instant,
    expire_at: Instant,
}

/// Time between rounds of merging.
const MERGE_EVERY: Duration = Duration::from_secs(30);
/// Time between removals of old windows, each of which rewrites the store.
const EXPIRE_EVERY: Duration = Duration::from_secs(6 * 3600);

impl Storing {
    fn run(mut self, closed: &Receiver<Closed>) {
        loop {
            let wait = self.merge_at.saturating_duration_since(Instant::now());
            match closed.recv_timeout(wait) {
                Ok(closed) => self.empty(closed),
                Err(RecvTimeoutError::Timeout) => self.maintain(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Stores the windows of a segment, and deletes it.
    fn empty(&self, closed: Closed) {
        let windows = closed.windows.finish();
        self.store(&windows);
        if let Some((path, bytes)) = closed.segment {
            while let Err(error) = spool::delete(&path) {
                let why = format!("cannot delete {}: {error}", path.display());
                self.keeper.set_problem(Some(why));
                thread::sleep(RETRY);
            }
            self.keeper.spool_bytes.fetch_sub(bytes, Relaxed);
        }
        self.keeper.waiting.fetch_sub(1, Relaxed);
        if let Some(done) = closed.done {
            let _ = done.send(());
        }
    }

    /// Stores windows, as soon as that is possible.
    fn store(&self, windows: &[NewProfile]) {
        loop {
            let refused = match self.store.writer().add_all(windows) {
                Ok(added) => {
                    self.keeper.set_problem(None);
                    return add(&self.keeper.windows, added as u64);
                }
                Err(StoreError::Refused { why, .. }) => why,
                Err(error) => {
                    self.keeper.set_problem(Some(error.to_string()));
                    thread::sleep(RETRY);
                    continue;
                }
            };
            let [window] = windows else {
                // Only some of them break a rule.
                let (some, others) = windows.split_at(windows.len() / 2);
                self.store(some);
                return self.store(others);
            };
            let what = format!("a window of {}: {refused}", window.build.executable);
            return self.keeper.quarantine(what);
        }
    }

    /// Merges older windows, and removes the oldest. A failure is tried again in the next round.
    fn maintain(&mut self) {
        let now = now();
        match steps::merge_some(&self.store, now) {
            Ok(true) => {}
            merged => {
                self.merge_at = Instant::now() + MERGE_EVERY;
                self.keeper
                    .set_problem(merged.err().map(|error| error.to_string()));
            }
        }
        if self.expire_at <= Instant::now() {
            self.expire_at = Instant::now() + EXPIRE_EVERY;
            let expired = steps::expire(&self.store, &self.retention, now);
            let problem = expired.err().map(|error| error.to_string());
            self.keeper.set_problem(problem);
        }
    }
}
