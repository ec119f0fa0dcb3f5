"""Leaves of a heap snapshot what the program's own globals refer to, without classes and code."""
import json, sys
heap = json.load(open(sys.argv[1]))
meta, strings = heap['snapshot']['meta'], heap['strings']
width, edge_width = len(meta['node_fields']), len(meta['edge_fields'])
nodes = [heap['nodes'][at:at + width] for at in range(0, len(heap['nodes']), width)]
edges, at = [], 0
for node in nodes:
    count = node[meta['node_fields'].index('edge_count')]
    edges.append([heap['edges'][at + edge_width * ix:at + edge_width * (ix + 1)] for ix in range(count)])
    at += edge_width * count
kinds = meta['edge_types'][0]
def name(edge): return strings[edge[1]] if kinds[edge[0]] not in ('element', 'hidden') else ''
CODE = {'map', '__proto__', 'constructor', 'shared', 'feedback_cell', 'code', 'context', 'previous', 'scope_info', 'prototype'}
kept = {0} | {edge[2] // width for edge in edges[0]}
left = [edge[2] // width for own in kept.copy() for edge in edges[own] if name(edge) in sys.argv[2:]]
while left:
    node = left.pop()
    if node not in kept:
        kept.add(node)
        left += [edge[2] // width for edge in edges[node] if name(edge) not in CODE]
new = {old: ix for ix, old in enumerate(sorted(kept))}
texts = {}
def text(ix): return texts.setdefault(strings[ix][:60], len(texts))
out_nodes, out_edges = [], []
for old in new:
    own = [edge for edge in edges[old] if edge[2] // width in new]
    node = list(nodes[old])
    node[1], node[4] = text(node[1]), len(own)
    out_nodes += node
    for kind, at, to in own:
        out_edges += [kind, at if kinds[kind] in ('element', 'hidden') else text(at), new[to // width] * width]
heap.update(nodes=out_nodes, edges=out_edges, strings=list(texts))
heap['snapshot'].update(node_count=len(new), edge_count=len(out_edges) // edge_width)
json.dump({key: heap[key] for key in ('snapshot', 'nodes', 'edges', 'strings')}, sys.stdout, separators=(',', ':'))
