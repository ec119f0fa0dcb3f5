//! The profiles that were opened, and answers to questions about them.

use crate::problem::Problem;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use sto_core::id::{ProfileId, RecordingDigest};
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, InternError, ingest};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::Bytes;
use sto_query::questions::{AnyQuestion, DiffRequest, ExportRequest, FlameRequest, Question};
use sto_query::render::{columns, export};
use sto_query::sources::{Context, Sources};

/// Memory for stacks and costs that further questions may need again.
const CACHE: Bytes = Bytes(128 << 20);
/// Number of slices of time of a profile that has time stamps, as in `sto ui FILE`.
const SLICES: Option<SliceCount> = SliceCount::new(1000);

/// The profiles that a page has opened. They are only in memory.
pub struct Session {
    store: Store,
    sources: Sources,
    opened: Vec<OpenedFile>,
    /// Native programs and libraries, for recordings without the names of their functions.
    programs: Vec<(PathBuf, Arc<[u8]>)>,
}

#[derive(PartialEq)]
struct OpenedFile {
    name: String,
    digest: RecordingDigest,
    /// Number of programs that were known, as more of them name more functions.
    programs: usize,
}

/// The profiles of a file that was opened.
#[derive(Serialize)]
struct Opened {
    profiles: Vec<ProfileId>,
    /// Warnings about the file, as complete sentences.
    warnings: Vec<String>,
}

impl Session {
    /// Creates a session without profiles.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no memory for a store.
    pub fn new() -> Result<Session, Problem> {
        let store = Store::in_memory()?;
        Ok(Session {
            sources: sources_of(&store)?,
            store,
            opened: Vec::new(),
            programs: Vec::new(),
        })
    }

    /// Answers a request of a page:
    ///
    /// | address | body | answer |
    /// |---|---|---|
    /// | `programs/NAME` | a native program or library, for profiles that are opened later | nothing |
    /// | `profiles/NAME` | a file in any format | JSON: the content ids of its profiles, and warnings |
    /// | `questions/NAME` | the question as JSON | its answer as JSON |
    /// | `columns/flame`, `columns/diff` | the question as JSON | see [`columns`] |
    /// | `export` | [`ExportRequest`] as JSON | the file |
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such address, the file is no profile, or the question has no answer.
    pub fn answer(&mut self, address: &str, body: &[u8]) -> Result<Vec<u8>, Problem> {
        let (kind, name) = address.split_once('/').unwrap_or((address, ""));
        match (kind, name) {
            ("programs", name) => {
                self.programs.push((name.into(), body.into()));
                Ok(Vec::new())
            }
            ("profiles", name) => self.open(name, body),
            _ if self.opened.is_empty() => Err(Problem::nothing_open()),
            ("questions", name) => json(&self.ask(&question(name, body)?)?),
            ("columns", "flame") => {
                columns::flame(&self.ask::<FlameRequest>(&parse(body)?)?).map_err(Problem::internal)
            }
            ("columns", "diff") => {
                columns::diff(self.ask::<DiffRequest>(&parse(body)?)?).map_err(Problem::internal)
            }
            ("export", "") => {
                let mut file = Vec::new();
                export::write(&self.ask::<ExportRequest>(&parse(body)?)?, false, &mut file)?;
                Ok(file)
            }
            _ => Err(Problem::not_found(format!(
                "there is nothing at `{address}`"
            ))),
        }
    }

    fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, Problem> {
        Ok(sto_query::ask(
            &self.sources,
            question,
            &Context::default(),
        )?)
    }

    /// Opens a file as a build with the name of the file.
    fn open(&mut self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
        let file = OpenedFile {
            name: name.to_owned(),
            digest: RecordingDigest::hash_bytes(bytes),
            programs: self.programs.len(),
        };
        let outcome = self.read(&file, bytes)?;
        self.sources = sources_of(&self.store)?;
        if !self.opened.contains(&file) {
            self.opened.push(file);
        }
        json(&Opened {
            profiles: outcome.profiles.iter().map(|profile| profile.id).collect(),
            warnings: warnings(&outcome),
        })
    }

