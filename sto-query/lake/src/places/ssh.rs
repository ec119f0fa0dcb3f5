//! Files on a server, accessed by OpenSSH's `sftp`; the server only needs to support SFTP.
//!
//! One `sftp` process runs while the place is used, and receives commands one after another (sftp(1), INTERACTIVE
//! COMMANDS). A file is written under a temporary name, synced, and renamed as in version 3 of the protocol
//! (draft-ietf-secsh-filexfer-02, 6.5), which does not replace existing files. `rename` without `-l` would use
//! OpenSSH's extension, which replaces them.

use super::address::Remote;
use super::error::{Advice, Refusal};
use super::folder::join_name;
use super::{FailureReason, ListedFile, ListedNames, UNFINISHED};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sto_model::files::{MemoryFile, random_name};
use sto_model::system::{Resource, limit_process, wait_for_data};
use sto_model::units::Bytes;

/// Interval of keep-alive messages in seconds.
const KEEP_ALIVE: u32 = 20;

/// Maximum length of a command: `sftp` treats the rest as another command.
const LONGEST: usize = 2000;

/// Maximum length of a line of output, and maximum number of lines that a command prints.
const MAX_LINE: u64 = 1 << 16;
const MAX_LINES: usize = 1 << 22;

/// Number of lines of a command's output that are kept for messages.
const KEPT_LINES: usize = 100;

/// Maximum memory of `sftp`, which collects a listing before it prints it.
const SFTP_MEMORY: Bytes = Bytes(1 << 30);

/// Command sent after each command, and the beginning of its output, which marks the end of that command's output.
const DONE: (&str, &str) = ("version", "SFTP protocol version ");

/// Prefix of commands echoed by `sftp`.
const ECHO: &str = "sftp> ";

/// A remote folder, which may not exist yet.
pub(super) struct Files {
    remote: Remote,
    timeout: Duration,
    session: Mutex<Option<Session>>,
}

/// A running `sftp` process; it exits when its input is closed.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<Output>,
}

/// Output of `sftp` and of the `ssh` it runs. Reading fails if the server sends nothing for too long.
struct Output {
    pipe: PipeReader,
    /// The process id of `sftp`.
    sftp: u32,
    timeout: Duration,
}

/// Receives each line of a command's output.
type OnLine<'a> = &'a mut dyn FnMut(&str) -> Result<(), Refusal>;

impl Files {
    pub(super) fn new(remote: Remote, timeout: Duration) -> Files {
        Files {
            remote,
            timeout,
            session: Mutex::default(),
        }
    }

    fn with_session<T>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // A failed session is discarded.
        let mut running = match session.take() {
            Some(running) => running,
            None => Session::start(&self.remote, self.timeout)?,
        };
        let result = work(&mut running)?;
        *session = Some(running);
        Ok(result)
    }

    /// Runs a command and returns the first lines of its output.
    fn ask(&self, command: &str) -> Result<Vec<String>, Refusal> {
        self.with_session(|session| session.ask(command, &mut |_| Ok(())))
    }

    /// Runs a command that has no output if it succeeds.
    fn order(&self, command: &str) -> Result<(), Refusal> {
        succeeded(&self.ask(command)?)
    }

    /// Returns a path quoted for `sftp`.
    fn path(&self, name: &str) -> Result<String, Refusal> {
        let path = match name {
            "" => self.remote.path.clone(),
            name => join_name(&self.remote.path, name),
        };
        // `sftp` expands braces even in quotes.
        match path.contains('{') {
            true => Err(Refusal::other("sftp cannot access a path that contains {")),
            false => Ok(quoted(&path)),
        }
    }

    /// Creates the parent folders of a file, and returns the reason if the last of them could not be created and the
    /// reason is known.
    fn make_folders(&self, name: &str) -> Result<Option<Refusal>, Refusal> {
        let path = join_name(&self.remote.path, name);
        let ends = path.match_indices('/').map(|(end, _)| end);
        let mut last = None;
        for end in ends.filter(|&end| end > 0) {
            let said = self.ask(&format!("mkdir {}", quoted(&path[..end])))?;
            let refusal = refusal(&said.join("; "));
            // Creating an existing folder fails, too.
            last = (refusal.why != FailureReason::Other).then_some(refusal);
        }
        Ok(last)
    }

    fn put(&self, from: &str, name: &str) -> Result<(), Refusal> {
        self.order(&format!("put -f {from} {}", self.path(name)?))
    }
}

impl super::Files for Files {
    fn list(&self, folder: &str) -> Result<Vec<ListedFile>, Refusal> {
        let mut listed = Vec::new();
        let mut folders = vec![folder.to_owned()];
        let mut names = ListedNames::default();
        while let Some(folder) = folders.pop() {
            let command = format!("ls -ln {}", self.path(&folder)?);
            let mut add = |line: &str| {
                let entry = match Entry::parse(line) {
                    Some(entry) => entry,
                    None if is_missing(line) => return Ok(()),
                    None => return Err(refusal(line)),
                };
                let name = join_name(&folder, entry.name);
                names.count(&name)?;
                match entry.kind {
                    b'd' => folders.push(name),
                    b'-' => listed.push(ListedFile {
                        name,
                        size: entry.size,
                    }),
                    _ => {}
                }
                Ok(())
            };
            self.with_session(|session| session.ask(&command, &mut add))?;
        }
        Ok(listed)
    }

