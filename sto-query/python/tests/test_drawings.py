"""Flame graphs draw themselves in notebooks, whatever functions are called."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import sto

HOSTILE = "</iframe>\"'><script>alert(1)</script><img src=x onerror=alert(2)>"


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def hostile() -> sto.Store:
    store = sto.memory()
    for build, samples in [("v1", 3), ("v2", 9)]:
        store.ingest(f"main;{HOSTILE} {samples}\nmain;read 5\n".encode(), program="app", build=build)
    return store


def test_drawing_is_one_sandboxed_frame(hostile: sto.Store) -> None:
    for drawing in [hostile.flame("v1"), hostile.diff("v1", "v2")]:
        [(tag, attributes)] = Elements(drawing._repr_html_()).found
        assert tag == "iframe"
        # Scripts may run, but have no origin, and so no access to the notebook.
        assert attributes["sandbox"] == "allow-scripts"
        page = Elements(attributes["srcdoc"] or "")
        assert "svg" in [tag for tag, _ in page.found]
        assert "img" not in [tag for tag, _ in page.found]
        assert all("onerror" not in attributes for _, attributes in page.found)
        assert "alert(1)" not in [tag for tag, _ in page.found]


def test_drawing_is_saved_as_page_or_svg(hostile: sto.Store, tmp_path: Path) -> None:
    drawing = hostile.diff("v1", "v2")
    drawing.save(tmp_path / "diff.svg")
    assert (tmp_path / "diff.svg").read_text() == drawing.svg()
    drawing.save(tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text().startswith("<!DOCTYPE html>")


def test_drawing_has_the_stacks_of_the_question(store: sto.Store) -> None:
    flame = store.flame("v1", stacks={"focus": "parse"})
    assert "parse" in flame.svg()
    assert flame.total[0] == 590
    with pytest.raises(sto.InvalidError, match="no samples|no stacks|nothing to draw"):
        store.diff("v1", "v1", stacks={"focus": "read", "ignore": "read"}).svg()
