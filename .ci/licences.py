#!/usr/bin/env python3
"""Checks every dependency's licence and source against .deny.toml.

Does what `cargo deny check licenses sources` does with the keys that .deny.toml uses, without
building cargo-deny. Needs Python 3.11, for tomllib.
"""

import json
import re
import subprocess
import sys
import tomllib


def satisfied(expression, allowed):
    """Whether the allowed licences satisfy an SPDX expression, or crates.io's old form of one.

    >>> satisfied("MIT", {"MIT"})
    True
    >>> satisfied("GPL-3.0-only", {"MIT"})
    False
    >>> satisfied("GPL-3.0-only OR MIT", {"MIT"}), satisfied("GPL-3.0-only/MIT", {"MIT"})
    (True, True)
    >>> satisfied("MIT AND CDDL-1.0", {"MIT"}), satisfied("MIT AND CDDL-1.0", {"MIT", "CDDL-1.0"})
    (False, True)
    >>> satisfied("(MIT OR Apache-2.0) AND Unicode-3.0", {"Apache-2.0", "Unicode-3.0"})
    True
    >>> satisfied("Zlib AND MIT OR GPL-2.0-only", {"Zlib"})  # AND binds tighter than OR
    False
    >>> satisfied("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"})
    False
    >>> satisfied("Apache-2.0 WITH LLVM-exception", {"Apache-2.0 WITH LLVM-exception"})
    True
    >>> satisfied("MIT OR", {"MIT"})
    Traceback (most recent call last):
    ValueError: 'MIT OR' is not an SPDX expression
    """
    tokens = re.findall(r"[()/]|[^\s()/]+", expression)

    def either():
        result = both()
        while tokens and tokens[0] in ("OR", "/"):
            tokens.pop(0)
            result = both() or result
        return result

    def both():
        result = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            result = one() and result
        return result

    def one():
        token = tokens.pop(0)
        if token == "(":
            result = either()
            if tokens.pop(0) != ")":
                raise IndexError
            return result
        if token in ("OR", "AND", "WITH", "/", ")"):
            raise IndexError
        if tokens and tokens[0] == "WITH":
            token += f" {tokens.pop(0)} {tokens.pop(0)}"
        return token in allowed

    try:
        result = either()
    except IndexError:
        tokens = ["?"]
    if tokens:
        raise ValueError(f"{expression!r} is not an SPDX expression")
    return result


def problems(packages, deny):
    """What is wrong with the packages: a line each.

    >>> deny = {
    ...     "licenses": {"allow": ["MIT"], "exceptions": [{"crate": "b", "allow": ["CDDL-1.0"]}]},
    ...     "sources": {"allow-registry": ["https://index"]},
    ... }
    >>> def package(name, license, source="registry+https://index"):
    ...     return {"name": name, "version": "1.0.0", "license": license, "source": source}
    >>> problems([package("a", "MIT"), package("b", "CDDL-1.0"), package("own", "MIT", None)], deny)
    []
    >>> problems([package("a", "CDDL-1.0")], deny)
    ['a 1.0.0: licence CDDL-1.0 is not in .deny.toml']
    >>> problems([package("a", None)], deny)
    ['a 1.0.0: states no licence']
    >>> problems([package("a", "MIT", "git+https://elsewhere")], deny)
    ['a 1.0.0: comes from git+https://elsewhere']
    """
    allowed = set(deny["licenses"]["allow"])
    exceptions = {e["crate"]: set(e["allow"]) for e in deny["licenses"]["exceptions"]}
    sources = {None} | {f"registry+{url}" for url in deny["sources"]["allow-registry"]}
    found = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if not package["license"]:
            found.append(f"{name}: states no licence")
        elif not satisfied(package["license"], allowed | exceptions.get(package["name"], set())):
            found.append(f"{name}: licence {package['license']} is not in .deny.toml")
        if package["source"] not in sources:
            found.append(f"{name}: comes from {package['source']}")
    return found


def main():
    with open(".deny.toml", "rb") as file:
        deny = tomllib.load(file)
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    packages = json.loads(metadata)["packages"]
    found = problems(packages, deny)
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(packages)} packages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