    fn is_empty(&self) -> Result<bool, Refusal> {
        // The listing omits hidden files, which include incomplete ones.
        match &self.ask(&format!("ls -ln {}", self.path("")?))?[..] {
            [] => Ok(true),
            [line, ..] if Entry::parse(line).is_some() => Ok(false),
            [line, ..] if is_missing(line) => Ok(true),
            [line, ..] => Err(refusal(line)),
        }
    }

    fn has(&self, name: &str) -> Result<bool, Refusal> {
        let said = self.ask(&format!("ls -ln {}", self.path(name)?))?;
        let entries: Vec<_> = said.iter().map(|line| (line, Entry::parse(line))).collect();
        let file = name.rsplit('/').next().unwrap_or(name);
        match &entries[..] {
            [(line, None), ..] if is_missing(line) => Ok(false),
            [(line, None), ..] => Err(refusal(line)),
            // The files of a folder with this name would be listed, too.
            [(_, Some(entry))] if entry.kind == b'-' && entry.name == file => Ok(true),
            _ => Err(Refusal::new(FailureReason::NotAFile, "")),
        }
    }

    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal> {
        let path = self.path(name)?;
        let said = self.ask(&format!("ls -ln {path}"))?;
        match said.first().map(|line| (line, Entry::parse(line))) {
            Some((_, Some(entry))) if entry.size > most => return Err(too_long()),
            Some((line, None)) if is_missing(line) => return Ok(None),
            _ => {}
        }
        let to = MemoryFile::new()?;
        let get = format!("get {path} {}", quoted(&to.path().to_string_lossy()));
        let got = self.with_session(|session| {
            // A server can send more than it lists; this ends `sftp`.
            session.limit(Resource::FileSize, Bytes(most.0 + 1))?;
            succeeded(&session.ask(&get, &mut |_| Ok(()))?)
        });
        let mut file = to.file();
        if file.metadata()?.len() > most.0 {
            return Err(too_long());
        }
        got?;
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        if self.has(name)? {
            return Ok(false);
        }
        let from = MemoryFile::new()?;
        from.file().write_all(bytes)?;
        from.set_readable_by_all()?;
        let from = quoted(&from.path().to_string_lossy());
        let (folder, _) = name.rsplit_once('/').unwrap_or_default();
        let unfinished = random_name(OsStr::new(UNFINISHED));
        let unfinished = join_name(folder, &unfinished.to_string_lossy());
        if self.put(&from, &unfinished).is_err() {
            let why = self.make_folders(name)?;
            self.put(&from, &unfinished)
                .map_err(|refusal| why.unwrap_or(refusal))?;
        }
        let (old, new) = (self.path(&unfinished)?, self.path(name)?);
        let renamed = self.order(&format!("rename -l {old} {new}"));
        let Err(refusal) = renamed else {
            return Ok(true);
        };
        self.ask(&format!("rm {old}"))?;
        // Another process may have been faster; otherwise the failure has another cause.
        if self.has(name)? {
            Ok(false)
        } else {
            Err(refusal)
        }
    }
}

/// Interprets the output of a command that has none if it succeeds.
fn succeeded(said: &[String]) -> Result<(), Refusal> {
    if said.is_empty() {
        Ok(())
    } else {
        Err(refusal(&said.join("; ")))
    }
}

fn too_long() -> Refusal {
    Refusal::new(FailureReason::TooLong, "")
}

