#!/usr/bin/env python3
"""Checks every dependency against .deny.toml and .ci/crates.toml, without network and without building
cargo-deny or cargo-audit.

    python3 .ci/dependencies.py                   licences, sources, advisories, and crates that nobody releases
    python3 .ci/dependencies.py update [FOLDER]   writes .ci/crates.toml anew; FOLDER is a clone of
                                                  https://github.com/rustsec/advisory-db, without which the
                                                  advisories stay, and those of new crates are missing

The first does what `cargo deny check licenses sources advisories` does with the keys that .deny.toml uses, and
the advisories of .ci/crates.toml. The second reads when crates were released in cargo's own copies of their
entries in the index, which `cargo update --dry-run` renews. Needs Python 3.11, for tomllib.
"""

import datetime
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

LOCKS = ["Cargo.lock", "sto-cli/fuzz/Cargo.lock"]
CRATES = ".ci/crates.toml"
HEADER = """\
# The crates of Cargo.lock and of the fuzz targets' own: when each had its last release, why those stay that
# had none for two years, and the advisories that name one, whatever its version. Made by
# .ci/dependencies.py, but for the reasons; a crate that is not in it does not pass.
"""


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


def may_be_used(packages, deny):
    """What is wrong with the packages' licences and sources: a line each.

    >>> deny = {
    ...     "licenses": {"allow": ["MIT"], "exceptions": [{"crate": "b", "allow": ["CDDL-1.0"]}]},
    ...     "sources": {"allow-registry": ["https://index"]},
    ... }
    >>> def package(name, license, source="registry+https://index"):
    ...     return {"name": name, "version": "1.0.0", "license": license, "source": source}
    >>> may_be_used([package("a", "MIT"), package("b", "CDDL-1.0"), package("own", "MIT", None)], deny)
    []
    >>> may_be_used([package("a", "CDDL-1.0")], deny)
    ['a 1.0.0: licence CDDL-1.0 is not in .deny.toml']
    >>> may_be_used([package("a", None)], deny)
    ['a 1.0.0: states no licence']
    >>> may_be_used([package("a", "MIT", "git+https://elsewhere")], deny)
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


def ordered(version):
    """A version that compares as https://semver.org has it, but for what stands in a pre-release.

    >>> ordered("1.2.3+spec-1.1.0") == ordered("1.2.3"), ordered("1.2.3-rc.1") < ordered("1.2.3")
    (True, True)
    >>> ordered("1.10") > ordered("1.9.9"), ordered("1")
    (True, (1, 0, 0, True))
    """
    version = version.split("+")[0]
    numbers, _, pre_release = version.partition("-")
    numbers = [int(number) for number in numbers.split(".")]
    return (*numbers, *[0] * (3 - len(numbers)), not pre_release)


def in_range(version, requirement):
    """Whether a version is in a range of an advisory.

    >>> in_range("0.6.8", ">= 0.6.8"), in_range("0.6.7", ">= 0.6.8")
    (True, False)
    >>> in_range("0.8.0", ">= 0.7.4, < 0.8.0"), in_range("0.7.9", "< 0.8.0, >= 0.7.4")
    (False, True)
    >>> in_range("0.3.9", "^ 0.3.1"), in_range("0.4.0", "^0.3.1"), in_range("1.9.0", "^1.2"), in_range("2.0.0", "^1")
    (True, False, True, False)
    >>> in_range("1.2.9", "~1.2.3"), in_range("1.3.0", "~1.2.3"), in_range("1.0.0", "= 1.0.0"), in_range("1.1.0", "=1.0.0")
    (True, False, True, False)
    """
    version = ordered(version)
    for part in requirement.split(","):
        operator, number = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*([0-9][^\s]*)\s*", part).groups()
        bound = ordered(number)
        if operator in (None, "^", "~"):
            kept = 2 if operator == "~" else next((i + 1 for i in range(3) if bound[i]), 3)
            holds = version >= bound and version[:kept] == bound[:kept]
        else:
            holds = {
                ">=": version >= bound,
                "<=": version <= bound,
                ">": version > bound,
                "<": version < bound,
                "=": version == bound,
            }[operator]
        if not holds:
            return False
    return True


def advised_against(locked, crates, deny):
    """Locked versions that an advisory names and .deny.toml does not, and reasons for none: a line each.

    >>> crates = {"advisories": [{"id": "R-1", "crate": "a", "patched": [">= 1.2"], "unaffected": ["< 1"]}]}
    >>> none = {"advisories": {"ignore": []}}
    >>> advised_against([("a", "1.2.0"), ("a", "0.9.0"), ("b", "1.1.0")], crates, none)
    []
    >>> advised_against([("a", "1.1.0")], crates, none)
    ['a 1.1.0: R-1, see https://rustsec.org/advisories/R-1; good are >= 1.2, < 1']
    >>> ignored = {"advisories": {"ignore": [{"id": "R-1"}]}}
    >>> advised_against([("a", "1.1.0")], crates, ignored)
    []
    >>> advised_against([("a", "1.2.0")], crates, ignored)
    ['.deny.toml ignores R-1, which concerns nothing here']
    """
    ignored = {entry["id"] for entry in deny["advisories"]["ignore"]}
    found, used = [], set()
    for advisory, (name, version) in itertools.product(crates["advisories"], locked):
        good = advisory["patched"] + advisory["unaffected"]
        if advisory["crate"] != name or any(in_range(version, range) for range in good):
            continue
        id = advisory["id"]
        used.add(id)
        if id not in ignored:
            good = ", ".join(good) or "no versions"
            found.append(f"{name} {version}: {id}, see https://rustsec.org/advisories/{id}; good are {good}")
    return found + [f".deny.toml ignores {id}, which concerns nothing here" for id in sorted(ignored - used)]


def nobody_releases(locked, crates):
    """Crates without a release for two years and a reason, or that nobody looked up: a line each.

    >>> date = datetime.date
    >>> crates = {"as-of": date(2026, 6, 1), "released": {"a": date(2024, 6, 2), "b": date(2024, 5, 31)}, "old": {}}
    >>> nobody_releases([("a", "1.0.0")], crates | {"released": {"a": date(2024, 6, 2)}})
    []
    >>> nobody_releases([("a", "1.0.0"), ("b", "1.0.0")], crates)
    ['b: no release since 2024-05-31, and .ci/crates.toml has no reason to keep it']
    >>> nobody_releases([("a", "1.0.0"), ("b", "1.0.0")], crates | {"old": {"a": "", "b": "complete"}})
    ['a: .ci/crates.toml has a reason to keep it, which it needs no more']
    >>> nobody_releases([("a", "1.0.0"), ("b", "1.0.0"), ("c", "1.0.0")], crates | {"old": {"b": "complete"}})
    ['c: not in .ci/crates.toml; see .ci/dependencies.py']
    >>> nobody_releases([("b", "1.0.0")], crates | {"old": {"b": "complete"}})
    ['a: in .ci/crates.toml, and no dependency']
    """
    names = {name for name, _ in locked}
    released = crates["released"]
    limit = crates["as-of"].replace(year=crates["as-of"].year - 2)
    old = {name for name in names & released.keys() if released[name] < limit}
    return (
        [f"{name}: not in {CRATES}; see .ci/dependencies.py" for name in sorted(names - released.keys())]
        + [f"{name}: in {CRATES}, and no dependency" for name in sorted(released.keys() - names)]
        + [
            f"{name}: no release since {released[name]}, and {CRATES} has no reason to keep it"
            for name in sorted(old - crates["old"].keys())
        ]
        + [
            f"{name}: {CRATES} has a reason to keep it, which it needs no more"
            for name in sorted(crates["old"].keys() - old)
        ]
    )


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def locked_crates():
    """Name and version of each crate of a registry."""
    packages = itertools.chain.from_iterable(read(lock)["package"] for lock in LOCKS)
    return sorted({(p["name"], p["version"]) for p in packages if "source" in p})


def last_release(name):
    """The day of a crate's last release, which cargo keeps with what it knows of the crate."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    lower = name.lower()
    folder = [str(len(lower))] if len(lower) < 3 else ["3", lower[0]] if len(lower) == 3 else [lower[:2], lower[2:4]]
    entries = home.glob("registry/index/index.crates.io-*/.cache/" + "/".join([*folder, lower]))
    # A header, then name and entry of each version, all of them with a zero behind.
    fields = (field for entry in entries for field in entry.read_bytes().split(b"\0"))
    times = [json.loads(field)["pubtime"] for field in fields if field.startswith(b"{")]
    if not times:
        sys.exit(f"cargo has no entry of {name}: run `cargo update --dry-run`")
    return datetime.date.fromisoformat(max(times)[:10])


