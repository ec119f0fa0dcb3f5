"""Leaves of a log of `node --prof` what its ticks need, and of what is made of it the same."""
import json, sys

def raw(path):
    lines = open(path).read().split('\n')
    seen = set()
    for line in lines:
        if line.startswith('tick,'):
            fields = line.split(',')
            seen |= {int(field, 16) for field in [fields[1], fields[4]] + fields[6:] if field.startswith('0x')}
    kept = []
    for line in lines:
        fields = line.split(',')
        if fields[0] in ('v8-version', 'v8-platform', 'shared-library', 'shared-library-end', 'profiler', 'tick'):
            kept.append(line)
        if fields[0] == 'code-creation':
            start, size = int(fields[4], 16), int(fields[5])
            if any(start <= address < start + size for address in seen):
                kept.append(line)
    print('\n'.join(kept))

def preprocessed(path):
    log = json.load(open(path))
    used = {ix for tick in log['ticks'] for ix in tick['s'][::2] if ix >= 0}
    new = {old: ix for ix, old in enumerate(sorted(used | {0}))}
    log['code'] = [{k: v for k, v in log['code'][ix].items() if k != 'source'} for ix in new]
    for tick in log['ticks']:
        tick['s'][::2] = [new.get(ix, ix) for ix in tick['s'][::2]]
    json.dump({'code': log['code'], 'functions': [], 'ticks': log['ticks']}, sys.stdout)

raw(sys.argv[2]) if sys.argv[1] == 'raw' else preprocessed(sys.argv[2])
