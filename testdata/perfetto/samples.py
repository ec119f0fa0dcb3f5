# Samples of call stacks by the trace builder of the perfetto package: of a counter, of a heap in two dumps, and of a thread of Chrome.
from perfetto.trace_builder.proto_builder import TraceProtoBuilder
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

trace = TraceProtoBuilder()


def packet(sequence, flags=TracePacket.SEQ_NEEDS_INCREMENTAL_STATE, time=0):
    made = trace.add_packet()
    made.trusted_packet_sequence_id = sequence
    made.sequence_flags = flags
    if time:
        made.timestamp = time
    return made


def intern(data):
    for iid, name in enumerate(['', 'main', 'work', 'malloc']):
        data.function_names.add(iid=iid, str=name.encode())
    for iid, part in enumerate(['system', 'lib64', 'libwork.so'], 1):
        data.mapping_paths.add(iid=iid, str=part.encode())
    data.build_ids.add(iid=1, str=bytes(range(1, 21)))
    data.mappings.add(iid=1, build_id=1, load_bias=0x1000, path_string_ids=[1, 2, 3])
    data.frames.add(iid=1, function_name_id=1, mapping_id=1, rel_pc=0x5000)
    data.frames.add(iid=2, function_name_id=2, mapping_id=1, rel_pc=0x5100)
    data.frames.add(iid=3, mapping_id=1, rel_pc=0x5200)
    data.frames.add(iid=4, function_name_id=3, mapping_id=1, rel_pc=0x5300)
    for iid, frames in enumerate([[1], [1, 2], [1, 2, 3], [1, 2, 4]], 1):
        data.callstacks.add(iid=iid, frame_ids=frames)


clock = packet(1, 0).clock_snapshot.clocks
clock.add(clock_id=6, timestamp=1_000_000)
clock.add(clock_id=3, timestamp=1_000_000)
tree = packet(1, 0).process_tree
tree.processes.add(pid=100, cmdline=['/system/bin/work', '--all'])
tree.threads.add(tid=101, tgid=100, name='worker')

begin = packet(2, TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
intern(begin.interned_data)
begin.trace_packet_defaults.perf_sample_defaults.timebase.frequency = 1000
for ms, stack in enumerate([1, 2, 2, 3, 3, 3], 1):
    sample = packet(2, time=1_000_000 * ms).perf_sample
    sample.cpu, sample.pid, sample.tid, sample.callstack_iid, sample.timebase_count = 0, 100, 101, stack, 1_000_000 * ms
packet(2, time=8_000_000).perf_sample.kernel_records_lost = 7
skipped = packet(2, time=9_000_000).perf_sample
skipped.pid, skipped.tid, skipped.sample_skipped_reason = 100, 101, 2

heap = packet(3, TracePacket.SEQ_INCREMENTAL_STATE_CLEARED, 20_000_000)
intern(heap.interned_data)
for allocated, freed, time in [(1000, 0, 20_000_000), (3000, 2500, 40_000_000)]:
    dump = (heap if time == 20_000_000 else packet(3, time=time)).profile_packet.process_dumps.add(pid=100, heap_name='libc.malloc', timestamp=time)
    dump.samples.add(callstack_id=4, self_allocated=allocated, self_freed=freed, alloc_count=allocated // 100, free_count=freed // 100)

chrome = packet(4, TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
intern(chrome.interned_data)
chrome.thread_descriptor.pid, chrome.thread_descriptor.tid = 200, 201
chrome.thread_descriptor.thread_name, chrome.thread_descriptor.reference_timestamp_us = 'CrRendererMain', 1000
packet(4).streaming_profile_packet.MergeFrom(type(chrome.streaming_profile_packet)(callstack_iid=[1, 2, 2], timestamp_delta_us=[500, 1000, 1000]))

open('samples.pftrace', 'wb').write(trace.serialize())