def advisories(database, names):
    """When the database was written, and its advisories on crates, as .ci/crates.toml has them."""
    def git(*words):
        command = ["git", "-C", database, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    found = []
    for path in git("ls-tree", "-r", "--name-only", "HEAD", "crates/").splitlines():
        if pathlib.PurePath(path).parent.name not in names:
            continue
        page = re.search(r"```toml\n(.*?)```", git("show", f"HEAD:{path}"), re.DOTALL)
        advisory = tomllib.loads(page[1])
        if "withdrawn" not in advisory["advisory"]:
            versions = {key: advisory["versions"].get(key, []) for key in ("patched", "unaffected")}
            found.append({"id": advisory["advisory"]["id"], "crate": advisory["advisory"]["package"], **versions})
    return datetime.date.fromisoformat(git("log", "-1", "--format=%cs").strip()), found


def update(database):
    """The text of .ci/crates.toml, with the reasons that it has."""
    before = read(CRATES)
    names = sorted({name for name, _ in locked_crates()})
    released = {name: last_release(name) for name in names}
    if database:
        advised, found = advisories(database, released)
    else:
        advised, found = before["advised"], [a for a in before["advisories"] if a["crate"] in released]
        for name in sorted(released.keys() - before["released"].keys()):
            print(f"{name}: its advisories are missing, see https://rustsec.org", file=sys.stderr)
    today = max(datetime.date.today(), *released.values())
    limit = today.replace(year=today.year - 2)
    reasons = [(name, before["old"][name]) for name in names if released[name] < limit and name in before["old"]]
    return "\n".join(
        [
            HEADER,
            f"as-of = {today}",
            "",
            "# Of https://rustsec.org, and of this day.",
            f"advised = {advised}",
            "advisories = [",
            *["    { " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in a.items()) + " }," for a in found],
            "]",
            "",
            "# Why a crate stays without a release for two years.",
            "[old]",
            *[f"{name} = {json.dumps(reason)}" for name, reason in reasons],
            "",
            "[released]",
            *[f"{name} = {released[name]}" for name in names],
            "",
        ]
    )


def main():
    if sys.argv[1:2] == ["update"]:
        text = update(next(iter(sys.argv[2:]), None))
        pathlib.Path(CRATES).write_text(text)
        return 0
    deny, crates = read(".deny.toml"), read(CRATES)
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    packages = json.loads(metadata)["packages"]
    locked = locked_crates()
    found = may_be_used(packages, deny) + advised_against(locked, crates, deny) + nobody_releases(locked, crates)
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(packages)} packages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