impl Session {
    fn start(remote: &Remote, timeout: Duration) -> Result<Session, Refusal> {
        let (output, said) = io::pipe()?;
        let mut command = Command::new("sftp");
        command.args(["-b", "-", "-o", "BatchMode=yes"]);
        let options = [
            format!("ConnectTimeout={}", timeout.as_secs().max(1)),
            format!("ServerAliveInterval={KEEP_ALIVE}"),
        ];
        for option in options {
            command.arg("-o").arg(option);
        }
        if let Some(port) = remote.port {
            command.arg("-P").arg(port.to_string());
        }
        // Forces English messages, and file names in UTF-8.
        command.env("LC_ALL", "C.UTF-8");
        command.arg("--").arg(&remote.host);
        command
            .stdin(Stdio::piped())
            .stdout(said.try_clone()?)
            .stderr(said);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Refusal::new(FailureReason::NoSftp, ""),
            _ => error.into(),
        })?;
        // Closes our copies of the output pipe, so that its end can be detected.
        drop(command);
        let input = child
            .stdin
            .take()
            .ok_or_else(|| Refusal::other("sftp takes no commands"))?;
        let output = BufReader::new(Output {
            pipe: output,
            sftp: child.id(),
            timeout,
        });
        let session = Session {
            child,
            input,
            output,
        };
        session.limit(Resource::Memory, SFTP_MEMORY)?;
        Ok(session)
    }

    /// Limits a resource of `sftp`, or raises the limit again.
    fn limit(&self, resource: Resource, most: Bytes) -> Result<(), Refusal> {
        // If `sftp` exited, its output explains why.
        Ok(limit_process(&self.child, resource, most.0)?)
    }

    /// Sends a command, passes each line of its output to `on_line`, and returns the first lines.
    fn ask(&mut self, command: &str, on_line: OnLine<'_>) -> Result<Vec<String>, Refusal> {
        if command.len() > LONGEST {
            return Err(Refusal::other("the path is too long for sftp"));
        }
        // The prefix `-` prevents `sftp` from exiting on failure.
        let given = write!(self.input, "-{command}\n-{}\n", DONE.0);
        let mut said = Vec::new();
        for _ in 0..MAX_LINES {
            let mut line = Vec::new();
            let mut output = self.output.by_ref().take(MAX_LINE);
            // If `sftp` exited, its output explains why.
            if output.read_until(b'\n', &mut line)? == 0 {
                let said = said.join("; ");
                return Err(match &given {
                    Err(error) if said.is_empty() => Refusal::other(&error.to_string()),
                    _ => refusal(&said),
                });
            }
            if line.len() as u64 == MAX_LINE {
                return Err(Refusal::other(&format!(
                    "it sent a line of more than {MAX_LINE} bytes"
                )));
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if line.starts_with(DONE.1) {
                return Ok(said);
            }
            if !line.is_empty() && !line.starts_with(ECHO) {
                on_line(line)?;
                if said.len() < KEPT_LINES {
                    said.push(line.to_owned());
                }
            }
        }
        Err(Refusal::other(&format!(
            "it sent more than {MAX_LINES} lines"
        )))
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut transferred = self.transferred();
        loop {
            if wait_for_data(&self.pipe, self.timeout)? {
                return self.pipe.read(buffer);
            }
            let before = transferred;
            transferred = self.transferred();
            if transferred == before {
                let why = format!("no data for {} s", self.timeout.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
        }
    }
}

impl Output {
    /// The number of bytes that `sftp` has read, which prints nothing during a transfer (proc_pid_io(5)); `None` if it
    /// is unknown.
    fn transferred(&self) -> Option<u64> {
        let counters = fs::read_to_string(format!("/proc/{}/io", self.sftp)).ok()?;
        let read = counters
            .lines()
            .find_map(|line| line.strip_prefix("rchar: "));
        read?.parse().ok()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Kills the process rather than waiting, because it may be waiting for the server.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line of `ls -ln`: mode, links, user, group, size, three words of time, and a path.
struct Entry<'a> {
    /// First character of the mode: `-` for a file, `d` for a folder.
    kind: u8,
    size: Bytes,
    name: &'a str,
}

impl Entry<'_> {
    fn parse(line: &str) -> Option<Entry<'_>> {
        let mut rest = line;
        let mut words = [""; 8];
        for word in &mut words {
            (*word, rest) = rest.trim_start().split_once(' ')?;
        }
        let kind = words[0].bytes().next().filter(|_| words[0].len() >= 10)?;
        let name = rest.rsplit('/').next()?;
        Some(Entry {
            kind,
            size: Bytes(words[4].parse().ok()?),
            name,
        })
    }
}

/// Returns `true` if the output says that a file does not exist.
fn is_missing(line: &str) -> bool {
    line.contains("not found") || line.contains("No such file or directory")
}

/// Interprets messages of `sftp` and `ssh`.
fn refusal(said: &str) -> Refusal {
    let known = [
        ("Could not resolve hostname", FailureReason::NoHost),
        ("Host key verification failed", FailureReason::HostKey),
        (
            "Permission denied (",
            FailureReason::Credentials(Advice::Ssh),
        ),
        (
            "Too many authentication failures",
            FailureReason::Credentials(Advice::Ssh),
        ),
        ("Permission denied", FailureReason::NoPermission),
        ("Connection refused", FailureReason::NoAnswer),
        ("timed out", FailureReason::NoAnswer),
        ("Connection reset", FailureReason::NoAnswer),
        ("No route to host", FailureReason::NoAnswer),
        ("Network is unreachable", FailureReason::NoAnswer),
    ];
    let why = known.into_iter().find(|(text, _)| said.contains(text));
    Refusal::new(why.map_or(FailureReason::Other, |(_, why)| why), said)
}

/// Quotes a word of a command, including the special characters of path patterns.
fn quoted(path: &str) -> String {
    let mut word = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"/._-=".contains(letter) {
            word.push('\\');
        }
        word.push(letter);
    }
    word
}
