"""A temporary PostgreSQL with the three tables of the design document, as a peer of the store."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from session import run

PROGRAMS = Path("/usr/lib/postgresql/15/bin")

# The document's tables, whose executables are builds. References are not enforced, which saves
# PostgreSQL a lookup per row; walking to callees and comparing a location between builds need the
# indexes.
SCHEMA = """
CREATE TABLE stack_node_data (
    id bigint PRIMARY KEY, line integer NOT NULL, file text NOT NULL, symbol text NOT NULL);
CREATE TABLE executable (
    id bigint PRIMARY KEY, name text NOT NULL, version integer NOT NULL, samples integer NOT NULL);
CREATE TABLE stack_node (
    id bigint PRIMARY KEY, executable_id bigint NOT NULL, data_id bigint NOT NULL,
    parent_id bigint, sample_count integer NOT NULL);
CREATE INDEX stack_node_parent ON stack_node (parent_id);
CREATE INDEX stack_node_data_id ON stack_node (data_id);
"""

CONFLICTS = {
    "stack_node_data": "NOTHING",
    "executable": "UPDATE SET samples = executable.samples + excluded.samples",
    "stack_node": "UPDATE SET sample_count = stack_node.sample_count + excluded.sample_count",
}


class Cluster:
    """A server with default settings that listens on a socket in a separate folder."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sto-postgres."))
        # PostgreSQL refuses to run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        try:
            self.program("initdb", "-D", self.folder / "data", "-A", "trust", "-E", "UTF8")
            options = f"-c listen_addresses='' -k {self.folder}"
            log = self.folder / "log"
            self.program(
                "pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "-o", options, "start"
            )
            self.sql(SCHEMA)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        stop = [PROGRAMS / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop"]
        subprocess.run([*self.user, *stop], stdout=subprocess.DEVNULL, cwd="/", check=False)
        shutil.rmtree(self.folder)

    def program(self, name, *arguments, **options):
        return run(*self.user, PROGRAMS / name, *arguments, cwd="/", **options)

    def sql(self, text):
        """Runs SQL and returns the unaligned output."""
        flags = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return self.program("psql", "-h", self.folder, "-d", "postgres", *flags, input=text)

    def version(self):
        return f"PostgreSQL {self.sql('SHOW server_version').split()[0]}"

    def load(self, folder, names):
        """Loads profiles that store_export wrote. Returns the seconds of each."""
        now = "SELECT extract(epoch FROM clock_timestamp());"
        script = [now]
        for name in names:
            script.append("BEGIN;")
            for table, action in CONFLICTS.items():
                script += [
                    f"CREATE TEMP TABLE new_{table} (LIKE {table}) ON COMMIT DROP;",
                    f"\\copy new_{table} FROM '{folder}/{name}.{table}'",
                    f"INSERT INTO {table} SELECT * FROM new_{table} ON CONFLICT (id) DO {action};",
                ]
            script += ["COMMIT;", now]
        times = [float(line) for line in self.sql("\n".join(script)).split()]
        return [end - start for start, end in zip(times, times[1:])]

    def sizes(self):
        """Returns the bytes of the three tables: all, and without the two indexes that are not keys."""
        self.sql("VACUUM FULL;")
        total = " + ".join(f"pg_total_relation_size('{table}')" for table in CONFLICTS)
        keys = "pg_relation_size('stack_node_parent') + pg_relation_size('stack_node_data_id')"
        size, more = self.sql(f"SELECT {total}, {keys};").strip().split("|")
        return int(size), int(size) - int(more)
