#!/usr/bin/env python3
"""Draws screenshots of editors with the demo, for README.md: the real editors in a terminal (tmux), as SVG.

    benches/editors.py [EDITOR...]      writes sto-cli/editors/EDITOR.svg: neovim, emacs

Needs `sto` on the path, tmux, and the editors: Neovim 0.11 or later, set up as described in
sto-cli/editors/README.md, and Emacs.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EDITORS = ROOT / "sto-cli/editors"
DEMO = ROOT / "testdata/demo"
ROWS = 22
# For a font size of 14: most monospaced fonts are 0.6 of it wide, and `textLength` forces the others to that width.
CELL, LINE, SIZE = 8.4, 18, 14
FOREGROUND, BACKGROUND = "#e0e2ea", "#14161b"
BASIC = (
    "07080d ffc0b9 b3f6c0 fce094 a6dbff ffcaff 8cf8f7 c4c6cd "
    "4f5258 ff9d94 83efa0 f0c674 7cc4ff ff9aff 5fe6e4 ffffff"
)
PATIENCE = 30  # seconds


def neovim(folder):
    settings = re.search(r"```lua\n(.*?)```", (EDITORS / "README.md").read_text(), re.S)
    (folder / "init.lua").write_text(settings[1])
    look = "set noswapfile termguicolors tabstop=4 laststatus=0 cmdheight=0 noruler"
    options = ["-u", str(folder / "init.lua"), "--cmd", look, "-i", "NONE"]
    return ["nvim", *options, "+198", "+normal! zt", "demo.c"], "total", []


def emacs(folder):
    setup = """(progn (menu-bar-mode -1) (setq compilation-always-kill t tab-width 4 inhibit-startup-screen t)
      (setq-default tab-width 4) (find-file "demo.c") (compile "sto hot -n 8 2>/dev/null")
      (other-window 1) (delete-other-windows) (switch-to-buffer "demo.c")
      (set-window-buffer (split-window-below -11) "*compilation*"))"""
    # The first location, like `M-g n` shows it.
    return ["emacs", "-nw", "-Q", "--eval", setup], "finished", ["M-g", "n"]


def screen(server, *more):
    capture = [*server, "capture-pane", "-p", *more]
    return subprocess.run(capture, check=True, text=True, stdout=subprocess.PIPE).stdout


def settled(server, expected):
    """Returns the content of the terminal once it contains the text and no longer changes."""
    before, end = None, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        now = screen(server, "-e", "-N")
        if now == before and expected in screen(server):
            return now
        before = now
        time.sleep(0.5)
    sys.exit(f"`{expected}` did not show within {PATIENCE} s:\n{screen(server)}")


def shown(columns, folder, command, expected, keys):
    server = ["tmux", "-L", f"sto-{os.getpid()}", "-f", "/dev/null"]
    options = {"default-terminal": "tmux-256color", "terminal-overrides": ",*:Tc", "status": "off"}
    set_up = [word for name, value in options.items() for word in (";", "set", "-g", name, value)]
    size = ["-x", str(columns), "-y", str(ROWS)]
    start = ["new-session", "-d", *size, "-c", str(folder), *command]
    subprocess.run([*server, "start-server", *set_up, ";", *start], check=True)
    try:
        settled(server, expected)
        if keys:
            subprocess.run([*server, "send-keys", *keys], check=True)
            time.sleep(1)
        return settled(server, expected)
    finally:
        subprocess.run([*server, "kill-server"], check=False)


def of_256(number):
    if number < 16:
        return "#" + BASIC.split()[number]
    if number >= 232:
        return rgb([8 + 10 * (number - 232)] * 3)
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return rgb([levels[part] for part in (number // 36, number // 6 % 6, number % 6)])


def rgb(parts):
    return "#" + "".join(f"{part:02x}" for part in parts)


class Look:
    """The style of characters (SGR of ECMA-48)."""

    def __init__(self):
        self.colour, self.behind, self.flags = None, None, frozenset()

    def take(self, codes):
        codes = iter([int(code or 0) for code in codes.split(";")])
        for code in codes:
            if code == 0:
                self.__init__()
            elif code in (1, 2, 3, 4, 7):
                self.flags |= {code}
            elif code in (22, 23, 24, 27):
                self.flags -= {1, 2} if code == 22 else {code - 20}
            elif code in (38, 48):
                kind = next(codes)
                colour = of_256(next(codes)) if kind == 5 else rgb([next(codes) for _ in range(3)])
                setattr(self, "colour" if code == 38 else "behind", colour)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.colour = of_256(code - 30 if code < 40 else code - 82)
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.behind = of_256(code - 40 if code < 50 else code - 92)
            elif code == 39:
                self.colour = None
            elif code == 49:
                self.behind = None

    def colours(self):
        colours = self.colour or FOREGROUND, self.behind or BACKGROUND
        return colours[::-1] if 7 in self.flags else colours


def runs(line, look):
    """Returns (column, text, style) of the parts of a line with equal style."""
    column = 0
    for codes, text in re.findall(r"(?:\x1b\[([\d;:]*)m)?([^\x1b]*)", line):
        if codes or line.startswith("\x1b[m"):
            look.take(codes.replace(":", ";"))
        if text:
            yield column, text, look.colours(), look.flags
            column += len(text)


def drawn(text, columns, title):
    width, height = round(columns * CELL + 2 * SIZE), ROWS * LINE + 2 * SIZE
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' font-family="monospace" font-size="{SIZE}">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="{BACKGROUND}"/>',
    ]
    look = Look()
    for row, line in enumerate(text.replace("\x0f", "").splitlines()[:ROWS]):
        top = SIZE + row * LINE
        for column, part, (colour, behind), flags in runs(line, look):
            left, length = SIZE + column * CELL, len(part) * CELL
            if behind != BACKGROUND:
                svg.append(f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{LINE}" fill="{behind}"/>')
            inner = part.strip(" ")
            if not inner:
                continue
            left += (len(part) - len(part.lstrip(" "))) * CELL
            style = f'x="{left:.1f}" y="{top + SIZE}" textLength="{len(inner) * CELL:.1f}"'
            style += f' fill="{colour}"' if colour != FOREGROUND else ""
            style += ' font-weight="bold"' if 1 in flags else ""
            style += ' opacity="0.6"' if 2 in flags else ""
            style += ' text-decoration="underline"' if 4 in flags else ""
            words = html.escape(re.sub(" +", lambda gap: "\u00a0" * len(gap[0]), inner), quote=False)
            svg.append(f"<text {style}>{words}</text>")
    # One colour for text without a colour.
    svg[2] += f'<g fill="{FOREGROUND}">'
    return "\n".join([*svg, "</g></svg>"]) + "\n"


def main():
    pictures = {"neovim": (neovim, 133), "emacs": (emacs, 100)}
    for name in sys.argv[1:] or pictures:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            shutil.copy(DEMO / "demo.c", folder)
            # The source has not been edited since the recordings.
            os.utime(folder / "demo.c", (0, 0))
            for build in ("v1", "v2"):
                recording = DEMO / f"{build}.perf.data"
                ingest = ["sto", "--store", ".sto", "ingest", recording, "--exe", "demo", "--build", build]
                subprocess.run(ingest, check=True, cwd=folder, capture_output=True)
            editor, columns = pictures[name]
            text = shown(columns, folder, *editor(folder))
        title = f"{name.capitalize()} shows what the demo costs"
        (EDITORS / f"{name}.svg").write_text(drawn(text, columns, title))


if __name__ == "__main__":
    main()
