"""Writes the profiles of this folder, as OpenTelemetry's own generated code encodes them.

    pip install opentelemetry-proto==VERSION && python make.py FILE

A file whose name ends in .json is written in JSON, and one in .lines.json as two exports, a line each.
The messages are of the installed version: 1.45 has those of release 1.10 of the protocol, 1.41 those of
1.9, and 1.38 those of 1.7, whose stacks are parts of a list.
"""

import json
import sys

from google.protobuf.json_format import MessageToDict

from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
    ExportProfilesServiceRequest,
)
from opentelemetry.proto.profiles.v1development import profiles_pb2 as p

START = 1_767_323_045_000_000_000
OLD = not hasattr(p, "Stack")


def string(text):
    if text not in dictionary.string_table:
        dictionary.string_table.append(text)
    return list(dictionary.string_table).index(text)


def attribute(key, value):
    if OLD:
        row = dictionary.attribute_table.add(key=key)
    else:
        row = dictionary.attribute_table.add(key_strindex=string(key))
    if isinstance(value, int):
        row.value.int_value = value
    else:
        row.value.string_value = value
    return len(dictionary.attribute_table) - 1


def mapping(path, **attributes):
    dictionary.mapping_table.add(
        memory_start=0x400000,
        memory_limit=0x500000,
        file_offset=0x1000,
        filename_strindex=string(path),
        attribute_indices=[attribute(f"process.executable.{k}", v) for k, v in attributes.items()],
    )
    return len(dictionary.mapping_table) - 1


def location(mapping_index, frame_type, *lines, address=0):
    row = dictionary.location_table.add(mapping_index=mapping_index, address=address)
    row.attribute_indices.append(attribute("profile.frame.type", frame_type))
    for name, path, number in lines:
        dictionary.function_table.add(name_strindex=string(name), filename_strindex=string(path))
        function = len(dictionary.function_table) - 1
        (row.line if OLD else row.lines).add(function_index=function, line=number)
    return len(dictionary.location_table) - 1


def profile(scope, kind, unit, period=None):
    row = scope.profiles.add()
    if OLD:
        row.sample_type.add(type_strindex=string(kind), unit_strindex=string(unit))
        row.time_nanos = START
        row.duration_nanos = 60_000_000_000
    else:
        row.sample_type.type_strindex = string(kind)
        row.sample_type.unit_strindex = string(unit)
        row.time_unix_nano = START
        row.duration_nano = 60_000_000_000
    if period:
        row.period_type.type_strindex = string(kind)
        row.period_type.unit_strindex = string(unit)
        row.period = period
    return row


def sample(to, leaf_first, values, attributes, seconds=()):
    fields = {
        "attribute_indices": attributes,
        "timestamps_unix_nano": [START + second * 10**9 for second in seconds],
    }
    if OLD:
        start = len(to.location_indices)
        to.location_indices.extend(leaf_first)
        fields |= {"locations_start_index": start, "locations_length": len(leaf_first)}
        to.sample.add(value=values, **fields)
    else:
        dictionary.stack_table.add(location_indices=leaf_first)
        stack = len(dictionary.stack_table) - 1
        to.samples.add(stack_index=stack, values=values, **fields)


def export(kinds, *first_strings):
    """An export of profiles of these kinds, whose dictionary begins with these strings."""
    global dictionary
    request = ExportProfilesServiceRequest()
    dictionary = request.dictionary
    for text in ("", *first_strings):
        string(text)
    dictionary.mapping_table.add()
    dictionary.location_table.add()
    dictionary.function_table.add()
    dictionary.link_table.add()
    dictionary.attribute_table.add()
    if not OLD:
        dictionary.stack_table.add()

    app = mapping("/opt/app/server", **{"build_id.gnu": "0123456789abcdef0123456789abcdef01234567"})
    libc = mapping("/usr/lib/libc.so.6", **{"build_id.htlhash": "600dcafe4a110000f2bf38c493f5fb92"})
    main = location(app, "native", ("main", "src/main.c", 12))
    parse = location(
        app, "native", ("skip_space", "src/scan.h", 7), ("parse", "src/parse.c", 40), address=0x401200
    )
    unknown = location(libc, "native", address=0x401f30)
    write = location(0, "kernel", ("ksys_write", "", 0))
    handler = location(0, "cpython", ("handler", "/srv/app.py", 30))
    compiled = location(0, "jvm", ("com.example.Main.run", "Main.java", 5))

    worker = [
        attribute("thread.name", "worker"),
        attribute("thread.id", 101),
        attribute("process.pid", 100),
        attribute("process.executable.name", "server"),
    ]
    python = [
        attribute("thread.name", "MainThread"),
        attribute("process.pid", 200),
        attribute("process.executable.path", "/usr/bin/python3.11"),
        attribute("container.id", "cafe"),
    ]

    resource = request.resource_profiles.add()
    for key, value in [("service.name", "shop"), ("host.name", "node-7"), ("host.arch", "amd64")]:
        row = resource.resource.attributes.add(key=key)
        row.value.string_value = value
    scope = resource.scope_profiles.add()

    if "cpu" in kinds:
        cpu = profile(scope, "cpu", "nanoseconds", period=10_000_000)
        sample(cpu, [parse, main], [10_000_000, 30_000_000], worker, seconds=[1, 4])
        sample(cpu, [unknown, main], [10_000_000], worker, seconds=[2])
        sample(cpu, [write, handler], [20_000_000], python, seconds=[3])
    if "samples" in kinds:
        counts = profile(scope, "samples", "count")
        sample(counts, [compiled], [], [], seconds=[5, 6, 7])
    if "alloc_space" in kinds:
        space = profile(scope, "alloc_space", "bytes")
        sample(space, [parse, main], [4096, 512], worker, seconds=[1, 2])
        sample(space, [main], [64], worker)
    return request


def lines(*requests):
    compact = {"separators": (",", ":")}
    return "".join(json.dumps(MessageToDict(request), **compact) + "\n" for request in requests)


whole = export(["cpu", "samples", "alloc_space"])
file = sys.argv[1]
with open(file, "wb") as out:
    if file.endswith(".lines.json"):
        out.write(lines(export(["cpu"]), export(["samples", "alloc_space"], "other")).encode())
    elif file.endswith(".json"):
        out.write(lines(whole).encode())
    else:
        out.write(whole.SerializeToString(deterministic=True))
