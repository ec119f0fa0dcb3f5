#!/usr/bin/env python3
"""Checks the imports between the modules of each crate.

Fails if files import each other in a circle, if a folder imports one that FLOORS puts above it, if a library names an
operating system outside of sto-model's module `system`, or if it has more than FACE names at its root. `.ci/imports.py CRATE FROM TO` prints the imports of one folder from another. Tests
and re-exports of a `mod.rs` do not count.
"""

import re
import sys
from pathlib import Path

# The crates, each with its folders from below to above: a folder imports only those before it.
FLOORS = {
    "sto-core/model": "manual bytes text printable tls number cancel hint system timings files units limits memory id source_path commit build frame metric_series module profile source symbol_options trace tree",
    "sto-core/binary": None,
    "sto-core/formats": None,
    "sto-core/store": None,
    "sto-core": "manual symbolize intern ingest",
    "sto-query/stats": None,
    "sto-query/lake": "manual places exchange lake",
    "sto-query/wasm": None,
    "sto-query": "manual keys text answer functions select annotate listing labelled prune tree exchange timeline calls phases models average compare history "
    "maintain potential show source correlate error policy series expand sources hot check commits suspects savings search questions render tables results guide internal",
    "sto-query/capi": "error columns boundary store calls",
    "sto-query/python": "errors work table answer store",
    "sto-cli/serve": "services token clock wording verdicts log options problem turn client compression room monitor access intake answers shared body parse wire pages status questions senders "
    "pull querier downloads checks openapi connection tls server",
    "sto-cli": "runtime args complete help lsp commands cli",
}
# The crates that other tools link, and how many names they have at their root at most.
FACES = ("sto-core", "sto-query")
FACE = 41

# What only some operating systems have.
SYSTEM = re.compile(r"\bstd::os::\w+|\brustix::|\btarget_os\b|\bcfg\(.*(?:unix|windows)\b")
# Files besides those of `system` that may name it.
SYSTEM_FILES = {("sto-core/binary", "lazy_file")}

USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]*);", re.M)
TESTS = re.compile(r"#\[cfg\(test\)\]\n(?:pub\(crate\) )?mod tests")
PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")


class Crate:
    def __init__(self, source):
        self.text = {}
        for path in sorted(source.rglob("*.rs")):
            parts = list(path.relative_to(source).with_suffix("").parts)
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            if "tests" in parts:
                continue
            text = TESTS.split(path.read_text())[0]
            self.text[tuple(parts)] = re.sub(r"//.*|\(in [\w:]+\)", "", text)
        self.uses = {module: list(self.parse(text)) for module, text in self.text.items()}
        self.names = {
            module: {name: path for _, path, name in uses if name} for module, uses in self.uses.items()
        }
        self.imports = {module: self.imports_of(module) for module in self.text}

    def parse(self, text):
        """(handed on, path, name) of all that a file imports or names by its path."""
        for public, tree in USE.findall(text):
            for path, name in expand(re.sub(r"\s+", " ", tree), ""):
                yield bool(public), path, name
        for path in PATH.findall(USE.sub("", text)):
            yield False, path, None

    def absolute(self, module, path):
        first, *rest = parts = path.split("::")
        if first == "crate":
            return tuple(rest)
        if first in ("super", "self"):
            while parts and parts[0] == "super":
                parts, module = parts[1:], module[:-1]
            return module + tuple(part for part in parts if part != "self")
        return module + tuple(parts) if module + (first,) in self.text else None

    def resolve(self, path, steps=8):
        """The module that a path leads to, through what others hand on."""
        length = len(path)
        while length and path[:length] not in self.text:
            length -= 1
        module = path[:length]
        if length < len(path) and steps:
            onward = self.names[module].get(path[length])
            target = onward and self.absolute(module, onward)
            if target and target != path:
                return self.resolve(target + path[length + 1 :], steps - 1)
        return module

    def imports_of(self, module):
        found = set()
        for public, path, _ in self.uses[module]:
            target = self.absolute(module, path)
            target = target and self.resolve(target)
            handed_on = target and public and target[: len(module)] == module
            if target and target != module and not handed_on:
                found.add(target)
        return found

    def rings(self):
        """Files that reach each other by imports, the largest ring first (Tarjan 1972)."""
        number, low, stack, rings = {}, {}, [], []

        def visit(module):
            number[module] = low[module] = len(number)
            stack.append(module)
            for target in sorted(self.imports[module]):
                if target not in number:
                    visit(target)
                if target in stack:
                    low[module] = min(low[module], low[target])
            if low[module] == number[module]:
                at = stack.index(module)
                rings.append(sorted(stack[at:]))
                del stack[at:]

        for module in self.text:
            if module not in number:
                visit(module)
        return sorted((ring for ring in rings if len(ring) > 1), key=len, reverse=True)

    def arrows(self):
        """(folder, folder it imports, [(file, file)]), where these are two."""
        arrows = {}
        for module, targets in self.imports.items():
            for target in sorted(targets):
                if module and module[0] != target[0]:
                    arrows.setdefault((module[0], target[0]), []).append((module, target))
        return sorted((below, above, files) for (below, above), files in arrows.items())


