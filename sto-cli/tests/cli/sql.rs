//! `sto sql`.

use crate::support::{Run, Sandbox};
use std::io::{Read, Write};
use std::process::Stdio;

fn asked(arguments: &[&str]) -> Run {
    Sandbox::with_two_builds().sto(&[&["sql"], arguments].concat())
}

#[test]
fn queries_are_arguments_files_standard_input_or_shipped() {
    let sandbox = Sandbox::with_two_builds();
    let query = "SELECT version, samples FROM executable";
    let expected = "version  samples\nv1         10000\nv2         11400\n";
    let run = sandbox.sto(&["sql", query]).succeeds();
    assert_eq!(run.stdout, expected);
    sandbox.write("query.sql", query);
    let run = sandbox.sto(&["sql", "-f", "query.sql"]).succeeds();
    assert_eq!(run.stdout, expected);
    let mut command = sandbox.command(&["sql"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(query.as_bytes())
        .unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.succeeds().stdout, expected);
    let shipped = [
        "sql",
        "-f",
        "top",
        "--param",
        "version=v2",
        "--format",
        "csv",
    ];
    let run = sandbox.sto(&shipped).succeeds();
    assert!(
        run.stdout
            .starts_with("self,total,self_share,function,module\n9000,9000,"),
        "{run:?}"
    );
    // A file takes precedence over a built-in query.
    sandbox.write("top", "SELECT 'a file'");
    let run = sandbox
        .sto(&["sql", "-f", "top", "--format", "raw"])
        .succeeds();
    assert_eq!(run.stdout, "a file\n");
    let run = sandbox.sto(&["sql", "-f", "nope"]);
    run.fails_with(&["cannot read nope"]);
}

#[test]
fn shipped_queries_are_listed_and_shown() {
    let run = asked(&["--examples"]).succeeds();
    for name in [
        "call_graph",
        "callers",
        "code_path_potential",
        "find_regressions",
        "where_over",
    ] {
        assert!(
            run.stdout.contains(&format!("sto sql -f {name} --param ")),
            "{run:?}"
        );
    }
    assert!(run.stdout.contains("sto sql --examples lake/top\n"));
    assert!(run.stdout.lines().all(|line| line.len() <= 100), "{run:?}");
    let shown = asked(&["--examples", "callers"]).succeeds();
    assert!(
        shown.stdout.starts_with("-- Who calls a function"),
        "{shown:?}"
    );
    assert_eq!(
        shown.stdout,
        asked(&[".examples callers"]).succeeds().stdout
    );
    let shown = asked(&["--examples", "lake/top"]).succeeds();
    assert!(
        shown
            .stdout
            .starts_with("-- The functions with the highest self cost"),
        "{shown:?}"
    );
    asked(&["--examples", "caller"]).fails_with(&["there is no built-in query `caller`"]);
}

#[test]
fn errors_show_their_position_and_exit_with_2() {
    let run = asked(&["SELECT versio FROM executable"]);
    assert_eq!(run.status, Some(2));
    assert_eq!(
        run.stderr,
        "error: no such column: versio\n  SELECT versio FROM executable\n         ^\n\
         hint: `sto sql .schema` lists tables, columns and functions\n"
    );
    asked(&["DELETE FROM executable"]).fails_with(&["the store is read-only here"]);
    asked(&["SELECT :x"]).fails_with(&["parameter `:x`"]);
    let endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT count(*) FROM c";
    asked(&[endless, "--timeout", "10ms"])
        .fails_with(&["the query exceeded its time limit of 0.01 s"]);
    asked(&["SELECT * FROM potential('v3')"]).fails_with(&["`v3`", "demo@v1"]);
    asked(&[".nope"]).fails_with(&["`.nope` is not a command of the shell"]);
    asked(&[".schema nope"]).fails_with(&["there is no table or function `nope`"]);
}

#[test]
fn query_must_not_exceed_the_memory_limit() {
    let large = "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c LIMIT 400000) \
                 SELECT length(group_concat(printf('%900d', x))) FROM c";
    let run = asked(&[large, "--max-memory", "64MB"]);
    run.fails_with(&["the query needs more memory than the limit"]);
}

#[test]
fn query_must_be_a_short_text() {
    asked(&["-f", "/dev/zero"]).fails_with(&["/dev/zero", "not a regular file"]);
    let sandbox = Sandbox::with_two_builds();
    let line = "yes -- | \"$0\" sql";
    let sto = sandbox.command(&[]);
    let mut shell = sandbox.program("sh", &["-c", line]);
    shell.arg(sto.get_program());
    let run = Run::new(shell.env("STO_STORE", sandbox.path("store")));
    run.fails_with(&["larger than 16 MiB"]);
}

#[test]
fn store_must_exist_and_is_not_changed() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    sandbox
        .sto(&["sql", "SELECT count(*) FROM sample"])
        .succeeds();
    sandbox.sto(&["sql", "DROP TABLE sample"]);
    assert_eq!(sandbox.store_bytes(), before);
    let run = Sandbox::new().sto(&["sql", "SELECT 1"]);
    run.fails_with(&["store"]);
}

