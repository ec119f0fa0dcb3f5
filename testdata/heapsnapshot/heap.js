const v8 = require('v8');
class Node { constructor(next) { this.next = next; this.data = new Array(20).fill(1.5); } }
class List { constructor(n) { this.head = null; for (let i = 0; i < n; i++) this.head = new Node(this.head); } }
class Cache { constructor() { this.texts = new Map(); for (let i = 0; i < 50; i++) this.texts.set('key' + i, { text: 'v'.repeat(50) + i, owner: this }); } }
globalThis.list = new List(200);
globalThis.cache = new Cache();
globalThis.both = { node: globalThis.list.head.next.next };
globalThis.closures = Array.from({ length: 20 }, (_, i) => () => i);
v8.writeHeapSnapshot('heap.heapsnapshot');
