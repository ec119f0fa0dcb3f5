//! The thread that owns the spool and the open windows.

use super::Settings;
use super::decode::{Arrival, Decoded};
use super::ledger::{Ledger, add};
use super::spool::{self, Records, Spool};
use super::storing::{Closed, RETRY};
use super::windows::Windows;
use crate::problem::Problem;
use axum::http::StatusCode;
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use sto_core::id::RecordingDigest;
use sto_core::units::Bytes;
use tokio::sync::oneshot;

/// A request to the thread of the spool.
pub(super) enum Message {
    /// Acknowledge profiles when all of them are on disk.
    Batch {
        pieces: Vec<Piece>,
        done: Acknowledge,
    },
    /// Store all acknowledged profiles, and answer when that is done.
    Flush(oneshot::Sender<()>),
}

pub(super) type Acknowledge = oneshot::Sender<Result<(), Problem>>;

/// A decoded profile and its record in the spool.
pub(super) struct Piece {
    arrival: Arrival,
    decoded: Decoded,
    record: Vec<u8>,
}

impl Piece {
    pub(super) fn new(arrival: Arrival, max_decoded: Bytes) -> Result<Piece, Problem> {
        let decoded = arrival.decode(max_decoded)?;
        let header = serde_json::to_vec(&arrival.header).map_err(|_| Problem::internal())?;
        let record = spool::encode(&header, &arrival.body).map_err(|_| Problem::internal())?;
        Ok(Piece {
            arrival,
            decoded,
            record,
        })
    }
}

/// Number of profiles that one `fdatasync` covers.
const MAX_BATCH: usize = 256;
/// Number of distinct stacks in open windows at which they are stored at once. They take about 100 MB.
const MAX_STACKS: usize = 500_000;
/// Bytes of a segment after which its windows are stored at once.
const MAX_SEGMENT: u64 = 256 << 20;

/// The thread that owns the spool and the open windows.
pub(super) struct Writing {
    ledger: Arc<Ledger>,
    settings: Settings,
    closed: Sender<Closed>,
    windows: Windows,
    /// Arrival of the first profile in the open windows.
    since: Option<Instant>,
    /// The sources of the open segment and of the one before it, oldest first.
    recent: VecDeque<BTreeSet<RecordingDigest>>,
}

impl Writing {
    pub(super) fn new(ledger: Arc<Ledger>, settings: Settings, closed: Sender<Closed>) -> Writing {
        Writing {
            ledger,
            settings,
            closed,
            windows: Windows::default(),
            since: None,
            recent: VecDeque::from([BTreeSet::new()]),
        }
    }

    /// Runs until all senders of messages are gone, and everything is handed over.
    pub(super) fn run(mut self, folder: &Path, received: &Receiver<Message>) {
        let opened = self.open(folder, received);
        self.ledger.is_replaying.store(false, Relaxed);
        let mut spool = match opened {
            Ok(Some(spool)) => spool,
            Ok(None) => return,
            Err(error) => {
                let why = format!("cannot use {}: {error}", folder.display());
                self.ledger.set_problem(Some(why.clone()));
                return refuse_all(received, &why);
            }
        };
        loop {
            let message = match self.wait() {
                None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => received.recv_timeout(wait),
            };
            match message {
                Ok(Message::Batch { mut pieces, done }) => {
                    let mut waiting = vec![done];
                    let mut flush = None;
                    for message in received.try_iter() {
                        match message {
                            Message::Batch { pieces: more, done } => {
                                pieces.extend(more);
                                waiting.push(done);
                            }
                            Message::Flush(done) => flush = Some(done),
                        }
                        if pieces.len() >= MAX_BATCH || flush.is_some() {
                            break;
                        }
                    }
                    self.write(&mut spool, pieces, waiting);
                    if flush.is_some() || self.is_due(&spool) {
                        self.close(&mut spool, flush);
                    }
                }
                Ok(Message::Flush(done)) => self.close(&mut spool, Some(done)),
                Err(RecvTimeoutError::Timeout) if self.is_due(&spool) => {
                    self.close(&mut spool, None);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.close(&mut spool, None),
            }
        }
    }

    /// Opens the spool when no other process has it open, and hands its segments over. Returns `None` if the server
    /// stops before that.
    fn open(&mut self, folder: &Path, received: &Receiver<Message>) -> io::Result<Option<Spool>> {
        loop {
            if let Some(mut spool) = Spool::open(folder)? {
                self.ledger.set_problem(None);
                self.ledger.is_replaying.store(true, Relaxed);
                self.replay(folder, &mut spool)?;
                return Ok(Some(spool));
            }
            let why = format!("another server uses {}", folder.display());
            self.ledger.set_problem(Some(why.clone()));
            self.ledger.is_replaying.store(false, Relaxed);
            match received.recv_timeout(RETRY) {
                Ok(message) => refuse_message(message, &why),
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
                    Err(why) => self.put_aside(folder, &record.body, &why)?,
                }
            }
            let bytes = records.offset();
            let mut rest = Vec::new();
            let mut file = records.into_input();
            file.seek(SeekFrom::Start(bytes))?;
            file.read_to_end(&mut rest)?;
            if !rest.is_empty() {
                let why = format!(
                    "{} was damaged or incomplete from byte {bytes}",
                    segment.display()
                );
                self.put_aside(folder, &rest, &why)?;
            }
            add(&self.ledger.spool_bytes, bytes);
            self.hand_over(Some((segment, bytes)), None);
        }
        attempt.finish()
    }

