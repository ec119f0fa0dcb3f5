# A trace by the trace builder of the perfetto package: nested tracks, interned names, lanes.
from perfetto.trace_builder.proto_builder import TraceProtoBuilder
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent, TrackDescriptor, ProcessDescriptor, ThreadDescriptor, TracePacket
b=TraceProtoBuilder(); seq=17
def pkt(): return b.add_packet()
p=pkt(); p.track_descriptor.uuid=1; p.track_descriptor.process.pid=100; p.track_descriptor.process.process_name="app"
for t in range(3):
    p=pkt(); d=p.track_descriptor; d.uuid=10+t; d.parent_uuid=1; d.thread.pid=100; d.thread.tid=200+t; d.thread.thread_name="worker %d"%t
for t in range(4):
    p=pkt(); d=p.track_descriptor; d.uuid=50+t; d.parent_uuid=1; d.name="requests"
names={}
def ev(kind,uuid,ts,name=None,first=[True]):
    p=pkt(); p.timestamp=ts; p.trusted_packet_sequence_id=seq; p.track_event.type=kind; p.track_event.track_uuid=uuid
    if first[0]: p.sequence_flags=TracePacket.SEQ_INCREMENTAL_STATE_CLEARED; first[0]=False
    else: p.sequence_flags=TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
    if name:
        if name not in names:
            names[name]=len(names)+1
            n=p.interned_data.event_names.add(); n.iid=names[name]; n.name=name
        p.track_event.name_iid=names[name]
import random
random.seed(5)
B,E=TrackEvent.TYPE_SLICE_BEGIN,TrackEvent.TYPE_SLICE_END
for t in range(3):
    now=1000*t
    for i in range(200):
        ev(B,10+t,now,"loop"); now+=random.randrange(1,50)
        for j in range(random.randrange(4)):
            ev(B,10+t,now,"work %d"%j); now+=random.randrange(1,500); ev(E,10+t,now); now+=random.randrange(20)
        ev(E,10+t,now); now+=random.randrange(100)
for i in range(100):
    ev(B,50+i%4,5000+i*300,"request"); ev(E,50+i%4,5000+i*300+1100)
open('tracks.pftrace','wb').write(b.serialize())
