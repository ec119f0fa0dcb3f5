// Records itself with the wall-clock profiler of @datadog/pprof.
const pprof = require("@datadog/pprof");
const fs = require("fs");

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function words(n) {
  const counts = new Map();
  for (let i = 0; i < n; i++) {
    const word = "w".repeat(i % 40);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return JSON.stringify([...counts]).length;
}

(async () => {
  pprof.heap.start(64 * 1024, 64);
  pprof.time.start({ intervalMicros: 1000 });
  let sum = 0;
  const kept = [];
  for (const end = Date.now() + 1000; Date.now() < end; ) {
    sum += fib(22) + words(3000);
    kept.push("x".repeat(1000).split(""));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  fs.writeFileSync("node-wall.pb.gz", pprof.encodeSync(pprof.time.stop()));
  fs.writeFileSync("node-heap.pb.gz", pprof.encodeSync(pprof.heap.profile()));
})();
