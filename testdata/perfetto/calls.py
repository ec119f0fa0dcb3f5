# An independent reader of slices: protobuf's own parser, and a stack a track.
import sys, collections
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
import zlib
t=Trace(); t.ParseFromString(open(sys.argv[1],'rb').read())
def packets(t):
    for p in t.packet:
        if p.HasField('compressed_packets'):
            s=Trace(); s.ParseFromString(zlib.decompress(p.compressed_packets)); yield from packets(s)
        else: yield p
P=list(packets(t)); print(len(P),'packets',file=sys.stderr)
tracks={}; kinds=collections.Counter(); names={}; defaults={}; clocks={}; evs=[]; inc={}; valid={}
tn={}; 
for p in P: 
    if p.HasField('track_descriptor'):
        d=p.track_descriptor; tracks[d.uuid]=d
        if d.HasField('thread') and d.thread.thread_name: tn[(d.thread.pid,d.thread.tid)]=d.thread.thread_name
snap=collections.defaultdict(list)
bad=collections.Counter()
primary=max([p.clock_snapshot.primary_trace_clock for p in P if p.HasField('clock_snapshot')]+[0]) or 6
for i,p in enumerate(P):
    kinds[p.WhichOneof('data')]+=1
    s=p.trusted_packet_sequence_id
    if p.previous_packet_dropped and s in valid: valid[s]=False; bad['dropped']+=1
    if p.sequence_flags&1 or p.incremental_state_cleared: names[s]={}; defaults.pop(s,None); valid[s]=True
    valid.setdefault(s,False)
    if p.HasField('clock_snapshot'):
        cs={c.clock_id:(c.timestamp*(c.unit_multiplier_ns or 1),c.unit_multiplier_ns or 1,c.is_incremental) for c in p.clock_snapshot.clocks}
        for c,(v,u,k) in cs.items():
            inc[(s if 64<=c<128 else 0,c)]=[v,u,k,cs.get(primary,(None,))[0],v]
    if p.sequence_flags&2 and not valid[s]: bad['needs']+=1; continue
    if p.HasField('trace_packet_defaults'): defaults[s]=p.trace_packet_defaults
    for n in p.interned_data.event_names: names.setdefault(s,{})[n.iid]=n.name
    ts=None
    if p.HasField('timestamp'):
        c=p.timestamp_clock_id or (defaults[s].timestamp_clock_id if s in defaults else 0)
        if c in (0,primary): ts=p.timestamp
        else:
            st=inc.get((s if 64<=c<128 else 0,c))
            if st is None: bad['clock %d'%c]+=1
            else:
                v,u,k,boot,base=st
                if k: st[0]=v+p.timestamp*u; now=st[0]
                else: now=p.timestamp*u
                if boot is None: bad['noboot %d'%c]+=1; ts=now
                else: ts=now-base+boot
    if p.HasField('track_event') and ts is not None:
        e=p.track_event
        uuid=e.track_uuid if e.HasField('track_uuid') else (defaults[s].track_event_defaults.track_uuid if s in defaults else 0)
        ph={1:'B',2:'E'}.get(e.type) or (chr(e.legacy_event.phase) if e.legacy_event.phase else 'i')
        kinds['ph '+ph]+=1
        n=e.name or names.get(s,{}).get(e.name_iid or e.legacy_event.name_iid)
        if ph in 'BE': evs.append((ts,i,uuid,ph,n))
        elif ph in 'be': 
            l=e.legacy_event; key=('async',l.id_scope,l.unscoped_id,l.global_id,l.local_id, tuple(e.category_iids))
            evs.append((ts,i,key,ph.upper(),n))
evs.sort(key=lambda e:(e[0],e[1]))
st=collections.defaultdict(list); out=collections.defaultdict(lambda:[0,0]); last={}
open_=0
def thread(u):
    d=tracks.get(u)
    if d is not None and d.HasField('thread'): return '%d/%s'%(d.thread.tid, tn.get((d.thread.pid,d.thread.tid),''))
    return 'other'
def close(u,ts):
    n,b=st[u].pop(); o=out[(thread(u),n or '[unknown]')]; o[0]+=1; o[1]+=ts-b
for ts,i,u,ph,n in evs:
    last[u]=ts
    if ph=='B': st[u].append((n,ts))
    else:
        if n is None:
            if st[u]: close(u,ts)
            else: bad['end']+=1
        elif any(x[0]==n for x in st[u]):
            while True:
                top=st[u][-1][0]; close(u,ts)
                if top==n: break
        else: bad['end']+=1
for u in list(st):
    while st[u]: close(u,last[u]); bad['open']+=1
print(dict(kinds),dict(bad),file=sys.stderr)
for k in sorted(out): print(k[0],k[1],*out[k],sep='\t')
