"""Engines of SQL over a dataset of profiles, each with its tables `sample` and `profile`.

    python3 engines.py duckdb|datafusion|spark|ballista

Reads [{"folder": FOLDER, "questions": [SQL]}] as JSON from standard input, and prints [[[CELL]]] for each: the rows of each
question. With "write": [SQL, PATH] in a dataset, the rows of that go to a file of Parquet. Spark is a cluster of its own of two workers on this machine.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TABLES = ["sample", "profile"]


class DuckDB:
    def __init__(self, folder):
        import duckdb

        self.connection = duckdb.connect()
        for table in TABLES:
            self.connection.sql(
                f"CREATE VIEW {table} AS FROM read_parquet('{folder}/{table}/**/*.parquet', "
                "hive_partitioning = true, hive_types_autocast = false)"
            )

    def rows(self, sql):
        return self.connection.sql(sql).fetchall()

    def write(self, sql, path):
        self.connection.sql(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


class DataFusion:
    def __init__(self, folder):
        from datafusion import SessionContext

        self.context = SessionContext()
        for table in TABLES:
            self.context.sql(
                f"CREATE EXTERNAL TABLE {table} STORED AS PARQUET PARTITIONED BY (executable, build) "
                f"LOCATION '{folder}/{table}/'"
            )

    def rows(self, sql):
        batches = self.context.sql(sql).collect()
        return [list(row.values()) for batch in batches for row in batch.to_pylist()]

    def write(self, sql, path):
        self.context.sql(f"COPY ({sql}) TO '{path}' STORED AS PARQUET").collect()


class Spark:
    def __init__(self, folder, session):
        self.session = session
        for table in TABLES:
            session.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)

    def rows(self, sql):
        return [list(row) for row in self.session.sql(sql).collect()]

    def write(self, sql, path):
        self.session.sql(sql).write.parquet(str(path))


class Ballista:
    """Asks by the command line of Ballista: a table is of one session."""

    def __init__(self, folder, port):
        self.port = port
        self.tables = "".join(
            f"CREATE EXTERNAL TABLE {table} STORED AS PARQUET PARTITIONED BY (executable, build) "
            f"LOCATION '{folder}/{table}/';\n"
            for table in TABLES
        )

    def asked(self, sql, form):
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(f"{self.tables}{sql};\n")
            file.flush()
            command = ["ballista-cli", "--host", "127.0.0.1", "--port", str(self.port), "--quiet", "--format", form]
            done = subprocess.run([*command, "--file", file.name], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def rows(self, sql):
        # A row of JSON lacks what is null, and a row of CSV has no types.
        names = self.asked(sql, "csv").split("\n")[0].split(",")
        rows = json.loads(self.asked(sql, "json") or "[]")
        return [[row.get(name) for name in names] for row in rows]


@contextlib.contextmanager
def executors(count=2):
    """The port of a scheduler of Ballista that has so many executors of a core each."""
    ports = []
    for _ in range(1 + 3 * count):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    scheduler, *others = map(str, ports)
    processes = []
    with tempfile.TemporaryDirectory(prefix="sto-ballista.") as folder:
        log = open(Path(folder) / "log", "w")

        def start(*command):
            processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=folder))

        try:
            start("ballista-scheduler", "--bind-host", "127.0.0.1", "--bind-port", scheduler)
            for flight, grpc, health in zip(others[::3], others[1::3], others[2::3]):
                ours = ["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1", "--work-dir", folder, "--vcores", "1"]
                ours += ["--bind-port", flight, "--bind-grpc-port", grpc, "--bind-health-port", health]
                ours += ["--scheduler-host", "127.0.0.1", "--scheduler-port", scheduler]
                start("ballista-executor", *ours, "--scheduler-connect-timeout-seconds", "60")
            while True:
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", scheduler)):
                    break
                time.sleep(0.1)
            yield int(scheduler)
        finally:
            for process in processes:
                process.kill()
                process.wait()


@contextlib.contextmanager
def cluster(workers=2, memory="1g", settings=()):
    """A session of Spark with this many workers of a core each, which listen on the loopback alone."""
    import pyspark
    from pyspark.sql import SparkSession

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    processes = []
    with tempfile.TemporaryDirectory(prefix="sto-spark.") as folder:

        def start(name, *arguments):
            log = Path(folder) / f"{len(processes)}.log"
            command = [program, f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *arguments]
            with log.open("w") as output:
                # `spark-class` becomes the process of Java.
                processes.append(subprocess.Popen(command, stdout=output, stderr=output, cwd=folder))
            return log

        def said(log, pattern):
            while processes[-1].poll() is None:
                if found := re.search(pattern, log.read_text()):
                    return found[0]
            raise SystemExit(log.read_text())

        try:
            master = said(start("master.Master", "--port", "0"), r"spark://127\.0\.0\.1:\d+")
            for _ in range(workers):
                log = start("worker.Worker", "--cores", "1", "--memory", memory, "--work-dir", folder, master)
                said(log, "Successfully registered")
            builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
            options = {
                # `1` and `01` are two builds.
                "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.executor.memory": memory,
                "spark.sql.shuffle.partitions": str(2 * workers),
                "spark.sql.warehouse.dir": folder,
                **dict(settings),
            }
            for name, value in options.items():
                builder = builder.config(name, value)
            session = builder.getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
            yield session
            session.stop()
        finally:
            for process in processes:
                process.kill()
                process.wait()


@contextlib.contextmanager
def engine(name):
    """What opens a dataset, by the name of an engine."""
    match name:
        case "duckdb":
            yield DuckDB
        case "datafusion":
            yield DataFusion
        case "spark":
            with cluster() as session:
                yield lambda folder: Spark(folder, session)
        case "ballista":
            with executors() as port:
                yield lambda folder: Ballista(folder, port)


def main():
    asked = json.load(sys.stdin)
    with engine(sys.argv[1]) as of_folder:
        answers = []
        for dataset in asked:
            opened = of_folder(dataset["folder"])
            answers.append([opened.rows(sql) for sql in dataset["questions"]])
            if "write" in dataset:
                opened.write(*dataset["write"])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
