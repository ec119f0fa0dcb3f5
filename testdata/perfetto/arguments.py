# A trace by the trace builder of the perfetto package: calls with debug annotations, whose names are interned.
from perfetto.trace_builder.proto_builder import TraceProtoBuilder
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent

trace = TraceProtoBuilder()
NAMES = {}


def packet(flags=TracePacket.SEQ_NEEDS_INCREMENTAL_STATE):
    made = trace.add_packet()
    made.trusted_packet_sequence_id = 1
    made.sequence_flags = flags
    return made


def event(kind, time, name=None, **arguments):
    made = packet(TracePacket.SEQ_NEEDS_INCREMENTAL_STATE if NAMES else TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
    made.timestamp = time
    made.track_event.type = kind
    made.track_event.track_uuid = 1
    if name:
        made.track_event.name = name
    for key, value in arguments.items():
        if key not in NAMES:
            NAMES[key] = len(NAMES) + 1
            made.interned_data.debug_annotation_names.add(iid=NAMES[key], name=key)
        annotation = made.track_event.debug_annotations.add(name_iid=NAMES[key])
        if isinstance(value, dict):
            for inner, number in value.items():
                annotation.dict_entries.add(name=inner, int_value=number)
        elif isinstance(value, float):
            annotation.double_value = value
        else:
            annotation.int_value = value


thread = packet(TracePacket.SEQ_INCREMENTAL_STATE_CLEARED).track_descriptor
thread.uuid = 1
thread.thread.pid = 100
thread.thread.tid = 100
thread.thread.thread_name = "main"
now = 1000
for run in range(4):
    for n in [100, 200, 400, 800, 1600, 3200]:
        event(TrackEvent.TYPE_SLICE_BEGIN, now, "sort", n=n, part=0.5, of={"rows": n // 2})
        now += 70 * n + run
        event(TrackEvent.TYPE_SLICE_BEGIN, now, "scan", n=n)
        now += n * n // 10 + run
        event(TrackEvent.TYPE_SLICE_END, now, found=n // 4)
        now += 30
        event(TrackEvent.TYPE_SLICE_END, now)
        now += 100
with open("arguments.pftrace", "wb") as file:
    file.write(trace.serialize())
