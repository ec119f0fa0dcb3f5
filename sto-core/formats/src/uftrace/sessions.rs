//! Processes, threads, their programs and mappings: `task.txt`, `sid-*.map`.

use crate::wire::text::{lines, scaled};
use hashbrown::HashMap;
use std::str;

/// The processes and threads of a folder.
#[derive(Default)]
pub(super) struct Sessions {
    pub(super) list: Vec<Session>,
    /// The sessions of each process with their begins, in order of time.
    of_process: HashMap<u32, Vec<(u64, usize)>>,
    /// The process of each thread.
    process_of: HashMap<u32, u32>,
}

/// A running program.
pub(super) struct Session {
    /// Path of the program.
    pub(super) program: String,
    /// Id of the session, which is in the name of its map.
    sid: String,
    /// In order of address.
    pub(super) mappings: Vec<Mapping>,
}

/// A mapped file; its addresses start at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) file: String,
}

impl Sessions {
    /// Reads `task.txt`; `map` returns the text of `sid-SID.map`.
    ///
    /// # Errors
    /// Returns an error with the number of the first invalid line.
    pub(super) fn read(
        tasks: &[u8],
        mut map: impl FnMut(&str) -> Vec<u8>,
    ) -> Result<Sessions, (usize, String)> {
        let mut sessions = Sessions::default();
        for (number, line) in lines(tasks) {
            let line = String::from_utf8_lossy(line);
            let read = sessions.line(&line, &mut map);
            read.map_err(|problem| (number, problem))?;
        }
        for session in &mut sessions.list {
            session.mappings.sort_by_key(|mapping| mapping.begin);
        }
        Ok(sessions)
    }

    fn line(&mut self, line: &str, map: &mut impl FnMut(&str) -> Vec<u8>) -> Result<(), String> {
        let fields = Fields(line);
        match line.split(' ').next() {
            Some("SESS") => {
                let (time, pid) = (fields.time()?, fields.number("pid")?);
                let sid = fields.text("sid")?;
                let session = self.list.len();
                self.list.push(Session {
                    program: fields.quoted("exename")?.to_owned(),
                    sid: sid.to_owned(),
                    mappings: mappings(&map(sid)),
                });
                self.of_process
                    .entry(pid)
                    .or_default()
                    .push((time, session));
            }
            Some("TASK") => {
                self.process_of
                    .insert(fields.number("tid")?, fields.number("pid")?);
            }
            Some("FORK") => {
                let (time, pid) = (fields.time()?, fields.number("pid")?);
                let session = self.session_at(fields.number("ppid")?, time);
                self.process_of.insert(pid, pid);
                if let Some(session) = session {
                    self.of_process
                        .entry(pid)
                        .or_default()
                        .push((time, session));
                }
            }
            // Its mapping ends where the next one begins.
            Some("DLOP") => {
                let (sid, base) = (fields.text("sid")?, fields.text("base")?);
                let mapping = Mapping {
                    begin: u64::from_str_radix(base, 16)
                        .map_err(|error| format!("base: {error}"))?,
                    end: u64::MAX,
                    file: fields.quoted("libname")?.to_owned(),
                };
                let session = self
                    .list
                    .iter_mut()
                    .rev()
                    .find(|session| session.sid == sid);
                if let Some(session) = session {
                    session.mappings.push(mapping);
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn process_of(&self, tid: u32) -> u32 {
        self.process_of.get(&tid).copied().unwrap_or(tid)
    }

    /// The session of a process at a time, or its first one.
    pub(super) fn session_at(&self, pid: u32, time: u64) -> Option<usize> {
        let sessions = self.sessions_of_process(pid);
        let after = sessions.partition_point(|&(begin, _)| begin <= time);
        let &(_, session) = sessions.get(after.saturating_sub(1))?;
        Some(session)
    }

    /// The sessions of a process with their begins.
    pub(super) fn sessions_of_process(&self, pid: u32) -> &[(u64, usize)] {
        self.of_process.get(&pid).map_or(&[], Vec::as_slice)
    }
}

impl Session {
    /// The file mapped at an address.
    pub(super) fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self
            .mappings
            .partition_point(|mapping| mapping.begin <= address);
        let mapping = self.mappings[..after].last()?;
        (address < mapping.end).then_some(mapping)
    }
}

/// The words `name=value` of a line.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn find(&self, name: &str) -> Result<&'a str, String> {
        let found = self.0.match_indices(name).find_map(|(at, _)| {
            let value = self.0[at + name.len()..].strip_prefix('=')?;
            self.0[..at].ends_with(' ').then_some(value)
        });
        found.ok_or_else(|| format!("expected a field {name}=, found none"))
    }

    fn text(&self, name: &str) -> Result<&'a str, String> {
        let value = self.find(name)?;
        Ok(value.split(' ').next().unwrap_or(value))
    }