def systems(name, crate):
    """(file, name that only some operating systems have) of a library."""
    for module, text in crate.text.items():
        found = name != "sto-cli" and module[:1] != ("system",) and (name, show(module)) not in SYSTEM_FILES
        for match in SYSTEM.finditer(text if found else ""):
            yield module, match[0]


def expand(tree, prefix):
    """(path, name) of each leaf of a `use` tree."""
    depth, parts = 0, [""]
    for letter in tree:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    for part in filter(None, map(str.strip, parts)):
        if "{" in part:
            head, inner = part.split("{", 1)
            yield from expand(inner.rsplit("}", 1)[0], prefix + head.replace(" ", ""))
        else:
            path, _, name = part.partition(" as ")
            path = (prefix + path).replace(" ", "").removesuffix("::self")
            yield path, name.strip() or path.split("::")[-1]


def face(lib):
    """The names at the root of a library, modules among them; hidden ones do not count."""
    text = re.sub(r"//.*\n", "", lib.read_text())
    for hidden, tree, name in re.findall(r"^(#\[doc\(hidden\)\]\n)?pub (?:use ([^;]*);|\w+ (\w+))", text, re.M):
        if not hidden:
            yield from (leaf for _, leaf in expand(tree, "")) if tree else [name]


def show(module):
    return "::".join(module) or "lib"


def main():
    sys.setrecursionlimit(10_000)
    root = Path(__file__).parent.parent
    bad = 0
    for name, floors in FLOORS.items():
        if len(sys.argv) == 4 and sys.argv[1] != name:
            continue
        crate = Crate(root / name / "src")
        floor = {folder: number for number, folder in enumerate((floors or "").split())}
        for folder, imported, files in crate.arrows() if floors else []:
            if sys.argv[2:] == [folder, imported]:
                print(*(f"{show(a)} -> {show(b)}" for a, b in files), sep="\n")
            for missing in {folder, imported} - set(floor):
                sys.exit(f"{name}: say in FLOORS of .ci/imports.py where {missing} stands")
            if floor[folder] < floor[imported]:
                bad += 1
                print(f"{name}: {folder} imports {imported}, which stands above it, in {len(files)} places")
        for ring in crate.rings():
            bad += 1
            print(f"{name}: {len(ring)} files import each other: {', '.join(map(show, ring))}")
        for module, what in systems(name, crate):
            bad += 1
            print(f"{name}: {show(module)} names {what}: use sto-model's module `system`")
        names = list(face(root / name / "src/lib.rs")) if name in FACES else []
        if len(names) > FACE:
            bad += 1
            print(f"{name}: {len(names)} names at its root, at most {FACE}: {', '.join(names)}")
        print(f"{name}: {len(crate.text)} files, {sum(map(len, crate.imports.values()))} imports, {len(names)} names at its root")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
