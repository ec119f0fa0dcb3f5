"""Questions let other threads run, and Ctrl-C ends them."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

import sto

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def test_ctrl_c_ends_a_query(store: sto.Store) -> None:
    begins = threading.Event()

    def interrupt() -> None:
        begins.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    usual = sys.getswitchinterval()
    # From here on, the other thread only runs when the query releases the interpreter.
    sys.setswitchinterval(1000)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            begins.set()
            store.sql(ENDLESS)
    finally:
        sys.setswitchinterval(usual)
        thread.join()
    assert raised.traceback[-1].name == "sql"
    assert len(store.sql("SELECT 1")) == 1