    fn number(&self, name: &str) -> Result<u32, String> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| format!("{name}: expected a number, found {text:?}"))
    }

    fn quoted(&self, name: &str) -> Result<&'a str, String> {
        let value = self.find(name)?;
        let inside = value
            .strip_prefix('"')
            .and_then(|value| value.rsplit_once('"'));
        inside
            .map(|(inside, _)| inside)
            .ok_or_else(|| format!("{name}: expected a text in quotes"))
    }

    fn time(&self) -> Result<u64, String> {
        scaled(self.text("timestamp")?.as_bytes(), 9)
    }
}

/// Parses a map in the format of `/proc/PID/maps`.
fn mappings(map: &[u8]) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = Vec::new();
    for (_, line) in lines(map) {
        let Some(mapping) = str::from_utf8(line).ok().and_then(mapping) else {
            continue;
        };
        match mappings.last_mut() {
            Some(last) if last.file == mapping.file => last.end = last.end.max(mapping.end),
            _ => mappings.push(mapping),
        }
    }
    mappings
}

/// `BEGIN-END r-xp OFFSET DEVICE INODE   PATH build-id:ID`; `None` for memory without a file.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (begin, end) = words.next()?.split_once('-')?;
    let path = words.nth(4)?.trim();
    let path = path
        .rsplit_once(" build-id:")
        .map_or(path, |(path, _)| path);
    path.starts_with('/').then_some(Mapping {
        begin: u64::from_str_radix(begin, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        file: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &[u8] = b"SESS timestamp=10.000000001 pid=7 sid=ab exename=\"/bin/my app\"\n\
        TASK timestamp=10.000000002 tid=7 pid=7\n\
        TASK timestamp=10.000000002 tid=8 pid=7\n\
        FORK timestamp=11.000000000 pid=9 ppid=7\n\
        DLOP timestamp=12.000000000 tid=8 sid=ab base=9000 libname=\"/lib/late.so\"\n\
        SESS timestamp=13.000000000 pid=7 sid=cd exename=\"/bin/other\"\n";

    const MAP: &[u8] = b"1000-2000 r-xp 00000000 00:00 0      /bin/my app build-id:0123\n\
        3000-4000 rw-p 00000000 00:00 0 \n\
        5000-6000 r--p 00000000 00:00 0  /lib/a.so\n\
        6000-7000 r-xp 00001000 00:00 0  /lib/a.so\n";

    #[test]
    fn finds_the_program_of_a_thread_at_a_time() {
        let sessions = Sessions::read(TASKS, |sid| match sid {
            "ab" => MAP.to_vec(),
            _ => Vec::new(),
        });
        let sessions = sessions.unwrap();
        assert_eq!(sessions.process_of(8), 7);
        assert_eq!(sessions.process_of(9), 9);
        let program = |pid, time| &*sessions.list[sessions.session_at(pid, time).unwrap()].program;
        let second = 1_000_000_000;
        assert_eq!(program(7, 0), "/bin/my app");
        assert_eq!(program(7, 11 * second), "/bin/my app");
        assert_eq!(program(7, 13 * second), "/bin/other");
        assert_eq!(program(9, 14 * second), "/bin/my app");
        assert!(sessions.session_at(10, 0).is_none());
        let file = |address| {
            sessions.list[0]
                .mapping(address)
                .map(|mapping| &*mapping.file)
        };
        assert_eq!(file(0x1fff), Some("/bin/my app"));
        assert_eq!(file(0x3000), None);
        assert_eq!(file(0x6fff), Some("/lib/a.so"));
        assert_eq!(file(0x9001), Some("/lib/late.so"));
        assert_eq!(file(0xfff), None);
    }

    #[test]
    fn rejects_lines_with_missing_fields() {
        for line in [
            "SESS timestamp=1.0 pid=x sid=a exename=\"b\"",
            "TASK tid=1",
            "FORK pid=1 ppid=2",
        ] {
            let tasks = format!("\n{line}\n");
            let (number, _) = Sessions::read(tasks.as_bytes(), |_| Vec::new())
                .err()
                .unwrap();
            assert_eq!(number, 2, "{line}");
        }
    }
}