#[test]
fn closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let line = format!(
        "'{}' sql '{endless}' --format csv | head -n 3; exit \"${{PIPESTATUS[0]}}\"",
        env!("CARGO_BIN_EXE_sto")
    );
    let mut command = sandbox.program("bash", &["-c", &line]);
    command.env("STO_STORE", sandbox.path("store"));
    let run = Run::new(&mut command).succeeds();
    assert_eq!(run.stdout, "x\n1\n2\n");
}

/// Types lines into the SQL shell on a terminal, each at its prompt, and returns the output.
fn type_into_shell(sandbox: &Sandbox, lines: &[&str]) -> Run {
    /// The escape sequence before each prompt: it enables bracketed paste.
    const ASKS: &str = "\u{1b}[?2004h";
    let line = format!(
        "stty rows 50 cols 80; exec '{}' sql",
        env!("CARGO_BIN_EXE_sto")
    );
    let mut script = sandbox.program("script", &["-qec", &line, "/dev/null"]);
    script
        .env("STO_STORE", sandbox.path("store"))
        .env_remove("XDG_STATE_HOME")
        .env("TERM", "xterm")
        .env("PAGER", "cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    for line in lines {
        let from = shown.len();
        while !String::from_utf8_lossy(&shown[from..]).contains(ASKS) {
            let mut bytes = [0; 4096];
            let count = stdout.read(&mut bytes).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&shown));
            shown.extend(&bytes[..count]);
        }
        stdin.write_all(line.as_bytes()).unwrap();
    }
    stdout.read_to_end(&mut shown).unwrap();
    let status = child.wait().unwrap();
    Run {
        status: status.code(),
        stdout: String::from_utf8_lossy(&shown).into_owned(),
        stderr: String::new(),
    }
}

#[test]
fn shell_runs_queries_and_saves_its_history() {
    let sandbox = Sandbox::with_two_builds();
    let lines = [
        ".param v v2\n",
        ".format csv\n",
        "SELECT samples FROM exec\t WHERE version = :v;\n",
        "SELECT nope;\n",
        "SELECT 'over two'\n || ' lines';\n",
        ".quit\n",
    ];
    let run = type_into_shell(&sandbox, &lines);
    assert_eq!(run.status, Some(0), "{run:?}");
    for part in ["samples\r\n11400", "no such column: nope", "over two lines"] {
        assert!(run.stdout.contains(part), "{part} is missing in {run:?}");
    }
    let history = sandbox.path("home/.local/state/sto/sql_history");
    let kept = std::fs::read_to_string(history).unwrap();
    assert!(kept.contains("SELECT samples FROM executable"), "{kept}");
}
