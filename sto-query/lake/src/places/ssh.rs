//! Files on a server, accessed by OpenSSH's `sftp`; the server only needs to support SFTP.
//!
//! One `sftp` process runs while the place is used, and receives commands one after another (sftp(1), INTERACTIVE
//! COMMANDS). A file is written under a temporary name, synced, and renamed as in version 3 of the protocol
//! (draft-ietf-secsh-filexfer-02, 6.5), which does not replace existing files. `rename` without `-l` would use
//! OpenSSH's extension, which replaces them.

use super::address::Remote;
use super::error::{Advice, Refusal};
use super::folder::join_name;
use super::{FailureReason, ListedFile, UNFINISHED, check_count};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use sto_model::files::{MemoryFile, random_name};
use sto_model::units::Bytes;

/// Timeout in seconds for connecting, and for keep-alive messages.
const PATIENCE: u32 = 20;

/// Maximum length of a command: `sftp` treats the rest as another command.
const LONGEST: usize = 2000;

/// Command sent after each command, and the beginning of its output, which marks the end of that command's output.
const DONE: (&str, &str) = ("version", "SFTP protocol version ");

/// Prefix of commands echoed by `sftp`.
const ECHO: &str = "sftp> ";

/// A remote folder, which may not exist yet.
pub(super) struct Files {
    remote: Remote,
    session: Mutex<Option<Session>>,
}

/// A running `sftp` process; it exits when its input is closed.
struct Session {
    child: Child,
    input: ChildStdin,
    /// Output of `sftp` and of the `ssh` it runs.
    output: BufReader<PipeReader>,
}

impl Files {
    pub(super) fn new(remote: Remote) -> Files {
        let session = Mutex::default();
        Files { remote, session }
    }

    /// Runs a command and returns its output.
    fn ask(&self, command: &str) -> Result<Vec<String>, Refusal> {
        if command.len() > LONGEST {
            return Err(Refusal::other("the path is too long for sftp"));
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // A failed session is discarded.
        let mut running = match session.take() {
            Some(running) => running,
            None => Session::start(&self.remote)?,
        };
        let said = running.ask(command)?;
        *session = Some(running);
        Ok(said)
    }

    /// Runs a command that has no output if it succeeds.
    fn order(&self, command: &str) -> Result<(), Refusal> {
        match &self.ask(command)?[..] {
            [] => Ok(()),
            said => Err(refusal(&said.join("; "))),
        }
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
        while let Some(folder) = folders.pop() {
            check_count(listed.len() + folders.len())?;
            for line in self.ask(&format!("ls -ln {}", self.path(&folder)?))? {
                match Entry::parse(&line) {
                    Some(entry) => {
                        let name = join_name(&folder, entry.name);
                        match entry.kind {
                            b'd' => folders.push(name),
                            b'-' => listed.push(ListedFile {
                                name,
                                size: entry.size,
                            }),
                            _ => {}
                        }
                    }
                    None if is_missing(&line) => {}
                    None => return Err(refusal(&line)),
                }
            }
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
        match &entries[..] {
            [(line, None), ..] if is_missing(line) => Ok(false),
            [(line, None), ..] => Err(refusal(line)),
            [(_, Some(Entry { kind: b'-', .. }))] => Ok(true),
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
        self.order(&format!(
            "get {path} {}",
            quoted(&to.path().to_string_lossy())
        ))?;
        let mut bytes = Vec::new();
        let mut file = to.file();
        file.rewind()?;
        file.take(most.0 + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most.0 {
            Err(too_long())
        } else {
            Ok(Some(bytes))
        }
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
        let unfinished = random_name(OsStr::new(UNFINISHED))?;
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

fn too_long() -> Refusal {
    Refusal::new(FailureReason::TooLong, "")
}

impl Session {
    fn start(remote: &Remote) -> Result<Session, Refusal> {
        let (output, said) = io::pipe()?;
        let mut command = Command::new("sftp");
        command.args(["-b", "-", "-o", "BatchMode=yes"]);
        command.arg("-o").arg(format!("ConnectTimeout={PATIENCE}"));
        command
            .arg("-o")
            .arg(format!("ServerAliveInterval={PATIENCE}"));
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
        let output = BufReader::new(output);
        Ok(Session {
            child,
            input,
            output,
        })
    }

    /// Sends a command and returns the output up to its end.
    fn ask(&mut self, command: &str) -> Result<Vec<String>, Refusal> {
        // The prefix `-` prevents `sftp` from exiting on failure.
        let given = write!(self.input, "-{command}\n-{}\n", DONE.0);
        let mut said = Vec::new();
        loop {
            let mut line = Vec::new();
            // If `sftp` exited, its output explains why.
            if self.output.read_until(b'\n', &mut line)? == 0 {
                let _ = self.child.wait();
                let said = said.join("; ");
                return Err(match &given {
                    Err(error) if said.is_empty() => Refusal::other(&error.to_string()),
                    _ => refusal(&said),
                });
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if line.starts_with(DONE.1) {
                return Ok(said);
            }
            if !line.is_empty() && !line.starts_with(ECHO) {
                said.push(line.to_owned());
                check_count(said.len())?;
            }
        }
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