    /// Reads a file, with its course over time if it has time stamps.
    fn read(&self, file: &OpenedFile, bytes: &[u8]) -> Result<IngestOutcome, IngestError> {
        let mut options = IngestOptions {
            version: Some(self.version_of(file)),
            slices: SLICES,
            ..IngestOptions::default()
        };
        options.symbols.symbol_bytes.clone_from(&self.programs);
        let read = |options: &IngestOptions| {
            ingest(&self.store, (&file.name, bytes), options, &mut |_| {})
        };
        match read(&options) {
            Err(IngestError::Intern {
                source: InternError::NoTime { .. },
                ..
            }) => {
                options.slices = SliceCount::new(1);
                read(&options)
            }
            outcome => outcome,
        }
    }

    /// Returns the name of the build: the name of the file, with a number if other files with this name were opened.
    fn version_of(&self, file: &OpenedFile) -> String {
        let namesakes = self.opened.iter().filter(|known| known.name == file.name);
        match namesakes.take_while(|known| *known != file).count() {
            0 => file.name.clone(),
            before => format!("{} ({})", file.name, before + 1),
        }
    }
}

/// The sources of the current state of a store. Files of the machine do not exist for a page.
fn sources_of(store: &Store) -> Result<Sources, Problem> {
    let sources = Sources::from_snapshot(store.snapshot()?);
    Ok(sources.without_files().with_cache(CACHE))
}

/// Returns warnings about a file as complete sentences, also of a program whose functions have no names.
fn warnings(outcome: &IngestOutcome) -> Vec<String> {
    let is_program = |path: &str| {
        let name = path.rsplit('/').next();
        let mut profiles = outcome.profiles.iter();
        profiles.any(|profile| name == Some(&profile.build.executable))
    };
    let modules = outcome.modules.iter();
    let nameless = modules.filter(|(path, symbols)| {
        symbols.may_be_found && symbols.unresolved > 0 && is_program(path)
    });
    let nameless = nameless.map(|(path, _)| {
        format!("Functions of {path} have no names; open that file together with this one.")
    });
    let warnings = outcome.warnings.iter().map(|warning| warning.text.clone());
    warnings.chain(nameless).collect()
}

fn question(name: &str, body: &[u8]) -> Result<AnyQuestion, Problem> {
    let mut fields: Map<String, Value> = parse(body)?;
    fields.insert("question".to_owned(), name.into());
    serde_json::from_value(fields.into()).map_err(Problem::invalid)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(Problem::invalid)
}

fn json(answer: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(answer).map_err(Problem::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(session: &mut Session, name: &str, stacks: &str) -> Value {
        let opened = session.answer(&format!("profiles/{name}"), stacks.as_bytes());
        serde_json::from_slice(&opened.unwrap()).unwrap()
    }

    fn ask(session: &mut Session, question: &str, request: Value) -> Value {
        let request = request.to_string();
        let answer = session.answer(&format!("questions/{question}"), request.as_bytes());
        serde_json::from_slice(&answer.unwrap()).unwrap()
    }

    #[test]
    fn files_with_the_same_name_are_builds_of_their_own() {
        let mut session = Session::new().unwrap();
        let first = open(&mut session, "a.folded", "main;parse 60\n");
        let second = open(&mut session, "a.folded", "main;parse 90\n");
        assert_eq!(open(&mut session, "a.folded", "main;parse 60\n"), first);
        assert_ne!(first, second);
        let builds = ask(&mut session, "builds", serde_json::json!({}));
        let versions = builds["builds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|build| &build["version"]);
        assert_eq!(versions.collect::<Vec<_>>(), ["a.folded", "a.folded (2)"]);
    }

    #[test]
    fn errors_have_a_status_and_name_the_problem() {
        let mut session = Session::new().unwrap();
        let problem = session.answer("questions/top", b"{}").unwrap_err();
        assert_eq!(problem.title, "Nothing is open");
        open(&mut session, "a.folded", "main;parse 60\n");
        for (address, body, status, detail) in [
            ("profiles/a.txt", "\0\u{1}", 422, "a.txt"),
            (
                "questions/top",
                r#"{"named":{"selector":"v2"}}"#,
                404,
                "`v2`",
            ),
            ("questions/toop", "{}", 422, "unknown variant `toop`"),
            ("columns/flame", "[", 422, "EOF"),
            ("elsewhere", "", 404, "`elsewhere`"),
        ] {
            let problem = session.answer(address, body.as_bytes()).unwrap_err();
            assert_eq!(problem.status, status, "{problem:?}");
            assert!(problem.detail.contains(detail), "{problem:?}");
        }
    }
}