    /// Keeps bytes that cannot be stored in a file of their own, and tells so.
    fn put_aside(&self, folder: &Path, bytes: &[u8], why: &str) -> io::Result<()> {
        let digest = RecordingDigest::hash_bytes(bytes);
        let path = folder.join(format!("refused-{digest}"));
        let mut file = File::create(&path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        self.ledger.quarantine(format!("{}: {why}", path.display()));
        Ok(())
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
    fn write(&mut self, spool: &mut Spool, pieces: Vec<Piece>, waiting: Vec<Acknowledge>) {
        let count = pieces.len();
        let mut new = pieces;
        new.retain(|piece| !piece.decoded.profiles.is_empty() && self.is_new(piece.decoded.source));
        let records: Vec<&[u8]> = new.iter().map(|piece| &piece.record[..]).collect();
        let bytes: usize = records.iter().map(|record| record.len()).sum();
        if let Err(error) = spool.append(&records) {
            if let Some(newest) = self.recent.back_mut() {
                new.iter().for_each(|piece| {
                    newest.remove(&piece.decoded.source);
                });
            }
            let why = format!("cannot write to the spool: {error}");
            waiting.into_iter().for_each(|done| refuse(done, &why));
            self.ledger.set_problem(Some(why));
            return self.close(spool, None);
        }
        add(&self.ledger.spool_bytes, bytes as u64);
        add(&self.ledger.accepted, new.len() as u64);
        add(&self.ledger.repeated, (count - new.len()) as u64);
        for done in waiting {
            // The sender may have gone.
            let _ = done.send(Ok(()));
        }
        for piece in new {
            self.add(&piece.arrival, &piece.decoded);
        }
    }

    /// Time until the open windows are to be stored; `None` if there are none.
    fn wait(&self) -> Option<Duration> {
        let age = self.since?.elapsed();
        let left = self.settings.flush_after.saturating_sub(age);
        Some(if self.ledger.is_behind() {
            left.max(RETRY)
        } else {
            left
        })
    }

    fn is_due(&self, spool: &Spool) -> bool {
        let is_full = spool.open_bytes() > MAX_SEGMENT || self.windows.stack_count() > MAX_STACKS;
        let flush_after = self.settings.flush_after;
        let is_old = self
            .since
            .is_some_and(|since| since.elapsed() >= flush_after);
        is_full || is_old && !self.ledger.is_behind()
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
        add(&self.ledger.waiting, 1);
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
pub(super) fn refuse_all(received: &Receiver<Message>, why: &str) {
    for message in received {
        refuse_message(message, why);
    }
}

fn refuse_message(message: Message, why: &str) {
    match message {
        Message::Batch { done, .. } => refuse(done, why),
        Message::Flush(done) => drop(done),
    }
}

fn refuse(done: Acknowledge, why: &str) {
    let why = format!("profiles of services cannot be stored: {why}");
    let _ = done.send(Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why)));
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
