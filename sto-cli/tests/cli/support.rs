//! Sandboxes: each test runs the real binary with its own folder, store and home.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use sto_core::id::{ExecutableId, ProfileId, RecordingDigest};
use sto_core::store::Store;
use tempfile::TempDir;

/// Folded stacks of a program whose `doLogging` is cheap.
pub(crate) const BEFORE: &str = "main;work;compute 9000\nmain;work;doLogging 100\nmain;idle 900\n";

/// Like [`BEFORE`], with an expensive `doLogging`.
pub(crate) const AFTER: &str = "main;work;compute 9000\nmain;work;doLogging 1500\nmain;idle 900\n";

pub(crate) struct Sandbox {
    folder: TempDir,
}

/// Exit status and output of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Sandbox { folder }
    }

    /// A sandbox whose store has the builds `demo@v1` and `demo@v2`, made of `a.folded` and
    /// `b.folded`.
    pub(crate) fn with_two_builds() -> Self {
        // The store is created once, because every transaction waits for the disk.
        static STORE: OnceLock<Vec<u8>> = OnceLock::new();
        let store = STORE.get_or_init(|| {
            let sandbox = Sandbox::with_two_files();
            for [file, build] in [["a.folded", "v1"], ["b.folded", "v2"]] {
                let ingest = ["ingest", file, "--build", build, "--exe", "demo"];
                sandbox.sto(&ingest).succeeds();
            }
            std::fs::read(sandbox.path("store/store.redb")).unwrap()
        });
        let sandbox = Sandbox::with_two_files();
        sandbox.write("store/store.redb", store);
        sandbox
    }

    fn with_two_files() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("a.folded", BEFORE);
        sandbox.write("b.folded", AFTER);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Returns the command in this sandbox, with `$STO_STORE` set to its folder `store`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bare_command(args);
        command.env("STO_STORE", self.path("store"));
        command
    }

    /// Like [`command`](Self::command), without `$STO_STORE`.
    pub(crate) fn bare_command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_sto"), args)
    }

    /// Returns a command that runs any program with this sandbox as its working directory and home.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", self.path("home"))
            // Keeps git from finding a work tree above the sandbox.
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.folder.path().parent().unwrap(),
            )
            .stdin(Stdio::null());
        for variable in [
            "STO_STORE",
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
            "STO_CONFIG",
            "BROWSER",
            "DEBUGINFOD_URLS",
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "COLUMNS",
        ] {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn sto(&self, args: &[&str]) -> Run {
        Run::new(&mut self.command(args))
    }

    /// Returns the JSON that a command prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        // `--format` of `sto ingest` is the format of the recordings.
        let option = match args[0] {
            "ingest" => "--report",
            _ => "--format",
        };
        let run = self.sto(&[args, &[option, "json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error} in {run:?}"))
    }

    /// Returns every file of the store with its bytes.
    pub(crate) fn store_bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files_of(&self.path("store"))
    }
}

impl Run {
    pub(crate) fn new(command: &mut Command) -> Run {
        command.output().unwrap().into()
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Run {
        assert_eq!(self.status, Some(0), "{self:?}");
        self
    }

    /// Checks that the command failed with nothing on standard output, status 2, and one sentence that
    /// has all these parts, optionally followed by one hint.
    #[track_caller]
    pub(crate) fn fails_with(self, parts: &[&str]) -> Run {
        assert_eq!(self.status, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let mut lines = self.stderr.lines();
        let error = lines.next().unwrap_or_default();
        assert!(error.starts_with("error: "), "{self:?}");
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing in {self:?}");
        }
        assert!(lines.all(|line| line.starts_with("hint: ")), "{self:?}");
        for debug in ["panicked", "Error {", "Some(", "Os {"] {
            assert!(!self.stderr.contains(debug), "{self:?}");
        }
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Returns the root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns every file of a folder with its bytes, sorted by name; empty if the folder does not exist.
pub(crate) fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Returns the temporary files in a folder.
pub(crate) fn temporary_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_temporary = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let digits = name.rsplit('-').next().unwrap();
        name.starts_with('.')
            && digits.len() == 16
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    paths.filter(is_temporary).collect()
}

/// A digest of the whole content of each profile of a store.
pub(crate) type Content = BTreeMap<ProfileId, RecordingDigest>;

pub(crate) fn content(store: &Store) -> Content {
    let mut content = BTreeMap::new();
    for build in store.snapshot().unwrap().builds().unwrap() {
        let executable = ExecutableId::from_name(&build.build.executable);
        for stored in build.profiles {
            let loaded = store
                .snapshot()
                .unwrap()
                .load(executable, &[stored.id])
                .unwrap();
            let lines = store.snapshot().unwrap().load_lines(stored.id).unwrap();
            let text = format!("{:?}\n{loaded:?}\n{lines:?}", stored.profile);
            content.insert(stored.id, RecordingDigest::hash_bytes(text.as_bytes()));
        }
    }
    content
}

/// Runs a command, and kills it after `changes` changes in a folder, such as a created, removed or written file.
/// Returns its output and the number of observed changes.
pub(crate) fn killed_after(changes: usize, folder: &Path, mut command: Command) -> (Output, usize) {
    let state = || -> Vec<_> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((entry.path(), metadata.len(), metadata.modified().ok()))
            })
            .collect();
        files.sort();
        files
    };
    let (mut seen, mut last) = (0, state());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while seen < changes && child.try_wait().unwrap().is_none() {
        // Leaves the processor to the command; writes are rarely closer together.
        std::thread::sleep(Duration::from_micros(200));
        let now = state();
        seen += usize::from(now != last);
        last = now;
    }
    child.kill().unwrap();
    (child.wait_with_output().unwrap(), seen)
}
