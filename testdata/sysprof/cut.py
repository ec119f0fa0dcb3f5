"""Leaves of a capture of sysprof one program: its every 25th sample, its allocations, its maps, and its names."""
import struct, sys
data, program = open(sys.argv[1], 'rb').read(), sys.argv[2].encode()
frames, at = [], 256
while at < len(data):
    length, _, pid, _, kind = struct.unpack_from('<HhiqB', data, at)
    frames.append((kind, pid, data[at:at + length]))
    at += length
pid = next(pid for kind, pid, frame in frames if kind == 4 and frame[24:].split(b' ')[0].split(b'\0')[0].endswith(program))
chunk = [frame for kind, _, frame in frames if kind == 13 and frame[28:].startswith(b'__symbols__\0')]
names = b''.join(frame[284:284 + struct.unpack_from('<H', frame, 26)[0]] for frame in chunk)
text = lambda at: names[at:names.index(b'\0', at) + 1]
entries, at = [], 0
while struct.unpack_from('<QQ', names, at) != (0, 0):
    first, last, of, name, tag, _ = struct.unpack_from('<QQIIII', names, at)
    if of == pid:
        entries.append((first, last, text(name), text(tag) if tag else b''))
    at += 32
head, strings = b'', b''
start = 32 * (len(entries) + 1)
for first, last, name, tag in entries:
    at = start + len(strings)
    strings += name + tag
    head += struct.pack('<QQIIII', first, last, pid, at, at + len(name) if tag else 0, 0)
names = head + bytes(32) + strings
out, samples = data[:256], 0
for kind, of, frame in frames:
    samples += kind == 2 and of == pid
    if of == pid and (kind in (3, 4, 14) or kind == 2 and samples % 25 == 0):
        out += frame
for at in range(0, len(names), 32000):
    part = names[at:at + 32000]
    body = struct.pack('<HH256s', at + 32000 >= len(names), len(part), b'__symbols__') + part
    body += bytes(-len(body) % 8)
    out += struct.pack('<HhiqII', 24 + len(body), -1, -1, 0, 13, 0) + body
sys.stdout.buffer.write(out)
